"""Clips over HTTP."""

from collections.abc import Callable, Iterator
from typing import Final

from pressroom.domains.accounts.models import Caller, reader_of
from pressroom.domains.clips import actions
from pressroom.domains.clips.models import ClipView
from pressroom.domains.clips.schemas import (
    EDITED_CLIP_EXAMPLE,
    ClipList,
    ClipOut,
    DeletedClipOut,
    EditClip,
    PublishClip,
    clip_shape,
)
from pressroom.domains.limits.actions import allowance_of
from pressroom.domains.media.models import FILE_BYTES_BY_KEY, FILE_BYTES_SIGNED_IN
from pressroom.domains.media.uploads import file_errors, staged_uploads
from pressroom.domains.media.urls import addresses_of
from pressroom.errors import Code, FieldError, Invalid, NotFound, QuotaExceeded, Unprocessable
from pressroom.web.access import Keyed, SessionOnly
from pressroom.web.multipart_rules import Form, FormRules, FormSpec
from pressroom.web.paging import read_paged
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Routes, Tag

TAG = Tag("Clips", "Videos with a caption.")
routes: Final = Routes[Caller](TAG)


_TEXTS: Final = ("caption", "visibility", "hubId")


def _field_errors(form: Form) -> Iterator[FieldError]:
    return file_errors(form, "video", video_only=True)


CLIP_FORM: Final = FormSpec(
    by_key=FormRules("video", 1, FILE_BYTES_BY_KEY, _TEXTS, frozenset()),
    signed_in=FormRules("video", 1, FILE_BYTES_SIGNED_IN, _TEXTS, frozenset()),
    json_texts=frozenset(),
    field_errors=_field_errors,
)


@routes.post(
    "/api/clips",
    Keyed("clips:write", spends_content=True),
    summary="Publish a clip",
    gives=ClipOut,
    location="/api/clips/{made}",
    fails=(
        Invalid(
            [FieldError("video[0]", Code.UNSUPPORTED_MEDIA_TYPE, "By its bytes this is image/png; a video is needed.")]
        ),
        Unprocessable([FieldError("hubId", Code.NOT_ALLOWED, "The account is not a member of such a hub.")]),
        Unprocessable([FieldError("video", Code.TOO_LARGE, "The account may store 5,368,709,120 bytes of media.")]),
        QuotaExceeded,
    ),
    form=CLIP_FORM,
)
async def publish_clip(request: Request[Caller], body: PublishClip) -> Response:
    """Publishes a video of at most 8 MB, signed in of 50 MB, with a caption. What it is comes from its bytes. It is
    processed after the answer: `url` answers 404 until `processingStatus` is READY. It counts against the account's
    content quota of the UTC day."""
    if (response := await request.once.stored()) is not None:
        return response
    async with staged_uploads(request) as staged:
        draft, allowance = body.draft(staged.files[0]), allowance_of(request.settings)
        return staged.answered(
            await request.once(actions.publish_clip, _shown(request), request.caller, draft, allowance)
        )


@routes.get(
    "/api/clips",
    SessionOnly(),
    summary="List your clips",
    gives=ClipList,
    paged=True,
    response_example=ClipList([ClipOut.example()], None),
)
async def list_clips(request: Request[Caller]) -> Response:
    """The account's clips of every visibility that are not deleted, newest first."""
    shown, cursor = await read_paged(request, lambda view: view.clip.id, actions.list_own, request.caller.account.id)
    return json_response(ClipList([_shown(request)(view) for view in shown], cursor))


@routes.get(
    "/api/clips/{id}",
    Keyed(anyone=True),
    summary="Show a clip",
    gives=ClipOut,
    fails=(NotFound("There is no such clip."),),
)
async def show_clip(request: Request[Caller]) -> Response:
    """One clip, if the reader may see it: with a key, what its account published and what anyone may see. Ask again
    until `processingStatus` has left PROCESSING. Its page is /clip/{id}."""
    reader = reader_of(request.who)
    view = await request.db.read(actions.get_clip, request.parameters["id"], reader.id, by_key=reader.by_key)
    return json_response(_shown(request)(view))


@routes.patch(
    "/api/clips/{id}",
    SessionOnly(),
    summary="Edit a clip",
    gives=ClipOut,
    fails=(
        Invalid([FieldError("body", Code.REQUIRED, "Give at least one of caption and visibility.")]),
        NotFound("There is no such clip."),
    ),
    response_example=EDITED_CLIP_EXAMPLE,
)
async def edit_clip(request: Request[Caller], body: EditClip) -> Response:
    """Replaces the caption, the visibility or both of one of the account's own clips. Where fewer may see it than
    before, its video moves to other addresses."""
    return await request.once(actions.edit_clip, _shown(request), request.caller, request.parameters["id"], body.edit())


@routes.delete(
    "/api/clips/{id}",
    SessionOnly(),
    summary="Delete a clip",
    gives=DeletedClipOut,
    fails=(NotFound("There is no such clip."),),
    response_example=DeletedClipOut("Clip deleted", ClipOut.example().id),
)
async def delete_clip(request: Request[Caller]) -> Response:
    """Deletes one of the account's own clips: it is shown no more, its page answers 410 and its video 404. A second
    deletion is a 404; under the same Idempotency-Key it is a replay. Spent quota stays spent."""
    return await request.once(
        actions.delete_clip,
        lambda clip_id: DeletedClipOut("Clip deleted", clip_id),
        request.caller,
        request.parameters["id"],
    )


def _shown(request: Request[Caller]) -> Callable[[ClipView], ClipOut]:
    addresses = addresses_of(request)
    return lambda view: clip_shape(view, addresses)
