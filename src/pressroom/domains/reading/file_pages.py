"""The parts of pages that show files in processing, until these are READY (docs/web-app.md#files-in-processing)."""

from typing import Final

from pressroom.db import Tx
from pressroom.domains.accounts.models import Caller
from pressroom.domains.clips.actions import open_clip
from pressroom.domains.clips.models import ClipView
from pressroom.domains.clips.schemas import clip_shape
from pressroom.domains.media.actions import list_of_owners
from pressroom.domains.media.models import Media, ProcessingStatus
from pressroom.domains.media.schemas import media_shape
from pressroom.domains.media.urls import addresses_of
from pressroom.domains.posts.actions.lookup import get_post
from pressroom.domains.posts.visibility import Visibility
from pressroom.domains.reading.rendering import given, read_for_page, reader_id
from pressroom.errors import NotFound
from pressroom.web.access import Visitor
from pressroom.web.rendering import render, unchanged
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()


@routes.get("/post/{id}/files", Visitor(), summary="A post's files, while they are processed")
async def show_files_of_post(request: Request[Caller]) -> Response:
    """Returns the part of a page that shows the files of a post; 204 while nothing has changed. Raises NotFound."""
    files, public = await read_for_page(request, _read_files, request.parameters["id"], reader_id(request))
    return await _part(request, files, public=public)


@routes.get("/clip/{id}/files", Visitor(), summary="A clip's video, while it is processed")
async def show_files_of_clip(request: Request[Caller]) -> Response:
    """Returns the part of the page of a clip that shows its video, like `show_files_of_post`."""
    view = await _read_clip(request)
    return await _part(request, [view.video], public=view.clip.visibility == Visibility.PUBLIC)


@routes.get("/clip/{id}/poster", Visitor(), summary="A clip's picture, while it is processed")
async def show_poster_of_clip(request: Request[Caller]) -> Response:
    """Returns the part of a list that shows the picture of a clip, like `show_files_of_post`."""
    view = await _read_clip(request)
    return await _part(request, [view.video], view, public=False)


async def _read_files(tx: Tx, post_id: str, reader: str) -> tuple[list[Media], bool]:
    """Returns the files of a post, and whether it is PUBLIC. Raises NotFound."""
    post = await get_post(tx, post_id, reader)
    return (await list_of_owners(tx, [post_id])).get(post_id, []), post.visibility == Visibility.PUBLIC


async def _read_clip(request: Request[Caller]) -> ClipView:
    view = await read_for_page(request, open_clip, request.parameters["id"], reader_id(request))
    if view is None:
        raise NotFound("There is no such clip.")
    return view


async def _part(
    request: Request[Caller], files: list[Media], clip: ClipView | None = None, *, public: bool
) -> Response:
    # As reading/_media.html has it, by which the page knows its state.
    version = "".join(file.status[0] for file in files)
    same = unchanged(request, version)
    if same is not None:
        return same
    addresses = addresses_of(request, lasting=False)
    values: dict[str, object] = {
        "files": [media_shape(file, addresses, public=public) for file in files],
        "clip": clip_shape(clip, addresses) if clip else None,
        "large": given(request, "large") != "",
        "placeholders": {file.id: file.placeholder for file in files},
        "is_over": all(file.status != ProcessingStatus.PROCESSING for file in files),
    }
    return await render(request, "reading/_files.html", values, version=version, script=False)
