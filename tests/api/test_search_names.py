"""Search of people, hubs and hashtags over HTTP."""

from base64 import urlsafe_b64encode

import httpx
import pytest

from pressroom.domains.follows.queries import insert_block
from tests.api.actors import Actor, body_of, field_errors, follow, publish
from tests.api.conftest import MakeActor, one_engine
from tests.harness.roomy import ROOMY

SETTINGS = ROOMY


def search(reader: Actor, kind: str, text: str, **more: str | int) -> httpx.Response:
    return reader.web.get("/api/search", params={"kind": kind, "q": text, **more})


def found(reader: Actor, kind: str, text: str, **more: str | int) -> list[str]:
    """The names that a search finds: user names, slugs or hashtags."""
    answer = body_of(search(reader, kind, text, **more))
    assert (answer["kind"], answer["complete"]) == (kind, True)
    return [each.get("username") or each.get("slug") or each["name"] for each in answer[kind]]


def paged(reader: Actor, kind: str, text: str, limit: int) -> list[list[str]]:
    """The names of each page."""
    pages: list[list[str]] = []
    more: dict[str, str] = {}
    while True:
        answer = body_of(search(reader, kind, text, limit=limit, **more))
        pages.append([each.get("username") or each.get("slug") or each["name"] for each in answer[kind]])
        if answer["nextCursor"] is None:
            return pages
        more = {"cursor": answer["nextCursor"]}


@pytest.fixture
def bob(actor: MakeActor) -> Actor:
    """Somebody else."""
    return actor()


def named(actor: Actor, display_name: str, username: str = "") -> Actor:
    """The same, under other names."""
    body = {"displayName": display_name, **({"username": username} if username else {})}
    body_of(actor.web.patch("/api/auth/me", json=body))
    return actor


@pytest.mark.parametrize(
    ("username", "display_name", "texts", "absent"),
    [
        ("quill_pen", "Renée O'Quillan", ["quill", "QUILL_P", "@quill_pen", "renee", "Quillan", "ren quil"], ["uill"]),
        ("taro_yamada", "山田太郎", ["山田", "太郎", "田太", "taro_y", "山"], ["太山"]),
        ("hangul_kim", "김철수 Kim", ["김철", "철수", "kim"], ["수김"]),
    ],
)
def test_account_is_found_by_the_beginnings_of_its_names(
    actor: MakeActor, bob: Actor, username: str, display_name: str, texts: list[str], absent: list[str]
) -> None:
    named(actor(), display_name, username)

    assert {text: username in found(bob, "people", text) for text in texts} == dict.fromkeys(texts, True)
    assert {text: username in found(bob, "people", text) for text in absent} == dict.fromkeys(absent, False)


def test_people_come_once_in_alphabetical_order_page_by_page(actor: MakeActor, bob: Actor) -> None:
    names = ["zither_c", "zither_a", "zither", "zither_b", "zitherist"]
    for name in names:
        named(actor(), "Zitherb Zitherc" if name == "zither_b" else "A person", name)

    assert [name for page in paged(bob, "people", "zither", 2) for name in page] == sorted(names)
    assert found(bob, "people", "zither", limit=1) == ["zither"]


def test_exact_user_name_comes_first(actor: MakeActor, bob: Actor) -> None:
    named(actor(), "Aaron Xylophone", "aaron_x")
    named(actor(), "Somebody", "xylophone")

    assert found(bob, "people", "xylophone") == ["xylophone", "aaron_x"]
    assert paged(bob, "people", "xylophone", 1) == [["xylophone"], ["aaron_x"]]


def test_earlier_names_find_nobody(actor: MakeActor, bob: Actor) -> None:
    alice = named(actor(), "Before Quagga", "quagga_one")
    assert found(bob, "people", "quagga") == ["quagga_one"]
    named(alice, "Afterwards", "okapi_one")

    assert (found(bob, "people", "quagga"), found(bob, "people", "okapi")) == ([], ["okapi_one"])
    body_of(
        actor()
        .become_admin()
        .web.post("/api/admin/accounts/okapi_one/delete", json={"username": "okapi_one", "reason": "Gone."})
    )
    assert (found(bob, "people", "okapi"), found(bob, "people", "afterwards")) == ([], [])


@pytest.mark.parametrize("change", [{"discoverable": False}, {"isPrivate": True}])
def test_unlisted_account_is_found_by_its_user_name_and_by_followers(
    alice: Actor, bob: Actor, actor: MakeActor, change: dict[str, bool]
) -> None:
    name, carol = alice.account.username, actor()
    post_id = publish(alice, f"Unlisted{name}")["id"]
    alice.server.index()
    follow(carol, alice)
    body_of(alice.web.patch("/api/auth/me", json=change))

    assert name not in found(bob, "people", name[:-1])
    assert (found(bob, "people", name)[0], found(bob, "people", f"@{name.upper()}")[0]) == (name, name)
    assert name in found(carol, "people", name[:-1])
    assert name in found(alice, "people", name[:-1])
    posts = {each: body_of(search(each, "posts", f"unlisted{name}"))["posts"] for each in (alice, bob, carol)}
    assert {each: [post["id"] for post in page] for each, page in posts.items()} == {
        alice: [post_id],
        bob: [],
        carol: [post_id],
    }


