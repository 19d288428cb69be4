"""Adds, reads, changes, replaces and removes endpoints, and reports their status (docs/webhooks.md#add-an-endpoint)."""

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from pressroom.clock import DAY, HOUR
from pressroom.db import Tx
from pressroom.domains.accounts import queries as accounts
from pressroom.domains.audit.actions import record
from pressroom.domains.audit.models import UNKNOWN, Kind, Source
from pressroom.domains.events.models import EventType
from pressroom.domains.keys.actions import get_key
from pressroom.domains.keys.models import ApiKey, KeyStatus
from pressroom.domains.notifications.actions import notify
from pressroom.domains.notifications.models import NotificationType
from pressroom.domains.webhooks import models
from pressroom.domains.webhooks.envelope import new_secret
from pressroom.domains.webhooks.models import (
    ENDPOINTS,
    OVERLAP,
    RETENTION,
    EndpointFigures,
    EndpointReport,
    NewWebhook,
    ReplacedWebhook,
    Speed,
    Webhook,
    missed_since,
)
from pressroom.domains.webhooks.queries import deliveries, endpoints, leases, statistics
from pressroom.domains.webhooks.statistics import DAYS_SHOWN, HOURS_SHOWN, EndpointOverview, Statistics, summed_up
from pressroom.errors import Code, Conflict, FieldError, NotFound, Unprocessable
from pressroom.ids import BEYOND, new_id

KEY_ENDED: Final = "The key is revoked or has expired. Create another key and add the endpoint to that."

LOOKED_AT: Final = 20
"""Deliveries before the oldest pending one that are searched for failed ones."""


async def add_webhook(
    tx: Tx, account_id: str, key_id: str, new: NewWebhook, source: Source = UNKNOWN, *, label: str | None = None
) -> tuple[Webhook, str]:
    """Adds an endpoint to a key. Returns its record and its secret, which is shown this once.

    One with the URL of a removed endpoint of the key continues that one (docs/webhooks.md#redeliver). Raises NotFound,
    Unprocessable when the key is not active, Conflict when it has five endpoints (docs/webhooks.md#add-an-endpoint).
    The account is locked first, so that two requests at once cannot both add the fifth or continue the same endpoint,
    then the key, so that a revocation either finds the endpoint or comes first.
    """
    await accounts.lock_account(tx, account_id)
    key = await get_key(tx, account_id, key_id, lock=True)
    check_active(key, tx.now)
    if await endpoints.count_webhooks(tx, key_id) >= ENDPOINTS:
        raise Conflict(f"A key has at most {ENDPOINTS} webhook endpoints; remove one to add another.")
    webhook_id, secret = new_id(tx.now, account_id), new_secret()
    before = await endpoints.find_predecessor(tx, account_id, key_id, new.url)
    await endpoints.insert_webhook(
        tx,
        webhook_id=webhook_id,
        account_id=account_id,
        key_id=key_id,
        key_expires_at=key.expires_at,
        url=new.url,
        label=label,
        events=" ".join(new.events),
        secret=secret,
        origin_id=before.origin_id if before else webhook_id,
        speed=before.speed if before else Speed.NEW,
    )
    await _record(tx, account_id, Kind.ENDPOINT_ADDED, source, webhook_id, new.url)
    return await _get(tx, account_id, key_id, webhook_id), secret


async def check_key(tx: Tx, account_id: str, key_id: str) -> None:
    """Raises NotFound unless the key is the account's."""
    await get_key(tx, account_id, key_id)


async def get_webhook(tx: Tx, account_id: str, key_id: str, webhook_id: str) -> Webhook:
    """Returns an endpoint of one of the account's keys. Raises NotFound."""
    return (await get_with_key(tx, account_id, key_id, webhook_id))[1]


async def get_with_key(tx: Tx, account_id: str, key_id: str, webhook_id: str) -> tuple[ApiKey, Webhook]:
    """Returns one of the account's keys and an endpoint of it. Raises NotFound."""
    key = await get_key(tx, account_id, key_id)
    return key, await _get(tx, account_id, key_id, webhook_id)


async def list_webhooks(tx: Tx, account_id: str, key_id: str, before: str, limit: int) -> list[Webhook]:
    """Returns endpoints of one of the account's keys, newest first, before `before`. Raises NotFound."""
    await get_key(tx, account_id, key_id)
    return await endpoints.list_webhooks(tx, key_id, before=before, limit=limit)


