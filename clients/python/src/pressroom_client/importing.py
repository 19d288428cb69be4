"""What imports read: the copy of an account, an archive of Mastodon, a feed, lines of JSON, each as a stream of items.

`pressroom import` reads them, and `pressroom-client import` by a copy of this file, so it imports nothing of either.

Sources are strangers' files: every reading is bounded, nothing is unpacked to disk, and names in an archive are looked
up among its members alone.
"""

from __future__ import annotations

import codecs
import hashlib
import io
import json
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast
from xml.etree import ElementTree

LONGEST_ITEM = 4_000_000
"""Characters of one item, at most."""

LARGEST_SOURCE = 4 * 1024**3
"""Bytes of an archive's list of posts, at most: an archive of a few KB can unfold to more than any disk holds."""

LARGEST_FEED = 32 * 1024**2
MOST_FILES = 10
LONGEST_ID = 100
LONGEST_ALT_TEXT = 1_500
MOST_MEMBERS = 500_000
PIECE = 65_536
PUBLIC = "https://www.w3.org/ns/activitystreams#Public"
ATOM = "{http://www.w3.org/2005/Atom}"
_DAMAGED_ZIP = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)


class BadSource(Exception):
    """A source cannot be read. The message names the fault and its place."""


@dataclass(frozen=True)
class Attachment:
    """A picture or video of an item, in its archive.

    Attributes:
        name: The name of the file.
        alt_text: What it shows, for people who cannot see it.
        open: Opens it, while the items of its source are read.
    """

    name: str
    alt_text: str
    open: Callable[[], IO[bytes]]

    def copy_to(self, target: IO[bytes], most: int) -> int:
        """Copies its bytes, up to the first piece beyond `most`. Returns how many. Raises BadSource."""
        size = 0
        with self._opened() as read:
            while size <= most and (piece := read()):
                size += target.write(piece)
        return size

    @contextmanager
    def _opened(self) -> Generator[Callable[[], bytes]]:
        """Gives the function that reads the next piece."""

        def read() -> bytes:
            try:
                return member.read(PIECE)
            except (*_DAMAGED_ZIP, tarfile.TarError, OSError) as error:
                raise BadSource(f"The file {self.name} of the archive is damaged: {error}") from None

        with self.open() as member:
            yield read


@dataclass
class Item:
    """A post to be.

    Attributes:
        id: Names the item in its source, at every reading.
        text: Its plain text.
        date: When it was published there, as the source has it; None: unknown.
        visibility: Its audience; None: as the command says.
        files: Its pictures and videos.
        skip: Why it is not published; empty: it is.
    """

    id: str
    text: str
    date: str | None = None
    visibility: str | None = None
    files: list[Attachment] = field(default_factory=list)
    skip: str = ""

    @property
    def idempotency_key(self) -> str:
        """The key of its publication, the same at every run of every importer."""
        return "import-" + hashlib.sha256(self.id.encode("utf-8", "surrogatepass")).hexdigest()[:40]

    @property
    def content(self) -> str:
        """Its text, ending in the day of its first publication."""
        day = re.match(r"\d{4}-\d\d-\d\d", self.date or "")
        return f"{self.text}\n\n({day[0]})".strip() if day else self.text


def read_jsonl(path: Path) -> Iterator[Item]:
    """Yields the items of lines such as `{"id": "7", "content": "…", "createdAt": "…", "visibility": "PUBLIC"}`."""
    with path.open("rb") as lines:
        number = 0
        while line := lines.readline(LONGEST_ITEM):
            number += 1
            if line.strip():
                yield _line_item(line, f"{path.name}, line {number}")


def _line_item(line: bytes, place: str) -> Item:
    try:
        given = _object(json.loads(line))
    except (ValueError, RecursionError):
        raise BadSource(f"{place}: no JSON object of at most {LONGEST_ITEM:,} bytes.") from None
    if not _is_text(given, "id") or not _is_text(given, "content"):
        raise BadSource(f'{place}: each line needs the texts "id" and "content".')
    date, visibility = given.get("createdAt"), given.get("visibility")
    return Item(
        f"jsonl {given['id']}",
        given["content"],
        date if isinstance(date, str) else None,
        visibility if isinstance(visibility, str) else None,
    )


def _is_text(given: dict[str, Any], name: str) -> bool:
    return isinstance(given.get(name), str)


