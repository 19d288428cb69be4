"""Content codings: which of them a client wants, and how text is compressed in each (docs/web-app.md#headers). Pure."""

import sys
import zlib
from collections.abc import Mapping
from enum import StrEnum
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
"""Levels of compression for what is sent once, and for what is sent many times."""

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