async def remove_webhook(tx: Tx, account_id: str, key_id: str, webhook_id: str, source: Source = UNKNOWN) -> None:
    """Removes an endpoint: from now on nothing is sent to it. Raises NotFound.

    Its rows stay for as long as events can be redelivered, so that an endpoint that continues it finds its envelopes.
    """
    await get_key(tx, account_id, key_id)
    webhook = await endpoints.find_webhook(tx, account_id, key_id, webhook_id)
    # Nothing is touched when another request has removed it since the look above.
    if not await endpoints.remove_webhook(tx, account_id, key_id, webhook_id, sweep_at=tx.now + RETENTION):
        raise NotFound("There is no such webhook endpoint.")
    await endpoints.forget_removed(tx, key_id, most=models.REMEMBERED)
    await _record(tx, account_id, Kind.ENDPOINT_REMOVED, source, webhook_id, webhook.url if webhook else "")


async def rotate_secret(
    tx: Tx, account_id: str, key_id: str, webhook_id: str, source: Source = UNKNOWN
) -> tuple[str, int]:
    """Gives an endpoint a new secret. Returns it, and until when receivers accept the old one (milliseconds).

    From now on all deliveries are signed with the new one (docs/webhooks.md#rotate-a-secret). Raises NotFound,
    Unprocessable when the key is not active.
    """
    webhook = await lock_live(tx, account_id, key_id, webhook_id, or_disabled=True)
    secret, previous_expires_at = new_secret(), tx.now + OVERLAP
    await endpoints.rotate_secret(tx, account_id, webhook_id, secret=secret, previous_expires_at=previous_expires_at)
    await _record(tx, account_id, Kind.SECRET_ROTATED, source, webhook_id, webhook.url)
    return secret, previous_expires_at


async def replace_webhook(
    tx: Tx, account_id: str, key_id: str, webhook_id: str, new: NewWebhook, source: Source = UNKNOWN
) -> ReplacedWebhook:
    """Removes an endpoint and adds another in its place; either both happen or neither.

    With the same URL the new endpoint continues the old one (docs/webhooks.md#replace). Raises NotFound, Unprocessable
    when the key is not active. Account, key and endpoint are locked first, in the order of docs/architecture.md#locks:
    nothing is queued between the look at the missed events of the old endpoint and its removal.
    """
    await accounts.lock_account(tx, account_id)
    await get_key(tx, account_id, key_id, lock=True)
    await endpoints.find_webhook(tx, account_id, key_id, webhook_id, lock=True)
    old = await get_status(tx, account_id, key_id, webhook_id)
    await remove_webhook(tx, account_id, key_id, webhook_id, source)
    webhook, secret = await add_webhook(tx, account_id, key_id, new, source, label=old.webhook.label)
    return ReplacedWebhook(webhook, secret, old.missed_since)


async def disable_webhook(
    tx: Tx, account_id: str, key_id: str, webhook_id: str, reason: str, source: Source
) -> Webhook:
    """Disables an endpoint, notifies its owner and returns it: its pending deliveries are held, as after five failures.

    Raises NotFound, Conflict when it is disabled already.
    """
    # Locked, as by queueing: no delivery is queued to it after this transaction.
    webhook = await endpoints.find_webhook(tx, account_id, key_id, webhook_id, lock=True)
    if webhook is None:
        raise NotFound("There is no such webhook endpoint.")
    if webhook.disabled_at is not None:
        raise Conflict("The endpoint is disabled already.")
    await leases.disable(tx, account_id, webhook_id, reason=reason, sweep_at=tx.now + RETENTION)
    await notify(tx, account_id, NotificationType.WEBHOOK_DISABLED, webhook_id=webhook_id)
    await record(tx, account_id, Kind.ENDPOINT_DISABLED, source, webhookId=webhook_id, reason=reason)
    webhook.disabled_at, webhook.disabled_reason = tx.now, reason
    return webhook


