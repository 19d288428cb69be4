"""The pages on which comments are edited and deleted (docs/web-app.md#actions-of-readers)."""

from typing import Final

import msgspec

from pressroom.domains.accounts.models import Caller
from pressroom.domains.comments import actions
from pressroom.domains.comments.models import Comment
from pressroom.domains.comments.schemas import EditComment
from pressroom.web.access import Page
from pressroom.web.page_forms import FormState, NoFields
from pressroom.web.permalinks import Permalinks
from pressroom.web.rendering import redirect, render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()


class Place(msgspec.Struct):
    """The place of a comment: the stored answer of an act on it."""

    post_id: str
    thread_id: str
    id: str

    @property
    def path(self) -> str:
        """The page of the comments that begins with the comment: in a long thread, its beginning is on another."""
        return Permalinks().of_comment(self.post_id, self.thread_id, self.id)


def place_of(comment: Comment) -> Place:
    """Returns where a comment stands."""
    return Place(comment.post_id, comment.thread_id, comment.id)


@routes.get("/comment/{id}/edit", Page(), summary="The form of an edited comment")
async def edit_form(request: Request[Caller]) -> Response:
    """The comment, to be edited. Raises Unprocessable when it is too old."""
    comment = await request.db.read(actions.get_own, request.caller, request.parameters["id"])
    actions.check_editable(comment, request.clock.now())
    return await show_edit(request, FormState())


async def show_edit(request: Request[Caller], form: FormState) -> Response:
    """Returns the page with the form. Raises NotFound."""
    comment = await request.db.read(actions.get_own, request.caller, request.parameters["id"])
    return await render(request, "comments/edit.html", {"comment": comment, "place": place_of(comment).path}, form=form)


@routes.submit("/comment/{id}/edit", Page(), again=show_edit, summary="Edit a comment")
async def edit(request: Request[Caller], body: EditComment) -> Response:
    """Edits the comment and leads to it."""
    answer = await request.once(actions.edit_comment, place_of, request.caller, request.parameters["id"], body.content)
    return redirect(msgspec.json.decode(answer.body, type=Place).path)


async def show_delete(request: Request[Caller], form: FormState) -> Response:
    """Returns the page that asks. Raises NotFound."""
    comment = await request.db.read(actions.get_deletable, request.caller, request.parameters["id"])
    own = comment.account_id == request.caller.account.id
    values = {"comment": comment, "own": own, "place": place_of(comment).path}
    return await render(request, "comments/delete.html", values, form=form)


@routes.form("/comment/{id}/delete", Page(), show=show_delete, summary="Delete a comment")
async def delete(request: Request[Caller], body: NoFields) -> Response:
    """Deletes the comment and leads to the comments that are left."""
    answer = await request.once(actions.delete_comment, place_of, request.caller, request.parameters["id"])
    return redirect(f"/post/{msgspec.json.decode(answer.body, type=Place).post_id}#comments", done="comment-deleted")
