"""Text as people write it: one normal form, counted in code points. Pure."""

import unicodedata


def normalise(text: str) -> str:
    """Unicode normal form C, in which all text is measured, stored and returned."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def is_blank(text: str | None) -> bool:
    """Whether there is nothing to read: absent, empty, or white space alone."""
    return text is None or not text or text.isspace()
