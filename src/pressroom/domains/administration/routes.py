"""The routes of admins: the installation, accounts, jobs, settings, the log (docs/operations.md#admins)."""

from collections.abc import Mapping
from typing import Final

import msgspec

from pressroom import __version__
from pressroom.domains.accounts.models import AccountFilter, Caller, folded
from pressroom.domains.accounts.queries import status
from pressroom.domains.administration import actions
from pressroom.domains.administration.actions import Facts
from pressroom.domains.administration.examples import (
    ACT_EXAMPLE,
    DEAD_JOB_EXAMPLE,
    DELETE_EXAMPLE,
    FACTS_EXAMPLE,
    LIMITS_EXAMPLE,
    OVERVIEW_EXAMPLE,
    QUEUE_EXAMPLE,
    REASON_EXAMPLE,
    RECORD_EXAMPLE,
    SETTING_EXAMPLE,
    VERIFY_EXAMPLE,
)
from pressroom.domains.administration.schemas import (
    ActList,
    AdminEndpointOut,
    AdminKeyOut,
    DeleteAccount,
    FactsOut,
    GiveReason,
    JobList,
    OverviewOut,
    RetriedOut,
    SetLimits,
    SettingList,
    VerifyAccount,
    act_shape,
    dead_job_shape,
    endpoint_shape,
    facts_shape,
    given,
    key_shape,
    overview_shape,
    queue_shape,
    setting_shape,
)
from pressroom.domains.media.models import source
from pressroom.domains.moderation import actions as moderation
from pressroom.domains.moderation.routes import admin_of
from pressroom.domains.moderation.schemas import OwnLimitsOut, RecordList, RecordOut, record_shape
from pressroom.errors import Code, Conflict, FieldError, Invalid, NotFound, Unprocessable
from pressroom.jobs.overview import find_dead
from pressroom.settings.shown import shown_settings
from pressroom.web.access import AdminOnly
from pressroom.web.paging import Page, read_page, read_paged, split
from pressroom.web.query import parse_filled
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import QueryParameter, Routes, Tag

TAG: Final = Tag("Administration", "What admins see and do; to everybody else these routes are not there.")
routes: Final = Routes[Caller](TAG)

ONE: Final = "/api/admin/accounts/{username}"

_NO_ACCOUNT: Final = NotFound("There is no account mira_press.")
_NO_JOB: Final = NotFound("There is no such dead job.")
_OF_ADMIN: Final = Unprocessable(
    [
        FieldError(
            "username",
            Code.NOT_ALLOWED,
            "mira_press is an admin. On the server: pressroom account admin mira_press --revoke",
        )
    ]
)
_LONGEST_PREFIX: Final = 254

_NARROWED: Final = (
    QueryParameter(
        "status",
        "Only those that are suspended, deleted, admins or moderators.",
        {"type": "string", "enum": [each.value for each in AccountFilter]},
    ),
    QueryParameter("username", "Only those whose user name begins so, in its order.", {"type": "string"}),
    QueryParameter("email", "Only those whose e-mail address begins so, in its order.", {"type": "string"}),
)


def read_narrowing(given: Mapping[str, str]) -> tuple[AccountFilter | None, str, bool]:
    """Returns which accounts a query asks for: a filter, or the beginning of a name and whether it is that of an
    e-mail address. Raises Invalid."""
    asked = [name for name in ("status", "username", "email") if given.get(name)]
    errors = [FieldError(name, Code.NOT_ALLOWED, "Give one of status, username and email.") for name in asked[1:]]
    errors += [
        FieldError(name, Code.TOO_LONG, f"At most {_LONGEST_PREFIX} characters.")
        for name in asked
        if len(given[name]) > _LONGEST_PREFIX
    ]
    if given.get("status") and given["status"] not in {each.value for each in AccountFilter}:
        errors.append(FieldError("status", Code.INVALID_CHOICE, f"One of {', '.join(AccountFilter)}."))
    if errors:
        raise Invalid(errors)
    only = AccountFilter(given["status"]) if given.get("status") else None
    return only, given.get("email") or given.get("username") or "", bool(given.get("email"))


async def read_accounts(request: Request[Caller], given: Mapping[str, str], page: Page) -> RecordList:
    """Returns the page of accounts that `status`, `username` or `email` in a query ask for. Raises Invalid."""
    only, prefix, by_email = read_narrowing(given)
    if prefix:
        found = await request.db.read(
            status.find_by_prefix, folded(prefix), by_email=by_email, after=page.after, limit=page.limit + 1
        )
    elif only is None:
        found = await request.db.read(status.list_records, before=page.before, limit=page.limit + 1)
    else:
        found = await request.db.read(status.list_filtered, only, before=page.before, limit=page.limit + 1)
    shown, cursor = split(found, page, lambda record: record.id)
    return RecordList([record_shape(record) for record in shown], cursor)


