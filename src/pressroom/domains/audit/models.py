"""Entries of the audit log, and who is behind them."""

from enum import StrEnum
from typing import Final

import msgspec

from pressroom.clock import DAY, HOUR

RETENTION: Final = 365 * DAY

LONGEST_VALUE: Final = 300
"""Characters of one value in the detail of an entry."""

LONGEST_OPERATOR: Final = 60
"""Characters of the name of a person who runs commands."""

LONGEST_AGENT: Final = 300
"""Characters that are kept of a User-Agent."""


class Kind(StrEnum):
    """The kind of an act."""

    SIGNED_UP = "account.created"
    SIGNED_IN = "session.started"
    SIGN_IN_FAILED = "sign-in.failed"
    SIGNED_OUT = "session.ended"
    OTHERS_SIGNED_OUT = "sessions.ended"
    SESSIONS_ENDED = "sessions.ended-by-operator"
    PASSWORD_CHANGED = "password.changed"  # noqa: S105  # a name
    PASSWORD_RESET = "password.reset"  # noqa: S105  # a name
    RESET_LINK_MADE = "reset-link.made"
    EMAIL_CHANGED = "email.changed"
    EMAIL_CONFIRMED = "email.confirmed"
    PROFILE_CHANGED = "profile.changed"
    USERNAME_CHANGED = "username.changed"
    TWO_FACTOR_ON = "two-factor.on"
    TWO_FACTOR_OFF = "two-factor.off"
    RECOVERY_CODES_MADE = "recovery-codes.made"
    RECOVERY_CODE_USED = "recovery-code.used"
    PASSKEY_ADDED = "passkey.added"  # a name
    PASSKEY_RENAMED = "passkey.renamed"  # a name
    PASSKEY_REMOVED = "passkey.removed"  # a name
    KEY_MADE = "key.made"
    KEY_REVOKED = "key.revoked"
    ENDPOINT_ADDED = "endpoint.added"
    ENDPOINT_CHANGED = "endpoint.changed"
    ENDPOINT_PAUSED = "endpoint.paused"
    ENDPOINT_RESUMED = "endpoint.resumed"
    ENDPOINT_REMOVED = "endpoint.removed"
    ENDPOINT_DISABLED = "endpoint.disabled"
    SECRET_ROTATED = "endpoint.rotated"  # noqa: S105  # a name
    EXPORT_REQUESTED = "export.requested"
    EXPORT_DOWNLOADED = "export.downloaded"
    DELETION_REQUESTED = "deletion.requested"
    ACCOUNT_DELETED = "account.deleted"
    ACCOUNT_VERIFIED = "account.verified"
    LIMITS_SET = "limits.set"
    ACCOUNT_SUSPENDED = "account.suspended"
    ACCOUNT_RESTORED = "account.restored"
    ADMIN_GIVEN = "admin.given"
    ADMIN_TAKEN = "admin.taken"
    POSTS_IMPORTED = "posts.imported"
    MODERATOR_GIVEN = "moderator.given"
    MODERATOR_TAKEN = "moderator.taken"
    JOB_RETRIED = "job.retried"
    INVITATION_MADE = "invitation.made"
    INVITATION_REVOKED = "invitation.revoked"
    CONTENT_HIDDEN = "content.hidden"
    CONTENT_DELETED = "content.deleted"
    CONTENT_SHOWN = "content.shown"
    REPORT_DISMISSED = "report.dismissed"
    EXPLORE_EXCLUDED = "explore.excluded"
    EXPLORE_INCLUDED = "explore.included"
    TEXT_PUBLISHED = "text.published"
    TEXT_WITHDRAWN = "text.withdrawn"
    SERVER_SECRET_ROTATED = "server-secret.rotated"  # noqa: S105  # a name
    MAINTENANCE_ON = "maintenance.on"
    MAINTENANCE_OFF = "maintenance.off"
    ADDRESS_BLOCKED = "address.blocked"
    ADDRESS_UNBLOCKED = "address.unblocked"


class Actor(StrEnum):
    """The actor: the account itself, an admin in the browser, the operator by a command, the service by itself."""

    SELF = "self"
    ADMIN = "admin"
    OPERATOR = "operator"
    SERVICE = "service"


class Source(msgspec.Struct, frozen=True):
    """The actor of a write and its address.

    Attributes:
        address: The client's address; empty for the operator and the service.
        agent: The client's User-Agent, which sessions keep.
        actor: Who acts.
        admin_id: The account of the admin who acts.
        operator: The name of the person who runs a command.
    """

    address: str = ""
    agent: str = ""
    actor: Actor = Actor.SELF
    admin_id: str | None = None
    operator: str | None = None


def client_source(address: str, agent: str) -> Source:
    """Returns the source of a request from the address `address`. Of its User-Agent, the first characters stay."""
    return Source(address, "".join(character for character in agent[:LONGEST_AGENT] if character.isprintable()))


UNKNOWN: Final = Source()
OPERATOR: Final = Source(actor=Actor.OPERATOR)
SERVICE: Final = Source(actor=Actor.SERVICE)


class Entry(msgspec.Struct):
    """An entry of the log.

    Attributes:
        id: Its id, by which the log is ordered.
        account_id: The account that it is about; empty for none.
        kind: The kind of act.
        at: When (milliseconds); of an entry that counts, the last time.
        times: How often: failed sign-ins of one address and hour are one entry.
        actor: Who did it.
        admin_id: The admin who did it.
        admin: The admin's present user name.
        operator: The name of the person who ran the command; None for other acts.
        address: Where the request came from; empty for the operator and the service.
        detail: Facts about its object: JSON of names and short values.
    """

    id: str
    account_id: str
    kind: str
    at: int
    times: int
    actor: str
    admin_id: str | None
    admin: str | None
    operator: str | None
    address: str
    detail: str


def counted_as(kind: Kind, address: str, now: int) -> str:
    """Returns the common key of entries of one kind, address and hour. `now` is in milliseconds."""
    return f"{kind.value} {now // HOUR} {address}"
