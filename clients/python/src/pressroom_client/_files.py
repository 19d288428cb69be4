"""Files to upload, read into memory: the server takes at most 8 MB of each."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Union

_SIGNATURES = (
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"GIF8", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (4, b"ftypqt", "video/quicktime"),
    (4, b"ftyp", "video/mp4"),
    (0, b"\x1aE\xdf\xa3", "video/webm"),
    (0, b"\x00\x00\x01\xba", "video/mpeg"),
)


@dataclass(frozen=True)
class File:
    """A file with its description.

    Attributes:
        content: A path, bytes, or an open binary file.
        alt_text: What it shows, for people who cannot see it.
        name: The name that is sent; the path's own by default.
    """

    content: str | os.PathLike[str] | bytes | IO[bytes]
    alt_text: str = ""
    name: str | None = None


FileLike = Union[File, str, "os.PathLike[str]", bytes, "IO[bytes]"]
"""A path, bytes, an open binary file, or a `File` with its description."""

Part = tuple[str, tuple[str, bytes, str]]
"""A file of a multipart form: the field, then its name, its bytes and its type."""


def parts_of(field: str, files: Iterable[FileLike]) -> tuple[list[Part], list[str]]:
    """Returns the parts of a form, and the description of each file."""
    parts: list[Part] = []
    alt_texts: list[str] = []
    for each in files:
        file = each if isinstance(each, File) else File(each)
        content, name = _read(file)
        parts.append((field, (file.name or name, content, _type_of(content))))
        alt_texts.append(file.alt_text)
    return parts, alt_texts


def _read(file: File) -> tuple[bytes, str]:
    content = file.content
    if isinstance(content, bytes):
        return content, "file"
    if isinstance(content, (str, os.PathLike)):
        path = Path(content)
        return path.read_bytes(), path.name
    return content.read(), Path(str(getattr(content, "name", "file"))).name


def _type_of(content: bytes) -> str:
    for offset, signature, kind in _SIGNATURES:
        if content.startswith(signature, offset):
            return kind
    return "application/octet-stream"
