"""Bodies that are sent many times, such as files: hashed and compressed once."""

import asyncio
import threading
import zlib
from hashlib import sha256
from typing import Final

LEVEL: Final = 5
BEST: Final = 9
"""Levels of compression for what is sent once, and for what is sent many times."""


class CachedBody:
    """A body that is sent many times. It is compressed once, when the first client asks for that."""

    def __init__(self, body: bytes, level: int = BEST) -> None:
        self.body = body
        self.key = sha256(body).digest()
        self.digest = self.key.hex()[:20]
        self._level = level
        self._lock = threading.Lock()
        self._gzipped: bytes | None = None

    def __len__(self) -> int:
        """Returns the bytes that are held at the most, compressed ones included."""
        return 2 * len(self.body)

    def etag(self, *, gzipped: bool) -> bytes:
        """Returns the entity tag of the body in one of its two encodings."""
        return f'"{self.digest}{"-gzip" if gzipped else ""}"'.encode()

    async def gzipped(self) -> bytes:
        """Returns the body compressed."""
        return self._gzipped or await asyncio.to_thread(self._compress)

    def _compress(self) -> bytes:
        with self._lock:
            if self._gzipped is None:
                self._gzipped = compress(self.body, self._level)
            return self._gzipped


def compress(body: bytes, level: int = LEVEL) -> bytes:
    """Returns a body compressed by gzip."""
    packer = zlib.compressobj(level, wbits=zlib.MAX_WBITS | 16)
    return packer.compress(body) + packer.flush()
