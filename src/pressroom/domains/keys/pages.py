"""The pages on which people manage keys: the list, and making one (docs/web-app.md#keys)."""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from pressroom.domains.accounts.models import Caller
from pressroom.domains.keys import actions
from pressroom.domains.keys.models import ACTIVE_KEYS, ApiKey, FirstUse, KeyStatus
from pressroom.domains.keys.schemas import CreatedKeyOut, CreateKey, created_key_shape
from pressroom.ids import BEYOND
from pressroom.web.access import Page
from pressroom.web.page_forms import FormFields, FormState
from pressroom.web.paging import place_of
from pressroom.web.query import parse_query
from pressroom.web.rendering import render, unchanged
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()


KEYS: Final = "/settings/keys"
ENDED_SHOWN: Final = 20
"""Revoked and expired keys on one page."""

PRESET_EXPIRY: Final = "90d"

_ID: Final = re.compile(r"[0-9A-Z]{26}")

NEW_KEY: Final = FormFields(lists={"scopes"}, lines={"ipAllowlist"}, times={"expiryAt"}, others={"expiry": "expiryAt"})


@routes.get(KEYS, Page(), summary="The account's API keys")
async def show_keys(request: Request[Caller]) -> Response:
    """The active keys, and those that have ended, a page at a time."""
    before = place_of(request.query)
    found = await request.db.read(actions.list_by_status, request.caller.account.id, before or BEYOND, ENDED_SHOWN + 1)
    ended = found.ended[:ENDED_SHOWN]
    values: dict[str, object] = {
        "active": found.active,
        "ended": ended,
        "most": ACTIVE_KEYS,
        "next_page": f"{KEYS}?before={ended[-1].id}" if len(found.ended) > ENDED_SHOWN else None,
        "first_page": KEYS if before else None,
    }
    return await render(request, "keys/list.html", values)


@routes.get(f"{KEYS}/new", Page(recent=True), summary="The form of a new API key")
async def new_key(request: Request[Caller]) -> Response:
    """An empty form, or one filled in from the key that the new one is to replace."""
    replaced = await _replaced(request)
    return await _show_form(request, FormState() if replaced is None else _filled_from(replaced), replaced)


async def show_new_key(request: Request[Caller], form: FormState) -> Response:
    """Renders the page with the form as it was sent, with its errors."""
    return await _show_form(request, form, await _replaced(request))


@routes.submit(f"{KEYS}/new", Page(recent=True), fields=NEW_KEY, again=show_new_key, summary="Make an API key")
async def make_key(request: Request[Caller], body: CreateKey) -> Response:
    """Makes the key and shows it, once: the form sent again answers that it was shown."""
    now, replaced = request.clock.now(), await _replaced(request)
    answer = await request.once.hiding("key")(
        actions.create_key,
        lambda made: created_key_shape(*made, now),
        request.caller.account.id,
        body.new_key(),
        request.caller.source,
    )
    made = msgspec.json.decode(answer.body, type=CreatedKeyOut)
    use = await request.db.read(
        actions.read_first_use, request.caller.account.id, made.id, replaced.id if replaced else None
    )
    values: dict[str, object] = {
        "made": made,
        "use": use,
        "version": version_of(use, now),
        "is_over": is_over(use, now),
    }
    return await render(request, "keys/made.html", values, secret=made.key is not None)


@routes.get(f"{KEYS}/{{keyId}}/first-use", Page(), summary="Whether a new key was used yet")
async def first_use(request: Request[Caller]) -> Response:
    """The part of a page that waits for the key's first request; 204 while it is unchanged."""
    replaced_id = _id_given(request, "replaces")
    use = await request.db.read(
        actions.read_first_use, request.caller.account.id, request.parameters["keyId"], replaced_id
    )
    now = request.clock.now()
    version = version_of(use, now)
    values = {"use": use, "is_over": is_over(use, now)}
    return unchanged(request, version) or await render(request, "keys/_first_use.html", values, version=version)


def is_over(use: FirstUse, now: int) -> bool:
    """Returns whether nothing in that part will change any more: both keys have ended or are in use."""
    is_known = use.counts.accepted > 0 or use.key.status(now) is not KeyStatus.ACTIVE
    return is_known and (use.replaces is None or use.replaces.status(now) is not KeyStatus.ACTIVE)


def version_of(use: FirstUse, now: int) -> str:
    """Returns a version of the page's part, which changes with its content."""
    refused_at = use.refusal.refused_at if use.refusal else 0
    outcome = "accepted" if use.counts.accepted else f"{use.counts.total}-{refused_at}"
    replaced = f"{use.replaces.last_used_at or 0}-{use.replaces.status(now).value}" if use.replaces else "0"
    return f"{outcome}-{use.key.status(now).value}-{replaced}"


async def _show_form(request: Request[Caller], form: FormState, replaced: ApiKey | None) -> Response:
    found = await request.db.read(actions.list_by_status, request.caller.account.id, BEYOND, 0)
    values: dict[str, object] = {
        "active": found.active,
        "most": ACTIVE_KEYS,
        "replaced": replaced,
        "preset_expiry": PRESET_EXPIRY,
        "address": request.client,
    }
    return await render(request, "keys/new.html", values, form=form)


def _filled_from(key: ApiKey) -> FormState:
    typed: dict[str, Sequence[str]] = {"label": [key.label], "scopes": key.scopes.split()}
    if key.ip_allowlist:
        typed["ipAllowlist"] = ["\n".join(key.ip_allowlist.split())]
    return FormState(typed=typed)


async def _replaced(request: Request[Caller]) -> ApiKey | None:
    """Returns the key that the new one is to replace, None when none is named. Raises NotFound."""
    key_id = _id_given(request, "replace")
    return await request.db.read(actions.get_key, request.caller.account.id, key_id) if key_id else None


def _id_given(request: Request[Caller], name: str) -> str | None:
    """Returns an id from the query; None when it is absent or malformed."""
    given = _given(request, name)
    return given if _ID.fullmatch(given) else None


def _given(request: Request[Caller], name: str) -> str:
    return parse_query(request.query).get(name, "")
