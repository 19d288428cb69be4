"""The routes of sessions, the password, the e-mail address and the audit log (docs/sign-in.md#sessions)."""

from functools import partial
from typing import Final

from pressroom.db import ConstraintViolated
from pressroom.domains.accounts import actions
from pressroom.domains.accounts.models import Account, Caller
from pressroom.domains.accounts.routes import TAG
from pressroom.domains.accounts.schemas import AccountOut, MessageOut, account_shape
from pressroom.domains.audit.queries import list_entries
from pressroom.domains.sign_in import credentials, sessions, tokens
from pressroom.domains.sign_in.hourly_attempts import check_email_change, count_taken_email
from pressroom.domains.sign_in.queries.sessions import list_sessions as read_sessions
from pressroom.domains.sign_in.security_schemas import (
    ChangeEmail,
    ChangePassword,
    EndedSessionOut,
    EndedSessionsOut,
    LogEntryOut,
    LogList,
    SessionList,
    SessionOut,
    log_shape,
    session_shape,
)
from pressroom.domains.sign_in.signing_in import hash_new_password
from pressroom.errors import Conflict, NotFound, TooManyAttempts
from pressroom.web.access import SessionOnly
from pressroom.web.paging import read_paged
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller](TAG)


_TAKEN: Final = Conflict("There is already an account with this e-mail address.")
_CHANGED: Final = MessageOut("The password is changed. Every other session has ended.")
_ENDED: Final = "The session has ended"


@routes.post(
    "/api/auth/password",
    SessionOnly(recent=True),
    summary="Change the password",
    gives=MessageOut,
    fails=(TooManyAttempts,),
    response_example=_CHANGED,
)
async def change_password(request: Request[Caller], body: ChangePassword) -> Response:
    """Sets a new password. Every other session ends, and every link to set one; this session goes on."""
    return await set_new_password(request, body)


@routes.post(
    "/api/auth/email",
    SessionOnly(recent=True),
    summary="Change the e-mail address",
    gives=AccountOut,
    fails=(_TAKEN, TooManyAttempts),
)
async def change_email(request: Request[Caller], body: ChangeEmail) -> Response:
    """Sets a new e-mail address, which is confirmed by the link that is mailed there. A mail tells the address before.
    In any hour three mails of a kind go out for one account."""
    return await set_new_email(request, body)


@routes.get(
    "/api/auth/sessions",
    SessionOnly(),
    summary="List sessions",
    gives=SessionList,
    paged=True,
    response_example=SessionList([SessionOut.example()], None),
)
async def list_sessions(request: Request[Caller]) -> Response:
    """Where the account is signed in, latest sign-in first."""
    shown, cursor = await read_paged(request, lambda session: session.id, read_sessions, request.caller.account.id)
    own_hash = tokens.hash_token(request.session_token or "")
    return json_response(SessionList([session_shape(each, own_hash) for each in shown], cursor))


@routes.delete(
    "/api/auth/sessions",
    SessionOnly(),
    summary="End all other sessions",
    gives=EndedSessionsOut,
    response_example=EndedSessionsOut(2),
)
async def end_other_sessions(request: Request[Caller]) -> Response:
    """Signs the account out everywhere but here."""
    caller, token = request.caller, request.session_token or ""
    return await request.once(
        sessions.end_other_sessions, EndedSessionsOut, 200, caller.account.id, token, caller.source
    )


@routes.delete(
    "/api/auth/sessions/{sessionId}",
    SessionOnly(),
    summary="End a session",
    gives=EndedSessionOut,
    fails=(NotFound("There is no such session."),),
    response_example=EndedSessionOut(_ENDED, SessionOut.example().id),
)
async def end_session(request: Request[Caller]) -> Response:
    """Ends one session of the account. From its next request on it is refused."""
    session_id, caller = request.parameters["sessionId"], request.caller
    ended = EndedSessionOut(_ENDED, session_id)
    return await request.once(sessions.end_session, lambda _: ended, 200, caller.account.id, session_id, caller.source)


@routes.get(
    "/api/auth/log",
    SessionOnly(),
    summary="Show the audit log",
    gives=LogList,
    paged=True,
    response_example=LogList([LogEntryOut.example()], None),
)
async def show_log(request: Request[Caller]) -> Response:
    """Acts on the account and its keys, newest first, with actor and address. Kept for a year."""
    shown, cursor = await read_paged(request, lambda entry: entry.id, list_entries, request.caller.account.id)
    return json_response(LogList([log_shape(entry) for entry in shown], cursor))


async def set_new_password(request: Request[Caller], body: ChangePassword) -> Response:
    """Changes the caller's password, once. Raises TooManyAttempts, and Unavailable when none can be hashed now."""
    if (stored := await request.once.stored()) is not None:
        return stored
    password_hash = await hash_new_password(request, request.caller.account.id, body.password)
    return await request.once.locking(partial(actions.lock_for_edit, account_id=request.caller.account.id))(
        credentials.change_password,
        lambda _: _CHANGED,
        200,
        request.caller,
        request.session_token or "",
        password_hash,
    )


async def set_new_email(request: Request[Caller], body: ChangeEmail) -> Response:
    """Changes the caller's e-mail address, once. Raises Conflict and TooManyAttempts."""
    base_url = request.settings.base_url

    def shape(account: Account) -> AccountOut:
        return account_shape(account, base_url)

    if (stored := await request.once.stored()) is not None:
        return stored
    await request.db.read(check_email_change, request.caller.account.id)
    once = request.once.locking(partial(actions.lock_for_edit, account_id=request.caller.account.id))
    try:
        return await once(
            credentials.change_email,
            shape,
            200,
            request.caller,
            body.email,
            verify=request.services.mail.is_available,
        )
    except (Conflict, ConstraintViolated):
        await request.db.transact(count_taken_email, request.caller.account.id)
        raise _TAKEN from None
