"""Drafts over HTTP."""

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Final

import msgspec

from pressroom.domains.accounts.models import Caller
from pressroom.domains.drafts import actions
from pressroom.domains.drafts.models import DraftState, DraftView
from pressroom.domains.drafts.schemas import (
    CreateDraft,
    DeletedDraftOut,
    DraftBody,
    DraftList,
    DraftOut,
    EditDraft,
    PublishDraft,
    UploadDraftMedia,
    draft_shape,
)
from pressroom.domains.limits.actions import allowance_of
from pressroom.domains.media.models import FILE_BYTES_BY_KEY, FILE_BYTES_SIGNED_IN, FILES_BY_KEY, FILES_SIGNED_IN
from pressroom.domains.media.schemas import MediaEntryOut
from pressroom.domains.media.uploads import alt_text_errors, file_errors, staged_uploads
from pressroom.domains.media.urls import addresses_of
from pressroom.domains.posts.examples import BAD_UPLOAD, MEDIA_QUOTA_REACHED, NOT_A_MEMBER, POST_EXAMPLE
from pressroom.domains.posts.routes import await_card
from pressroom.errors import Code, FieldError, Invalid, NotFound, QuotaExceeded, StaleVersion, Unprocessable
from pressroom.web.access import Keyed
from pressroom.web.multipart_rules import Form, FormRules, FormSpec
from pressroom.web.paging import read_paged
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Routes, Tag

TAG = Tag("Drafts", "Posts that are not published yet, and the time at which they are to be.")
routes: Final = Routes[Caller](TAG)

DRAFT: Final = DraftOut.example()
NO_DRAFT: Final = NotFound("There is no such draft.")
BAD_DRAFT: Final = Invalid([FieldError("publishAt", Code.OUT_OF_RANGE, "Must lie within 365 days.")])
FULL: Final = Unprocessable([FieldError("body", Code.TOO_MANY, "The account has 100 drafts, the most it may have.")])
STALE: Final = StaleVersion("The draft was changed meanwhile and has version 2.", DRAFT)
NO_CONTENT: Final = Unprocessable(
    [FieldError("content", Code.REQUIRED, "A post needs some text that is not white space, or a file.")]
)
WITH_FILE: Final = msgspec.structs.replace(
    DRAFT, version=2, media_ids=[MediaEntryOut.example().id], media=[MediaEntryOut.example()]
)
EDITED: Final = msgspec.structs.replace(DRAFT, version=2, content=EditDraft.example().content)
PUBLISHED: Final = msgspec.structs.replace(DRAFT, version=2, state=DraftState.PUBLISHED, post_id=POST_EXAMPLE.id)


def _field_errors(form: Form) -> Iterator[FieldError]:
    yield from file_errors(form, "media")
    yield from alt_text_errors(form, "media")


FILES: Final = FormSpec(
    by_key=FormRules("media", FILES_BY_KEY, FILE_BYTES_BY_KEY, ("altText",), frozenset({"altText"})),
    signed_in=FormRules("media", FILES_SIGNED_IN, FILE_BYTES_SIGNED_IN, ("altText",), frozenset({"altText"})),
    json_texts=frozenset(),
    field_errors=_field_errors,
)


@routes.get(
    "/api/drafts",
    Keyed("drafts:write"),
    summary="List drafts",
    gives=DraftList,
    paged=True,
    response_example=DraftList([DRAFT], None),
)
async def list_drafts(request: Request[Caller]) -> Response:
    """The account's drafts in every state, newest first; with a key, those that it made. The draft of a published post
    is kept for 30 days."""
    shown, cursor = await read_paged(request, lambda view: view.draft.id, actions.list_drafts, request.caller)
    return json_response(DraftList([_shown(request)(view) for view in shown], cursor))


@routes.post(
    "/api/drafts",
    Keyed("drafts:write"),
    summary="Create a draft",
    gives=DraftOut,
    location="/api/drafts/{made}",
    fails=(BAD_DRAFT, FULL),
)
async def create_draft(request: Request[Caller], body: CreateDraft) -> Response:
    """Stores a draft. With `publishAt` it is scheduled: the server publishes it within 5 seconds of that time, and
    quota, membership of the hub, mentions and audience count then. A key that schedules needs `posts:write` too. An
    account has at most 100 drafts, and 300 scheduled ones. Files are uploaded to it afterwards."""
    _check_signed_in(request, body)
    return await request.once(actions.create_draft, _shown(request), request.caller, body.changes())


@routes.get("/api/drafts/{id}", Keyed("drafts:write"), summary="Show a draft", gives=DraftOut, fails=(NO_DRAFT,))
async def show_draft(request: Request[Caller]) -> Response:
    """One draft of the account; with a key, one that it made."""
    view = await request.db.read(actions.get_draft, request.caller, request.parameters["id"])
    return json_response(_shown(request)(view))


