"""The routes of passkeys: managing them, signing in, and confirming a session (docs/sign-in.md#passkeys)."""

import asyncio
import secrets
from functools import partial
from typing import Final

from pressroom.domains.accounts.actions import get_account
from pressroom.domains.accounts.models import WRONG_CREDENTIALS, Caller
from pressroom.domains.accounts.routes import TAG
from pressroom.domains.accounts.schemas import AccountOut, MessageOut
from pressroom.domains.sign_in import attempts, passkeys
from pressroom.domains.sign_in.attempts import SignInAttempt
from pressroom.domains.sign_in.authenticators import (
    Ceremony,
    Refused,
    Site,
    challenge_in,
    decode,
    is_valid,
    new_challenge,
    site_of,
    verify_new,
    verify_use,
)
from pressroom.domains.sign_in.cookies import PASSKEY_COOKIE, PASSKEY_PATH, set_passkey_cookie
from pressroom.domains.sign_in.passkey_schemas import (
    AddPasskey,
    CreationOptionsOut,
    PasskeyList,
    PasskeyOut,
    RemovedPasskeyOut,
    RenamePasskey,
    RequestOptionsOut,
    UsePasskey,
    creation_options,
    passkey_shape,
    request_options,
)
from pressroom.domains.sign_in.queries.passkeys import Passkey, find_passkey, list_passkeys
from pressroom.domains.sign_in.routes import NEW_SESSION, signed_in
from pressroom.domains.sign_in.signing_in import SUSPENDED, limits_of, source_of
from pressroom.errors import (
    AccountSuspended,
    Conflict,
    NotFound,
    TooManyAttempts,
    Unprocessable,
    WrongCredentials,
)
from pressroom.web.access import Anyone, SessionOnly
from pressroom.web.headers import cookie_value
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller](TAG)

_NO_SITE: Final = NotFound("Passkeys need a base address with https and a host name, or localhost.")
_REMOVED: Final = "Passkey removed"


@routes.get(
    "/api/auth/passkeys",
    SessionOnly(),
    summary="List passkeys",
    gives=PasskeyList,
    response_example=PasskeyList([PasskeyOut.example()]),
)
async def list_own_passkeys(request: Request[Caller]) -> Response:
    """The passkeys of the account, newest first: at most 20."""
    found = await request.db.read(list_passkeys, request.caller.account.id)
    return json_response(PasskeyList([passkey_shape(each) for each in found]))


@routes.post(
    "/api/auth/passkeys/options",
    SessionOnly(recent=True),
    summary="Begin to add a passkey",
    gives=CreationOptionsOut,
    fails=(_NO_SITE,),
    idempotent=False,
)
async def begin_passkey(request: Request[Caller]) -> Response:
    """What `navigator.credentials.create()` takes as `publicKey`. Changes nothing."""
    site, account = _site(request), request.caller.account
    known = await request.db.read(list_passkeys, account.id)
    challenge = _new_challenge(request, Ceremony.ADD, request.session_token or "")
    return json_response(creation_options(site, challenge, account, known))


@routes.post(
    "/api/auth/passkeys",
    SessionOnly(recent=True),
    summary="Add a passkey",
    gives=PasskeyOut,
    status=201,
    fails=(_NO_SITE, Conflict(passkeys.FULL), Unprocessable([passkeys.REFUSED])),
)
async def add_passkey(request: Request[Caller], body: AddPasskey) -> Response:
    """Adds what `navigator.credentials.create()` returned. From now on it signs in, and stands for both factors."""
    if (stored := await request.once.stored()) is not None:
        return stored
    site = _site(request)
    try:
        challenge = _challenge(request, body.client_data, Ceremony.ADD, request.session_token or "")
        verify = partial(verify_new, site, challenge, body.client_data, body.attestation_object)
        made = await asyncio.to_thread(verify)
    except Refused:
        raise Unprocessable([passkeys.REFUSED]) from None
    caller = request.caller
    return await request.once(
        passkeys.add_passkey, passkey_shape, caller.account.id, challenge, made, body.name, caller.source
    )


@routes.patch(
    "/api/auth/passkeys/{passkeyId}",
    SessionOnly(),
    summary="Rename a passkey",
    gives=PasskeyOut,
    fails=(passkeys.UNKNOWN,),
)
async def rename_passkey(request: Request[Caller], body: RenamePasskey) -> Response:
    """Changes the name that the list shows. The authenticator does not learn of it."""
    caller, passkey_id = request.caller, request.parameters["passkeyId"]
    return await request.once(
        passkeys.rename_passkey, passkey_shape, caller.account.id, passkey_id, body.name, caller.source
    )


@routes.delete(
    "/api/auth/passkeys/{passkeyId}",
    SessionOnly(recent=True),
    summary="Remove a passkey",
    gives=RemovedPasskeyOut,
    fails=(passkeys.UNKNOWN,),
    response_example=RemovedPasskeyOut(_REMOVED, PasskeyOut.example().id),
)
async def remove_passkey(request: Request[Caller]) -> Response:
    """Takes a passkey away: it signs nobody in any more. Sessions go on."""
    caller, passkey_id = request.caller, request.parameters["passkeyId"]
    removed = RemovedPasskeyOut(_REMOVED, passkey_id)
    return await request.once(passkeys.remove_passkey, lambda _: removed, caller.account.id, passkey_id, caller.source)


