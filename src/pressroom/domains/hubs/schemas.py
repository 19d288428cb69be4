"""Wire shapes of the hubs package."""

from collections.abc import Iterator
from typing import Annotated, Self

import msgspec
from msgspec import Meta

from pressroom.clock import iso
from pressroom.domains.hubs.models import Hub, NewHub, slug_errors
from pressroom.errors import FieldError
from pressroom.text import name_errors
from pressroom.web.json_bodies import Body
from pressroom.web.page_forms import FormState
from pressroom.web.paging import is_id
from pressroom.web.query import parse_query
from pressroom.web.wire import EXAMPLE_BASE, ONE_LINE, Id, NextCursor, Time, Url


class CreateHub(Body):
    """A hub to create."""

    name: Annotated[str, Meta(min_length=1, max_length=100, extra_json_schema={"pattern": ONE_LINE})]
    slug: Annotated[
        str,
        Meta(
            description="Its part of the hub's address: 3 to 40 of a-z, 0-9 and -. Unique.",
            extra_json_schema={"pattern": "^[a-z0-9-]{3,40}$"},
        ),
    ]
    description: Annotated[str, Meta(max_length=500, description="What the hub is about.")] | None = None

    def field_errors(self, now: int) -> Iterator[FieldError]:
        yield from slug_errors(self.slug)
        yield from name_errors("name", self.name, "The name of a hub")

    def new_hub(self) -> NewHub:
        """The hub to make."""
        return NewHub(self.name, self.slug, self.description)

    @classmethod
    def example(cls) -> Self:
        return cls(name="Letterpress", slug="letterpress", description="Lead, ink and patience.")


def wanted_hub(query: str, form: FormState) -> str:
    """Returns the id of the hub that a form was sent with, or else that the address of its page names; "" for none."""
    given = form.value("hubId") if form.typed else parse_query(query).get("hub", "")
    return given if is_id(given) else ""


class HubOut(msgspec.Struct, rename="camel"):
    """A hub."""

    id: Id
    name: str
    slug: str
    avatar: Url
    description: str | None
    members: int
    member: Annotated[bool, Meta(description="Whether the caller is a member.")]
    created_at: Time

    @classmethod
    def example(cls) -> Self:
        return cls(
            id="01KP2C6A1F4M3W3G6Q0V1S8ZBN",
            name="Letterpress",
            slug="letterpress",
            avatar=hub_avatar("01KP2C6A1F4M3W3G6Q0V1S8ZBN", EXAMPLE_BASE),
            description=CreateHub.example().description,
            members=1,
            member=True,
            created_at="2026-04-12T10:00:00.000Z",
        )


class HubList(msgspec.Struct, rename="camel"):
    """A page of hubs, newest first."""

    hubs: list[HubOut]
    next_cursor: NextCursor


class PostHubOut(msgspec.Struct):
    """The hub that a post was made into."""

    id: Id
    name: str
    slug: str
    avatar: Url


class MemberOut(msgspec.Struct):
    """Whether the caller is a member now."""

    member: bool


def hub_avatar(hub_id: str, base_url: str) -> str:
    """Where the hub's picture is."""
    return f"{base_url}/avatars/hubs/{hub_id}.svg"


def hub_of(hub_id: str | None, name: str | None, slug: str | None, base_url: str) -> PostHubOut | None:
    """Returns the hub that a post or clip was published into; None without one."""
    return None if hub_id is None else PostHubOut(hub_id, name or "", slug or "", hub_avatar(hub_id, base_url))


def hub_shape(hub: Hub, base_url: str) -> HubOut:
    """The hub, as the reader that it was read for sees it."""
    return HubOut(
        id=hub.id,
        name=hub.name,
        slug=hub.slug,
        avatar=hub_avatar(hub.id, base_url),
        description=hub.description,
        members=hub.members,
        member=hub.is_member,
        created_at=iso(hub.created_at),
    )