@routes.get(
    "/api/admin/overview",
    AdminOnly(),
    summary="The state of the installation",
    gives=OverviewOut,
    response_example=OVERVIEW_EXAMPLE,
)
async def show_overview(request: Request[Caller]) -> Response:
    """How much there is and what waits. Counts end at 10,000."""
    found = await request.db.read(actions.read_overview)
    return json_response(overview_shape(found, __version__, request.db.engine))


@routes.get(
    "/api/admin/accounts",
    AdminOnly(moderators=True),
    summary="List accounts",
    gives=RecordList,
    paged=True,
    query=_NARROWED,
    response_example=RecordList([RECORD_EXAMPLE], None),
)
async def list_accounts(request: Request[Caller]) -> Response:
    """All accounts, newest first; or those that one of `status`, `username` and `email` asks for."""
    return json_response(await read_accounts(request, parse_filled(request.query), read_page(request.query)))


@routes.get(
    ONE,
    AdminOnly(moderators=True),
    summary="Show an account",
    gives=FactsOut,
    fails=(_NO_ACCOUNT,),
    response_example=FACTS_EXAMPLE,
)
async def show_account(request: Request[Caller]) -> Response:
    """An account, suspended or not, with its keys and webhook endpoints; moderators get none of these."""
    return json_response(facts_of(request, await request.db.read(actions.read_account, request.parameters["username"])))


def facts_of(request: Request[Caller], facts: Facts) -> FactsOut:
    """Returns an account as the caller may see it: keys and endpoints are for admins."""
    shown = facts_shape(facts, request.clock.now())
    if not request.caller.is_admin:
        shown.keys, shown.webhooks = [], []
    return shown


@routes.patch(
    ONE,
    AdminOnly(recent=True),
    summary="Verify an account",
    gives=RecordOut,
    fails=(_NO_ACCOUNT,),
    example=VERIFY_EXAMPLE,
    response_example=RECORD_EXAMPLE,
)
async def verify_account(request: Request[Caller], body: VerifyAccount) -> Response:
    """Gives the account its badge, or takes it away, and says whether its e-mail address counts as confirmed."""
    return await request.once(
        actions.verify_account,
        record_shape,
        admin_of(request),
        request.parameters["username"],
        body.reason,
        verified=given(body.verified),
        email_verified=given(body.email_verified),
    )


@routes.put(
    f"{ONE}/limits",
    AdminOnly(recent=True),
    summary="Set the limits of an account",
    gives=RecordOut,
    fails=(_NO_ACCOUNT,),
    example=LIMITS_EXAMPLE,
    response_example=msgspec.structs.replace(RECORD_EXAMPLE, limits=OwnLimitsOut(content_per_day=5_000)),
)
async def set_limits(request: Request[Caller], body: SetLimits) -> Response:
    """Gives the account limits of its own, from its next request on, until `endsAt`. For the others the
    settings hold."""
    return await request.once(
        moderation.set_limits,
        record_shape,
        request.parameters["username"],
        body.limits(),
        body.reason,
        admin_of(request),
    )


@routes.post(
    f"{ONE}/suspend",
    AdminOnly(recent=True, moderators=True),
    summary="Suspend an account",
    gives=RecordOut,
    fails=(_NO_ACCOUNT, Conflict("mira_press is suspended already."), _OF_ADMIN),
    example=REASON_EXAMPLE,
    response_example=RECORD_EXAMPLE,
)
async def suspend_account(request: Request[Caller], body: GiveReason) -> Response:
    """Ends the account's sessions, revokes its keys for this reason, and hides all that it published. Not for accounts
    of admins."""
    username = request.parameters["username"]
    return await request.once(actions.suspend_account, record_shape, admin_of(request), username, body.reason)


@routes.post(
    f"{ONE}/restore",
    AdminOnly(recent=True, moderators=True),
    summary="Restore an account",
    gives=RecordOut,
    fails=(_NO_ACCOUNT, Conflict("mira_press is not suspended.")),
    example=REASON_EXAMPLE,
    response_example=RECORD_EXAMPLE,
)
async def restore_account(request: Request[Caller], body: GiveReason) -> Response:
    """Ends a suspension: what the account published is shown again. Its keys stay revoked."""
    username = request.parameters["username"]
    return await request.once(actions.restore_account, record_shape, admin_of(request), username, body.reason)


@routes.post(
    f"{ONE}/delete",
    AdminOnly(recent=True),
    summary="Delete an account",
    gives=RecordOut,
    fails=(_NO_ACCOUNT, _OF_ADMIN),
    example=DELETE_EXAMPLE,
    response_example=RECORD_EXAMPLE,
)
async def delete_account(request: Request[Caller], body: DeleteAccount) -> Response:
    """Deletes the account for good, once its user name was given as well. Not for accounts of admins."""
    username = request.parameters["username"]
    return await request.once(
        actions.delete_account, record_shape, admin_of(request), username, body.username, body.reason
    )


