"""The picture of an account that has none: a pattern of its own, drawn from its id. Pure."""

import hashlib

_PERSON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96" role="img" aria-label="avatar">'
    '<rect width="96" height="96" fill="hsl({hue} 45% 42%)"/>'
    '<circle cx="48" cy="38" r="17" fill="hsl({hue} 60% 88%)"/>'
    '<path d="M14 96c0-22 15-34 34-34s34 12 34 34z" fill="hsl({hue} 60% 88%)"/></svg>'
)


def draw_avatar(account_id: str) -> bytes:
    """An SVG whose colour follows from the account's id."""
    hue = int.from_bytes(hashlib.sha256(account_id.encode()).digest()[:2]) % 360
    return _PERSON.format(hue=hue).encode()
