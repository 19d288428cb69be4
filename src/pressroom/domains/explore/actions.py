"""Reading explore, and taking subjects out of it. Each action takes an open transaction first."""

from collections.abc import Iterator

import msgspec

from pressroom.db import Tx
from pressroom.domains.accounts.actions import get_record
from pressroom.domains.audit import actions as audit
from pressroom.domains.audit.models import Kind, Source
from pressroom.domains.explore import queries
from pressroom.domains.explore.models import (
    PEOPLE,
    SHOWN,
    Exclusion,
    NewExclusion,
    PickKind,
    RisingTag,
    SuggestedPerson,
    get_tag,
)
from pressroom.domains.explore.queries import ShownPick
from pressroom.domains.hubs.actions import get_hub_by_slug
from pressroom.domains.hubs.models import Hub
from pressroom.domains.posts.actions import lookup
from pressroom.domains.posts.actions.lookup import get_post
from pressroom.domains.posts.models import PostView
from pressroom.errors import Code, Conflict, FieldError, NotFound, Unprocessable
from pressroom.ids import new_id


class Explored(msgspec.Struct):
    """Explore as a reader sees it."""

    tags: list[RisingTag]
    posts: list[PostView]
    people: list[SuggestedPerson]
    hubs: list[Hub]

    @property
    def is_empty(self) -> bool:
        """Whether the page is empty."""
        return not (self.tags or self.posts or self.people or self.hubs)


async def open_explore(tx: Tx, reader: str) -> Explored:
    """Returns the picks that the reader (an account's id, or empty) may see now, and people to follow."""
    shown = _first_of_each(await queries.list_picks(tx, reader))
    return Explored(
        tags=[RisingTag(pick.subject, pick.posts, pick.accounts) for pick in shown[PickKind.TAG]],
        posts=await lookup.list_standing(tx, [pick.subject for pick in shown[PickKind.POST]], reader),
        people=await suggest_people(tx, reader, PEOPLE),
        hubs=list(_hubs(shown[PickKind.HUB])),
    )


async def suggest_people(tx: Tx, reader: str, limit: int) -> list[SuggestedPerson]:
    """Returns accounts that the reader does not follow: those that followed accounts follow, then picks."""
    return await queries.suggest_people(tx, reader, limit)


async def exclude(tx: Tx, admin: Source, new: NewExclusion) -> Exclusion:
    """Takes a subject out of explore from the next read on, and returns the exclusion.

    Raises Unprocessable for an unknown one, Conflict when it is out already.
    """
    subject, account_id = await _get_subject(tx, new)
    made = new_id(tx.now)
    if not await queries.insert_exclusion(
        tx,
        exclusion_id=made,
        kind=new.kind,
        subject=subject,
        account_id=account_id,
        reason=new.reason,
        admin_id=admin.admin_id or "",
    ):
        raise Conflict(f"This {new.kind} is out of explore already.")
    await audit.record(
        tx, account_id or "", Kind.EXPLORE_EXCLUDED, admin, type=new.kind, subject=subject, reason=new.reason
    )
    return await _get_exclusion(tx, made)


async def include(tx: Tx, admin: Source, exclusion_id: str) -> Exclusion:
    """Puts a subject back into explore; returns the exclusion that ended. Raises NotFound."""
    ended = await _get_exclusion(tx, exclusion_id)
    account_id = await queries.delete_exclusion(tx, exclusion_id)
    await audit.record(tx, account_id or "", Kind.EXPLORE_INCLUDED, admin, type=ended.kind, subject=ended.subject)
    return ended


async def _get_exclusion(tx: Tx, exclusion_id: str) -> Exclusion:
    found = await queries.find_exclusion(tx, exclusion_id)
    if found is None:
        raise NotFound("There is no such exclusion.")
    return found


async def _get_subject(tx: Tx, new: NewExclusion) -> tuple[str, str | None]:
    """Returns the subject as it is stored, and the id of its account, if it has one. Raises Unprocessable."""
    named = new.subject.rpartition("/")[2]  # of an address, the part that names the subject
    try:
        match new.kind:
            case PickKind.TAG:
                return get_tag(new.subject), None
            case PickKind.POST:
                post = await get_post(tx, named, reader="")
                return post.id, post.account_id
            case PickKind.ACCOUNT:
                account_id = (await get_record(tx, named.removeprefix("@"))).id
                return account_id, account_id
            case PickKind.HUB:
                return (await get_hub_by_slug(tx, named)).id, None
    except NotFound as error:
        raise Unprocessable([FieldError("subject", Code.INVALID_CHOICE, error.message)]) from None


def _first_of_each(picks: list[ShownPick]) -> dict[PickKind, list[ShownPick]]:
    """Returns the first picks of each kind, as many as are shown."""
    return {kind: [pick for pick in picks if pick.kind == kind][:most] for kind, most in SHOWN.items()}


def _hubs(picks: list[ShownPick]) -> Iterator[Hub]:
    for pick in picks:
        yield Hub(
            pick.subject,
            pick.name or "",
            pick.slug or "",
            pick.description,
            pick.members or 0,
            pick.created_at or 0,
            pick.is_member,
        )
