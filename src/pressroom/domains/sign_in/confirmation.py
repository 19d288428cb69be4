"""The page that asks for the password again, in place of one that needs it (docs/sign-in.md#password-confirmation)."""

from collections.abc import Mapping, Sequence

from pressroom.domains.accounts.models import Caller
from pressroom.domains.sign_in import attempts
from pressroom.domains.sign_in.authenticators import site_of
from pressroom.domains.sign_in.queries.passkeys import list_passkeys
from pressroom.domains.sign_in.signing_in import check_own_password
from pressroom.errors import PressroomError, TooManyAttempts, Unavailable, WrongCredentials
from pressroom.web.page_forms import PASSWORD_FIELD, FormState, refused_state
from pressroom.web.rendering import render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import NO_FIELDS

WRONG_PASSWORD = "This is not your password."  # noqa: S105  # a sentence


async def ask_password(request: Request[Caller], typed: Mapping[str, Sequence[str]] | None) -> Response | None:
    """Returns the page that asks for the password; None when the right one came with the form, which then proceeds.

    Args:
        request: The request that needs the password.
        typed: The form that was sent, without its secrets; None for a page. The page keeps it in hidden fields.
    """
    if typed is None:
        return await show_question(request, FormState(), _here(request))
    password = "".join(typed.get(PASSWORD_FIELD, ()))
    if not password:
        return await show_question(request, FormState(status=403), _here(request), typed)
    try:
        await confirm(request, password)
    except (WrongCredentials, TooManyAttempts, Unavailable) as error:
        return await show_question(request, refused(error), _here(request), typed)
    return None


async def confirm(request: Request[Caller], password: str) -> None:
    """Records that the password was given in the caller's session. Raises WrongCredentials, TooManyAttempts."""
    try:
        attempt = await check_own_password(request, password)
    except WrongCredentials:
        raise WrongCredentials(WRONG_PASSWORD) from None
    await request.db.transact(attempts.confirm_session, request.session_token or "", attempt)


async def show_question(
    request: Request[Caller], form: FormState, path: str, typed: Mapping[str, Sequence[str]] | None = None
) -> Response:
    """Returns the page. It leads to `path`; with `typed`, by sending that form again."""
    kept = {name: texts for name, texts in (typed or {}).items() if name != PASSWORD_FIELD}
    values: dict[str, object] = {
        "path": path,
        "kept": kept,
        "is_form": typed is not None,
        "password_field": PASSWORD_FIELD if typed is not None else "password",
        "username": request.caller.account.username,
        "offers_passkeys": site_of(request.settings.base_url) is not None
        and bool(await request.db.read(list_passkeys, request.caller.account.id)),
    }
    return await render(request, "accounts/confirm.html", values, form=form)


def refused(error: PressroomError) -> FormState:
    """Returns the state of the question after a password that was refused."""
    return refused_state(error, {}, NO_FIELDS, None)


def _here(request: Request[Caller]) -> str:
    return f"{request.path}?{request.query}" if request.query else request.path
