"""Wire shapes of sign-up (docs/sign-in.md#invitations)."""

from collections.abc import Iterator
from typing import Annotated, Self

from msgspec import Meta

from pressroom.domains.accounts.models import display_name_errors, email_errors, username_errors
from pressroom.domains.accounts.schemas import Email, Password, Username
from pressroom.errors import FieldError
from pressroom.web.json_bodies import Body
from pressroom.web.wire import ONE_LINE


class SignUpFields(Body):
    """An account to create."""

    username: Username
    email: Email
    password: Password
    display_name: (
        Annotated[
            str,
            Meta(
                max_length=100,
                description="The name that people see; the user name unless given.",
                extra_json_schema={"pattern": ONE_LINE},
            ),
        ]
        | None
    ) = None

    def field_errors(self, now: int) -> Iterator[FieldError]:
        yield from username_errors(self.username)
        yield from email_errors(self.email)
        yield from display_name_errors(self.display_name)


class SignUp(SignUpFields):
    """A sign-up."""

    invite: (
        Annotated[str, Meta(max_length=100, description="The token of an invitation: the end of its link.")] | None
    ) = None

    @classmethod
    def example(cls) -> Self:
        return cls(
            username="mira_press",
            email="mira@press.example",
            password="nine plums and a kettle",  # noqa: S106  # an example, nobody's
            display_name="Mira Okafor",
        )
