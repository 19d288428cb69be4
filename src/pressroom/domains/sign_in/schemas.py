"""Wire shapes of sign-in and of links (docs/sign-in.md)."""

from collections.abc import Iterator
from typing import Annotated, Self

from msgspec import Meta

from pressroom.domains.accounts.models import email_errors
from pressroom.domains.accounts.schemas import Email, Password
from pressroom.domains.sign_in.codes import LONGEST_CODE
from pressroom.errors import FieldError
from pressroom.web.json_bodies import Body

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
