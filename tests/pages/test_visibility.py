"""Every visibility, every reader, every page: a word is shown to readers of its post, and to nobody else.

All posts are PUBLIC at first, so that everybody is notified of them and opens them, and are narrowed afterwards.
"""

import io
import zipfile
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

import httpx
import pytest

from pressroom.db import Command
from tests.api.actors import Actor, body_of, follow, new_client, publish
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.pages.files import broken_video, filmed

SETTINGS = ROOMY

SEES: Final = {
    "PUBLIC": {"nobody", "stranger", "follower", "mutual", "listed", "author"},
    "FOLLOWERS": {"follower", "mutual", "author"},
    "CONNECTIONS": {"mutual", "author"},
    "PRIVATE": {"author"},
    "CUSTOM": {"listed", "author"},
}
SEES_CLIP: Final = {**SEES, "CUSTOM": {"author"}}
"""As of posts, but a clip has no list of chosen readers."""

READERS: Final = ("nobody", "stranger", "follower", "mutual", "listed", "author")

LISTS: Final = {
    "profile": "/@{author}",
    "hub": "/hub/{hub}",
    "permalink": "/post/{post}",
    "post as JSON": "/api/posts/{post}",
    "comments as JSON": "/api/posts/{post}/comments",
}
"""What shows a post to those who may see it."""

OF_CLIPS: Final = {
    "clips of the account": "/@{author}/clips",
    "page of the clip": "/clip/{clip}",
    "clip as JSON": "/api/clips/{clip}",
}
"""What shows a clip to those who may see it."""

FOR_ANYBODY: Final = {
    "tag": "/tag/{tag}",
    "feed of the account": "/@{author}/feed.atom",
    "feed of the hub": "/hub/{hub}/feed.atom",
    "feed of the tag": "/tag/{tag}/feed.atom",
    "oEmbed": "/oembed?url={link}",
}
"""Pages of PUBLIC posts alone, for every reader."""

FOR_THE_SIGNED_IN: Final = {
    "notifications": "/notifications",
    "bounces": "/@{reader}",
    "saved": "/saved",
    "saved as JSON": "/api/saved?limit=100",
    "notifications as JSON": "/api/notifications?limit=100",
}
"""Pages of a reader's notifications, bounces and saves, made while the post was PUBLIC."""

FOR_THE_AUTHOR: Final = {
    "own posts": "/",
    "own posts as JSON": "/api/posts?limit=100",
}
"""What shows an account its own posts, of every visibility."""

FORMS: Final = {
    "quote": "/post/{post}/quote",
    "report": "/report?type=post&id={post}",
    "edit": "/post/{post}/edit",
    "delete": "/post/{post}/delete",
    "readers": "/post/{post}/audience",
}
"""Pages that ask what to do with a post: the last ones are its author's."""

OF_ADMINS: Final = ("/admin/reports", "/api/admin/reports", "/admin/log", "/api/admin/log", "/admin")

SUSPEND: Final = Command("UPDATE accounts SET suspended_at = :at WHERE id = :id")


