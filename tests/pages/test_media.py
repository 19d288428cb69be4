"""Files of posts on the pages: the picture of each state, its address, and its words."""

from urllib.parse import urlsplit

import pytest

from pressroom.db import Query
from pressroom.db.postgres.database import PostgresDatabase
from pressroom.db.postgres.tx import PostgresTx
from pressroom.db.sqlite.database import SqliteDatabase
from pressroom.db.sqlite.tx import SqliteTx
from pressroom.domains.media.urls import LONGEST
from tests.api.actors import Actor, Json, body_of, nobody, publish, read
from tests.api.audiences import SEEN_BY, set_audience
from tests.api.conftest import MakeActor, one_engine
from tests.harness.roomy import ROOMY
from tests.pages.files import broken_video, gif, introduced, picture, uploaded, video
from tests.pages.reader import Page, fetch, visit

SETTINGS = ROOMY

FOR_SOME = [visibility for visibility in SEEN_BY if visibility != "PUBLIC"]
NO_WORDS = "Picture without a description"
CARDS = 20


def permalink(post: Json) -> str:
    return f"/post/{post['id']}"


def ready(who: Actor, post: Json) -> Json:
    """The post once its files have been processed."""
    who.server.do_jobs()
    return read(who, post["id"])


def hub_of(who: Actor) -> Json:
    return body_of(who.web.post("/api/hubs", json={"name": "A hub", "slug": who.account.username}), 201)


def images(page: Page, attribute: str, within: str = ".file") -> list[str]:
    """An attribute of each picture, not of what stands in for it."""
    return page.values(f"{within} > img:not(.backdrop)", attribute)


def test_a_picture_is_shown_large_on_its_permalink(alice: Actor) -> None:
    post = ready(alice, uploaded(alice, picture(1000, 500), alt_texts=["Four colours"]))
    url = post["media"][0]["url"]

    page = visit(alice.server, permalink(post))

    assert page.values(".gallery > a.file", "href") == [url]
    assert [images(page, name) for name in ("src", "width", "height", "alt")] == [
        [url],
        ["1000"],
        ["500"],
        ["Four colours"],
    ]
    (backdrop,) = page.values(".file > .backdrop", "src")
    assert backdrop.startswith("data:image/webp;base64,")
    assert page.values(".file > .backdrop", "alt") == [""]
    assert not page.has(".several, .waiting, .failed")


def test_lists_show_its_thumbnail(alice: Actor) -> None:
    hub, name = hub_of(alice), alice.account.username
    post = ready(alice, uploaded(alice, picture(), content=f"#{name}", hubId=hub["id"]))
    quoted = body_of(alice.api.post(f"/api/posts/{post['id']}/bounce", json={"content": "Look"}), 201)
    bounced = body_of(alice.api.post(f"/api/posts/{post['id']}/bounce"), 201)
    url = post["media"][0]["url"]

    for path in (f"/hub/{hub['slug']}", f"/tag/{name}"):
        assert images(visit(alice.server, path), "src") == [f"{url}/thumbnail"]
    profile = visit(alice.server, f"/@{name}")
    assert images(profile, "src") == [f"{url}/thumbnail"] * 3
    assert images(profile, "src", ".nested .file") == [f"{url}/thumbnail"]
    assert images(visit(alice.server, permalink(quoted)), "src", ".nested .file") == [f"{url}/thumbnail"]
    assert images(visit(alice.server, permalink(bounced)), "src", ".post > .gallery > .file") == [url]


def loading(page: Page) -> list[tuple[str | None, str | None]]:
    """How each picture is loaded: its priority, and whether it waits until it comes into sight."""
    nodes = page.tree.css(".file > img:not(.backdrop)")
    return [(node.attributes.get("fetchpriority"), node.attributes.get("loading")) for node in nodes]


