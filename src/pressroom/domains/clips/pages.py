"""The pages on which authors list, publish, edit and delete clips
(docs/web-app.md#own-posts-and-clips)."""

from collections.abc import Iterator
from typing import Final

from pressroom.db import Tx
from pressroom.domains.accounts.models import Caller
from pressroom.domains.clips import actions
from pressroom.domains.clips.models import ClipView
from pressroom.domains.clips.schemas import EditClip, PublishClip, clip_shape
from pressroom.domains.hubs.actions import list_choice
from pressroom.domains.hubs.models import HubChoice
from pressroom.domains.hubs.schemas import wanted_hub
from pressroom.domains.limits.actions import allowance_of
from pressroom.domains.media.models import FILE_BYTES_SIGNED_IN, ProcessingStatus
from pressroom.domains.media.uploads import file_errors, staged_uploads
from pressroom.domains.media.urls import addresses_of
from pressroom.errors import FieldError, NotFound
from pressroom.ids import BEYOND
from pressroom.web.access import Page
from pressroom.web.multipart_rules import Form, FormRules
from pressroom.web.page_forms import FormFields, FormState, NoFields
from pressroom.web.paging import place_of
from pressroom.web.rendering import redirect, render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import FormFiles, Routes
from pressroom.web.templating import COMPOSE_POLICY

routes: Final = Routes[Caller]()


ONE: Final = "/clip/{id}"
CLIPS: Final = 20
"""Clips on a page."""


def _field_errors(form: Form) -> Iterator[FieldError]:
    return file_errors(form, "video", video_only=True)


CLIP_FILES: Final = FormFiles(FormRules("video", 1, FILE_BYTES_SIGNED_IN), _field_errors)


async def read_clips(tx: Tx, account_id: str, before: str, hub: str) -> tuple[list[ClipView], HubChoice]:
    """Returns a page of an account's clips and one more, and the hubs that it can publish into, the one
    with the id `hub` among them."""
    found = await actions.list_own(tx, account_id, before, CLIPS + 1)
    return found, await list_choice(tx, account_id, hub)


async def show_clips(request: Request[Caller], form: FormState) -> Response:
    """Renders the form of a new clip above the account's clips."""
    before, hub = place_of(request.query), wanted_hub(request.query, form)
    found, hubs = await request.db.read(read_clips, request.caller.account.id, before or BEYOND, hub)
    addresses = addresses_of(request, lasting=False)
    clips = [clip_shape(view, addresses) for view in found[:CLIPS]]
    values: dict[str, object] = {
        "account": request.caller.account,
        "clips": clips,
        "awaits_files": any(clip.processing_status == ProcessingStatus.PROCESSING for clip in clips),
        "hubs": hubs,
        "hub": hub,
        "next_page": f"/clips?before={found[CLIPS - 1].clip.id}" if len(found) > CLIPS else None,
        "first_page": "/clips" if before else None,
    }
    return await render(request, "clips/list.html", values, form=form, policy=COMPOSE_POLICY)


@routes.form("/clips", Page(), show=show_clips, files=CLIP_FILES, summary="Publish a clip")
async def publish_clip(request: Request[Caller], body: PublishClip) -> Response:
    """Publishes a clip like POST /api/clips."""
    if await request.once.stored() is None:
        async with staged_uploads(request) as staged:
            draft, allowance = body.draft(staged.files[0]), allowance_of(request.settings)
            staged.answered(await request.once(actions.publish_clip, _id_of, request.caller, draft, allowance))
    return redirect("/clips", done="clip-published")


async def get_own_clip(tx: Tx, caller: Caller, clip_id: str) -> ClipView:
    """Returns the caller's own clip, if it stands. Raises NotFound, also for somebody else's."""
    view = await actions.get_clip(tx, clip_id, caller.account.id)
    if not view.clip.is_author:
        raise NotFound("There is no such clip.")
    return view


async def show_edit(request: Request[Caller], form: FormState) -> Response:
    """Renders the form that edits a clip."""
    view = await request.db.read(get_own_clip, request.caller, request.parameters["id"])
    return await render(request, "clips/edit.html", {"clip": view.clip}, form=form)


@routes.form(f"{ONE}/edit", Page(), show=show_edit, fields=FormFields(empties={"caption"}), summary="Edit a clip")
async def save_edit(request: Request[Caller], body: EditClip) -> Response:
    """Edits a clip like PATCH /api/clips/{id}."""
    clip_id = request.parameters["id"]
    await request.once(actions.edit_clip, _id_of, request.caller, clip_id, body.edit())
    return redirect("/clips", done="clip-edited")


async def show_deletion(request: Request[Caller], form: FormState) -> Response:
    """Renders the question whether to delete a clip."""
    view = await request.db.read(get_own_clip, request.caller, request.parameters["id"])
    return await render(request, "clips/delete.html", {"clip": view.clip}, form=form)


@routes.form(f"{ONE}/delete", Page(), show=show_deletion, summary="Delete a clip")
async def delete_clip(request: Request[Caller], body: NoFields) -> Response:
    """Deletes a clip like DELETE /api/clips/{id}."""
    await request.once(actions.delete_clip, lambda clip_id: clip_id, request.caller, request.parameters["id"])
    return redirect("/clips", done="clip-deleted")


def _id_of(view: ClipView) -> str:
    return view.clip.id