class World:
    """An author with a post of every visibility, and everybody who may look."""

    def __init__(self, server: LocalServer) -> None:
        self.server = server
        self.author, self.stranger, self.follower, self.mutual, self.listed = (Actor(server) for _ in range(5))
        for follower, followed in (
            (self.follower, self.author),
            (self.mutual, self.author),
            (self.author, self.mutual),
        ):
            follow(follower, followed)
        self.nobody = new_client(base_url=server.base_url)
        self.tag = f"t{self.author.account.username.lower()}"
        self.hub = self.author.account.username.lower().replace("_", "-")
        hub = body_of(self.author.web.post("/api/hubs", json={"name": "Hub", "slug": self.hub}), 201)["id"]
        self.comments: dict[tuple[str, str], str] = {}
        names = " ".join(f"@{each.account.username}" for each in self.others)
        self.posts = {
            each: str(publish(self.author, f"{word(each)} #{self.tag} {names}", hubId=hub)["id"]) for each in SEES
        }
        film = broken_video()
        self.clips = {
            each: str(filmed(self.author, film, caption=clip_word(each), visibility=each, hubId=hub)["id"])
            for each in SEES
        }
        for visibility, post in self.posts.items():
            for reader in self.others:
                body_of(reader.web.post(f"/api/posts/{post}/bounce"), 201)
                for act in ("like", "save"):
                    body_of(reader.web.post(f"/api/posts/{post}/{act}"))
                said = {"content": f"read by {reader.account.username}"}
                comment = body_of(reader.web.post(f"/api/posts/{post}/comments", json=said), 201)
                self.comments[visibility, reader.account.username] = comment["id"]
            body_of(
                self.author.web.post(f"/api/posts/{post}/comments", json={"content": f"re {word(visibility)}"}), 201
            )
            if visibility != "PUBLIC":
                body_of(self.author.web.patch(f"/api/posts/{post}", json={"visibility": visibility}))
        chosen = {"usernames": [self.listed.account.username]}
        body_of(self.author.web.put(f"/api/posts/{self.posts['CUSTOM']}/audience", json=chosen))

    @property
    def others(self) -> tuple[Actor, ...]:
        """Everybody with an account but the author."""
        return self.stranger, self.follower, self.mutual, self.listed

    def web(self, reader: str) -> httpx.Client:
        """The client of a reader."""
        if reader == "nobody":
            return self.nobody
        actor: Actor = getattr(self, reader)
        return actor.web

    def shows(self, reader: str, path: str, visibility: str) -> bool:
        """Whether a page shows a reader the post of a visibility: in its text, or anywhere else in its source."""
        post = self.posts[visibility]
        address = path.format(
            author=self.author.account.username,
            hub=self.hub,
            tag=self.tag,
            post=post,
            link=quote(f"{self.server.base_url}/post/{post}", safe=""),
            reader="" if reader == "nobody" else getattr(self, reader).account.username,
        )
        answer = self.web(reader).get(address)
        assert answer.status_code in (200, 404), answer.text
        return word(visibility) in answer.text or (post in answer.text and post not in address)

    def shows_clip(self, reader: str, path: str, visibility: str) -> bool:
        """Whether a page shows a reader the clip of a visibility."""
        clip = self.clips[visibility]
        address = path.format(author=self.author.account.username, clip=clip)
        answer = self.web(reader).get(address)
        assert answer.status_code in (200, 404), answer.text
        return clip_word(visibility) in answer.text or (clip in answer.text and clip not in address)

    def copy_of(self, reader: str) -> str:
        """All that stands in the copy of everything of a reader."""
        web = self.web(reader)
        body_of(web.post("/api/auth/export"), 202)
        self.server.do_jobs()
        answer = web.get("/api/auth/export/file")
        assert answer.status_code == 200, answer.text
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            return "\n".join(archive.read(name).decode(errors="replace") for name in archive.namelist())

    def suspend(self, at: int | None) -> None:
        """Suspends the author, or restores them."""
        values = {"at": at, "id": self.author.account.id}
        self.server.run(self.server.runtime.db.transact(lambda tx: tx.run(SUSPEND, **values)))

    def close(self) -> None:
        """Everybody hangs up."""
        for client in (*self.author.clients(), *(each for who in self.others for each in who.clients()), self.nobody):
            client.close()


def word(visibility: str) -> str:
    """What stands in the post of a visibility, and nowhere else."""
    return f"word{visibility.lower()}word"


def clip_word(visibility: str) -> str:
    """The words of the clip of a visibility, which stand nowhere else."""
    return f"film{visibility.lower()}film"


@pytest.fixture(scope="module")
def world(server: LocalServer) -> Iterator[World]:
    """The same for all tests: none changes anything that it does not put back."""
    world = World(server)
    yield world
    world.close()


@pytest.mark.parametrize("page", LISTS)
@pytest.mark.parametrize("visibility", SEES)
def test_visible_post_is_found(world: World, page: str, visibility: str) -> None:
    shown = {reader for reader in READERS if world.shows(reader, LISTS[page], visibility)}
    assert shown == SEES[visibility]