def read_mastodon(path: Path) -> Iterator[Item]:
    """Yields the posts of an archive of Mastodon (.zip or .tar.gz) in its order, with their files."""
    if zipfile.is_zipfile(path):
        with _members_of_zip(path) as open_member:
            yield from _mastodon_items(open_member)
    else:
        try:
            with tarfile.open(path) as archive:
                members = {_plain(each.name): each for each in islice(archive, MOST_MEMBERS) if each.isfile()}
                yield from _mastodon_items(lambda name: archive.extractfile(members[name]) if name in members else None)
        except (tarfile.TarError, EOFError):
            raise BadSource(f"{path.name} is neither a .zip nor a .tar.gz, or is damaged.") from None


Open = Callable[[str], "IO[bytes] | None"]


@contextmanager
def _members_of_zip(path: Path) -> Generator[Open]:
    """Opens a zip file; gives the function that opens a member of it."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = {_plain(name): name for name in archive.namelist()}
            yield lambda name: archive.open(names[name]) if name in names else None
    except _DAMAGED_ZIP as error:
        raise BadSource(f"{path.name} is no .zip, or damaged, encrypted or of an unknown kind: {error}") from None


def read_export(path: Path) -> Iterator[Item]:
    """Yields the posts of the copy that an owner took of an account, in its order, with their files."""
    with _members_of_zip(path) as open_member:
        files = _files_of_posts(open_member)
        for post in _rows(open_member, "posts.json"):
            if _is_text(post, "id"):
                yield _export_item(post, files.get(post["id"], []), open_member)


def _export_item(post: dict[str, Any], files: list[dict[str, Any]], open_member: Open) -> Item:
    visibility = post.get("visibility")
    item = Item(
        f"export {post['id']}",
        post["content"] if _is_text(post, "content") else "",
        post["createdAt"] if _is_text(post, "createdAt") else None,
        # The list of a CUSTOM post is of accounts there.
        visibility if visibility in ("PUBLIC", "FOLLOWERS", "CONNECTIONS") else "PRIVATE",
    )
    if post.get("type") != "POST":
        item.skip = "a bounce"
    for each in files if not item.skip else []:
        _add_file(item, {"url": each["file"], "name": each.get("altText")}, open_member)
    return item


def _files_of_posts(open_member: Open) -> dict[str, list[dict[str, Any]]]:
    """Returns the files of each post. Each counts once, so there are no more of them than members of the archive."""
    files: dict[str, list[dict[str, Any]]] = {}
    known = set[str]()
    for row in _rows(open_member, "media.json"):
        name, post = row.get("file"), row.get("belongsTo")
        if not isinstance(name, str) or not isinstance(post, str) or name in known or len(post) > LONGEST_ID:
            continue
        member = open_member(name)
        if member is None:
            continue
        member.close()
        known.add(name)
        if len(files.setdefault(post, [])) < MOST_FILES:
            alt_text = row["altText"][:LONGEST_ALT_TEXT] if _is_text(row, "altText") else ""
            files[post].append({"file": name, "altText": alt_text})
    return files


def _rows(open_member: Open, name: str) -> Iterator[dict[str, Any]]:
    rows = open_member(name)
    if rows is None:
        raise BadSource(f"The archive holds no {name}.")
    with rows:
        yield from map(_object, _items_of(rows, name, r"\["))


def _plain(name: str) -> str:
    return name.removeprefix("./").lstrip("/")


def _mastodon_items(open_member: Open) -> Iterator[Item]:
    outbox = open_member("outbox.json")
    if outbox is None:
        raise BadSource("The archive holds no outbox.json.")
    with outbox:
        for number, activity in enumerate(_items_of(outbox, "outbox.json", r'"orderedItems"\s*:\s*\['), 1):
            post = _object(_object(activity).get("object"))
            if post and _is_text(activity, "id"):
                yield _mastodon_item(activity["id"], post, open_member)
            else:
                yield Item(f"mastodon {number}", "", skip="no post of one's own")


def _mastodon_item(name: str, post: dict[str, Any], open_member: Open) -> Item:
    audience = [*_texts(post.get("to")), *_texts(post.get("cc"))]
    warning = post["summary"] if _is_text(post, "summary") else ""
    text = text_of_html(post["content"] if _is_text(post, "content") else "")
    item = Item(
        f"mastodon {name}",
        f"{warning}\n\n{text}" if warning else text,
        post["published"] if _is_text(post, "published") else None,
        # Never a wider audience than there: an unlisted post, too, is for followers.
        "PUBLIC" if PUBLIC in _texts(post.get("to")) else "FOLLOWERS",
    )
    if post.get("inReplyTo"):
        item.skip = "a reply"
    elif PUBLIC not in audience and not any(each.endswith("/followers") for each in audience):
        item.skip = "a direct message"
    for each in _list(post.get("attachment"))[:MOST_FILES] if not item.skip else []:
        if _is_text(_object(each), "url"):
            _add_file(item, each, open_member)
    return item


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _texts(value: Any) -> list[str]:
    return [each for each in _list(value) if isinstance(each, str)]


def _add_file(item: Item, attachment: dict[str, Any], open_member: Open) -> None:
    url: str = attachment["url"]
    member = open_member(_plain(url))
    if member is None:
        return
    member.close()
    alt_text = attachment["name"][:LONGEST_ALT_TEXT] if _is_text(attachment, "name") else ""
    item.files.append(Attachment(Path(url).name, alt_text, lambda: open_member(_plain(url)) or io.BytesIO()))


def _items_of(stream: IO[bytes], name: str, start_of_list: str) -> Iterator[Any]:
    """Yields the items of a list in a file of JSON, one in memory at a time."""
    decoder, scan = codecs.getincrementaldecoder("utf-8")("replace"), json.JSONDecoder().raw_decode
    buffer, total, begun = "", 0, False
    while True:
        piece = stream.read(PIECE)
        total += len(piece)
        if total > LARGEST_SOURCE:
            raise BadSource(f"{name} unfolds to more than {LARGEST_SOURCE:,} bytes.")
        buffer += decoder.decode(piece, final=not piece)
        if not begun and (start := re.search(start_of_list, buffer)):
            begun, buffer = True, buffer[start.end() :]
        while begun and (buffer := buffer.lstrip(" \t\r\n,")):
            if buffer[0] == "]":
                return
            try:
                value, end = scan(buffer)
            except RecursionError:
                raise BadSource(f"{name} nests too deeply.") from None
            except ValueError:
                break  # Its end has not been read yet.
            yield value
            buffer = buffer[end:]
        if not piece:
            raise BadSource(f"{name} ends before its list does, or is no JSON.")
        if len(buffer) > LONGEST_ITEM:
            raise BadSource(f"{name} holds an item of more than {LONGEST_ITEM:,} characters, or is no JSON.")


class _Builder(ElementTree.TreeBuilder):
    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        # No feed needs one, and entities, by which a small file becomes a huge one, are declared in it.
        raise BadSource("The feed declares a document type.")


def read_feed(content: bytes) -> Iterator[Item]:
    """Yields the entries of an RSS or Atom feed, oldest first."""
    parser = ElementTree.XMLParser(target=_Builder())  # noqa: S314  # it refuses entities
    try:
        parser.feed(content)
        root = parser.close()
    except (ElementTree.ParseError, ValueError, LookupError):
        raise BadSource("The feed is no well-formed XML.") from None
    entries = [*root.iter(f"{ATOM}entry"), *root.iter("item")]
    return (_entry_item(entry) for entry in reversed(entries))


def _entry_item(entry: ElementTree.Element) -> Item:
    def of(*names: str) -> str:
        return next((text.strip() for name in names if (text := entry.findtext(name))), "")

    link = of("link") or next(
        (each.get("href", "") for each in entry.iter(f"{ATOM}link") if each.get("rel", "alternate") == "alternate"), ""
    )
    title = text_of_html(of("title", f"{ATOM}title"))
    body = text_of_html(of(f"{ATOM}content", f"{ATOM}summary", "description"))
    # Where the title is the beginning of the text, it would be there twice.
    parts = [body] if body.startswith(title.rstrip("…. ")) and body else [title, body]
    name = of("guid", f"{ATOM}id") or link or title
    text = "\n\n".join(part for part in (*parts, link) if part)
    return Item(f"feed {name}", text, _date(of(f"{ATOM}published", f"{ATOM}updated", "pubDate")))


def _date(given: str) -> str | None:
    from email.utils import parsedate_to_datetime

    if re.match(r"\d{4}-\d\d-\d\d", given):
        return given
    try:
        return parsedate_to_datetime(given).isoformat()
    except (TypeError, ValueError, IndexError, OverflowError):
        return None


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "style"):
            self._hidden += 1
        elif tag == "br":
            self.parts.append("\n")
        elif tag in ("p", "div", "li", "blockquote", "h1", "h2", "h3", "tr"):
            self.parts.append("\n\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style") and self._hidden:
            self._hidden -= 1

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(re.sub(r"\s+", " ", data))


def text_of_html(html: str) -> str:
    """Returns the text of HTML, with its paragraphs and line breaks."""
    parser = _Text()
    parser.feed(html)
    parser.close()
    text = re.sub(r" *\n *", "\n", "".join(parser.parts))
    return re.sub(r"\n{3,}", "\n\n", text).strip()
