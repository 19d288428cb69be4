"""Whatever people write, wherever they may write: a page shows it as text, and it becomes nothing else."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import pytest

from pressroom.db import Command
from pressroom.domains.previews.urls import normalised
from pressroom.outbound import UrlRefused
from pressroom.text import normalise
from tests.api.actors import Actor, Json, body_of
from tests.api.conftest import MakeActor, one_engine
from tests.harness.roomy import ROOMY
from tests.pages.files import introduced, made_ready, picture, video
from tests.pages.gallery import hang_comments, hang_posts
from tests.pages.hostile import HOSTILE, MARKER, as_name
from tests.pages.markup import strange
from tests.pages.reader import Page, visit

SETTINGS = ROOMY

TextsBySelector = dict[str, str]
"""The expected text of an element of the page, by its selector."""

CALL: Final = Command("UPDATE accounts SET display_name = :name WHERE id = :id")


def call(author: Actor, name: str) -> None:
    """Gives somebody a name, also one from the time when a name was not kept to one line."""
    db = author.server.runtime.db
    author.server.run(db.transact(lambda tx: tx.run(CALL, name=normalise(name), id=author.account.id)))


@dataclass
class Wall:
    """Somebody who writes the same wherever they may write."""

    author: Actor
    words: str

    def short(self, longest: int) -> str:
        """As much of the words as fits."""
        return self.words[:longest]

    def name(self, longest: int) -> str:
        """As much of the words as a name takes."""
        return as_name(self.words, longest)

    @property
    def tagged(self) -> str:
        """The words and a hashtag of their own."""
        return f"{self.short(4_900)}\n#{self.author.account.username}"

    @cached_property
    def bearer(self) -> dict[str, str]:
        """The header of a key that is called so."""
        scopes = ["posts:write", "bounces:write", "comments:write", "media:write", "clips:write"]
        body = {"label": self.name(60), "scopes": scopes}
        key = body_of(self.author.web.post("/api/auth/api-keys", json=body), 201)["key"]
        return {"Authorization": f"Bearer {key}"}

    def made(self, path: str, body: Json) -> Json:
        """What comes of a write with that key."""
        return body_of(self.author.api.post(path, json=body, headers=self.bearer), 201)

    @cached_property
    def hub(self) -> str:
        """A hub that is called so; its id."""
        body = {"name": self.name(100), "slug": self.author.account.username, "description": self.short(500)}
        return str(body_of(self.author.web.post("/api/hubs", json=body), 201)["id"])

    @cached_property
    def post(self) -> str:
        """A post with everything that a post can have, edited once; its path."""
        body_of(self.author.web.patch("/api/auth/me", json={"bio": self.short(500)}))
        call(self.author, self.short(100))
        poll = {"question": self.short(300), "options": [self.name(100), "Neither"]}
        place = {"name": self.name(255), "latitude": 50.9, "longitude": 6.9}
        body = {"content": self.words, "poll": poll, "location": place, "hubId": self.hub}
        post = str(self.made("/api/posts", body)["id"])
        edit = self.author.api.patch(f"/api/posts/{post}", json={"content": self.tagged}, headers=self.bearer)
        body_of(edit)
        return f"/post/{post}"

    def comment(self) -> str | None:
        """Comments in words and, where the words can be part of an address, with that: the address."""
        path, content = f"/api{self.post.replace('post', 'posts')}/comments", self.short(500)
        parent = self.made(path, {"content": content})["id"]
        url = f"https://images.example/{self.short(500)}"
        body = {"content": content, "parentId": parent, "media": {"type": "gif", "url": url}}
        answer = self.author.api.post(path, json=body, headers=self.bearer)
        assert answer.status_code in (201, 400)
        return url if answer.status_code == 201 else None

    @cached_property
    def pictured(self) -> str:
        """A post with a picture and a video that are described so; its path."""
        name = "".join(letter for letter in self.short(99) if letter.isprintable())
        files = [("media", (name, picture()[1], "image/png")), ("media", video())]
        form = {"altText": [self.short(1_500)] * 2, "content": f"#{self.author.account.username}"}
        answer = self.author.api.post("/api/posts/upload", files=files, data=form, headers=self.bearer)
        return f"/post/{body_of(answer, 201)['id']}"

    @cached_property
    def filmed(self) -> str:
        """A clip that is called so; its path."""
        form = {"caption": self.short(2_200), "hubId": self.hub}
        answer = self.author.api.post("/api/clips", files=[("video", video())], data=form, headers=self.bearer)
        return f"/clip/{body_of(answer, 201)['id']}"

    @cached_property
    def linked(self) -> tuple[str, str]:
        """A post with a card all of whose words are these, and whose address holds as many of them as it can: its path
        and that address."""
        start = f"https://{self.author.account.username}.example/"
        address = next(url for url in (f"{start}{self.short(300)}", start) if _normalised(url))
        url = normalised(address)
        introduced(self.author, url, self.short(300), self.short(1_000), self.short(100), "0" * 32)
        post = self.made("/api/posts", {"content": "Look", "linkPreviewUrl": address})
        assert post["linkPreview"]["url"] == url
        return f"/post/{post['id']}", url

    def bounce(self, content: str | None) -> str:
        """Bounces the post; the path of the bounce."""
        path = f"/api{self.post.replace('post', 'posts')}/bounce"
        return f"/post/{self.made(path, {'content': content})['id']}"

    def parts(self, within: str) -> TextsBySelector:
        """The texts of a post, whole."""
        return {
            f"{within} .who .name": self.short(100),
            f"{within} .question": self.short(300),
            f"{within} .poll .label": self.name(100),
            f"{within} .chip bdi": self.name(100),
            f"{within} .place bdi": self.name(255),
            f"{within} .via bdi": self.name(60),
            f"{within} .text": self.tagged,
        }

    def described(self) -> Iterator[tuple[str, dict[tuple[str, str], str]]]:
        """Every page that shows some of it in attributes: their values, by the element's selector and their name."""
        alt, slug = self.short(1_500), self.author.account.username
        files = {(".file > img:not(.backdrop)", "alt"): alt, (".file > video", "aria-label"): alt}
        path, url = self.linked
        yield from ((each, files) for each in (self.pictured, f"/@{slug}", f"/tag/{slug}"))
        yield from ((each, {("a.preview", "href"): url}) for each in (path, f"/@{slug}"))

    def cards(self) -> Iterator[tuple[str, TextsBySelector]]:
        """Every page that shows a card or a caption of these words."""
        card = {".preview b": self.short(300), ".description": self.short(1_000), ".preview .site": self.short(100)}
        names = {".who .name": self.short(100), ".chip bdi": self.name(100), ".via bdi": self.name(60)}
        yield self.linked[0], card
        yield f"/@{self.author.account.username}", card
        yield self.filmed, {**names, ".text": self.short(2_200), "h1 bdi": self.short(100)}

    def pages(self) -> Iterator[tuple[str, Actor | None, TextsBySelector]]:
        """Every page that shows some of it, its reader, and the expected text."""
        slug, name, label, longest = self.author.account.username, self.short(100), self.name(60), self.short(500)
        comment = {".comment .text": longest, ".comment .name": name, ".comment .via bdi": label}
        banner = {"h1 bdi": name, ".banner .text": longest}
        whole, card = {**self.parts(".post"), "h1 bdi": name}, self.parts(".card")
        yield self.post, None, {**whole, **comment}
        yield self.post, self.author, {**whole, **comment, ".versions .text": self.words}
        yield self.bounce(None), None, {**whole, ".bounced .name": name, ".bounced .via bdi": label}
        yield self.bounce(self.words), None, {**self.parts(".nested"), ".post > .text": self.words}
        yield f"/@{slug}", None, {**card, **self.parts(".nested"), **banner}
        yield f"/hub/{slug}", None, {**card, **banner, "h1 bdi": self.name(100)}
        yield f"/tag/{slug}", None, card


