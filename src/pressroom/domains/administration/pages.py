"""The pages of admins (docs/operations.md#admins)."""

from typing import Final
from urllib.parse import quote, urlencode

from pressroom import __version__
from pressroom.db import Tx
from pressroom.domains.accounts.actions import get_record
from pressroom.domains.accounts.models import AccountFilter, AccountRecord, Caller
from pressroom.domains.administration import actions
from pressroom.domains.administration.routes import disable, facts_of, read_accounts, revoke, try_again
from pressroom.domains.administration.schemas import (
    DeleteAccount,
    GiveReason,
    SetLimits,
    VerifyAccount,
    act_shape,
    dead_job_shape,
    endpoint_shape,
    given,
    key_shape,
    overview_shape,
    queue_shape,
    setting_shape,
)
from pressroom.domains.moderation import actions as moderation
from pressroom.domains.moderation.routes import admin_of
from pressroom.domains.moderation.schemas import record_shape
from pressroom.settings.shown import shown_settings
from pressroom.web.access import AdminPage
from pressroom.web.page_forms import FormFields, FormState, NoFields
from pressroom.web.paging import Page, place_of, read_paged, split
from pressroom.web.query import parse_filled
from pressroom.web.rendering import redirect, render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()


ACCOUNTS: Final = "/admin/accounts"
ONE: Final = f"{ACCOUNTS}/{{username}}"
SHOWN: Final = 50
"""Rows on a page."""

_VERIFICATION: Final = FormFields(empty_clears={"verified", "emailVerified"})
_LIMITS: Final = FormFields(times={"endsAt"})


@routes.get("/admin", AdminPage(), summary="The state of the installation")
async def show_overview(request: Request[Caller]) -> Response:
    """How much there is and what waits."""
    found = await request.db.read(actions.read_overview)
    return await render(
        request, "administration/overview.html", {"overview": overview_shape(found, __version__, request.db.engine)}
    )


@routes.get(ACCOUNTS, AdminPage(moderators=True), summary="Accounts")
async def show_accounts(request: Request[Caller]) -> Response:
    """All accounts, newest first, or those that are searched for."""
    given = parse_filled(request.query)
    search, by = given.get("search", "").strip().removeprefix("@")[:254], given.get("by", "")
    by = by if by in ("username", "email") else "username"
    status = (
        given.get("status", "") if given.get("status") in {each.value for each in AccountFilter} and not search else ""
    )
    asked = {by: search} if search else {"status": status} if status else {}
    found = await read_accounts(request, asked, page_of(request))
    kept = {"search": search, "by": by} if search else asked
    values: dict[str, object] = {"accounts": found.accounts, "search": search, "by": by, "status": status}
    return await render(
        request, "administration/accounts.html", {**values, **pager_values(request, ACCOUNTS, kept, found.next_cursor)}
    )


@routes.get(ONE, AdminPage(moderators=True), summary="An account")
async def show_account(request: Request[Caller]) -> Response:
    """An account, its belongings, and the actions on it."""
    facts = await request.db.read(actions.read_account, request.parameters["username"])
    values = {"account": facts_of(request, facts)}
    return await render(request, "administration/account.html", values)


async def show_verification(request: Request[Caller], form: FormState) -> Response:
    """Renders the page on which an account is verified."""
    return await _show_act(request, form, "verify")


async def show_limits(request: Request[Caller], form: FormState) -> Response:
    """Renders the form of an account's own limits."""
    return await _show_act(request, form, "limits")


async def show_suspension(request: Request[Caller], form: FormState) -> Response:
    """Renders the effects of a suspension, with the form."""
    return await _show_act(request, form, "suspend")


async def show_restoration(request: Request[Caller], form: FormState) -> Response:
    """Renders the effects of ending a suspension, with the form."""
    return await _show_act(request, form, "restore")


async def show_deletion(request: Request[Caller], form: FormState) -> Response:
    """Renders the effects of a deletion, with the form."""
    return await _show_act(request, form, "delete")


@routes.form(f"{ONE}/verify", AdminPage(recent=True), fields=_VERIFICATION, show=show_verification, summary="Verify it")
async def verify_account(request: Request[Caller], body: VerifyAccount) -> Response:
    """Sets both like PATCH /api/admin/accounts/{username}."""
    await request.once(
        actions.verify_account,
        record_shape,
        admin_of(request),
        request.parameters["username"],
        body.reason,
        verified=given(body.verified),
        email_verified=given(body.email_verified),
    )
    return _done(request, "account-verified")


@routes.form(f"{ONE}/limits", AdminPage(recent=True), fields=_LIMITS, show=show_limits, summary="Set its limits")
async def set_limits(request: Request[Caller], body: SetLimits) -> Response:
    """Sets them like PUT /api/admin/accounts/{username}/limits."""
    username = request.parameters["username"]
    await request.once(moderation.set_limits, record_shape, username, body.limits(), body.reason, admin_of(request))
    return _done(request, "limits-set")


@routes.form(f"{ONE}/suspend", AdminPage(recent=True, moderators=True), show=show_suspension, summary="Suspend it")
async def suspend_account(request: Request[Caller], body: GiveReason) -> Response:
    """Suspends the account like POST /api/admin/accounts/{username}/suspend."""
    username = request.parameters["username"]
    await request.once(actions.suspend_account, record_shape, admin_of(request), username, body.reason)
    return _done(request, "account-suspended")


