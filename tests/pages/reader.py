"""Pages as a browser reads them."""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property

import httpx
from selectolax.lexbor import LexborHTMLParser

from tests.api.actors import Actor, Json, nobody
from tests.harness.local import LocalServer

KEY = re.compile(rb'name="idempotency_key" value="[^"]+"')
OWN_EACH_TIME = {"x-request-id", "date"}
"""Headers that differ from answer to answer whatever is asked."""


class Page:
    """A page: its text and its links."""

    def __init__(self, html: str) -> None:
        self.html = html
        self.tree = LexborHTMLParser(html)

    def texts(self, selector: str) -> list[str]:
        """What stands in each of these elements, to the letter."""
        return [node.text() for node in self.tree.css(selector)]

    def lines(self, selector: str) -> list[str]:
        """What stands in each of these elements as it is read: runs of white space are one space."""
        return [" ".join(text.split()) for text in self.texts(selector)]

    def line(self, selector: str) -> str:
        """The text of the one element of this kind."""
        (only,) = self.lines(selector)
        return only

    def has(self, selector: str) -> bool:
        """Whether there is such an element."""
        return self.tree.css_first(selector) is not None

    def values(self, selector: str, attribute: str) -> list[str]:
        """An attribute of each of these elements."""
        return [node.attributes.get(attribute) or "" for node in self.tree.css(selector)]

    def links(self, selector: str) -> list[tuple[str, str]]:
        """The text and the target of the links within these elements."""
        return [(node.text(), node.attributes.get("href") or "") for node in self.tree.css(f"{selector} a")]

    @cached_property
    def meta(self) -> Mapping[str, str]:
        """The page's metadata, by name or property."""
        found = [node.attributes for node in self.tree.css("meta[content]")]
        return {each.get("name") or each.get("property") or "": each.get("content") or "" for each in found}

    def link(self, rel: str) -> str | None:
        """Where the page's own link of this relation leads, if it has one."""
        links = self.values(f'head > link[rel="{rel}"]', "href")
        assert len(links) <= 1
        return links[0] if links else None

    @property
    def posts(self) -> list[str]:
        """The ids of the posts of a list."""
        return [href.rpartition("/")[2] for href in self.values("article.card > * > .when > a.permalink", "href")]


def fetch(
    server: LocalServer, path: str, reader: Actor | None = None, method: str = "GET", **headers: str | bytes
) -> httpx.Response:
    """Asks for a page, as `reader` or signed out."""
    client = reader.web if reader else nobody
    sent = {name.encode(): value if isinstance(value, bytes) else value.encode() for name, value in headers.items()}
    return client.request(method, path if path.startswith("http") else server.base_url + path, headers=sent)


def visit(server: LocalServer, path: str, reader: Actor | None = None, status: int = 200) -> Page:
    """The page at a path, as `reader` or somebody signed out sees it."""
    answer = fetch(server, path, reader)
    assert answer.status_code == status, (path, answer.status_code, answer.text[-800:])
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    return Page(answer.text)


def told(answer: httpx.Response) -> tuple[int, dict[str, str], bytes]:
    """All that an answer tells: status, headers, body; but for the keys of forms, which are new each time."""
    headers = {name: value for name, value in answer.headers.items() if name not in OWN_EACH_TIME}
    content = KEY.sub(b"", answer.content)
    if content != answer.content:
        headers.pop("content-length", "")
    return answer.status_code, headers, content


def permalink(post: Json) -> str:
    return f"/post/{post['id']}"


def turned(server: LocalServer, post: Json, reader: Actor | None = None) -> Iterator[Page]:
    """All pages of a post's comments, each found by the link on the one before."""
    path = permalink(post)
    while path:
        page = visit(server, path, reader)
        yield page
        path = next(iter(page.values("a[rel=next]", "href")), "")
