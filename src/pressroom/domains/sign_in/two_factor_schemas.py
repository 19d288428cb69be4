"""Wire shapes of two-factor sign-in (docs/sign-in.md#two-factor)."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Self

import msgspec
from msgspec import Meta

from pressroom.domains.sign_in.codes import LONGEST_CODE
from pressroom.domains.sign_in.schemas import GivenPassword
from pressroom.errors import Code, FieldError
from pressroom.web.json_bodies import Body
from pressroom.web.wire import Time, some_given

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
