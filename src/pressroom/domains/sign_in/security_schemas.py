"""Wire shapes of sessions, the password, the e-mail address and the audit log (docs/sign-in.md#sessions)."""

from collections.abc import Iterator
from typing import Annotated, Self

import msgspec
from msgspec import Meta

from pressroom.clock import iso
from pressroom.domains.accounts.models import Session, email_errors
from pressroom.domains.accounts.schemas import Email, Password
from pressroom.domains.audit.models import Actor, Entry, Kind
from pressroom.domains.sign_in.agents import name_of_agent
from pressroom.errors import FieldError
from pressroom.web.json_bodies import Body
from pressroom.web.wire import Id, Time


class ChangePassword(Body):
    """The new password of the account."""

    password: Password

    @classmethod
    def example(cls) -> Self:
        return cls(password="seven boats by the pier")  # noqa: S106  # an example, nobody's


class ChangeEmail(Body):
    """The new e-mail address of the account."""

    email: Email

    def field_errors(self, now: int) -> Iterator[FieldError]:
        yield from email_errors(self.email)

    @classmethod
    def example(cls) -> Self:
        return cls(email="mira@press.example")


class SessionOut(msgspec.Struct, rename="camel"):
    """A session of the account."""

    id: Id
    browser: Annotated[str | None, Meta(description="As the browser names itself, which nothing proves.")]
    address: Annotated[str, Meta(description="Where it was last used from; empty: not known.")]
    created_at: Time
    last_seen_at: Annotated[Time, Meta(description="The last use, to the minute.")]
    expires_at: Time
    is_current: Annotated[bool, Meta(description="The session of this request.")]

    @classmethod
    def example(cls) -> Self:
        return cls(
            id="01M7WVEA2V8M6PBR2DA7CYSJ9C",
            browser="Firefox on Windows",
            address="198.51.100.7",
            created_at="2026-11-18T09:00:04.120Z",
            last_seen_at="2026-11-20T16:08:00.000Z",
            expires_at="2026-12-20T16:08:12.345Z",
            is_current=True,
        )


class SessionList(msgspec.Struct, rename="camel"):
    """A page of sessions, latest first."""

    sessions: list[SessionOut]
    next_cursor: Annotated[str | None, Meta(description="The cursor of the next page; null on the last.")]


class EndedSessionOut(msgspec.Struct):
    """A session that was ended."""

    message: str
    id: str


class EndedSessionsOut(msgspec.Struct):
    """How many sessions were ended."""

    ended: int


class LogEntryOut(msgspec.Struct, rename="camel"):
    """Something that was done to the account."""

    id: Id
    kind: Annotated[Kind, Meta(description="What was done.")]
    at: Annotated[Time, Meta(description="When; of several times, the last.")]
    times: Annotated[int, Meta(description="Failed sign-ins of one address within an hour are one entry.")]
    actor: Annotated[
        Actor,
        Meta(description="self: the account. admin, operator: who runs this server. service: the server itself."),
    ]
    address: Annotated[str | None, Meta(description="Where the request came from; null for all but the account.")]
    detail: Annotated[dict[str, str | int], Meta(description="What it was done to, such as a key's `label`.")]

    @classmethod
    def example(cls) -> Self:
        return cls(
            id="01M7WVEA2V8M6PBR2DA7CYSJ9C",
            kind=Kind.KEY_MADE,
            at="2026-11-20T16:08:12.345Z",
            times=1,
            actor=Actor.SELF,
            address="198.51.100.7",
            detail={"keyId": "01M7WVE9SS0371E5H43QNHTMZJ", "label": "Ferry bot"},
        )


class LogList(msgspec.Struct, rename="camel"):
    """A page of the log, newest first."""

    entries: list[LogEntryOut]
    next_cursor: Annotated[str | None, Meta(description="The cursor of the next page; null on the last.")]


def session_shape(session: Session, own_hash: str) -> SessionOut:
    """Returns a session as its owner sees it; `own_hash` is that of the request's own token."""
    return SessionOut(
        id=session.id,
        browser=name_of_agent(session.agent),
        address=session.address,
        created_at=iso(session.created_at),
        last_seen_at=iso(session.last_seen_at),
        expires_at=iso(session.expires_at),
        is_current=session.token_hash == own_hash,
    )


def log_shape(entry: Entry) -> LogEntryOut:
    """Returns an entry as the account's owner sees it: without which admin acted, and from where."""
    is_own = entry.actor == Actor.SELF
    return LogEntryOut(
        id=entry.id,
        kind=Kind(entry.kind),
        at=iso(entry.at),
        times=entry.times,
        actor=Actor(entry.actor),
        address=entry.address or None if is_own else None,
        detail=msgspec.json.decode(entry.detail, type=dict[str, str | int]),
    )