def test_blocked_muted_and_suspended_people_are_not_found(alice: Actor, bob: Actor, actor: MakeActor) -> None:
    name, admin = alice.account.username, actor().become_admin()
    for who, path in (
        (bob, f"/api/mutes/{name}"),
        (bob, f"/api/blocks/{name}"),
        (alice, f"/api/blocks/{bob.account.username}"),
    ):
        body_of(who.web.put(path))
        assert found(bob, "people", name) == []
        body_of(who.web.delete(path))
        assert found(bob, "people", name) == [name]
    body_of(admin.web.post(f"/api/admin/accounts/{name}/suspend", json={"reason": "Spam."}))
    assert found(bob, "people", name) == []


def test_hubs_are_found_by_the_beginnings_of_their_names(alice: Actor, bob: Actor) -> None:
    for slug, name in (("brass-band", "Brass & Wind"), ("wind-energy", "Énergie"), ("woodwork", "木工 Works")):
        body_of(alice.web.post("/api/hubs", json={"slug": slug, "name": name}), 201)

    expected = {
        "wind": ["brass-band", "wind-energy"],
        "brass-b": ["brass-band"],
        "energ": ["wind-energy"],
        "brass wi": ["brass-band"],
        "木工": ["woodwork"],
        "ork": [],
    }
    assert {text: sorted(found(bob, "hubs", text)) for text in expected} == expected
    assert [len(page) for page in paged(bob, "hubs", "wind", 1)] == [1, 1]


def test_hashtags_of_visible_posts_are_found_by_their_beginning(alice: Actor, bob: Actor, actor: MakeActor) -> None:
    publish(alice, "#Gazelle #gazette #Gaz_3")
    publish(alice, "#gazebo", visibility="FOLLOWERS")
    secret = publish(alice, "#gazpacho")["id"]
    body_of(alice.api.delete(f"/api/posts/{secret}"))
    hidden = actor()
    publish(hidden, "#gazump")
    bob.server.run(bob.server.runtime.db.transact(insert_block, account_id=hidden.account.id, other_id=bob.account.id))

    assert found(bob, "tags", "gaz") == ["gaz_3", "gazelle", "gazette"]
    assert found(alice, "tags", "#GAZ") == ["gaz_3", "gazelle", "gazette", "gazump"]
    assert (found(bob, "tags", "gazelle"), found(bob, "tags", "gazelles")) == (["gazelle"], [])
    assert paged(bob, "tags", "gaz", 2) == [["gaz_3", "gazelle"], ["gazette"]]
    body_of(alice.web.patch("/api/auth/me", json={"isPrivate": True}))
    assert found(bob, "tags", "gaz") == []


CURSORS = ["x", "~", "", "AAAA", "WyJhIl0", "WzEsMl0", "W10", "é", "a" * 3_000, "01MCC5RM005RHPCZEX4SVT1VV9"]


@one_engine
@pytest.mark.parametrize("kind", ["people", "hubs", "tags"])
@pytest.mark.parametrize("cursor", [*CURSORS, urlsafe_b64encode(b'["\\u0000", ""]').decode()])
def test_bad_cursor_of_names_is_refused(alice: Actor, kind: str, cursor: str) -> None:
    assert field_errors(search(alice, kind, "word", cursor=cursor)) == [("cursor", "invalid_format")]


@one_engine
@pytest.mark.parametrize("kind", ["people", "hubs", "tags"])
@pytest.mark.parametrize("text", ["#", '"" -- ?', "🎉"])
def test_text_without_a_name_is_refused(alice: Actor, kind: str, text: str) -> None:
    assert field_errors(search(alice, kind, text)) == [("q", "too_short")]


@pytest.mark.parametrize("kind", ["people", "hubs", "tags"])
@pytest.mark.parametrize(
    "text", ["' OR 1=1 --", "%a_%", "\ud7ff\uffff\U0010ffff a", "字" * 200, "a " * 100, "\\x00", "-a"]
)
def test_hostile_name_finds_nothing_or_names(alice: Actor, kind: str, text: str) -> None:
    assert search(alice, kind, text).status_code == 200


@pytest.mark.parametrize("kind", ["people", "hubs", "tags"])
def test_foreign_place_in_a_cursor_shows_nothing_else(alice: Actor, bob: Actor, kind: str) -> None:
    publish(alice, "#foreign")
    cursor = urlsafe_b64encode(b'["", ""]').decode().rstrip("=")

    assert found(bob, kind, "zzzzzz", cursor=cursor) == []
