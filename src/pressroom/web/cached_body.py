"""Bodies that are sent many times, such as files: hashed once, and compressed once in each coding."""

import asyncio
import threading
from hashlib import sha256

from pressroom.web.codings import LARGE, OFTEN, Coding, Levels, compress


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
        with self._lock:
            if (packed := self._packed.get(coding)) is None:
                packed = self._packed[coding] = compress(self.body, coding, self._levels)
            return packed
