"""Clips over HTTP."""

from collections.abc import Callable, Iterator
from typing import Final

from pressroom.domains.accounts.models import Caller, reader_of
from pressroom.domains.clips import actions
from pressroom.domains.clips.models import ClipView
from pressroom.domains.clips.schemas import CLIP_EXAMPLE, PUBLISH_CLIP_EXAMPLE, ClipOut, PublishClip, clip_shape
from pressroom.domains.limits.allowance import allowance_of
from pressroom.domains.media.file_checks import file_errors
from pressroom.domains.media.models import FILE_BYTES_BY_KEY, FILE_BYTES_SIGNED_IN
from pressroom.domains.media.staging import staged_uploads
from pressroom.domains.media.urls import addresses_of
from pressroom.errors import Code, FieldError, Invalid, NotFound, QuotaExceeded, Unprocessable
from pressroom.web.access import Keyed
from pressroom.web.multipart_rules import Form, FormRules
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import FormSpec, Tag, declare, declare_with_body

TAG = Tag("Clips", "Videos with a caption.")

_TEXTS: Final = ("caption", "visibility", "hubId")


def _field_errors(form: Form) -> Iterator[FieldError]:
    return file_errors(form, "video", video_only=True)


CLIP_FORM: Final = FormSpec(
    by_key=FormRules("video", 1, FILE_BYTES_BY_KEY, _TEXTS, frozenset()),
    signed_in=FormRules("video", 1, FILE_BYTES_SIGNED_IN, _TEXTS, frozenset()),
    json_texts=frozenset(),
    field_errors=_field_errors,
)


@declare_with_body(
    "POST",
    "/api/clips",
    Keyed("clips:write"),
    summary="Publish a clip",
    takes=PublishClip,
    gives=ClipOut,
    status=201,
    location="/api/clips/{made}",
    fails=(
        Invalid(
            [FieldError("video[0]", Code.UNSUPPORTED_MEDIA_TYPE, "By its bytes this is image/png; a video is needed.")]
        ),
        Unprocessable([FieldError("hubId", Code.NOT_ALLOWED, "The account is not a member of such a hub.")]),
        Unprocessable([FieldError("video", Code.TOO_LARGE, "The account may store 5,368,709,120 bytes of media.")]),
        QuotaExceeded,
    ),
    idempotent=True,
    tag=TAG,
    form=CLIP_FORM,
    example=PUBLISH_CLIP_EXAMPLE,
    response_example=CLIP_EXAMPLE,
)
async def publish_clip(request: Request[Caller], body: PublishClip) -> Response:
    """Publishes a video of at most 8 MB, signed in of 50 MB, with a caption. What it is comes from its bytes. It is
    processed after the answer: `url` answers 404 until `processingStatus` is READY. It counts against the account's
    content quota of the UTC day."""
    if (response := await request.once.stored()) is not None:
        return response
    async with staged_uploads(request.services.blobs, request.files, [], request.clock.now()) as staged:
        draft, allowance = body.draft(staged.files[0]), allowance_of(request.settings)
        return staged.answered(
            await request.once(actions.publish_clip, _shown(request), 201, request.caller, draft, allowance)
        )


@declare(
    "GET",
    "/api/clips/{id}",
    Keyed(anyone=True),
    summary="Show a clip",
    gives=ClipOut,
    fails=(NotFound("There is no such clip."),),
    tag=TAG,
    response_example=CLIP_EXAMPLE,
)
async def show_clip(request: Request[Caller]) -> Response:
    """One clip, if the reader may see it: with a key, what its account published and what anyone may see. Ask again
    until `processingStatus` has left PROCESSING. Its page is /clip/{id}."""
    reader = reader_of(request.who)
    view = await request.db.read(actions.get_clip, request.parameters["id"], reader.id, by_key=reader.by_key)
    return json_response(_shown(request)(view))


def _shown(request: Request[Caller]) -> Callable[[ClipView], ClipOut]:
    addresses = addresses_of(request)
    return lambda view: clip_shape(view, addresses)


ROUTES: Final = (publish_clip, show_clip)