@routes.post(
    f"{PASSKEY_PATH}/options",
    Anyone(),
    summary="Begin to sign in with a passkey",
    gives=RequestOptionsOut,
    fails=(_NO_SITE, TooManyAttempts),
    cookie="Ties the challenge to this client, for five minutes.",
    idempotent=False,
)
async def begin_passkey_sign_in(request: Request[Caller]) -> Response:
    """What `navigator.credentials.get()` takes as `publicKey`. The answer sets a cookie, which the answer of the
    authenticator must come with."""
    site, holder = _site(request), secrets.token_urlsafe(16)
    await request.db.read(attempts.check_passkey, request.client, limits_of(request))
    response = json_response(request_options(site, _new_challenge(request, Ceremony.SIGN_IN, holder), []))
    set_passkey_cookie(request, response, holder)
    return response


@routes.post(
    PASSKEY_PATH,
    Anyone(),
    summary="Sign in with a passkey",
    gives=AccountOut,
    fails=(_NO_SITE, WrongCredentials, AccountSuspended, TooManyAttempts),
    cookie=NEW_SESSION,
    idempotent=False,
)
async def sign_in_with_passkey(request: Request[Caller], body: UsePasskey) -> Response:
    """Begins a session with what `navigator.credentials.get()` returned. No code is asked for: the authenticator has
    verified its user. Whatever is wrong gets one answer; failures are counted per address."""
    holder = cookie_value(request.headers.cookie, PASSKEY_COOKIE) or ""
    attempt, passkey, challenge, count = await _verified(request, body, Ceremony.SIGN_IN, holder, None)
    token = await request.db.transact(passkeys.sign_in, passkey, challenge, count, attempt, source_of(request))
    if token is None:
        raise AccountSuspended(SUSPENDED)
    account = await request.db.read(get_account, passkey.account_id)
    response = await signed_in(request, account, token, 200)
    set_passkey_cookie(request, response, "")
    return response


@routes.post(
    "/api/auth/confirm/passkey/options",
    SessionOnly(),
    summary="Begin to confirm with a passkey",
    gives=RequestOptionsOut,
    fails=(_NO_SITE,),
    idempotent=False,
)
async def begin_passkey_confirmation(request: Request[Caller]) -> Response:
    """What `navigator.credentials.get()` takes as `publicKey`, with the account's own passkeys. Changes nothing."""
    site = _site(request)
    own = await request.db.read(list_passkeys, request.caller.account.id)
    challenge = _new_challenge(request, Ceremony.CONFIRM, request.session_token or "")
    return json_response(request_options(site, challenge, own))


@routes.post(
    "/api/auth/confirm/passkey",
    SessionOnly(),
    summary="Confirm with a passkey",
    gives=MessageOut,
    fails=(_NO_SITE, WrongCredentials, TooManyAttempts),
    response_example=MessageOut("Confirmed"),
)
async def confirm_with_passkey(request: Request[Caller], body: UsePasskey) -> Response:
    """Takes the place of `POST /api/auth/confirm`: for 30 minutes the session may do what asks for the password."""
    if (stored := await request.once.stored()) is not None:
        return stored
    token, own = request.session_token or "", request.caller.account.id
    attempt, passkey, challenge, count = await _verified(request, body, Ceremony.CONFIRM, token, own)
    confirmed = MessageOut("Confirmed")
    return await request.once(passkeys.confirm, lambda _: confirmed, passkey, challenge, count, attempt, token)


async def _verified(
    request: Request[Caller], body: UsePasskey, ceremony: Ceremony, holder: str, own: str | None
) -> tuple[SignInAttempt, Passkey, bytes, int]:
    """Returns the counted attempt, the passkey, its challenge and the authenticator's new count.

    Args:
        request: The request.
        body: The authenticator's answer.
        ceremony: The purpose that its challenge must have.
        holder: The token that the challenge must be tied to.
        own: The id of the account that the passkey must be of; None: any.

    Raises:
        WrongCredentials: Anything about it is wrong.
        TooManyAttempts: Too many attempts from this address were.
    """
    site, limits = _site(request), limits_of(request)
    await request.db.read(attempts.check_passkey, request.client, limits)
    attempt = await request.db.transact(attempts.attempt_passkey, request.client, limits)
    try:
        challenge = _challenge(request, body.client_data, ceremony, holder)
        account_id = decode(body.user_handle).decode()
        passkey = await request.db.read(find_passkey, account_id, body.credential_id)
        if passkey is None or own not in (None, account_id):
            raise Refused("no such passkey")
        signed = (body.client_data, body.authenticator_data, body.signature)
        count = await asyncio.to_thread(partial(verify_use, site, challenge, passkey, *signed))
    except (Refused, ValueError):
        raise WrongCredentials(WRONG_CREDENTIALS) from None
    attempt.is_verified = True
    return attempt, passkey, challenge, count


def _site(request: Request[Caller]) -> Site:
    site = site_of(request.settings.base_url)
    if site is None:
        raise _NO_SITE
    return site


def _new_challenge(request: Request[Caller], ceremony: Ceremony, holder: str) -> bytes:
    now = request.clock.now()
    return new_challenge(request.services.challenge_secret.signing(now), ceremony, holder, now)


def _challenge(request: Request[Caller], client_data: str, ceremony: Ceremony, holder: str) -> bytes:
    """Returns the challenge that was answered. Raises Refused unless it is one of ours for this ceremony and holder."""
    challenge, now = challenge_in(client_data), request.clock.now()
    if not is_valid(challenge, request.services.challenge_secret.verifying(now), ceremony, holder, now):
        raise Refused("not a challenge of this server")
    return challenge