def test_a_browser_chooses_among_the_sizes_of_a_picture(alice: Actor) -> None:
    post = ready(alice, uploaded(alice, picture(3000, 2000)))
    tall = ready(alice, uploaded(alice, picture(1000, 2000)))
    url, other = post["media"][0]["url"], tall["media"][0]["url"]

    for path, shown in ((permalink(post), 640), (permalink(tall), 304)):
        (sizes,) = images(visit(alice.server, path), "sizes")
        assert sizes == f"min(88vw, {shown}px)"
    for path in (permalink(post), f"/@{alice.account.username}"):
        srcset = images(visit(alice.server, path), "srcset")[-1]
        assert srcset == f"{url}/thumbnail 640w, {url}/medium 1280w, {url} 2048w"
    assert images(visit(alice.server, permalink(tall)), "srcset") == [
        f"{other}/thumbnail 320w, {other}/medium 640w, {other} 1000w"
    ]
    assert not visit(alice.server, permalink(ready(alice, uploaded(alice, picture())))).has("[srcset]")


def test_the_first_picture_is_loaded_before_the_others(alice: Actor) -> None:
    first, lazy = ("high", None), (None, "lazy")
    publish(alice, "The oldest")
    post = ready(alice, uploaded(alice, picture(), picture(80, 120)))
    publish(alice, "One without a picture")
    ready(alice, uploaded(alice, video()))

    assert loading(visit(alice.server, permalink(post))) == [first, lazy]
    for reader in (None, alice):
        assert loading(visit(alice.server, f"/@{alice.account.username}", reader)) == [first, lazy]
    ready(alice, uploaded(alice, picture()))
    for reader, path in ((None, f"/@{alice.account.username}"), (alice, f"/@{alice.account.username}"), (alice, "/")):
        assert loading(visit(alice.server, path, reader)) == [first, lazy, lazy]


def test_several_files_are_shown_in_their_order(alice: Actor) -> None:
    files = (picture(), video(), gif(), picture(80, 120))
    post = ready(alice, uploaded(alice, *files, alt_texts=["One", "Two", "", "Four"], content="x"))
    urls = [entry["url"] for entry in post["media"]]

    page = visit(alice.server, permalink(post))

    assert page.has(".gallery.several")
    assert page.values(".gallery > a", "href") == [urls[0], urls[2], urls[3]]
    assert images(page, "alt") == ["One", NO_WORDS, "Four"]
    assert images(page, "src") == [f"{urls[place]}/thumbnail" for place in (0, 2, 3)]
    assert list(zip(images(page, "width"), images(page, "height"), strict=True)) == [
        ("120", "80"),
        ("60", "40"),
        ("80", "120"),
    ]
    assert page.values(".file > video", "aria-label") == ["Two"]
    assert len(page.values(".backdrop", "src")) == 4


def test_a_video_has_a_poster_and_a_type(alice: Actor) -> None:
    post = ready(alice, uploaded(alice, video(width=320, height=180)))
    url = post["media"][0]["url"]

    for path in (permalink(post), f"/@{alice.account.username}"):
        page = visit(alice.server, path)
        (player,) = page.tree.css("div.file > video")
        assert player.attributes == {
            "controls": None,
            "playsinline": None,
            "preload": "none",
            "poster": f"{url}/poster",
            "width": "320",
            "height": "180",
        }
        assert page.values("video > source", "src") == [url]
        assert page.values("video > source", "type") == ["video/mp4"]
        assert nobody.get(f"{url}/poster").headers["content-type"] == "image/webp"


def test_unready_media_is_reported(alice: Actor) -> None:
    post = uploaded(alice, picture(), video(), broken_video())
    paths = (permalink(post), f"/@{alice.account.username}")

    for path in paths:
        page = visit(alice.server, path)
        what, *_ = waiting = page.lines(".file.waiting")
        assert (len(waiting), what) == (3, "This picture is being prepared. Look again in a moment.")
        assert not page.has(".file img, .file video, a.file")
    alice.server.do_jobs()
    for path in paths:
        page = visit(alice.server, path)
        assert page.lines(".file.failed") == ["This file could not be shown."]
        assert (len(images(page, "src")), page.has("video"), page.has(".waiting")) == (1, True, False)