@routes.patch(
    "/api/drafts/{id}",
    Keyed("drafts:write"),
    summary="Edit a draft",
    gives=DraftOut,
    fails=(BAD_DRAFT, NO_DRAFT, STALE, FULL),
    response_example=EDITED,
)
async def edit_draft(request: Request[Caller], body: EditDraft) -> Response:
    """Changes a draft, its files and its schedule. `version` is the one that the change was made from: when the draft
    has another, nothing is changed, and the 409 bears the present one in `draft`, so that no text is lost."""
    _check_signed_in(request, body)
    draft_id = request.parameters["id"]
    with _showing_stale(request):
        return await request.once(
            actions.edit_draft, _shown(request), request.caller, draft_id, body.version, body.changes()
        )


@routes.delete(
    "/api/drafts/{id}",
    Keyed("drafts:write"),
    summary="Delete a draft",
    gives=DeletedDraftOut,
    fails=(NO_DRAFT,),
    response_example=DeletedDraftOut("Draft deleted", DRAFT.id),
)
async def delete_draft(request: Request[Caller]) -> Response:
    """Deletes a draft and its files. A scheduled one is not published. The post of a published one stays."""
    return await request.once(
        actions.delete_draft,
        lambda draft_id: DeletedDraftOut("Draft deleted", draft_id),
        request.caller,
        request.parameters["id"],
    )


@routes.post(
    "/api/drafts/{id}/media",
    Keyed("drafts:write", also="media:write"),
    summary="Upload files to a draft",
    gives=DraftOut,
    status=201,
    fails=(BAD_UPLOAD, NO_DRAFT, MEDIA_QUOTA_REACHED),
    form=FILES,
    example=UploadDraftMedia(alt_text=["A proof sheet on the drying rack"]),
    response_example=WITH_FILE,
)
async def upload_draft_media(request: Request[Caller], body: UploadDraftMedia) -> Response:
    """Adds up to 4 files of 8 MB each behind those that the draft has, signed in up to 10 of 50 MB; that many in all.
    They are processed like files of a post, count against the account's stored media, and can be seen by its owner
    alone until the draft is published. A file that is taken out of `mediaIds` is removed."""
    if (response := await request.once.stored()) is not None:
        return response
    async with staged_uploads(request, body.alt_text or []) as staged:
        return staged.answered(
            await request.once(
                actions.add_files,
                _shown(request),
                request.caller,
                request.parameters["id"],
                staged.files,
                allowance_of(request.settings),
            )
        )


@routes.post(
    "/api/drafts/{id}/publish",
    Keyed("drafts:write", also="posts:write", spends_content=True),
    summary="Publish a draft",
    body_optional=True,
    gives=DraftOut,
    fails=(NO_DRAFT, STALE, NO_CONTENT, NOT_A_MEMBER, QuotaExceeded),
    example=PublishDraft(version=1),
    response_example=PUBLISHED,
)
async def publish_draft(request: Request[Caller], body: PublishDraft) -> Response:
    """Publishes a draft now, scheduled or not, by the rules of publishing a post; `postId` of the answer is its post. A
    draft that a key made becomes a post of that key and counts against the quota by key, whoever publishes it. One
    that needs approval is published by a session alone. When it is refused, the draft stays as it was."""
    draft_id, allowance = request.parameters["id"], allowance_of(request.settings)
    with _showing_stale(request):
        await await_card(request, actions.precheck_draft, request.caller, draft_id, body.version, allowance)
        return await request.once(
            actions.publish_draft, _shown(request), request.caller, draft_id, body.version, allowance
        )


@contextmanager
def _showing_stale(request: Request[Caller]) -> Generator[None]:
    """Has a refusal of a change to another version show the present draft in its wire shape."""
    try:
        yield
    except StaleVersion as stale:
        if isinstance(stale.draft, DraftView):
            stale.draft = _shown(request)(stale.draft)
        raise


def _check_signed_in(request: Request[Caller], body: DraftBody) -> None:
    """Raises Invalid when a key sets the commenters or the audience: those are for the account's owner."""
    if request.caller.key is None:
        return
    message = "A key cannot set this. Set it signed in."
    given = {"comments": body.comments, "usernames": body.usernames}
    found = [FieldError(name, Code.NOT_ALLOWED, message) for name, value in given.items() if value]
    if found:
        raise Invalid(found)


def _shown(request: Request[Caller]) -> Callable[[DraftView], DraftOut]:
    addresses = addresses_of(request)
    return lambda view: draft_shape(view, addresses)
