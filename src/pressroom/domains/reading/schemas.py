"""Wire shape of a profile (docs/people.md#profiles)."""

from typing import Annotated, Self

import msgspec
from msgspec import Meta

from pressroom.clock import iso
from pressroom.domains.accounts.schemas import AccountOut, AuthorOut, author_of, cover_address
from pressroom.domains.reading.actions import OpenedAccount
from pressroom.web.wire import Time, Url


class ProfileOut(AuthorOut, rename="camel"):
    """An account, and the caller's relation to it."""

    cover_image: Annotated[Url | None, Meta(description="A wide picture over the profile; null: none was chosen.")]
    bio: str | None
    is_private: bool
    total_followers: int
    total_following: int
    total_posts: Annotated[
        int | None,
        Meta(
            description="Posts that the caller may see; null: none, as the account is private and not followed, or is"
            " blocked."
        ),
    ]
    created_at: Time
    following: bool
    requested: Annotated[bool, Meta(description="The account is private and has not answered yet.")]
    blocked: Annotated[bool, Meta(description="The caller blocks the account.")]
    muted: Annotated[bool, Meta(description="The caller mutes the account.")]

    @classmethod
    def example(cls) -> Self:
        account = AccountOut.example()
        return cls(
            **msgspec.structs.asdict(AuthorOut.example()),
            cover_image=None,
            bio=account.bio,
            is_private=False,
            total_followers=180,
            total_following=12,
            total_posts=41,
            created_at=account.created_at,
            following=True,
            requested=False,
            blocked=False,
            muted=False,
        )


def profile_shape(opened: OpenedAccount, total_posts: int, base_url: str) -> ProfileOut:
    """Returns a profile as the reader sees it."""
    account, relation = opened.account, opened.relation
    return ProfileOut(
        **msgspec.structs.asdict(author_of(account.id, account, base_url)),
        cover_image=cover_address(account.cover_token, base_url),
        bio=account.bio,
        is_private=account.is_private,
        total_followers=account.total_followers,
        total_following=account.total_following,
        total_posts=None if opened.hidden else total_posts,
        created_at=iso(account.created_at),
        following=relation.following,
        requested=relation.requested,
        blocked=relation.blocked,
        muted=relation.muted,
    )
