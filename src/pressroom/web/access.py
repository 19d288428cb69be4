"""Access to routes. A route declares one of these classes; the pipeline puts the guards in front of it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Keyed:
    """For an API key, or a session.

    Attributes:
        scope: The scope that the key needs; None: any key will do.
        counts_as_post: The key's limit of posts per minute applies as well.
        spends_content: The daily content quota of the key's account applies as well.
        anyone: Somebody who is not signed in may call the route too.
    """

    scope: str | None = None
    counts_as_post: bool = False
    spends_content: bool = False
    anyone: bool = False


@dataclass(frozen=True, slots=True)
class SessionOnly:
    """For a session; an API key is refused, whatever its scopes.

    Attributes:
        is_limited: False: the limit of writes per minute does not apply (docs/limits.md#signed-in).
        recent: The password must have been given within 30 minutes (docs/sign-in.md#password-confirmation).
    """

    is_limited: bool = True
    recent: bool = False


@dataclass(frozen=True, slots=True)
class Anyone:
    """For people, signed in or not; an API key is refused."""


@dataclass(frozen=True, slots=True)
class Public:
    """For everybody: documents, files and probes. Neither key nor session is looked at."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """For everybody: pages, and forms of people who are not signed in.

    A session is looked up, so that the page can show what its owner may see. A form must come from this site.
    """


@dataclass(frozen=True, slots=True)
class Page:
    """For the pages and forms of somebody who is signed in; others are sent to /login and come back afterwards.

    Attributes:
        recent: The password must have been confirmed a short time ago (docs/web-app.md#a-recent-password).
        is_limited: False: the limit of writes per minute does not apply to its forms (docs/limits.md#signed-in).
    """

    recent: bool = False
    is_limited: bool = True


@dataclass(frozen=True, slots=True)
class AdminOnly(SessionOnly):
    """For the session of an admin. To other sessions the route is not there: they get the 404 of an unknown path."""


@dataclass(frozen=True, slots=True)
class AdminPage(Page):
    """For the pages and forms of an admin. To others who are signed in they are not there."""


Access = Keyed | SessionOnly | Anyone | Visitor | Page | Public


def is_limited(access: Access) -> bool:
    """Returns whether writes of somebody who is signed in count against the limit of writes per minute."""
    return isinstance(access, Keyed) or (isinstance(access, SessionOnly | Page) and access.is_limited)


def asks_password(access: Access) -> bool:
    """Returns whether the password must have been confirmed recently."""
    return isinstance(access, SessionOnly | Page) and access.recent
