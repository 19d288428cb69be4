"""The routes of an account's data: the copy that its owner takes away, and the deletion."""

from functools import partial
from typing import Final

from pressroom.domains.accounts.models import Caller, folded
from pressroom.domains.accounts.queries import lock_wholly
from pressroom.domains.accounts.routes import TAG
from pressroom.domains.audit.actions import record
from pressroom.domains.audit.models import Kind, Source
from pressroom.domains.moderation.models import admin_stays, check_not_admin
from pressroom.domains.personal_data import actions
from pressroom.domains.personal_data.schemas import DeletedOwnAccountOut, DeleteOwnAccount, ExportOut, export_shape
from pressroom.domains.sign_in.cookies import set_session_cookie
from pressroom.domains.sign_in.signing_in import check_own_password
from pressroom.errors import Code, Conflict, FieldError, NotFound, TooManyAttempts, Unprocessable, WrongCredentials
from pressroom.web.access import SessionOnly
from pressroom.web.asgi import HeaderList
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller](TAG)


NO_EXPORT: Final = NotFound("There is no copy. Ask for one: POST /api/auth/export")
WRONG_NAME: Final = FieldError("username", Code.NOT_ALLOWED, "That is not the user name of this account.")


@routes.post(
    "/api/auth/export",
    SessionOnly(recent=True),
    summary="Ask for a copy of everything",
    gives=ExportOut,
    status=202,
    fails=(Conflict("A copy is being made already."),),
)
async def request_export(request: Request[Caller]) -> Response:
    """Has a copy of all that belongs to the account made: JSON and media in a zip file, which can be fetched for seven
    days. One copy a day."""
    base_url = request.settings.base_url
    return await request.once(
        actions.request_export,
        lambda export: export_shape(export, base_url),
        request.caller.account.id,
        source_of(request),
    )


@routes.get(
    "/api/auth/export",
    SessionOnly(),
    summary="Show the copy of everything",
    gives=ExportOut,
    fails=(NO_EXPORT,),
)
async def show_export(request: Request[Caller]) -> Response:
    """How far the latest copy is. A 404 when none was asked for, or its seven days are over."""
    export = await request.db.read(actions.find_export, request.caller.account.id)
    if export is None:
        raise NotFound(NO_EXPORT.message)
    return json_response(export_shape(export, request.settings.base_url))


@routes.get(
    "/api/auth/export/file",
    SessionOnly(recent=True),
    summary="Fetch the copy of everything",
    fails=(NO_EXPORT,),
    content_type="application/octet-stream",
)
async def fetch_export(request: Request[Caller]) -> Response:
    """The zip file."""
    return await send_export(request)


async def send_export(request: Request[Caller]) -> Response:
    """Returns the copy of the caller's account as a file to be stored. Raises NotFound."""
    account, blobs = request.caller.account, request.services.blobs
    export = await request.db.read(actions.get_ready, account.id)
    info = await blobs.stat(export.key)
    if info is None:
        raise NotFound(NO_EXPORT.message)
    if request.method != "HEAD":
        await request.db.transact(record, account.id, Kind.EXPORT_DOWNLOADED, source_of(request))
    name = f"pressroom-{account.username}.zip".encode()
    headers: HeaderList = [
        (b"content-disposition", b'attachment; filename="%s"' % name),
        (b"x-content-type-options", b"nosniff"),
    ]
    return Response(200, b"", b"application/octet-stream", headers, stream=blobs.read(export.key), length=info.size)


@routes.post(
    "/api/auth/delete",
    SessionOnly(recent=True),
    summary="Delete the account",
    gives=DeletedOwnAccountOut,
    fails=(WrongCredentials, TooManyAttempts, Unprocessable([WRONG_NAME]), Unprocessable([admin_stays("mira_press")])),
    response_example=DeletedOwnAccountOut("Account deleted", "01M7WVE9SS0371E5H43QNHTMZJ"),
    cookie="Takes the session's cookie away.",
)
async def delete_own_account(request: Request[Caller], body: DeleteOwnAccount) -> Response:
    """Deletes the account for good, with its user name and password. Sessions and keys end at once, pages are gone, and
    what is personal is erased within moments. Failures are counted like those of signing in. An admin's is refused
    until an operator has taken those rights away."""
    return await carry_out_deletion(request, body)


async def carry_out_deletion(request: Request[Caller], body: DeleteOwnAccount) -> Response:
    """Deletes the caller's account and returns the response of the JSON route, which takes the cookie away.

    Raises Unprocessable for another user name and for an admin, WrongCredentials, TooManyAttempts.
    """
    if folded(body.username) != folded(request.caller.account.username):
        raise Unprocessable([WRONG_NAME])
    check_not_admin(request.caller.account.username, is_admin=request.caller.is_admin)
    attempt = await check_own_password(request, body.password)
    account_id = request.caller.account.id
    response = await request.once.locking(partial(lock_wholly, account_id=account_id))(
        actions.delete_own_account,
        lambda deleted: DeletedOwnAccountOut("Account deleted", deleted),
        account_id,
        attempt,
    )
    set_session_cookie(request, response, "")
    return response


def source_of(request: Request[Caller]) -> Source:
    """Returns who acts, as the log writes it down."""
    return Source(address=request.client)