@pytest.mark.parametrize("page", OF_CLIPS)
@pytest.mark.parametrize("visibility", SEES)
def test_visible_clip_is_found(world: World, page: str, visibility: str) -> None:
    shown = {reader for reader in READERS if world.shows_clip(reader, OF_CLIPS[page], visibility)}
    assert shown == SEES_CLIP[visibility]


@pytest.mark.parametrize("visibility", SEES)
def test_lists_of_a_private_account_are_for_its_followers(world: World, visibility: str) -> None:
    shown: dict[str, set[str]] = {}
    body_of(world.author.web.patch("/api/auth/me", json={"isPrivate": True}))
    try:
        page = OF_CLIPS["clips of the account"]
        shown["clips"] = {each for each in READERS if world.shows_clip(each, page, visibility)}
        shown["posts"] = {each for each in READERS if world.shows(each, LISTS["profile"], visibility)}
    finally:
        body_of(world.author.web.patch("/api/auth/me", json={"isPrivate": False}))
    followers = {"follower", "mutual", "author"}
    assert shown == {
        "clips": SEES_CLIP[visibility] & followers,
        "posts": SEES[visibility] & followers,
    }


@pytest.mark.parametrize("page", FOR_ANYBODY)
@pytest.mark.parametrize("visibility", SEES)
def test_public_routes_show_public_posts(world: World, page: str, visibility: str) -> None:
    shown = {reader for reader in READERS if world.shows(reader, FOR_ANYBODY[page], visibility)}
    assert shown == (set(READERS) if visibility == "PUBLIC" else set())


@pytest.mark.parametrize("page", FOR_THE_SIGNED_IN)
@pytest.mark.parametrize("visibility", SEES)
def test_bounced_post_is_shown_while_visible(world: World, page: str, visibility: str) -> None:
    readers = [each for each in READERS if each not in ("nobody", "author")]
    shown = {reader for reader in readers if world.shows(reader, FOR_THE_SIGNED_IN[page], visibility)}
    assert shown == SEES[visibility] & set(readers)


@pytest.mark.parametrize("page", FOR_THE_AUTHOR)
@pytest.mark.parametrize("visibility", SEES)
def test_lists_of_own_posts_show_them_to_their_author_alone(world: World, page: str, visibility: str) -> None:
    shown = {
        reader for reader in READERS if reader != "nobody" and world.shows(reader, FOR_THE_AUTHOR[page], visibility)
    }
    assert "author" in shown
    assert shown - {"author"} <= {"stranger", "follower", "mutual", "listed"} & SEES[visibility], "bounces of it"


@pytest.mark.parametrize("visibility", SEES)
def test_only_public_posts_describe_themselves_to_those_who_preview_links(world: World, visibility: str) -> None:
    for reader in SEES[visibility]:
        html = world.web(reader).get(f"/post/{world.posts[visibility]}").text
        described = [mark for mark in ("og:", "twitter:", 'name="description"', "json+oembed") if mark in html]
        assert bool(described) == (visibility == "PUBLIC"), (reader, described)
        assert ("noindex" in html) == (visibility != "PUBLIC")


@pytest.mark.parametrize("visibility", SEES)
def test_suspended_author_is_hidden_everywhere(world: World, visibility: str) -> None:
    world.suspend(1)
    try:
        pages = {**LISTS, **FOR_ANYBODY}
        shown = [
            (reader, page)
            for reader in READERS
            for page, path in pages.items()
            if world.shows(reader, path, visibility)
        ]
        readers = [each for each in READERS if each not in ("nobody", "author")]
        shown += [
            (reader, page)
            for reader in readers
            for page, path in FOR_THE_SIGNED_IN.items()
            if world.shows(reader, path, visibility)
        ]
        shown += [
            (reader, page)
            for reader in READERS
            for page, path in OF_CLIPS.items()
            if world.shows_clip(reader, path, visibility)
        ]
    finally:
        world.suspend(None)
    assert shown == []


