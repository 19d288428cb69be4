"""The page of an account's drafts (docs/web-app.md#drafts)."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from pressroom.db import Tx
from pressroom.domains.accounts.models import Caller
from pressroom.domains.drafts import actions, queries
from pressroom.domains.drafts.models import MOST_SCHEDULED, DraftChanges, DraftState, DraftView
from pressroom.domains.drafts.schemas import LATEST, DraftOut, draft_shape
from pressroom.domains.limits.actions import allowance_of
from pressroom.domains.media.urls import MediaAddresses, addresses_of
from pressroom.domains.posts.routes import await_card
from pressroom.ids import BEYOND
from pressroom.web.access import Page
from pressroom.web.json_bodies import Body
from pressroom.web.page_forms import FormState, NoFields
from pressroom.web.rendering import redirect, render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()

DRAFTS: Final = "/drafts"
ONE: Final = f"{DRAFTS}/{{id}}"


class ShownVersion(Body):
    """The version of the draft that the page shows."""

    version: Annotated[int, Meta(ge=1, le=LATEST)]


class DraftLists(msgspec.Struct):
    """The drafts of an account, by their next step."""

    scheduled: list[DraftOut]
    approval: list[DraftOut]
    refused: list[DraftOut]
    drafts: list[DraftOut]


async def read_lists(tx: Tx, account_id: str) -> list[DraftView]:
    """Returns the account's drafts that are not published, newest first."""
    found = [
        draft
        for state in (DraftState.SCHEDULED, DraftState.REFUSED, DraftState.DRAFT)
        for draft in await queries.list_in_state(tx, account_id, state, BEYOND, MOST_SCHEDULED)
    ]
    return await actions.complete(tx, found)


def lists_of(views: list[DraftView], addresses: MediaAddresses) -> DraftLists:
    """Returns drafts in their lists; scheduled ones in the order of their times."""
    lists = DraftLists([], [], [], [])
    for view in sorted(views, key=lambda view: view.draft.publish_at or 0):
        shown = draft_shape(view, addresses)
        match view.draft.state:
            case DraftState.SCHEDULED:
                lists.scheduled.append(shown)
            case DraftState.REFUSED:
                lists.refused.insert(0, shown)
            case _ if view.draft.needs_approval:
                lists.approval.append(shown)
            case _:
                lists.drafts.append(shown)
    return lists


@routes.page(DRAFTS, Page(), summary="Your drafts")
async def show_drafts(request: Request[Caller], form: FormState) -> Response:
    """Renders drafts, scheduled ones, and those that were refused or wait for approval."""
    views = await request.db.read(read_lists, request.caller.account.id)
    lists = lists_of(views, addresses_of(request, lasting=False))
    return await render(request, "drafts/list.html", {"lists": lists}, form=form)


@routes.submit(f"{ONE}/publish", Page(), again=show_drafts, summary="Publish a draft")
async def publish_draft(request: Request[Caller], body: ShownVersion) -> Response:
    """Publishes a draft now, like POST /api/drafts/{id}/publish; this approves one that needs it."""
    draft_id, allowance = request.parameters["id"], allowance_of(request.settings)
    await await_card(request, actions.precheck_draft, request.caller, draft_id, body.version, allowance)
    await request.once(actions.publish_draft, _id_of, request.caller, draft_id, body.version, allowance)
    return redirect(DRAFTS, done="draft-published")


@routes.submit(f"{ONE}/unschedule", Page(), again=show_drafts, summary="Take a draft off the schedule")
async def unschedule_draft(request: Request[Caller], body: ShownVersion) -> Response:
    """Takes a draft off the schedule, or forgets why it was refused, like PATCH /api/drafts/{id}."""
    changes = DraftChanges({}, publish_at=None)
    await request.once(actions.edit_draft, _id_of, request.caller, request.parameters["id"], body.version, changes)
    return redirect(DRAFTS, done="draft-unscheduled")


async def ask_to_delete(request: Request[Caller], form: FormState) -> Response:
    """Renders the question whether to delete a draft. Raises NotFound."""
    view = await request.db.read(actions.get_draft, request.caller, request.parameters["id"])
    draft = draft_shape(view, addresses_of(request, lasting=False))
    return await render(request, "drafts/delete.html", {"draft": draft}, form=form)


@routes.form(f"{ONE}/delete", Page(), show=ask_to_delete, summary="Delete a draft")
async def delete_draft(request: Request[Caller], body: NoFields) -> Response:
    """Deletes a draft and its files like DELETE /api/drafts/{id}."""
    await request.once(actions.delete_draft, lambda draft_id: draft_id, request.caller, request.parameters["id"])
    return redirect(DRAFTS, done="draft-deleted")


def _id_of(view: DraftView) -> str:
    return view.draft.id
