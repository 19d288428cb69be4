"""The pages on which authors edit a post, delete it and set its allowlist (docs/web-app.md#own-posts-and-clips)."""

from typing import Final

from pressroom.db import Tx
from pressroom.domains.accounts.models import Caller
from pressroom.domains.posts.actions import edit, lookup, reach
from pressroom.domains.posts.models import PostType, SeenPost
from pressroom.domains.posts.routes import await_card
from pressroom.domains.posts.schemas import EditPost, SetAudience
from pressroom.errors import Code, FieldError, Invalid, NotFound
from pressroom.web.access import Page
from pressroom.web.page_forms import FormFields, FormState, NoFields
from pressroom.web.rendering import redirect, render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()


ONE: Final = "/post/{id}"


async def get_own_post(tx: Tx, caller: Caller, post_id: str) -> SeenPost:
    """Returns the caller's own post, if it stands. Raises NotFound, also for somebody else's."""
    post = await lookup.get_post(tx, post_id, caller.account.id)
    if not post.is_author:
        raise NotFound("There is no such post.")
    return post


async def show_edit(request: Request[Caller], form: FormState) -> Response:
    """Renders the form that edits a post."""
    post = await request.db.read(get_own_post, request.caller, request.parameters["id"])
    return await render(request, "posts/edit.html", {"post": post}, form=form)


@routes.form(f"{ONE}/edit", Page(), show=show_edit, summary="Edit a post")
async def save_edit(request: Request[Caller], body: EditPost) -> Response:
    """Edits a post like PATCH /api/posts/{id}."""
    post_id, changes = request.parameters["id"], body.edit()
    post = await request.db.read(get_own_post, request.caller, post_id)
    if changes.content is None and post.content is not None:
        raise Invalid([FieldError("content", Code.REQUIRED, "A post that has a text keeps one.")])
    if changes.content is not None and changes.content.link is not None:
        await await_card(request, edit.precheck_edit, request.caller, post_id, changes)
    await request.once(edit.edit_post, lambda view: view.post.id, request.caller, post_id, changes)
    return redirect(f"/post/{post_id}", done="post-edited")


async def show_deletion(request: Request[Caller], form: FormState) -> Response:
    """Renders the question whether to delete a post."""
    post = await request.db.read(get_own_post, request.caller, request.parameters["id"])
    return await render(request, "posts/delete.html", {"post": post}, form=form)


@routes.form(f"{ONE}/delete", Page(), show=show_deletion, summary="Delete a post")
async def delete_post(request: Request[Caller], body: NoFields) -> Response:
    """Deletes a post like DELETE /api/posts/{id}."""
    await request.once(edit.delete_post, lambda post_id: post_id, request.caller, request.parameters["id"])
    return redirect("/", done="post-deleted")


async def show_audience(request: Request[Caller], form: FormState) -> Response:
    """Renders the allowlist of a post."""
    post, names = await request.db.read(reach.list_audience, request.caller, request.parameters["id"])
    if post.type != PostType.POST:
        raise NotFound("A bounce is seen by everybody: it has no list of readers.")
    values = {"post": post, "post_id": request.parameters["id"], "names": names}
    return await render(request, "posts/audience.html", values, form=form)


@routes.form(
    f"{ONE}/audience",
    Page(),
    show=show_audience,
    fields=FormFields(lines={"usernames"}, names={"usernames"}, empty_clears={"usernames"}),
    summary="Set the readers of a post",
)
async def save_audience(request: Request[Caller], body: SetAudience) -> Response:
    """Sets the allowlist of a post like PUT /api/posts/{id}/audience."""
    post_id = request.parameters["id"]
    await request.once(reach.set_audience, lambda count: count, request.caller, post_id, body.usernames)
    return redirect(f"/post/{post_id}/audience", done="audience-set")