def test_personal_data_copy_holds_only_own_texts(world: World) -> None:
    copies = {reader: world.copy_of(reader) for reader in READERS if reader != "nobody"}
    words = [made(visibility) for visibility in SEES for made in (word, clip_word)]

    assert [each for each in words if each not in copies["author"]] == []
    for reader in {*copies} - {"author"}:
        assert [each for each in (*words, f"re {word('PUBLIC')}") if each in copies[reader]] == [], reader
        assert f"read by {getattr(world, reader).account.username}" in copies[reader]
        assert world.posts["PUBLIC"] in copies[reader], "that they liked it is their own"


def test_names_are_suggested_from_those_one_follows(world: World) -> None:
    prefix = world.author.account.username[:4]
    for reader in ("stranger", "follower", "mutual", "listed", "author"):
        answer = world.web(reader).get(f"/api/follows/suggestions?prefix={prefix}")
        followed = {
            "follower": {world.author.account.username},
            "mutual": {world.author.account.username},
            "author": {world.mutual.account.username},
        }.get(reader, set())
        names = {each.account.username for each in (*world.others, world.author)}
        assert {name for name in names if f'"{name}"' in answer.text} == followed, reader


@pytest.mark.parametrize("page", FORMS)
@pytest.mark.parametrize("visibility", SEES)
def test_forms_show_a_post_only_to_readers_allowed_to_act(world: World, page: str, visibility: str) -> None:
    path = FORMS[page].format(post=world.posts[visibility])
    shown = {reader for reader in READERS if word(visibility) in world.web(reader).get(path).text}

    assert shown <= (SEES[visibility] - {"nobody"} if page in ("quote", "report") else {"author"})
    if page in ("edit", "delete"):
        assert shown == {"author"}


@pytest.mark.parametrize("visibility", SEES)
def test_own_comment_can_be_edited_while_its_post_is_visible(world: World, visibility: str) -> None:
    others = ("stranger", "follower", "mutual", "listed")
    for reader in others:
        comment = world.comments[visibility, getattr(world, reader).account.username]
        for act in ("edit", "delete"):
            found = {each for each in READERS if world.web(each).get(f"/comment/{comment}/{act}").status_code == 200}
            # The author's words can be taken back for good; and by the author of the post.
            assert found == ({reader, "author"} if act == "delete" else {reader} & SEES[visibility]), (reader, act)


def test_cases_are_for_admins_and_decisions_for_owners(world: World) -> None:
    admin = Actor(world.server).become_admin()
    post = str(publish(world.author, "reportedword", visibility="FOLLOWERS")["id"])
    report = {"type": "post", "id": post, "reason": "complaintword"}
    assert world.web("stranger").post("/api/reports", json=report).status_code == 404
    body_of(world.web("follower").post("/api/reports", json=report), 202)
    cases = body_of(admin.web.get("/api/admin/reports?limit=100"))["reports"]
    case = next(each["id"] for each in cases if each["subjectId"] == post)
    pages = (*OF_ADMINS, f"/admin/reports/{case}", f"/api/admin/reports/{case}")
    assert {page for page in pages if "reportedword" in admin.web.get(page).text} >= {*pages[-2:]}

    body = {"decision": "hidden", "reason": "decidedword"}
    body_of(admin.web.post(f"/api/admin/reports/{case}/decision", json=body))

    for reader in READERS:
        answers = [world.web(reader).get(page) for page in pages]
        assert {answer.status_code for answer in answers} <= {303, 401, 404}, reader
        told = "".join(world.web(reader).get(page).text for page in ("/decisions", "/api/decisions"))
        assert ("decidedword" in told) == (reader == "author"), reader
        assert "complaintword" not in told, reader
        seen = "".join(answer.text for answer in answers) + world.web(reader).get(f"/post/{post}").text
        assert ("reportedword" in seen) == (reader == "author"), reader
    for client in admin.clients():
        client.close()
