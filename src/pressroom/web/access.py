"""What a route demands of whoever calls it. A route declares one of these; `app` puts guards before it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Keyed:
    """An API key with `scope` (None: any key), or a signed-in owner; with `anyone`, somebody signed out as well.

    `counts_as_post` says that the key's posts-per-minute limit applies on top.
    """

    scope: str | None = None
    counts_as_post: bool = False
    anyone: bool = False


@dataclass(frozen=True, slots=True)
class SessionOnly:
    """A signed-in owner; an API key is refused whatever its scopes.

    `is_limited` False lets it be done also when the account has written too much in the last minute.
    """

    is_limited: bool = True


@dataclass(frozen=True, slots=True)
class Anyone:
    """Part of the API for people: no sign-in needed; an API key is refused."""


@dataclass(frozen=True, slots=True)
class Public:
    """Pages, documents and probes: nobody is asked who they are."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """A page for people to read: whoever is signed in is known, and nobody is refused for who they are."""


Access = Keyed | SessionOnly | Anyone | Visitor | Public


@dataclass(slots=True)
class Identified:
    """From whom a request turned out to come, for the log: filled as soon as it is known, even if then refused."""

    account_id: str | None = None
    key_id: str | None = None
