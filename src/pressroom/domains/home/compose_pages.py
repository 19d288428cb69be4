"""The compose box on a page of its own: for drafts, for phones, and for text that other pages share
(docs/web-app.md#composing)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, cast

import msgspec

from pressroom.db import Tx
from pressroom.domains.accounts.models import Caller
from pressroom.domains.drafts import actions
from pressroom.domains.drafts.actions import Composed, get_draft
from pressroom.domains.drafts.forms import DRAFT_FIELDS, DRAFT_FILES, ComposeDraft, ScheduleComposed
from pressroom.domains.drafts.models import DraftChanges, DraftState, DraftView
from pressroom.domains.drafts.schemas import DraftOut, draft_shape
from pressroom.domains.hubs.actions import list_choice
from pressroom.domains.hubs.models import HubChoice
from pressroom.domains.limits.actions import allowance_of
from pressroom.domains.media.uploads import staged_uploads
from pressroom.domains.media.urls import addresses_of
from pressroom.domains.posts.actions import publish
from pressroom.domains.posts.forms import COMPOSE_FILES, ComposePost
from pressroom.domains.posts.routes import await_card
from pressroom.domains.posts.visibility import Visibility
from pressroom.errors import NotFound
from pressroom.web.access import Page
from pressroom.web.page_forms import FormState
from pressroom.web.paging import is_id
from pressroom.web.query import parse_query
from pressroom.web.rendering import redirect, render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes
from pressroom.web.site import SHARED_PROTOCOL
from pressroom.web.templating import COMPOSE_POLICY

routes: Final = Routes[Caller]()

COMPOSE: Final = "/compose"
SHARED: Final = 5_000
"""Characters of shared text that the box takes over."""


class Opened(msgspec.Struct):
    """A compose box: the draft that it was opened with, and the hubs that it offers."""

    view: DraftView | None
    hubs: HubChoice


async def open_box(tx: Tx, caller: Caller, draft_id: str, hub: str) -> Opened:
    """Returns a compose box; `draft_id` and `hub` may be empty. Raises NotFound when there is no such draft."""
    view = await get_draft(tx, caller, draft_id) if draft_id else None
    return Opened(view, await list_choice(tx, caller.account.id, hub or (view.fields.hub_id or "" if view else "")))


async def show_compose(request: Request[Caller], form: FormState) -> Response:
    """Renders the box: empty, with a draft, with text of another page, or as it was sent."""
    asked = parse_query(request.query)
    draft_id = form.value("draft") or asked.get("draft", "")
    if draft_id and not is_id(draft_id):
        raise NotFound("There is no such draft.")
    hub = form.value("hubId") or asked.get("hub", "")
    opened = await request.db.read(open_box, request.caller, draft_id, hub if is_id(hub) else "")
    draft = draft_shape(opened.view, addresses_of(request, lasting=False)) if opened.view else None
    if draft is not None and draft.state == DraftState.PUBLISHED:
        return redirect(f"/post/{draft.post_id}")
    if not form.typed:
        typed = typed_of(draft) if draft else shared_text(asked)
        form = msgspec.structs.replace(form, typed=typed, lines=DRAFT_FIELDS.lines)
    is_stale = draft is not None and form.was_refused and form.value("version") != str(draft.version)
    values: dict[str, object] = {
        "account": request.caller.account,
        "hubs": opened.hubs,
        "hub": hub or (draft.hub_id if draft else ""),
        "draft": draft,
        "is_stale": is_stale,
        "preview": None,
        "action": COMPOSE,
    }
    return await render(request, "home/compose.html", values, form=form, policy=COMPOSE_POLICY)


def shared_text(asked: Mapping[str, str]) -> dict[str, Sequence[str]]:
    """Returns the text that another page shares, by its `title`, `text` and `url` (docs/web-app.md#sharing)."""
    parts = [asked.get(name, "").strip().removeprefix(f"{SHARED_PROTOCOL}:") for name in ("title", "text", "url")]
    text = "\n".join(dict.fromkeys(part for part in parts if part))[:SHARED]
    return {"content": [text]} if text else {}


def typed_of(draft: DraftOut) -> dict[str, Sequence[str]]:
    """Returns a draft as the fields of the form, whose names are those of the JSON."""
    values = msgspec.to_builtins(draft)
    names = [name for name in ComposePost.__struct_encode_fields__ if name in values]
    if draft.state == DraftState.SCHEDULED:
        names.append("publishAt")
    return {field: [text] for name in names for field, text in _typed(name, values[name])}


def _typed(name: str, value: object) -> Iterator[tuple[str, str]]:
    """Yields a value as fields of the form: of an object each of its own, of a list its lines."""
    match value:
        case None | False:
            return
        case True:
            yield name, "true"
        case dict():
            for inner, of_it in cast("dict[str, object]", value).items():
                yield from _typed(f"{name}.{inner}", of_it)
        case list():
            yield name, "\n".join(cast("list[str]", value))
        case _:
            yield name, str(value)


async def keep(
    request: Request[Caller],
    body: ComposeDraft,
    changes: DraftChanges,
    path: str,
    done: str,
    *,
    publishes: bool = False,
) -> Response:
    """Saves the box in its draft, and publishes that or not; then leads to `path` with the notice `done`."""
    if await request.once.stored() is None:
        action = actions.publish_box if publishes else actions.save_composed
        async with staged_uploads(request, body.alt_text or []) as staged:
            composed = Composed(body.draft, body.version, changes, staged.files)
            staged.answered(
                await request.once(action, _id_of, request.caller, composed, allowance_of(request.settings))
            )
    return redirect(path, done=done)


async def publish_box(request: Request[Caller], body: ComposeDraft) -> Response:
    """Publishes the draft of the box, if it has one.

    Otherwise it publishes like POST /api/posts, POST /api/posts/upload when there are files, and
    PUT /api/posts/{id}/audience.
    """
    if body.draft is not None:
        return await keep(request, body, body.changes(), "/", "post-published", publishes=True)
    if await request.once.stored() is not None:
        return redirect("/", done="post-published")
    new, allowance = body.new_post(), allowance_of(request.settings)
    named = body.usernames if body.visibility == Visibility.CUSTOM else None
    if not request.files and new.card_url is not None:
        await await_card(request, publish.precheck_post, request.caller, new, allowance)
    async with staged_uploads(request, body.alt_text or []) as staged:
        new.media = list(staged.files)
        staged.answered(
            await request.once(
                publish.publish_composed, lambda view: view.post.id, request.caller, new, allowance, named
            )
        )
    return redirect("/", done="post-published")


@routes.form(COMPOSE, Page(), show=show_compose, fields=DRAFT_FIELDS, files=COMPOSE_FILES, summary="Write a post")
async def publish_composed(request: Request[Caller], body: ComposeDraft) -> Response:
    """Publishes the content of the box."""
    return await publish_box(request, body)


@routes.submit(
    f"{COMPOSE}/save",
    Page(),
    again=show_compose,
    fields=DRAFT_FIELDS,
    files=DRAFT_FILES,
    summary="Save what is written as a draft",
)
async def save_kept(request: Request[Caller], body: ComposeDraft) -> Response:
    """Keeps the box as a draft, like POST or PATCH /api/drafts and POST /api/drafts/{id}/media."""
    return await keep(request, body, body.changes(), "/drafts", "draft-saved")


@routes.submit(
    f"{COMPOSE}/schedule",
    Page(),
    again=show_compose,
    fields=DRAFT_FIELDS,
    files=DRAFT_FILES,
    summary="Schedule what is written",
)
async def schedule_kept(request: Request[Caller], body: ScheduleComposed) -> Response:
    """Keeps the box as a draft that is published at its time."""
    return await keep(request, body, body.changes(body.at()), "/drafts", "draft-scheduled")


def _id_of(view: DraftView) -> str:
    return view.draft.id
