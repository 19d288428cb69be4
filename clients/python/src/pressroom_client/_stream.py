"""The format of server-sent events, as far as the service uses it. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Block:
    """What came since the last empty line."""

    id: str | None = None
    event: str = ""
    data: list[str] = field(default_factory=list)


class Parser:
    """Puts the lines of a stream together into events."""

    def __init__(self) -> None:
        self._block = Block()

    def feed(self, line: str) -> tuple[str | None, str] | None:
        """Takes a line without its end. Returns cursor and data of an event that it completes."""
        if not line:
            block, self._block = self._block, Block()
            return (block.id, "\n".join(block.data)) if block.data else None
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        # A line that begins with a colon is a comment: the server shows that it is there.
        if name == "data":
            self._block.data.append(value)
        elif name == "id":
            self._block.id = value
        elif name == "event":
            self._block.event = value
        return None