@routes.form(f"{ONE}/restore", AdminPage(recent=True, moderators=True), show=show_restoration, summary="Restore it")
async def restore_account(request: Request[Caller], body: GiveReason) -> Response:
    """Restores the account like POST /api/admin/accounts/{username}/restore."""
    username = request.parameters["username"]
    await request.once(actions.restore_account, record_shape, admin_of(request), username, body.reason)
    return _done(request, "account-restored")


@routes.form(f"{ONE}/delete", AdminPage(recent=True), show=show_deletion, summary="Delete it")
async def delete_account(request: Request[Caller], body: DeleteAccount) -> Response:
    """Deletes the account like POST /api/admin/accounts/{username}/delete."""
    username = request.parameters["username"]
    await request.once(actions.delete_account, record_shape, admin_of(request), username, body.username, body.reason)
    return redirect(ACCOUNTS, done="account-deleted")


@routes.page("/admin/jobs", AdminPage(), summary="Jobs")
async def show_jobs(request: Request[Caller], form: FormState) -> Response:
    """Renders the numbers of waiting jobs, and the jobs that were given up."""
    page = page_of(request)
    depths, found = await request.db.read(actions.read_jobs, page.before, page.limit + 1)
    dead, cursor = split(found, page, lambda job: job.id)
    values: dict[str, object] = {
        "queues": [queue_shape(each) for each in depths],
        "dead": [dead_job_shape(job) for job in dead],
    }
    return await render(
        request, "administration/jobs.html", {**values, **pager_values(request, "/admin/jobs", {}, cursor)}, form=form
    )


@routes.submit("/admin/jobs/{id}/retry", AdminPage(recent=True), again=show_jobs, summary="Try a dead job again")
async def retry_job(request: Request[Caller], body: NoFields) -> Response:
    """Has the job tried again like POST /api/admin/jobs/{id}/retry."""
    await try_again(request)
    return redirect("/admin/jobs", done="job-retried")


@routes.get("/admin/settings", AdminPage(), summary="The settings of this server")
async def show_settings(request: Request[Caller]) -> Response:
    """Every setting, without secrets."""
    values = {"settings": [setting_shape(each) for each in shown_settings(request.settings)]}
    return await render(request, "administration/settings.html", values)


@routes.get("/admin/log", AdminPage(), summary="What admins did")
async def show_log(request: Request[Caller]) -> Response:
    """Acts of admins and the operator, newest first."""
    shown, cursor = await read_paged(request, lambda each: each.entry.id, actions.list_log, page=page_of(request))
    values: dict[str, object] = {"acts": [act_shape(each) for each in shown]}
    return await render(
        request, "administration/log.html", {**values, **pager_values(request, "/admin/log", {}, cursor)}
    )


async def _show_act(request: Request[Caller], form: FormState, act: str) -> Response:
    record = await request.db.read(_read_record, request.parameters["username"])
    values = {"account": record_shape(record), "record": record, "settings": request.settings}
    return await render(request, f"administration/{act}.html", values, form=form)


async def _read_record(tx: Tx, username: str) -> AccountRecord:
    return await get_record(tx, username)


def _done(request: Request[Caller], code: str) -> Response:
    return redirect(f"{ACCOUNTS}/{quote(request.parameters['username'], safe='')}", done=code)


def page_of(request: Request[Caller]) -> Page:
    """Returns the page that the address asks for. Raises Invalid."""
    return Page(SHOWN, place_of(request.query, "cursor"))


def pager_values(request: Request[Caller], path: str, kept: dict[str, str], cursor: str | None) -> dict[str, object]:
    """Returns the addresses of the next and the first page, with the filters of this one."""
    further = f"{path}?{urlencode({**kept, 'cursor': cursor})}" if cursor else None
    begin = f"{path}?{urlencode(kept)}" if kept else path
    return {"next_page": further, "first_page": begin if page_of(request).cursor else None}


KEY: Final = f"{ONE}/keys/{{keyId}}"
ENDPOINT: Final = f"{KEY}/webhooks/{{webhookId}}"


async def show_revocation(request: Request[Caller], form: FormState) -> Response:
    """Renders the effects of revoking a key, with the form."""
    path = request.parameters
    record, key = await request.db.read(actions.get_owned_key, path["username"], path["keyId"])
    values = {"account": record_shape(record), "key": key_shape(key, request.clock.now())}
    return await render(request, "administration/revoke_key.html", values, form=form)


async def show_disabling(request: Request[Caller], form: FormState) -> Response:
    """Renders the effects of disabling an endpoint, with the form."""
    path = request.parameters
    record, webhook = await request.db.read(
        actions.get_owned_webhook, path["username"], path["keyId"], path["webhookId"]
    )
    values = {"account": record_shape(record), "endpoint": endpoint_shape(webhook)}
    return await render(request, "administration/disable_endpoint.html", values, form=form)


@routes.form(f"{KEY}/revoke", AdminPage(recent=True), show=show_revocation, summary="Revoke it")
async def revoke_key(request: Request[Caller], body: GiveReason) -> Response:
    """Revokes the key like POST /api/admin/accounts/{username}/keys/{keyId}/revoke."""
    await revoke(request, body)
    return _done(request, "key-of-account-revoked")


@routes.form(f"{ENDPOINT}/disable", AdminPage(recent=True), show=show_disabling, summary="Disable it")
async def disable_endpoint(request: Request[Caller], body: GiveReason) -> Response:
    """Disables the endpoint like POST /api/admin/accounts/{username}/keys/{keyId}/webhooks/{webhookId}/disable."""
    await disable(request, body)
    return _done(request, "endpoint-of-account-disabled")
