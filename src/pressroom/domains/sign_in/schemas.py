"""Wire shapes of sign-in, links, sessions, the audit log and two-factor sign-in (docs/sign-in.md)."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Self

import msgspec
from msgspec import Meta

from pressroom.clock import iso
from pressroom.domains.accounts.models import Session, email_errors
from pressroom.domains.accounts.schemas import Email, Password
from pressroom.domains.audit.models import Actor, Entry, Kind
from pressroom.domains.sign_in.sessions import name_of_agent
from pressroom.domains.sign_in.two_factor import LONGEST_CODE
from pressroom.errors import Code, FieldError
from pressroom.web.json_bodies import Body
from pressroom.web.wire import Id, NextCursor, Time, some_given

GivenPassword = Annotated[str, Meta(max_length=200, description="The password of the account.")]


class NewPassword(Body):
    """A new password."""

    password: Password


class SignIn(Body):
    """A sign-in."""

    login: Annotated[str, Meta(max_length=254, description="User name or e-mail address.")]
    password: GivenPassword
    code: (
        Annotated[
            str,
            Meta(
                max_length=LONGEST_CODE,
                description="Of the authenticator app, or a recovery code; for accounts with two-factor sign-in.",
            ),
        ]
        | None
    ) = None

    @classmethod
    def example(cls) -> Self:
        return cls(login="mira_press", password="nine plums and a kettle")  # noqa: S106  # the same


class Confirmation(Body):
    """The password, given again."""

    password: GivenPassword

    @classmethod
    def example(cls) -> Self:
        return cls(password="nine plums and a kettle")  # noqa: S106  # the same


OneTimeToken = Annotated[str, Meta(max_length=100, description="The token: the last part of the link.")]


class ForgotPassword(Body):
    """A request for a link to set a new password."""

    email: Email

    def field_errors(self, now: int) -> Iterator[FieldError]:
        yield from email_errors(self.email)

    @classmethod
    def example(cls) -> Self:
        return cls(email="mira@press.example")


class ResetPassword(Body):
    """A new password, and the token of the link that allows to set it."""

    token: OneTimeToken
    password: Password

    @classmethod
    def example(cls) -> Self:
        return cls(
            token="Zk3x0q9Jv1m2c4R8T6y7u5w3e1a9s0d2f4g6h8j1k3L",  # noqa: S106  # the same
            password="nine plums and a kettle",  # noqa: S106  # the same
        )


class UseLink(Body):
    """The token of a link."""

    token: OneTimeToken

    @classmethod
    def example(cls) -> Self:
        return cls(token=ResetPassword.example().token)


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
    next_cursor: NextCursor


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
    next_cursor: NextCursor


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


GivenCode = Annotated[str, Meta(min_length=1, max_length=LONGEST_CODE, description="The code, as somebody types it.")]


class ConfirmTwoFactor(Body):
    """The first code of the authenticator app."""

    code: GivenCode

    @classmethod
    def example(cls) -> Self:
        return cls(code="492039")


class RemoveTwoFactor(Body):
    """The owner's proof for taking two-factor sign-in off: the password, or a code."""

    required_unless: ClassVar = {"body": ("password", "code")}
    json_schema: ClassVar = some_given(password={"type": "string"}, code={"type": "string"})

    password: GivenPassword | None = None
    code: GivenCode | None = None

    def field_errors(self, now: int) -> Iterator[FieldError]:
        if self.password is None and self.code is None:
            yield FieldError("body", Code.REQUIRED, "Give password or code.")

    @classmethod
    def example(cls) -> Self:
        return cls(password="nine plums and a kettle")  # noqa: S106  # the same


class TwoFactorOut(msgspec.Struct, rename="camel"):
    """Whether two-factor sign-in is on."""

    enabled: bool
    enabled_at: Time | None
    recovery_codes_left: Annotated[int, Meta(description="Of ten; each signs in once.")]

    @classmethod
    def example(cls) -> Self:
        return cls(enabled=True, enabled_at="2026-11-22T08:30:00.000Z", recovery_codes_left=10)


class TwoFactorSetupOut(msgspec.Struct, rename="camel"):
    """The set-up of an authenticator app. Shown once: a replay has null in both."""

    secret: Annotated[str, Meta(description="Base32, for typing.")] | None
    otpauth_uri: Annotated[str, Meta(description="For a QR code.")] | None

    @classmethod
    def example(cls) -> Self:
        return cls(
            secret=_SECRET,
            otpauth_uri=f"otpauth://totp/Pressroom:mira_press%40press.example?secret={_SECRET}&issuer=Pressroom",
        )


class RecoveryCodesOut(msgspec.Struct, rename="camel"):
    """Codes that sign in once each, when the authenticator is lost. Shown once: a replay has null."""

    recovery_codes: list[str] | None

    @classmethod
    def example(cls) -> Self:
        return cls([f"k7qm-2xwv-r4hd-9tz{last}" for last in "abcdefghjk"])


_SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"  # noqa: S105  # an example, nobody's
