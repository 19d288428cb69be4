"""The pages of the caller's picture and cover, without script: sent, shown, refused, removed."""

from pressroom.domains.moderation.actions import suspend_account
from tests.api.actors import Actor, body_of, nobody
from tests.harness.roomy import ROOMY
from tests.pages.files import picture, video
from tests.pages.reader import Page

SETTINGS = ROOMY
PICTURE = "/settings/profile/picture"
COVER = "/settings/profile/cover"


def opened(who: Actor, path: str = PICTURE) -> Page:
    answer = who.web.get(path)
    assert answer.status_code == 200, answer.text
    return Page(answer.text)


def address(who: Actor) -> str:
    return str(body_of(who.web.get("/api/auth/me"))["avatar"])


def test_a_picture_is_sent_shown_and_removed(alice: Actor) -> None:
    drawn = address(alice)
    assert opened(alice, "/settings/profile").has(f"a[href='{PICTURE}']")
    assert opened(alice).has(f"img[src='{drawn}']")
    assert not opened(alice).has(f"form[action='{PICTURE}/remove']")

    texts = {"idempotency_key": "one-form"}
    sent = [alice.web.post(PICTURE, files=[("avatar", picture())], data=texts) for _ in range(2)]

    assert [(each.status_code, each.headers["location"]) for each in sent] == [
        (303, f"{PICTURE}?done=picture-saved")
    ] * 2
    assert "is being prepared" in opened(alice).tree.css("main")[0].text()
    alice.server.do_jobs()
    assert address(alice) != drawn
    assert opened(alice).has(f"main img[src='{address(alice)}']")

    gone = alice.web.post(f"{PICTURE}/remove")
    assert (gone.status_code, gone.headers["location"]) == (303, f"{PICTURE}?done=picture-removed")
    assert address(alice) == drawn


def test_bad_picture_shows_its_error(alice: Actor) -> None:
    for files, said in (
        ([("avatar", video())], "Picture, 1: By its bytes this is video/mp4; a picture is needed."),
        ([("note", (None, "typed"))], "Picture: Send at least one file in this field."),
    ):
        answer = alice.web.post(PICTURE, files=files)
        assert answer.status_code == 400, answer.text
        assert said in " ".join(Page(answer.text).tree.css("main")[0].text().split())

    for path, said in ((PICTURE, "Picture: Send at least one"), (COVER, "Cover: Send at least one")):
        answer = alice.web.post(path, data={"idempotency_key": "without-a-file"})
        assert answer.status_code == 400, answer.text
        assert said in " ".join(Page(answer.text).tree.css("main")[0].text().split())

    name, content, kind = picture()
    alice.web.post(PICTURE, files=[("avatar", (name, content[:60], kind))])
    alice.server.do_jobs()
    assert "could not be used" in opened(alice).tree.css("main")[0].text()


def test_a_cover_is_sent_shown_and_removed(alice: Actor) -> None:
    assert opened(alice, "/settings/profile").has(f"a[href='{COVER}']")
    assert not opened(alice, COVER).has("main img")

    texts = {"idempotency_key": "one-form"}
    sent = [alice.web.post(COVER, files=[("cover", picture())], data=texts) for _ in range(2)]

    assert [(each.status_code, each.headers["location"]) for each in sent] == [(303, f"{COVER}?done=cover-saved")] * 2
    assert "is being prepared" in opened(alice, COVER).tree.css("main")[0].text()
    alice.server.do_jobs()
    cover = str(body_of(alice.web.get("/api/auth/me"))["coverImage"])
    assert opened(alice, COVER).has(f"main img[src='{cover}']")
    assert opened(alice, f"/@{alice.account.username}").has(f"header img.cover[src='{cover}']")

    wrong = alice.web.post(COVER, files=[("cover", video())])
    assert wrong.status_code == 400
    said = " ".join(Page(wrong.text).tree.css("main")[0].text().split())
    assert "Cover, 1: By its bytes this is video/mp4; a picture is needed." in said

    gone = alice.web.post(f"{COVER}/remove")
    assert (gone.status_code, gone.headers["location"]) == (303, f"{COVER}?done=cover-removed")
    assert body_of(alice.web.get("/api/auth/me"))["coverImage"] is None


def drawn(who: Actor) -> str:
    answer = nobody.get(f"{who.server.base_url}/avatars/{who.account.id}.svg")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml")
    return answer.text


def test_without_a_picture_the_initials_are_drawn(alice: Actor) -> None:
    server = alice.server
    for name, shown in (("Mira de Vries", ">MV<"), ("<&>", ">&lt;<"), ("שלום עולם", ">שע<")):
        body_of(alice.web.patch("/api/auth/me", json={"displayName": name}))
        assert shown in drawn(alice)

    server.run(server.runtime.db.transact(suspend_account, alice.account.username))
    assert "<text" not in drawn(alice)
    absent = nobody.get(f"{server.base_url}/avatars/{'0' * 26}.svg")
    assert (absent.status_code, "<text" in absent.text) == (200, False)
    assert nobody.get(f"{server.base_url}/avatars/absent.svg").status_code == 404
