"""The pages of password, e-mail address, sessions, two-factor sign-in, passkeys and log (docs/web-app.md#account)."""

import io
from typing import Final

import msgspec

from pressroom.db import Tx
from pressroom.domains.accounts.models import Caller, Session
from pressroom.domains.audit.queries import list_entries
from pressroom.domains.sign_in import attempts, passkeys, sessions, two_factor
from pressroom.domains.sign_in.authenticators import site_of
from pressroom.domains.sign_in.passkey_schemas import RenamePasskey, passkey_shape
from pressroom.domains.sign_in.queries.passkeys import Passkey, list_passkeys
from pressroom.domains.sign_in.queries.sessions import list_sessions
from pressroom.domains.sign_in.schemas import (
    ChangeEmail,
    ChangePassword,
    ConfirmTwoFactor,
    RecoveryCodesOut,
    RemoveTwoFactor,
    TwoFactorSetupOut,
    log_shape,
    session_shape,
)
from pressroom.domains.sign_in.security_routes import host_of, prove, set_new_email, set_new_password, setup_shape
from pressroom.domains.sign_in.tokens import hash_token
from pressroom.ids import BEYOND
from pressroom.web.access import Page
from pressroom.web.page_forms import FormFields, FormState, NoFields
from pressroom.web.paging import place_of
from pressroom.web.rendering import redirect, render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()


LOG: Final = "/settings/log"
SHOWN: Final = 50
"""Entries on one page."""

SECURITY: Final = "/settings/security"
TWO_FACTOR: Final = f"{SECURITY}/two-factor"
RECENT: Final = Page(recent=True)
SESSIONS_SHOWN: Final = 20
"""Sessions on one page."""

_PASSKEY: Final = f"{SECURITY}/passkeys/{{passkeyId}}"


@routes.get(LOG, Page(), summary="The audit log")
async def show_log(request: Request[Caller]) -> Response:
    """The log of the account, a page at a time."""
    before = place_of(request.query)
    found = await request.db.read(list_entries, request.caller.account.id, before or BEYOND, SHOWN + 1)
    shown = found[:SHOWN]
    values: dict[str, object] = {
        "entries": [log_shape(entry) for entry in shown],
        "next_page": f"{LOG}?before={shown[-1].id}" if len(found) > SHOWN else None,
        "first_page": LOG if before else None,
    }
    return await render(request, "accounts/log.html", values)


@routes.page(SECURITY, Page(), summary="Password, e-mail address, two-factor sign-in and sessions")
async def show_security_form(request: Request[Caller], form: FormState) -> Response:
    """Returns the page of password, e-mail address, two-factor sign-in and sessions."""
    before = place_of(request.query)
    account_id = request.caller.account.id
    state, found, passkeys = await request.db.read(_read_security, account_id, before or BEYOND)
    own_hash = hash_token(request.session_token or "")
    shown = found[:SESSIONS_SHOWN]
    values: dict[str, object] = {
        "account": request.caller.account,
        "state": state,
        "passkeys": passkeys,
        "offers_passkeys": site_of(request.settings.base_url) is not None,
        "sessions": [session_shape(session, own_hash) for session in shown],
        "next_page": f"{SECURITY}?before={shown[-1].id}" if len(found) > SESSIONS_SHOWN else None,
        "first_page": SECURITY if before else None,
    }
    return await render(request, "accounts/security.html", values, form=form)


async def _read_security(tx: Tx, account_id: str, before: str) -> tuple[two_factor.State, list[Session], list[Passkey]]:
    state = await two_factor.find_state(tx, account_id)
    found = await list_sessions(tx, account_id, before, SESSIONS_SHOWN + 1)
    return state, found, await list_passkeys(tx, account_id)


@routes.submit(TWO_FACTOR, RECENT, again=show_security_form, summary="Set up two-factor sign-in")
async def begin_two_factor(request: Request[Caller], body: NoFields) -> Response:
    """Makes a secret and shows it as a QR code, this once, with the form of the first code."""
    account = request.caller.account
    answer = await request.once.hiding("secret", "otpauthUri")(
        two_factor.begin, setup_shape(account.username, host_of(request)), account.id, two_factor.new_secret()
    )
    return await _show_setup(request, FormState(), msgspec.json.decode(answer.body, type=TwoFactorSetupOut))


