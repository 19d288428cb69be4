"""The page of a key, with its usage and its endpoints, and the page that revokes it (docs/web-app.md#keys)."""

import unicodedata
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from pressroom.clock import next_midnight
from pressroom.db import Tx
from pressroom.domains.accounts.models import Caller
from pressroom.domains.keys import actions as keys
from pressroom.domains.keys.models import ApiKey, KeyStatus, Usage
from pressroom.domains.keys.routes import look, quota_of
from pressroom.domains.keys.schemas import EditKey
from pressroom.domains.webhooks.actions.endpoints import list_statuses, list_webhooks
from pressroom.domains.webhooks.models import ENDPOINTS, Webhook
from pressroom.domains.webhooks.schemas import FiguresOut, WebhookOut, figures_shape, webhook_shape
from pressroom.errors import Code, FieldError, Invalid, Unavailable
from pressroom.ids import BEYOND
from pressroom.web.access import Page
from pressroom.web.json_bodies import Body
from pressroom.web.page_forms import FormFields, FormState
from pressroom.web.rendering import redirect, render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes
from pressroom.web.services import Left

routes: Final = Routes[Caller]()

ONE_KEY: Final = "/settings/keys/{keyId}"


class ListedEndpoint(msgspec.Struct):
    """An endpoint in a list, with its figures."""

    webhook: WebhookOut
    figures: FiguresOut


async def read_endpoints(tx: Tx, account_id: str, key_id: str) -> list[ListedEndpoint]:
    """Returns the `endpoints` that the template `webhooks/_of_key.html` lists, newest first. Raises NotFound."""
    found = await list_statuses(tx, account_id, key_id)
    return [
        ListedEndpoint(webhook_shape(webhook, tx.now), figures_shape(webhook, figures)) for webhook, figures in found
    ]


class ConfirmRevocation(Body):
    """The label of the key to revoke, typed to show that this one is meant."""

    label: Annotated[str, Meta(min_length=1, max_length=100)]


class LimitLeft(msgspec.Struct):
    """A limit as the page shows it: its remaining units, and the time (milliseconds) at which they change."""

    name: str
    limit: int
    remaining: int
    resets_at: int | None


@routes.page(ONE_KEY, Page(), summary="An API key, its usage and its webhook endpoints")
async def show_key(request: Request[Caller], form: FormState) -> Response:
    """The key's scopes, note, usage, limits and webhook endpoints; the form is that of its note."""
    now = request.clock.now()
    usage, endpoints = await request.db.read(_read_page, *_named(request))
    is_active = usage.key.status(now) is KeyStatus.ACTIVE
    values: dict[str, object] = {
        "key": usage.key,
        "usage": usage,
        "endpoints": endpoints,
        "limits": await _limits(request, usage, now) if is_active else None,
        "was_used": any(period.total for period in usage.days),
    }
    return await render(request, "keys/key.html", values, form=form)


@routes.submit(
    f"{ONE_KEY}/note",
    Page(),
    fields=FormFields(empties={"note"}),
    again=show_key,
    summary="Change the note on an API key",
)
async def change_note(request: Request[Caller], body: EditKey) -> Response:
    """Changes the owner's note on the key."""
    account_id, key_id = _named(request)
    await request.once(keys.set_note, lambda key: {"id": key.id}, account_id, key_id, body.note)
    return redirect(f"/settings/keys/{key_id}", done="note-saved")


async def show_revocation(request: Request[Caller], form: FormState) -> Response:
    """Returns the page that explains a revocation and asks for the key's label."""
    key, endpoints = await request.db.read(_read_revocation, *_named(request))
    return await render(request, "keys/revoke.html", {"key": key, "endpoints": endpoints}, form=form)


@routes.form(f"{ONE_KEY}/revoke", Page(), show=show_revocation, summary="Revoke an API key")
async def revoke_key(request: Request[Caller], body: ConfirmRevocation) -> Response:
    """Revokes the key whose label was typed."""
    account_id, key_id = _named(request)
    key = await request.db.read(keys.get_key, account_id, key_id)
    if _typed(key.label) != _typed(body.label) and body.label.strip() != key.key_prefix:
        raise Invalid(
            [FieldError("label", Code.INVALID_CHOICE, "That is neither the label nor the prefix of this key.")]
        )
    source = request.caller.source
    await request.once(keys.revoke_own_key, lambda revoked: {"id": revoked.id}, account_id, key_id, source)
    return redirect(f"/settings/keys/{key_id}", done="key-revoked")


def _typed(label: str) -> str:
    """Returns a label as a person types it: without invisible characters, spaces joined."""
    visible = "".join(character for character in label if unicodedata.category(character) != "Cf")
    return " ".join(visible.split())


async def _read_page(tx: Tx, account_id: str, key_id: str) -> tuple[Usage, list[ListedEndpoint]]:
    return await keys.read_usage(tx, account_id, key_id), await read_endpoints(tx, account_id, key_id)


async def _read_revocation(tx: Tx, account_id: str, key_id: str) -> tuple[ApiKey, list[Webhook]]:
    key = await keys.get_key(tx, account_id, key_id)
    return key, await list_webhooks(tx, account_id, key_id, BEYOND, ENDPOINTS)


async def _limits(request: Request[Caller], usage: Usage, now: int) -> list[LimitLeft] | None:
    """Returns the remaining units of the key's limits; None while the limiter is unavailable."""
    try:
        minute, day = await look(request, usage)
    except Unavailable:
        return None
    quota = quota_of(request)
    content = LimitLeft("content", quota, max(0, quota - usage.content_used), next_midnight(now))
    return [_limit("minute", minute), _limit("day", day), content]


def _limit(name: str, left: Left) -> LimitLeft:
    return LimitLeft(name, left.limit, left.remaining, left.resets_at)


def _named(request: Request[Caller]) -> tuple[str, str]:
    return request.caller.account.id, request.parameters["keyId"]