@one_engine
def test_hidden_media_are_described(alice: Actor) -> None:
    post = uploaded(alice, broken_video(), alt_texts=["The press at work"])

    assert visit(alice.server, permalink(post)).line(".waiting .described") == "The press at work"
    alice.server.do_jobs()
    assert visit(alice.server, permalink(post)).line(".failed .described") == "The press at work"


def test_a_post_introduces_itself_by_its_picture(alice: Actor) -> None:
    post = uploaded(alice, broken_video(), picture())
    assert visit(alice.server, permalink(post)).meta["og:image"].endswith("/card.png")

    second = ready(alice, post)["media"][1]
    assert visit(alice.server, permalink(post)).meta["og:image"] == second["thumbnailUrl"]


def test_a_deleted_post_shows_no_file(alice: Actor) -> None:
    post = ready(alice, uploaded(alice, picture()))
    entry = post["media"][0]
    assert nobody.get(entry["url"]).status_code == 200

    body_of(alice.api.delete(f"/api/posts/{post['id']}"))

    assert not visit(alice.server, permalink(post), status=410).has(".file, .gallery")
    assert [nobody.get(entry[name]).status_code for name in ("url", "thumbnailUrl")] == [404, 404]


@pytest.mark.parametrize("visibility", FOR_SOME)
def test_restricted_media_have_expiring_addresses(actor: MakeActor, visibility: str) -> None:
    alice, bob = actor(), actor()
    server = alice.server
    post = ready(alice, uploaded(alice, picture(), video(), visibility=visibility))
    if visibility == "CUSTOM":
        set_audience(alice, post, bob)

    for path in (permalink(post), f"/@{alice.account.username}"):
        page = visit(server, path, alice)
        assert not [entry["url"] for entry in post["media"] if urlsplit(entry["url"]).path in page.html]
        shown = [
            *(*images(page, "src"), *page.values("video", "poster")),
            *(*page.values("a.file", "href"), *page.values("source", "src")),
        ]
        assert len(shown) == 4
        assert [nobody.get(url).status_code for url in shown] == [200] * 4
        assert {nobody.get(url).headers["cache-control"] for url in shown} == {"private, max-age=300"}
        server.clock.advance(LONGEST)
        assert [nobody.get(url).status_code for url in shown] == [404] * 4
    assert fetch(server, permalink(post), alice).headers["cache-control"] == "no-store"


@one_engine
def test_a_signed_address_cannot_be_bent(alice: Actor) -> None:
    mine = ready(alice, uploaded(alice, picture(), visibility="PRIVATE"))
    other = ready(alice, uploaded(alice, picture(), visibility="PRIVATE"))["media"][0]["id"]
    (url,) = visit(alice.server, permalink(mine), alice).values("a.file", "href")
    start, media_id, reader, until, mac = url.rsplit("/", 1)[0] + "/", *url.rpartition("signed.")[2].split(".")

    assert reader == alice.account.id
    for bent in (
        f"{start}signed.{other}.{reader}.{until}.{mac}",
        f"{start}signed.{media_id}.{other}.{until}.{mac}",
        f"{start}signed.{media_id}.{reader}.{int(until) + 1}.{mac}",
        f"{start}signed.{media_id}.{reader}.{until}.{'0' * 32}",
        f"{start}signed.{media_id}.{reader}.{until}.",
        f"{start}signed.{media_id}",
        f"{start}signed.{media_id}.{until}.{mac}",
        f"{start}signed.{media_id}.{reader}.{until}.{mac}.x",
        f"{start}{media_id}",
    ):
        assert nobody.get(bent).status_code == 404, bent
    assert nobody.get(url).status_code == 200