@routes.get(TWO_FACTOR, RECENT, summary="The set-up of two-factor sign-in")
async def show_setup(request: Request[Caller]) -> Response:
    """The form of the first code while a set-up waits for it; its secret is not shown again."""
    if await request.db.read(two_factor.find_begun, request.caller.account.id) is None:
        return redirect(SECURITY)
    return await show_code_form(request, FormState())


async def show_code_form(request: Request[Caller], form: FormState) -> Response:
    """Returns the page of the set-up without its secret, which was shown once."""
    return await _show_setup(request, form, TwoFactorSetupOut(None, None))


@routes.submit(f"{TWO_FACTOR}/code", RECENT, again=show_code_form, summary="Turn two-factor sign-in on")
async def confirm_two_factor(request: Request[Caller], body: ConfirmTwoFactor) -> Response:
    """Turns it on and shows the recovery codes, this once."""
    answer = await request.once.hiding("recoveryCodes")(
        two_factor.confirm, RecoveryCodesOut, request.caller.account.id, body.code, request.caller.source
    )
    return await _show_recovery_codes(request, answer)


@routes.get(f"{TWO_FACTOR}/code", RECENT, summary="The first code of two-factor sign-in")
async def show_first_code(request: Request[Caller]) -> Response:
    """The page of the set-up."""
    return redirect(TWO_FACTOR)


async def ask_for_recovery_codes(request: Request[Caller], form: FormState) -> Response:
    """Returns the page that explains new recovery codes."""
    state = await request.db.read(two_factor.find_state, request.caller.account.id)
    if state.enabled_at is None:
        return redirect(SECURITY)
    return await render(request, "accounts/recovery_codes.html", {"state": state, "codes": None}, form=form)


@routes.form(f"{SECURITY}/recovery-codes", RECENT, show=ask_for_recovery_codes, summary="Make new recovery codes")
async def renew_recovery_codes(request: Request[Caller], body: NoFields) -> Response:
    """Replaces the recovery codes and shows the new ones, this once."""
    answer = await request.once.hiding("recoveryCodes")(
        two_factor.renew_recovery_codes, RecoveryCodesOut, request.caller.account.id, request.caller.source
    )
    return await _show_recovery_codes(request, answer)


async def ask_to_remove(request: Request[Caller], form: FormState) -> Response:
    """Renders the effects of taking two-factor sign-in off, and asks for the password or a code."""
    state = await request.db.read(two_factor.find_state, request.caller.account.id)
    if state.enabled_at is None:
        return redirect(SECURITY)
    return await render(request, "accounts/two_factor_remove.html", {"state": state}, form=form)


@routes.form(
    f"{TWO_FACTOR}/remove",
    RECENT,
    fields=FormFields(secrets={"password", "code"}),
    show=ask_to_remove,
    summary="Take two-factor sign-in off",
)
async def remove_two_factor(request: Request[Caller], body: RemoveTwoFactor) -> Response:
    """Takes it off with the password or a code."""
    if await request.once.stored() is None:
        attempt = await prove(request, body)
        caller = request.caller
        await request.once(attempts.remove_two_factor, lambda _: {}, caller.account.id, attempt, caller.source)
    return redirect(SECURITY, done="two-factor-off")


async def _show_setup(request: Request[Caller], form: FormState, setup: TwoFactorSetupOut) -> Response:
    values: dict[str, object] = {
        "setup": setup,
        "drawing": None if setup.otpauth_uri is None else _draw(setup.otpauth_uri),
    }
    return await render(request, "accounts/two_factor.html", values, form=form, secret=setup.secret is not None)


async def _show_recovery_codes(request: Request[Caller], answer: Response) -> Response:
    made = msgspec.json.decode(answer.body, type=RecoveryCodesOut)
    values: dict[str, object] = {"codes": made.recovery_codes, "was_shown": made.recovery_codes is None}
    return await render(request, "accounts/recovery_codes_made.html", values, secret=made.recovery_codes is not None)


def _draw(uri: str) -> str:
    """Returns the QR code of an address as SVG, dark on light in every colour scheme."""
    import segno

    drawing = io.BytesIO()
    segno.make(uri, error="m", micro=False).save(
        drawing,
        kind="svg",
        xmldecl=False,
        omitsize=True,
        border=4,
        dark="#000",
        light="#fff",
        svgclass=None,
        lineclass=None,
    )
    return drawing.getvalue().decode()