async def change_webhook(
    tx: Tx,
    account_id: str,
    key_id: str,
    webhook_id: str,
    events: Sequence[EventType] | None,
    label: str | None,
    source: Source = UNKNOWN,
) -> Webhook:
    """Changes the event types and the label of an endpoint and returns it; None leaves them, an empty label clears it.

    Deliveries queued before stay queued. A disabled endpoint stays disabled. Raises NotFound.
    """
    # Locked, as by queueing: an event goes by the earlier choice or by the later one, never by both.
    webhook = await lock_webhook(tx, account_id, key_id, webhook_id)
    if events is not None:
        webhook.events = " ".join(events)
    if label is not None:
        webhook.label = label or None
    await endpoints.change_webhook(tx, account_id, webhook_id, events=webhook.events, label=webhook.label)
    await record_change(tx, account_id, Kind.ENDPOINT_CHANGED, source, webhook)
    return webhook


async def pause(tx: Tx, account_id: str, key_id: str, webhook_id: str, source: Source = UNKNOWN) -> Webhook:
    """Pauses an endpoint and returns it: pending deliveries spend no attempt, and requests in flight end.

    A paused endpoint stays paused. Raises NotFound, Unprocessable when it is disabled.
    """
    webhook = await lock_webhook(tx, account_id, key_id, webhook_id)
    check_not_disabled(webhook)
    if webhook.paused_at is None:
        webhook.paused_at = tx.now
        await endpoints.pause_webhook(tx, account_id, webhook_id)
        await record_change(tx, account_id, Kind.ENDPOINT_PAUSED, source, webhook)
    return webhook


async def resume(tx: Tx, account_id: str, key_id: str, webhook_id: str, source: Source = UNKNOWN) -> Webhook:
    """Resumes a paused endpoint and returns it; an endpoint that is not paused stays as it is.

    Also under a key that has ended, so that its revocation is delivered. Raises NotFound, Unprocessable when the
    endpoint is disabled.
    """
    webhook = await lock_webhook(tx, account_id, key_id, webhook_id)
    check_not_disabled(webhook)
    if webhook.paused_at is not None:
        webhook.paused_at = None
        await endpoints.resume_webhook(tx, account_id, webhook_id)
        await record_change(tx, account_id, Kind.ENDPOINT_RESUMED, source, webhook)
        # At the commit, workers begin its waiting deliveries at once.
        tx.signal()
    return webhook


async def get_status(tx: Tx, account_id: str, key_id: str, webhook_id: str) -> EndpointReport:
    """Returns an endpoint of one of the account's keys with its figures. Raises NotFound."""
    key = await get_key(tx, account_id, key_id)
    webhook = await endpoints.find_webhook(tx, account_id, key_id, webhook_id)
    figures = await endpoints.find_figures(tx, account_id, key_id, webhook_id)
    if webhook is None or figures is None:
        raise NotFound("There is no such webhook endpoint.")
    missed = await find_missed(tx, account_id, webhook, figures.oldest_waiting)
    return EndpointReport(key, webhook, figures, missed, await deliveries.find_last_test(tx, account_id, webhook_id))


async def list_statuses(tx: Tx, account_id: str, key_id: str) -> list[tuple[Webhook, EndpointFigures]]:
    """Returns all endpoints of one of the account's keys with their figures, newest first. Raises NotFound."""
    await get_key(tx, account_id, key_id)
    found = await endpoints.list_webhooks(tx, key_id, before=BEYOND, limit=ENDPOINTS)
    figures = {each.id: each for each in await endpoints.list_figures(tx, account_id, key_id)}
    return [(webhook, figures[webhook.id]) for webhook in found]


async def list_all(tx: Tx, account_id: str, before: str, limit: int) -> list[EndpointOverview]:
    """Returns endpoints of all keys of an account with their health, newest first, added before the id `before`."""
    found = await endpoints.list_of_account(tx, account_id, before=before, limit=limit)
    figures = await endpoints.list_figures_of_account(tx, account_id, before=before, limit=limit)
    since = tx.now // HOUR - HOURS_SHOWN + 1
    last_day = await statistics.read_sums(tx, account_id, before=before, limit=limit, since=since)
    of_each = {each.id: each for each in figures}
    return [EndpointOverview(webhook, of_each[webhook.id], last_day[webhook.id]) for webhook in found]


