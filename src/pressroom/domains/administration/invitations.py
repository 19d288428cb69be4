"""Invitations as admins make, list and revoke them: routes and pages (docs/sign-in.md#invitations)."""

from typing import Annotated, Final, Self

import msgspec
from msgspec import Meta

from pressroom.clock import iso, iso_or_none
from pressroom.domains.accounts.models import Caller
from pressroom.domains.administration.pages import page_of, pager_values
from pressroom.domains.administration.routes import TAG
from pressroom.domains.moderation.routes import admin_of
from pressroom.domains.sign_up import invitations, queries
from pressroom.domains.sign_up.queries import Invitation
from pressroom.errors import Conflict, NotFound
from pressroom.settings.values import Signup
from pressroom.web.access import AdminOnly, AdminPage
from pressroom.web.json_bodies import Body
from pressroom.web.page_forms import FormState, NoFields
from pressroom.web.paging import read_paged
from pressroom.web.rendering import redirect, render
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Routes
from pressroom.web.wire import EXAMPLE_BASE, Id, NextCursor, Time, Url

routes: Final = Routes[Caller](TAG)


ALL: Final = "/api/admin/invitations"
ONE: Final = f"{ALL}/{{id}}"
PAGE: Final = "/admin/invitations"

_NONE: Final = NotFound("There is no such invitation.")


class MakeInvitation(Body):
    """An invitation to make."""

    note: Annotated[str, Meta(max_length=200, description="For whom it is; admins alone see that.")] | None = None


class InvitationOut(msgspec.Struct, rename="camel"):
    """An invitation, without its link."""

    id: Id
    status: Annotated[str, Meta(extra_json_schema={"enum": ["open", "used", "revoked", "expired"]})]
    note: str | None
    made_by: Annotated[str, Meta(description="The admin who made it.")]
    created_at: Time
    expires_at: Time
    used_at: Time | None
    used_by: Annotated[str | None, Meta(description="The account that was made with it.")]

    @classmethod
    def example(cls) -> Self:
        return cls(
            id="01KW1H3V9C5Q2Z7M4X8N6B0T1R",
            status="open",
            note="For Otto of the night desk",
            made_by="mira_press",
            created_at="2026-11-20T16:08:12.345Z",
            expires_at="2026-11-27T16:08:12.345Z",
            used_at=None,
            used_by=None,
        )


class MadeInvitationOut(InvitationOut, rename="camel"):
    """A new invitation with its link, which is shown this once."""

    url: Annotated[Url | None, Meta(description="Where somebody signs up with it. Null in a replay.")]


class InvitationList(msgspec.Struct, rename="camel"):
    """A page of invitations, newest first."""

    invitations: list[InvitationOut]
    next_cursor: NextCursor


def invitation_shape(found: Invitation, now: int) -> InvitationOut:
    """Returns an invitation as it is at `now` (milliseconds)."""
    return InvitationOut(
        id=found.id,
        status=found.status(now),
        note=found.note,
        made_by=found.made_by,
        created_at=iso(found.created_at),
        expires_at=iso(found.expires_at),
        used_at=iso_or_none(found.used_at),
        used_by=found.used_by,
    )


_MADE: Final = MadeInvitationOut(
    **msgspec.structs.asdict(InvitationOut.example()),
    url=f"{EXAMPLE_BASE}/signup?invite=Zk3x0q9Jv1m2c4R8T6y7u5w3e1a9s0d2f4g6h8j1k3L",
)


@routes.get(
    ALL,
    AdminOnly(),
    summary="List invitations",
    gives=InvitationList,
    paged=True,
    response_example=InvitationList([InvitationOut.example()], None),
)
async def list_invitations(request: Request[Caller]) -> Response:
    """The invitations of all admins, newest first. They are kept for 30 days after their end."""
    shown, cursor = await read_paged(request, lambda each: each.id, queries.list_invitations)
    return json_response(InvitationList(_shapes(request, shown), cursor))


@routes.post(
    ALL,
    AdminOnly(recent=True),
    summary="Make an invitation",
    gives=MadeInvitationOut,
    location=f"{ALL}/{{made}}",
    body_optional=True,
    example=MakeInvitation(note="For Otto of the night desk"),
    response_example=_MADE,
)
async def make_invitation(request: Request[Caller], body: MakeInvitation) -> Response:
    """Makes a link by which one account can be made within 7 days, where sign-up is by invitation."""
    return await _make(request, body)


@routes.get(
    ONE,
    AdminOnly(),
    summary="Show an invitation",
    gives=InvitationOut,
    fails=(_NONE,),
)
async def show_invitation(request: Request[Caller]) -> Response:
    """One invitation, without its link."""
    found = await request.db.read(invitations.get, request.parameters["id"])
    return json_response(invitation_shape(found, request.clock.now()))


@routes.delete(
    ONE,
    AdminOnly(recent=True),
    summary="Revoke an invitation",
    gives=InvitationOut,
    fails=(_NONE, Conflict("This invitation is used already.")),
)
async def revoke_invitation(request: Request[Caller]) -> Response:
    """Ends an invitation that was not used: nobody can sign up with its link any more."""
    return await _revoke(request)


@routes.page(PAGE, AdminPage(), summary="Invitations")
async def show_invitations(request: Request[Caller], form: FormState) -> Response:
    """Renders the form of a new invitation and the list of all."""
    shown, cursor = await read_paged(request, lambda each: each.id, queries.list_invitations, page=page_of(request))
    values: dict[str, object] = {
        "invitations": _shapes(request, shown),
        "is_by_invitation": request.settings.signup is Signup.INVITE,
        "signup": request.settings.signup.value,
        **pager_values(request, PAGE, {}, cursor),
    }
    return await render(request, "administration/invitations.html", values, form=form)


@routes.submit(PAGE, AdminPage(recent=True), again=show_invitations, summary="Make an invitation")
async def send_invitation(request: Request[Caller], body: MakeInvitation) -> Response:
    """Makes it like POST /api/admin/invitations, and shows its link this once."""
    made = msgspec.json.decode((await _make(request, body)).body, type=MadeInvitationOut)
    return await render(request, "administration/invited.html", {"made": made}, secret=made.url is not None)


@routes.submit(f"{PAGE}/{{id}}/revoke", AdminPage(recent=True), again=show_invitations, summary="Revoke an invitation")
async def send_revocation(request: Request[Caller], body: NoFields) -> Response:
    """Revokes it like DELETE /api/admin/invitations/{id}."""
    await _revoke(request)
    return redirect(PAGE, done="invitation-revoked")


async def _make(request: Request[Caller], body: MakeInvitation) -> Response:
    now, base_url = request.clock.now(), request.settings.base_url

    def shape(made: tuple[Invitation, str]) -> MadeInvitationOut:
        shown = invitation_shape(made[0], now)
        return MadeInvitationOut(**msgspec.structs.asdict(shown), url=f"{base_url}/signup?invite={made[1]}")

    return await request.once.hiding("url")(
        invitations.make, shape, admin_of(request), request.caller.account.id, body.note or None
    )


async def _revoke(request: Request[Caller]) -> Response:
    now = request.clock.now()
    return await request.once(
        invitations.revoke, lambda found: invitation_shape(found, now), admin_of(request), request.parameters["id"]
    )


def _shapes(request: Request[Caller], found: list[Invitation]) -> list[InvitationOut]:
    now = request.clock.now()
    return [invitation_shape(each, now) for each in found]