async def show_password_form(request: Request[Caller], form: FormState) -> Response:
    """Returns the page with the form of a new password."""
    return await render(request, "accounts/password.html", {}, form=form)


@routes.form(
    f"{SECURITY}/password",
    RECENT,
    fields=FormFields(secrets={"password"}),
    show=show_password_form,
    summary="Change the password",
)
async def change_password(request: Request[Caller], body: ChangePassword) -> Response:
    """Sets the password and ends every other session."""
    await set_new_password(request, body)
    return redirect(SECURITY, done="password-changed")


async def show_email_form(request: Request[Caller], form: FormState) -> Response:
    """Returns the page with the form of a new e-mail address."""
    account = request.caller.account
    values = {"account": account, "has_mail": request.services.mail.is_available}
    return await render(request, "accounts/email.html", values, form=form)


@routes.form(f"{SECURITY}/email", RECENT, show=show_email_form, summary="Change the e-mail address")
async def change_email(request: Request[Caller], body: ChangeEmail) -> Response:
    """Sets the address, which is confirmed by the link that is mailed there."""
    await set_new_email(request, body)
    mailed = request.services.mail.is_available and body.email != request.caller.account.email
    return redirect(SECURITY, done="email-changed" if mailed else "email-set")


@routes.submit(f"{SECURITY}/sessions/end-others", Page(), again=show_security_form, summary="End all other sessions")
async def end_other_sessions(request: Request[Caller], body: NoFields) -> Response:
    """Signs the account out everywhere but here."""
    caller, token = request.caller, request.session_token or ""
    await request.once(
        sessions.end_other_sessions, lambda ended: {"ended": ended}, caller.account.id, token, caller.source
    )
    return redirect(SECURITY, done="sessions-ended")


@routes.submit(f"{SECURITY}/sessions/{{sessionId}}/end", Page(), again=show_security_form, summary="End a session")
async def end_session(request: Request[Caller], body: NoFields) -> Response:
    """Ends one session of the account."""
    caller, session_id = request.caller, request.parameters["sessionId"]
    await request.once(sessions.end_session, lambda _: {"id": session_id}, caller.account.id, session_id, caller.source)
    return redirect(SECURITY, done="session-ended")


@routes.get(f"{SECURITY}/passkeys/new", RECENT, summary="Add a passkey")
async def new_passkey(request: Request[Caller]) -> Response:
    """The name of a new passkey, which the page's script has the browser make."""
    values: dict[str, object] = {"is_offered": site_of(request.settings.base_url) is not None}
    return await render(request, "accounts/passkey.html", values, form=FormState())


async def show_passkey_name(request: Request[Caller], form: FormState) -> Response:
    """Returns the page with the name of a passkey. Raises NotFound."""
    return await _show_passkey(request, form, "accounts/passkey_rename.html")


@routes.form(f"{_PASSKEY}/rename", Page(), show=show_passkey_name, summary="Rename a passkey")
async def rename_passkey(request: Request[Caller], body: RenamePasskey) -> Response:
    """Gives the passkey another name."""
    caller, passkey_id = request.caller, request.parameters["passkeyId"]
    await request.once(passkeys.rename_passkey, passkey_shape, caller.account.id, passkey_id, body.name, caller.source)
    return redirect(SECURITY, done="passkey-renamed")


async def ask_to_remove_passkey(request: Request[Caller], form: FormState) -> Response:
    """Returns the page that asks whether the passkey is to be removed. Raises NotFound."""
    return await _show_passkey(request, form, "accounts/passkey_remove.html")


@routes.form(f"{_PASSKEY}/remove", RECENT, show=ask_to_remove_passkey, summary="Remove a passkey")
async def remove_passkey(request: Request[Caller], body: NoFields) -> Response:
    """Removes the passkey."""
    caller, passkey_id = request.caller, request.parameters["passkeyId"]
    await request.once(
        passkeys.remove_passkey, lambda _: {"id": passkey_id}, caller.account.id, passkey_id, caller.source
    )
    return redirect(SECURITY, done="passkey-removed")


async def _show_passkey(request: Request[Caller], form: FormState, template: str) -> Response:
    passkey = await request.db.read(passkeys.get_passkey, request.caller.account.id, request.parameters["passkeyId"])
    return await render(request, template, {"passkey": passkey}, form=form)
