"""Content codings: which of them a client wants, and how text is compressed in each (docs/web-app.md#headers).

`CachedBody` is a body that is sent many times, such as a file: hashed once, and compressed once in each coding.
"""

import asyncio
import sys
import threading
import zlib
from collections.abc import Mapping
from enum import StrEnum
from hashlib import sha256
from typing import Final

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


class Coding(StrEnum):
    """A content coding by its name in HTTP."""

    GZIP = "gzip"
    ZSTD = "zstd"


Levels = Mapping[Coding, int]

ONCE: Final[Levels] = {Coding.GZIP: 5, Coding.ZSTD: 3}
OFTEN: Final[Levels] = {Coding.GZIP: 9, Coding.ZSTD: 12}
"""Levels of compression for a body that is sent once, and for one that is sent many times."""

ZSTD_FROM: Final = 16 * 1024
"""Bytes from which zstd is taken rather than gzip: below, it saves no CPU to speak of and is 4 % longer."""

LARGE: Final = {Coding.GZIP: 32 * 1024, Coding.ZSTD: 128 * 1024}
"""Bytes above which compressing is done in a thread: it takes more than a third of a millisecond."""

_NOTHING: Final[Mapping[Coding, float]] = {}
_BOTH: Final = {Coding.GZIP: 1.0, Coding.ZSTD: 1.0}
_GZIP: Final = {Coding.GZIP: 1.0}

_USUAL: Final = {
    "": _NOTHING,
    "identity": _NOTHING,
    "gzip": _GZIP,
    "gzip, deflate": _GZIP,
    "gzip, deflate, br": _GZIP,
    "gzip, deflate, br, zstd": _BOTH,
}
"""Usual values of Accept-Encoding, read beforehand."""


def accepted(accept_encoding: str) -> Mapping[Coding, float]:
    """Returns the codings that a client wants with their weights, by its header Accept-Encoding (RFC 9110, 12.5.3).

    Those that it likes less than a response as it is are left out. `*` stands for gzip alone: a client that names
    nothing gets what every client knows.
    """
    if (usual := _USUAL.get(accept_encoding)) is not None:
        return usual
    weights: dict[str, float] = {}
    # A header of some kilobytes of commas must not cost more than a usual one.
    for part in accept_encoding.lower().split(",")[:20]:
        coding, _, parameter = part.partition(";")
        weights[coding.strip()] = _weight(parameter)
    wanted = {
        Coding.GZIP: weights.get("gzip", weights.get("x-gzip", weights.get("*", 0.0))),
        Coding.ZSTD: weights.get("zstd", 0.0),
    }
    least = weights.get("identity", 0.0)
    return {coding: weight for coding, weight in wanted.items() if weight > 0 and weight >= least}


def best_of(wanted: Mapping[Coding, float], size: int) -> Coding | None:
    """Returns the coding for a text of `size` bytes: the one with the greatest weight, of equals the one that suits."""
    if len(wanted) < 2:
        return next(iter(wanted), None)
    gzip, zstd_ = wanted[Coding.GZIP], wanted[Coding.ZSTD]
    if gzip == zstd_:
        return Coding.ZSTD if size >= ZSTD_FROM else Coding.GZIP
    return Coding.GZIP if gzip > zstd_ else Coding.ZSTD


def compress(body: bytes, coding: Coding, levels: Levels = ONCE) -> bytes:
    """Returns a body compressed."""
    if coding is Coding.ZSTD:
        return zstd.compress(body, levels[coding])
    packer = zlib.compressobj(levels[coding], wbits=zlib.MAX_WBITS | 16)
    return packer.compress(body) + packer.flush()


def _weight(parameter: str) -> float:
    name, _, value = parameter.partition("=")
    if not name.strip():
        return 1.0
    try:
        return float(value) if name.strip() == "q" else 0.0
    except ValueError:
        return 0.0


class CachedBody:
    """A body that is sent many times. It is compressed once in each coding, when the first client asks for that."""

    def __init__(self, body: bytes, levels: Levels = OFTEN) -> None:
        self.body = body
        self.key = sha256(body).digest()
        self.digest = self.key.hex()[:20]
        self._levels = levels
        self._lock = threading.Lock()
        self._packed: dict[Coding, bytes] = {}

    def __len__(self) -> int:
        """Returns the bytes that are held at the most, compressed ones included."""
        return (1 + len(Coding)) * len(self.body)

    def etag(self, coding: Coding | None) -> bytes:
        """Returns the entity tag of the body in a coding, or as it is: each has its own, since its bytes differ."""
        return f'"{self.digest}{f"-{coding}" if coding else ""}"'.encode()

    async def packed(self, coding: Coding) -> bytes:
        """Returns the body compressed."""
        if (packed := self._packed.get(coding)) is not None:
            return packed
        if self._levels is OFTEN or len(self.body) > LARGE[coding]:
            return await asyncio.to_thread(self._compress, coding)
        return self._compress(coding)

    def _compress(self, coding: Coding) -> bytes:
        # Clients that come together would otherwise compress the same body several times at once.
        with self._lock:
            if (packed := self._packed.get(coding)) is None:
                packed = self._packed[coding] = compress(self.body, coding, self._levels)
            return packed