async def find_missed(tx: Tx, account_id: str, webhook: Webhook, oldest_waiting: str | None) -> int | None:
    """Returns the time of the first event that an endpoint missed (milliseconds); None when it missed none."""
    before = await deliveries.deliveries_before(
        tx, account_id, webhook.id, before=oldest_waiting or BEYOND, limit=LOOKED_AT
    )
    return missed_since(webhook, oldest_waiting, before)


async def lock_live(tx: Tx, account_id: str, key_id: str, webhook_id: str, *, or_disabled: bool = False) -> Webhook:
    """Returns an endpoint that can be sent to, locked until the transaction ends.

    Raises NotFound, Unprocessable when its key is not active or when it is disabled.
    """
    return await _get_live(tx, account_id, key_id, webhook_id, lock=True, or_disabled=or_disabled)


async def check_sendable(tx: Tx, account_id: str, key_id: str, webhook_id: str) -> Webhook:
    """Returns an endpoint that can be sent to, without a lock. Raises what `lock_live` raises."""
    return await _get_live(tx, account_id, key_id, webhook_id, lock=False, or_disabled=False)


async def _get_live(tx: Tx, account_id: str, key_id: str, webhook_id: str, *, lock: bool, or_disabled: bool) -> Webhook:
    key = await get_key(tx, account_id, key_id)
    webhook = await endpoints.find_webhook(tx, account_id, key_id, webhook_id, lock=lock)
    if webhook is None:
        raise NotFound("There is no such webhook endpoint.")
    check_active(key, tx.now)
    if not or_disabled:
        check_not_disabled(webhook)
    return webhook


async def lock_webhook(tx: Tx, account_id: str, key_id: str, webhook_id: str) -> Webhook:
    """Returns an endpoint of one of the account's keys in any state, locked until the transaction ends.

    Raises NotFound.
    """
    await get_key(tx, account_id, key_id)
    webhook = await endpoints.find_webhook(tx, account_id, key_id, webhook_id, lock=True)
    if webhook is None:
        raise NotFound("There is no such webhook endpoint.")
    return webhook


def check_not_disabled(webhook: Webhook) -> None:
    """Raises Unprocessable for a disabled endpoint."""
    if webhook.disabled_at is not None:
        message = "The endpoint is disabled. Remove it and add it again."
        raise Unprocessable([FieldError("webhookId", Code.NOT_ALLOWED, message)])


def check_active(key: ApiKey, now: int) -> None:
    """Raises Unprocessable for a key that is revoked or expired."""
    if key.status(now) is not KeyStatus.ACTIVE:
        raise Unprocessable([FieldError("keyId", Code.NOT_ALLOWED, KEY_ENDED)])


async def record_change(tx: Tx, account_id: str, kind: Kind, source: Source, webhook: Webhook) -> None:
    """Records a change of an endpoint in the account's log."""
    await _record(tx, account_id, kind, source, webhook.id, webhook.url)


async def _record(tx: Tx, account_id: str, kind: Kind, source: Source, webhook_id: str, url: str) -> None:
    """Records an act on an endpoint in the account's log."""
    # Of its address only the host: path and query often hold a secret of the receiver.
    await record(tx, account_id, kind, source, webhookId=webhook_id, host=urlsplit(url).netloc or None)


async def _get(tx: Tx, account_id: str, key_id: str, webhook_id: str) -> Webhook:
    webhook = await endpoints.find_webhook(tx, account_id, key_id, webhook_id)
    if webhook is None:
        raise NotFound("There is no such webhook endpoint.")
    return webhook


async def get_statistics(tx: Tx, account_id: str, key_id: str, webhook_id: str) -> Statistics:
    """Returns how an endpoint of one of the account's keys answered. Raises NotFound."""
    return await read_statistics(tx, account_id, await get_webhook(tx, account_id, key_id, webhook_id))


async def read_statistics(tx: Tx, account_id: str, webhook: Webhook) -> Statistics:
    """Returns how an endpoint answered: 54 rows at most."""
    now = tx.now
    hours = await statistics.read_hours(tx, account_id, webhook.id, since=now // HOUR - HOURS_SHOWN + 1)
    first_day = now // DAY - DAYS_SHOWN + 1
    days = await statistics.read_days(tx, account_id, webhook.id, since=first_day * (DAY // HOUR))
    return summed_up(hours, days, now)
