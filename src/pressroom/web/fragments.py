"""Parts of pages and whole pages, kept within bounds under all that decides how they look (docs/architecture.md#pages).

Nothing has to be thrown away when something changes: what changed is looked for under another key.
"""

from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from typing import Final, Generic, Protocol, TypeVar

import msgspec

from pressroom.web.codings import ONCE, CachedBody

MOST_FRAGMENTS: Final = 8 * 1024 * 1024
"""Characters of HTML that are kept of parts of pages."""

MOST_PAGES: Final = 8 * 1024 * 1024
"""Bytes that are kept of pages."""

LARGEST: Final = 8
"""A fragment of more than an eighth of the cache is not kept."""


class _Sized(Protocol):
    def __len__(self) -> int: ...


V = TypeVar("V", bound=_Sized)


class Kept(Generic[V]):
    """Values by key, of at most `most` characters or bytes together; those that were not used for longest go first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[bytes, V] = OrderedDict()
        self.size = 0

    def find(self, key: bytes) -> V | None:
        """Returns the value of a key, if it is kept."""
        value = self._values.get(key)
        if value is not None:
            self._values.move_to_end(key)
        return value

    def keep(self, key: bytes, value: V) -> None:
        """Keeps a value, unless it is there already or too large to be worth it."""
        # One huge page must not throw everything else out.
        if key in self._values or len(value) > self._most // LARGEST:
            return
        self._values[key] = value
        self.size += len(value)
        while self.size > self._most:
            _, oldest = self._values.popitem(last=False)
            self.size -= len(oldest)


class Fragments(Generic[V]):
    """Parts of pages as HTML. The key is a digest of everything that a part is made of."""

    def __init__(self, most: int = MOST_FRAGMENTS) -> None:
        self._kept = Kept[V](most)
        self._encoder = msgspec.msgpack.Encoder()

    def get(self, made_of: object, render: Callable[[], V]) -> V:
        """Returns a part of a page, rendered now if it is not kept.

        Args:
            made_of: All that the part depends on: structs and plain values.
            render: Renders it.
        """
        key = sha256(self._encoder.encode(made_of)).digest()
        html = self._kept.find(key)
        if html is None:
            html = render()
            self._kept.keep(key, html)
        return html


class SentPages:
    """Pages that were sent, each compressed once in each coding, however often it is sent."""

    def __init__(self, most: int = MOST_PAGES) -> None:
        self._kept = Kept[CachedBody](most)

    def of(self, body: bytes) -> CachedBody:
        """Returns the page with this body."""
        page = CachedBody(body, ONCE)
        known = self._kept.find(page.key)
        if known is None:
            self._kept.keep(page.key, page)
        return known or page