def _normalised(url: str) -> bool:
    try:
        return bool(normalised(url))
    except UrlRefused:
        return False


def is_or_begins(shown: str, written: str) -> bool:
    """Whether it is the written text, or its beginning as lists show it."""
    return shown == written or (shown.endswith("…") and len(shown) > 100 and written.startswith(shown[:-1]))


def says(shown: str, written: str) -> bool:
    """Whether a title or summary is the written text, on one line and perhaps cut short."""
    whole, read = " ".join(written.split()), " ".join(shown.split())
    return read == whole or (read.endswith("…") and len(read) > 20 and whole.startswith(read[:-1]))


@one_engine
@pytest.mark.parametrize("words", HOSTILE, ids=lambda words: ascii(words[:40]))
def test_user_text_is_escaped(actor: MakeActor, words: str) -> None:
    wall = Wall(actor(), words)
    server, address = wall.author.server, wall.comment()

    for path, reader, shown in wall.pages():
        page = visit(server, path, reader)
        assert strange(page, server.base_url) == [], path
        for selector, text in shown.items():
            assert any(is_or_begins(each, text) for each in page.texts(selector)), (path, selector)
        if path == wall.post:
            assert page.values(".media a", "href") == ([address] if address else [])
    check_head(wall, visit(server, wall.post))


