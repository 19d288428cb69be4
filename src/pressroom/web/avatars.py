"""Pictures for accounts and hubs that have none of their own, drawn from their ids. Pure."""

import hashlib

_PERSON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96" role="img" aria-label="avatar">'
    '<rect width="96" height="96" fill="hsl({hue} 45% 42%)"/>'
    '<circle cx="48" cy="38" r="17" fill="hsl({hue} 60% 88%)"/>'
    '<path d="M14 96c0-22 15-34 34-34s34 12 34 34z" fill="hsl({hue} 60% 88%)"/></svg>'
)
_GROUP = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96" role="img" aria-label="avatar">'
    '<rect width="96" height="96" fill="hsl({hue} 45% 42%)"/><g fill="hsl({hue} 60% 88%)">'
    '<circle cx="48" cy="30" r="14"/><circle cx="28" cy="62" r="14"/><circle cx="68" cy="62" r="14"/></g></svg>'
)


def draw_avatar(account_id: str) -> bytes:
    """Returns an SVG whose colour depends on the account's id."""
    return _PERSON.format(hue=_hue(account_id)).encode()


def draw_hub_avatar(hub_id: str) -> bytes:
    """Returns an SVG whose colour depends on the hub's id."""
    return _GROUP.format(hue=_hue(hub_id)).encode()


def _hue(identifier: str) -> int:
    return int.from_bytes(hashlib.sha256(identifier.encode()).digest()[:2]) % 360
