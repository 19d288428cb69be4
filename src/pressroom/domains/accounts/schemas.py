"""Wire shapes of the accounts package (docs/people.md)."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Protocol, Self

import msgspec
from msgspec import Meta

from pressroom.clock import iso
from pressroom.domains.accounts.models import (
    Account,
    Profile,
    display_name_errors,
    username_errors,
)
from pressroom.errors import Code, FieldError
from pressroom.web.json_bodies import Body
from pressroom.web.wire import EXAMPLE_BASE, ONE_LINE, Id, Time, Url

Username = Annotated[
    str,
    Meta(
        description="3 to 30 of A-Z, a-z, 0-9 and _; unique without regard to case.",
        extra_json_schema={"pattern": "^[A-Za-z0-9_]{3,30}$"},
    ),
]
DisplayName = Annotated[
    str,
    Meta(max_length=100, description="The name that people see.", extra_json_schema={"pattern": ONE_LINE}),
]
Bio = Annotated[str, Meta(max_length=500, description="A few words about the account; null clears it.")]
Password = Annotated[str, Meta(min_length=10, max_length=200, description="10 to 200 characters of any kind.")]
Email = Annotated[
    str,
    Meta(
        max_length=254,
        description="Unique without regard to case. Never shown to others.",
        extra_json_schema={"format": "email", "pattern": r"^[^@\s]+@[^@\s]+$"},
    ),
]


class EditProfile(Body):
    """Changes to the account: at least one field. Fields that are not given stay as they are."""

    json_schema: ClassVar = {"minProperties": 1}

    display_name: DisplayName | msgspec.UnsetType = msgspec.UNSET
    username: Username | msgspec.UnsetType = msgspec.UNSET
    bio: Bio | None | msgspec.UnsetType = msgspec.UNSET
    is_private: bool | msgspec.UnsetType = msgspec.UNSET
    discoverable: bool | msgspec.UnsetType = msgspec.UNSET

    def field_errors(self, now: int) -> Iterator[FieldError]:
        if all(getattr(self, name) is msgspec.UNSET for name in self.__struct_fields__):
            fields = "displayName, username, bio, isPrivate, discoverable"
            yield FieldError("body", Code.REQUIRED, f"Give at least one of {fields}.")
        yield from username_errors(self.username)
        yield from display_name_errors(self.display_name)

    def profile(self) -> Profile:
        """Returns the changes for the action."""
        return Profile(self.display_name, self.username, self.bio, self.is_private, self.discoverable)

    @classmethod
    def example(cls) -> Self:
        return cls(bio="Notes on type, paper and ink.", is_private=False)


class AccountOut(msgspec.Struct, rename="camel"):
    """An account, as its owner sees it."""

    id: Annotated[str, Meta(description="Stable, whatever the user name becomes: the id to store elsewhere.")]
    username: Annotated[str, Meta(description="Its owner can change it.")]
    email: str
    display_name: str
    avatar: Url
    cover_image: Annotated[Url | None, Meta(description="A wide picture over the profile; null: none was chosen.")]
    bio: str | None
    verified: bool
    email_verified: bool
    is_private: bool
    discoverable: Annotated[
        bool, Meta(description="Whether search, explore and suggestions show the account; a private one never.")
    ]
    is_creator: bool
    total_followers: int
    total_following: int
    total_posts: Annotated[int, Meta(description="Posts that are not deleted.")]
    created_at: Time

    @classmethod
    def example(cls) -> Self:
        return cls(
            id="01KJPX7NCXC3C1PSD84ZVECKAK",
            username="mira_press",
            email="mira@press.example",
            display_name="Mira Okafor",
            avatar=avatar_address("01KJPX7NCXC3C1PSD84ZVECKAK", None, EXAMPLE_BASE),
            cover_image=None,
            bio="Notes on type, paper and ink.",
            verified=False,
            email_verified=False,
            is_private=False,
            discoverable=True,
            is_creator=False,
            total_followers=0,
            total_following=0,
            total_posts=42,
            created_at="2026-03-02T09:14:27.101Z",
        )


class AuthorOut(msgspec.Struct, rename="camel"):
    """The account that made something, as everybody sees it."""

    id: Id
    username: str
    display_name: str
    avatar: Url
    verified: bool
    verified_type: str | None

    @classmethod
    def example(cls) -> Self:
        return cls(
            id=AccountOut.example().id,
            username=AccountOut.example().username,
            display_name=AccountOut.example().display_name,
            avatar=AccountOut.example().avatar,
            verified=False,
            verified_type=None,
        )


class MessageOut(msgspec.Struct):
    """A sentence that says what the request did."""

    message: str


def avatar_address(account_id: str, avatar_token: str | None, base_url: str) -> str:
    """Returns the address of the account's picture: the file that `avatar_token` opens, without one a drawing."""
    return f"{base_url}/media/{avatar_token}" if avatar_token else f"{base_url}/avatars/{account_id}.svg"


def cover_address(cover_token: str | None, base_url: str) -> str | None:
    """Returns the address of the account's cover: the file that `cover_token` opens; None without one."""
    return f"{base_url}/media/{cover_token}" if cover_token else None


def account_shape(account: Account, base_url: str) -> AccountOut:
    """Returns the account as its owner sees it."""
    return AccountOut(
        id=account.id,
        username=account.username,
        email=account.email,
        display_name=account.display_name,
        avatar=avatar_address(account.id, account.avatar_token, base_url),
        cover_image=cover_address(account.cover_token, base_url),
        bio=account.bio,
        verified=account.verified,
        email_verified=account.email_verified,
        is_private=account.is_private,
        discoverable=account.discoverable,
        is_creator=account.is_creator,
        total_followers=account.total_followers,
        total_following=account.total_following,
        total_posts=account.total_posts,
        created_at=iso(account.created_at),
    )


class _AuthorRow(Protocol):
    """The author's columns in a row of a post, comment or clip."""

    @property
    def username(self) -> str | None: ...
    @property
    def display_name(self) -> str | None: ...
    @property
    def avatar_token(self) -> str | None: ...
    @property
    def verified(self) -> bool: ...


def author_of(account_id: str, row: _AuthorRow, base_url: str) -> AuthorOut:
    """Returns an account as the author of something, from the columns that lists read."""
    avatar = avatar_address(account_id, row.avatar_token, base_url)
    return AuthorOut(account_id, row.username or "", row.display_name or "", avatar, row.verified, None)
