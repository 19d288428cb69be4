"""The first account of an installation: the route and the page (docs/operations.md#the-first-account)."""

from typing import Annotated, Final, Self

from msgspec import Meta

from pressroom.domains.accounts.actions import NewAccount
from pressroom.domains.accounts.models import Account, Caller
from pressroom.domains.accounts.reserved_usernames import check_username
from pressroom.domains.accounts.routes import TAG
from pressroom.domains.accounts.schemas import AccountOut, account_shape
from pressroom.domains.sign_in.cookies import set_session_cookie
from pressroom.domains.sign_in.routes import NEW_SESSION
from pressroom.domains.sign_in.signing_in import hash_new_password
from pressroom.domains.sign_up import actions
from pressroom.domains.sign_up.pages import sign_in_again
from pressroom.domains.sign_up.schemas import SignUp, SignUpFields
from pressroom.errors import NotFound, TooManyAttempts, Unprocessable
from pressroom.web.access import Anyone, Visitor
from pressroom.web.page_forms import FormFields, FormState
from pressroom.web.query import parse_query
from pressroom.web.rendering import hide_address, redirect, render
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller](TAG)


class SetUp(SignUpFields, kw_only=True):
    """The first account, and the token that the server printed."""

    token: Annotated[str, Meta(max_length=100, description="The token that the server printed at its start.")]

    @classmethod
    def example(cls) -> Self:
        return cls(
            username=SignUp.example().username,
            email=SignUp.example().email,
            password=SignUp.example().password,
            token="Zk3x0q9Jv1m2c4R8T6y7u5w3e1a9s0d2f4g6h8j1k3L",  # noqa: S106  # an example, nobody's
        )


@routes.post(
    "/api/setup",
    Anyone(),
    summary="Make the first account",
    gives=AccountOut,
    location="/api/auth/me",
    fails=(NotFound(actions.SET_UP), Unprocessable([actions.WRONG_TOKEN]), TooManyAttempts),
    cookie=NEW_SESSION,
    idempotent=False,
)
async def set_up(request: Request[Caller], body: SetUp) -> Response:
    """Makes the first account of an installation, an admin's, and signs it in. Once there is an account, it is a
    404."""
    account, token = await _set_up(request, body)
    response = json_response(account_shape(account, request.settings.base_url), 201)
    set_session_cookie(request, response, token)
    return response


async def show_set_up(request: Request[Caller], form: FormState) -> Response:
    """Renders the form of the first account. Raises NotFound once there is an account."""
    await request.db.read(actions.check_open)
    given = parse_query(request.query).get("token", "")
    response = await render(request, "accounts/set_up.html", {"token": given}, form=form)
    hide_address(response)
    return response


@routes.form(
    "/setup", Visitor(), fields=FormFields(secrets={"password"}), show=show_set_up, summary="Make it, and sign it in"
)
async def send_set_up(request: Request[Caller], body: SetUp) -> Response:
    """Makes the account like POST /api/setup. Sent again, it signs in to the account that it made."""
    try:
        _, token = await _set_up(request, body)
    except NotFound:
        again = await sign_in_again(request, body)
        if again is None:
            raise
        token = again
    response = redirect("/", done="set-up")
    set_session_cookie(request, response, token)
    return response


async def _set_up(request: Request[Caller], body: SetUp) -> tuple[Account, str]:
    await request.db.read(actions.check_token, body.token)
    check_username(body.username, request.settings.reserved_usernames)
    password_hash = await hash_new_password(request, "", body.password)
    new = NewAccount(body.username, body.email, password_hash, body.display_name)
    return await request.db.transact(
        actions.set_up, body.token, new, request.client, verify=request.services.mail.is_available
    )
