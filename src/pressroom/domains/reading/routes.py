"""Profiles over HTTP, and a post as it would be shown: nothing is stored, and no page is fetched for its card."""

from collections.abc import Sequence
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from pressroom.db import Tx
from pressroom.domains.accounts.models import Caller
from pressroom.domains.follows.routes import TAG as FOLLOWS
from pressroom.domains.posts.examples import BAD_POST
from pressroom.domains.posts.models import NewPost
from pressroom.domains.posts.routes import TAG
from pressroom.domains.posts.schemas import CreatePost
from pressroom.domains.previews.actions import find_cards
from pressroom.domains.previews.models import Card
from pressroom.domains.previews.schemas import LinkPreviewOut, card_shape
from pressroom.domains.reading.actions import read_profile
from pressroom.domains.reading.entity_links import linked
from pressroom.domains.reading.schemas import ProfileOut, profile_shape
from pressroom.entities import Entity, find_entities
from pressroom.errors import NotFound
from pressroom.web.access import SessionOnly
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller](TAG)


class EntityOut(msgspec.Struct):
    """A hashtag, mention or URL in a text, and where it stands: code points from its beginning."""

    type: str
    start: int
    end: int
    name: Annotated[str, Meta(description="Of a hashtag its identity, of a mention the folded user name, or the URL.")]


class PreviewOut(msgspec.Struct, rename="camel"):
    """A preview of a post."""

    content: Annotated[str, Meta(description="The text as it would be stored, in NFC.")]
    characters: Annotated[int, Meta(description="Code points of it; a post has up to 5,000.")]
    html: Annotated[str, Meta(description="The text as pages show it: escaped, with its links.")]
    entities: list[EntityOut]
    link_url: Annotated[str | None, Meta(description="The page whose card the post would show.")]
    link_preview: Annotated[LinkPreviewOut | None, Meta(description="That card, if it was fetched before.")]


async def find_card(tx: Tx, new: NewPost) -> Card | None:
    """Returns the card that the post would show, if it was fetched before."""
    return (await find_cards(tx, [new.card_url])).get(new.card_url) if new.card_url else None


def preview_shape(new: NewPost, card: Card | None, base_url: str) -> PreviewOut:
    """Returns the text of a post."""
    text = new.content.text if new.content else ""
    return PreviewOut(
        content=text,
        characters=len(text),
        html=str(linked(text)),
        entities=_entities(list(find_entities(text))),
        link_url=new.card_url,
        link_preview=card_shape(card, base_url) if card else None,
    )


def _entities(found: Sequence[Entity]) -> list[EntityOut]:
    return [EntityOut(each.kind.name.lower(), each.start, each.end, each.name) for each in found]


@routes.post(
    "/api/posts/preview",
    SessionOnly(is_limited=False),
    summary="Preview a post",
    gives=PreviewOut,
    fails=(BAD_POST,),
    response_example=PreviewOut(
        content="Which one goes on the cover? #letterpress",
        characters=41,
        html='Which one goes on the cover? <a href="/tag/letterpress">#letterpress</a>',
        entities=[EntityOut("hashtag", 29, 41, "letterpress")],
        link_url=None,
        link_preview=None,
    ),
    idempotent=False,
)
async def preview_post(request: Request[Caller], body: CreatePost) -> Response:
    """A post as it would be shown, by the same rules as publishing it. Stores nothing, fetches nothing, and so takes no
    Idempotency-Key. Membership of the hub and quotas are looked at when it is published."""
    new = body.new_post()
    card = await request.db.read(find_card, new)
    return json_response(preview_shape(new, card, request.settings.base_url))


@routes.get(
    "/api/accounts/{username}",
    SessionOnly(),
    summary="Show a profile",
    gives=ProfileOut,
    tag=FOLLOWS,
    fails=(NotFound("There is no account mira_press."),),
)
async def show_profile(request: Request[Caller]) -> Response:
    """An account and the caller's relation to it. One that is suspended, or blocks the caller, is a 404; one that
    the caller blocks is shown, without the number of its posts."""
    opened, total_posts = await request.db.read(read_profile, request.parameters["username"], request.caller.account.id)
    return json_response(profile_shape(opened, total_posts, request.settings.base_url))
