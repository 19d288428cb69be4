"""The accounts room's wire shapes (SPEC, Account)."""

from collections.abc import Iterator
from typing import Annotated

import msgspec
from msgspec import Meta

from pressroom.clock import iso
from pressroom.domains.accounts.models import (
    Account,
    Profile,
    display_name_faults,
    email_faults,
    username_faults,
)
from pressroom.errors import Code, Fault
from pressroom.web.bodies import Body

DisplayName = Annotated[str, Meta(max_length=100)]
Bio = Annotated[str, Meta(max_length=500)]


class SignUp(Body):
    """What it takes to sign up."""

    username: Annotated[str, Meta(description="3 to 30 of A-Z, a-z, 0-9 and _; unique without regard to case.")]
    email: Annotated[str, Meta(max_length=254)]
    password: Annotated[str, Meta(min_length=10, max_length=200)]
    display_name: DisplayName | None = None

    def faults(self) -> Iterator[Fault]:
        yield from username_faults(self.username)
        yield from email_faults(self.email)
        yield from display_name_faults(self.display_name)


class SignIn(Body):
    """What it takes to sign in."""

    login: Annotated[str, Meta(max_length=254, description="User name or e-mail address.")]
    password: Annotated[str, Meta(max_length=200)]


class EditProfile(Body):
    """What to change of the account. A null bio clears it."""

    display_name: DisplayName | msgspec.UnsetType = msgspec.UNSET
    username: str | msgspec.UnsetType = msgspec.UNSET
    bio: Bio | None | msgspec.UnsetType = msgspec.UNSET
    is_private: bool | msgspec.UnsetType = msgspec.UNSET

    def faults(self) -> Iterator[Fault]:
        if all(getattr(self, name) is msgspec.UNSET for name in self.__struct_fields__):
            yield Fault("body", Code.REQUIRED, "Give at least one of displayName, username, bio, isPrivate.")
        yield from username_faults(self.username)
        yield from display_name_faults(self.display_name)

    def profile(self) -> Profile:
        """The changes, as the action takes them."""
        return Profile(self.display_name, self.username, self.bio, self.is_private)


class AccountOut(msgspec.Struct, rename="camel"):
    """An account, as its owner sees it."""

    id: str
    username: str
    email: str
    display_name: str
    avatar: str
    cover_image: str | None
    bio: str | None
    verified: bool
    email_verified: bool
    is_private: bool
    is_creator: bool
    total_followers: int
    total_following: int
    total_posts: int
    created_at: str


class AuthorOut(msgspec.Struct, rename="camel"):
    """The account that made something, as everybody sees it."""

    id: str
    username: str
    display_name: str
    avatar: str
    verified: bool
    verified_type: str | None


class MessageOut(msgspec.Struct):
    """A sentence that says what was done."""

    message: str


def avatar_address(account_id: str, base_url: str) -> str:
    """Where the account's picture is."""
    return f"{base_url}/avatars/{account_id}.svg"


def account_shape(account: Account, base_url: str) -> AccountOut:
    """The account as its owner sees it."""
    return AccountOut(
        account.id,
        account.username,
        account.email,
        account.display_name,
        avatar_address(account.id, base_url),
        None,
        account.bio,
        account.verified,
        account.email_verified,
        account.is_private,
        account.is_creator,
        account.total_followers,
        account.total_following,
        account.total_posts,
        iso(account.created_at),
    )


def author_shape(account: Account, base_url: str) -> AuthorOut:
    """The account as the author of something."""
    return AuthorOut(
        account.id,
        account.username,
        account.display_name,
        avatar_address(account.id, base_url),
        account.verified,
        None,
    )