def test_a_quote_shows_no_files_of_a_post_that_was_narrowed(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = ready(alice, uploaded(alice, picture()))
    quoted = body_of(bob.api.post(f"/api/posts/{post['id']}/bounce", json={"content": "Look"}), 201)

    body_of(alice.api.patch(f"/api/posts/{post['id']}", json={"visibility": "PRIVATE"}))

    assert not visit(alice.server, permalink(quoted), bob).has(".file")
    (shown,) = images(visit(alice.server, permalink(quoted), alice), "src")
    assert "/media/signed." in shown


def test_a_card_is_shown(alice: Actor) -> None:
    url, token = f"https://www.{alice.account.username}.example/a?b=1&c", "0" * 32
    introduced(alice, url, "A title", "Of something", "A site", token)
    post = publish(alice, f"See {url}")

    for path in (permalink(post), f"/@{alice.account.username}"):
        page = visit(alice.server, path)
        assert page.values("a.preview", "href") == [url]
        assert set(page.values("a.preview", "rel")[0].split()) == {"nofollow", "ugc", "noopener", "noreferrer"}
        assert page.values(".preview img", "src") == [f"{alice.server.base_url}/cards/{token}"]
        assert [page.line(f".preview {part}") for part in (".site", "b", ".description")] == [
            "A site",
            "A title",
            "Of something",
        ]


@pytest.mark.parametrize(
    ("card", "parts"),
    [
        ({"title": "T"}, {".site": ["{host}"], "b": ["T"], ".description": [], "img": []}),
        ({"description": "D"}, {".site": ["{host}"], "b": [], ".description": ["D"], "img": []}),
        ({"image_token": "0" * 32}, {".site": ["{host}"], "b": [], ".description": [], "img": [""]}),
        ({"title": "T", "site_name": "S"}, {".site": ["S"], "b": ["T"], ".description": [], "img": []}),
    ],
    ids="+".join,
)
@one_engine
def test_card_shows_its_available_files(alice: Actor, card: dict[str, str], parts: dict[str, list[str]]) -> None:
    host = f"{alice.account.username}.example"
    introduced(alice, f"https://www.{host}/", **card)

    page = visit(alice.server, permalink(publish(alice, f"https://www.{host}/")))

    for part, shown in parts.items():
        assert page.lines(f".preview {part}") == [text.format(host=host) for text in shown]


@one_engine
def test_a_card_that_is_not_there_yet_leaves_nothing(alice: Actor) -> None:
    assert not visit(alice.server, permalink(publish(alice, "https://absent.example/"))).has(".preview")


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements from now on."""
    asked: list[str] = []
    for kind, names in ((SqliteTx, ("one", "all")), (PostgresTx, ("one", "all"))):
        for name in names:
            _note(monkeypatch, kind, name, asked)
    for kind in (SqliteDatabase, PostgresDatabase):
        _note(monkeypatch, kind, "one", asked)
    return asked


def _note(monkeypatch: pytest.MonkeyPatch, kind: type, name: str, asked: list[str]) -> None:
    run = getattr(kind, name)

    def noted(self: object, query: Query[object], **values: object) -> object:
        asked.append(query.text)
        return run(self, query, **values)

    monkeypatch.setattr(kind, name, noted)


def test_a_page_of_files_and_cards_is_few_statements(alice: Actor, still: object, statements: list[str]) -> None:
    name, hub = alice.account.username, hub_of(alice)
    posts: list[Json] = []
    for number in range(CARDS):
        posts.append(uploaded(alice, *[picture()] * 4, content=f"#{name}", hubId=hub["id"]))
        introduced(alice, f"https://{name}.example/{number}", "A title")
    post = posts[-1]
    for number in range(CARDS):
        url = f"https://{name}.example/{number}"
        body_of(alice.api.post(f"/api/posts/{post['id']}/bounce", json={"content": f"{url} #{name}"}), 201)
    server = alice.server

    for path in (f"/@{name}", f"/hub/{hub['slug']}", f"/tag/{name}", permalink(post)):
        for reader in (None, alice):
            for address in (path, f"{path}{''.join(visit(server, path).values('a.next', 'href')[:1])}"):
                statements.clear()
                page = visit(server, address, reader)
                assert len(statements) <= 10, (address, reader is alice, len(statements), [s[:90] for s in statements])
                assert path == permalink(post) or len(page.posts) == CARDS