@routes.get(
    "/api/admin/jobs",
    AdminOnly(),
    summary="List jobs",
    gives=JobList,
    paged=True,
    response_example=JobList([QUEUE_EXAMPLE], [DEAD_JOB_EXAMPLE], None),
)
async def list_jobs(request: Request[Caller]) -> Response:
    """How many jobs of each kind wait, and those that were given up after their last try, newest first."""
    page = read_page(request.query)
    depths, found = await request.db.read(actions.read_jobs, page.before, page.limit + 1)
    dead, cursor = split(found, page, lambda job: job.id)
    return json_response(JobList([queue_shape(each) for each in depths], [dead_job_shape(job) for job in dead], cursor))


@routes.post(
    "/api/admin/jobs/{id}/retry",
    AdminOnly(recent=True),
    summary="Try a dead job again",
    gives=RetriedOut,
    fails=(
        _NO_JOB,
        Unprocessable(
            [FieldError("id", Code.NOT_ALLOWED, "Its upload is no longer stored: its owner sends the file again.")]
        ),
    ),
    response_example=RetriedOut(DEAD_JOB_EXAMPLE.id, DEAD_JOB_EXAMPLE.kind),
)
async def retry_job(request: Request[Caller]) -> Response:
    """Has a job that was given up done from the first try on, at once. A file that FAILED is PROCESSING again, if its
    upload is still stored."""
    return await try_again(request)


async def try_again(request: Request[Caller]) -> Response:
    """Has the dead job that the path names tried again, once. Raises Unprocessable when its upload is gone."""
    if (response := await request.once.stored()) is not None:
        return response
    job = await request.db.read(find_dead, request.parameters["id"])
    is_of_file = job is not None and job.kind in actions.OF_FILES
    if job is not None and is_of_file and await request.services.blobs.stat(source(job.subject)) is None:
        message = "Its upload is no longer stored: its owner sends the file again."
        raise Unprocessable([FieldError("id", Code.NOT_ALLOWED, message)])
    return await request.once(
        actions.retry_job, lambda job: RetriedOut(job.id, job.kind), admin_of(request), request.parameters["id"]
    )


@routes.get(
    "/api/admin/settings",
    AdminOnly(),
    summary="List the settings",
    gives=SettingList,
    response_example=SettingList([SETTING_EXAMPLE]),
)
async def list_settings(request: Request[Caller]) -> Response:
    """Every setting of the process that answers, without passwords and other secrets in addresses."""
    return json_response(SettingList([setting_shape(each) for each in shown_settings(request.settings)]))


@routes.get(
    "/api/admin/log",
    AdminOnly(),
    summary="List what admins did",
    gives=ActList,
    paged=True,
    response_example=ActList([ACT_EXAMPLE], None),
)
async def list_log(request: Request[Caller]) -> Response:
    """Acts of admins and the operator, newest first: who, what, why, when, and from where. Kept for a year."""
    shown, cursor = await read_paged(request, lambda each: each.entry.id, actions.list_log)
    return json_response(ActList([act_shape(each) for each in shown], cursor))


KEY: Final = f"{ONE}/keys/{{keyId}}"


@routes.post(
    f"{KEY}/revoke",
    AdminOnly(recent=True),
    summary="Revoke a key of an account",
    gives=AdminKeyOut,
    fails=(NotFound("There is no such key."), Conflict("The key is revoked already.")),
    example=REASON_EXAMPLE,
    response_example=FACTS_EXAMPLE.keys[0],
)
async def revoke_key_of(request: Request[Caller], body: GiveReason) -> Response:
    """Revokes one key for good: its endpoints are sent `apikey.revoked` with the reason, and its owner is notified."""
    return await revoke(request, body)


@routes.post(
    f"{KEY}/webhooks/{{webhookId}}/disable",
    AdminOnly(recent=True),
    summary="Disable a webhook endpoint of an account",
    gives=AdminEndpointOut,
    fails=(NotFound("There is no such webhook endpoint."), Conflict("The endpoint is disabled already.")),
    example=REASON_EXAMPLE,
    response_example=FACTS_EXAMPLE.webhooks[0],
)
async def disable_webhook_of(request: Request[Caller], body: GiveReason) -> Response:
    """Sends nothing more to one endpoint. Its owner is notified with the reason, and may remove it and add it again."""
    return await disable(request, body)


async def revoke(request: Request[Caller], body: GiveReason) -> Response:
    """Revokes the key that the path names, once."""
    now, path = request.clock.now(), request.parameters
    return await request.once(
        actions.revoke_key,
        lambda key: key_shape(key, now),
        admin_of(request),
        path["username"],
        path["keyId"],
        body.reason,
    )


async def disable(request: Request[Caller], body: GiveReason) -> Response:
    """Disables the endpoint that the path names, once."""
    path = request.parameters
    return await request.once(
        actions.disable_webhook,
        endpoint_shape,
        admin_of(request),
        path["username"],
        path["keyId"],
        path["webhookId"],
        body.reason,
    )