@one_engine
@pytest.mark.parametrize("words", HOSTILE, ids=lambda words: ascii(words[:40]))
def test_descriptions_of_files_and_links_are_text(actor: MakeActor, words: str) -> None:
    wall = Wall(actor(), words)
    server = wall.author.server
    call(wall.author, wall.short(100))
    paths = (wall.pictured, wall.filmed)
    made_ready(wall.author)

    for path, held in wall.described():
        page = visit(server, path)
        assert strange(page, server.base_url) == [], path
        for (selector, attribute), text in held.items():
            assert text in page.values(selector, attribute), (path, selector)
    for path, shown in wall.cards():
        page = visit(server, path)
        assert strange(page, server.base_url) == [], path
        for selector, text in shown.items():
            assert text in page.texts(selector), (path, selector)
    check_clip(wall, visit(server, paths[1]))


def check_clip(wall: Wall, page: Page) -> None:
    """The metadata in the head of the clip's page."""
    name, (title,) = wall.short(100), page.texts("head > title")
    assert says(title.removeprefix(f'{name}: "').removesuffix('"'), wall.short(2_200))
    assert page.meta["og:title"] == title
    assert says(page.meta["og:description"], wall.short(2_200))


def check_head(wall: Wall, page: Page) -> None:
    """The metadata in the head of the post's page, in full and in its place."""
    name, (title,) = wall.short(100), page.texts("head > title")
    assert MARKER not in title
    assert title.startswith(f'{name}: "')
    assert title.endswith('"')
    assert says(title.removeprefix(f'{name}: "').removesuffix('"'), wall.tagged)
    assert page.meta["og:title"] == title == page.values('link[rel="alternate"]', "title")[0]
    for summary in ("description", "og:description"):
        assert says(page.meta[summary], wall.tagged)


def test_many_payloads_on_a_page_are_distinct(alice: Actor) -> None:
    server = alice.server
    comments, posts = visit(server, hang_comments(alice)), visit(server, hang_posts(alice))

    assert strange(comments, server.base_url) == strange(posts, server.base_url) == []
    assert comments.texts(".comment .text") == [words[:500] for words in HOSTILE]
    shown = [label for label in posts.texts(".poll .label") if label != "Neither"]
    assert sorted(shown) == sorted(as_name(words, 100) for words in HOSTILE)


def test_there_are_enough_of_them() -> None:
    assert len(set(HOSTILE)) == len(HOSTILE) >= 90
    assert len({words[:60] for words in HOSTILE}) == len(HOSTILE), "each is told apart by what a label can hold"
    assert not any(MARKER in words for words in HOSTILE)
