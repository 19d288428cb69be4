"""Webhook endpoints over HTTP: for the signed-in owner alone (docs/webhooks.md#add-an-endpoint).

Pages share `add_vetted` and `replace_vetted`. They look the address up before the transaction, and return a response
that holds the endpoint's secret.
"""

from collections.abc import Callable
from typing import Final

from pressroom.clock import iso
from pressroom.domains.accounts.models import Caller
from pressroom.domains.webhooks.actions import deliveries, endpoints
from pressroom.domains.webhooks.actions.endpoints import KEY_ENDED
from pressroom.domains.webhooks.examples import (
    CREATE_WEBHOOK_EXAMPLE,
    CREATED_WEBHOOK_EXAMPLE,
    EDIT_WEBHOOK_EXAMPLE,
    EDITED_WEBHOOK_EXAMPLE,
    PAUSED_WEBHOOK_EXAMPLE,
    REPLACED_WEBHOOK_EXAMPLE,
    ROTATED_EXAMPLE,
    STATUS_EXAMPLE,
    TEST_SENT_EXAMPLE,
    WEBHOOK_EXAMPLE,
)
from pressroom.domains.webhooks.models import SHOWN, Webhook
from pressroom.domains.webhooks.schemas import (
    CreatedWebhookOut,
    CreateWebhook,
    EditWebhook,
    RemovedOut,
    ReplacedWebhookOut,
    RotatedOut,
    TestSentOut,
    WebhookList,
    WebhookOut,
    WebhookStatusOut,
    created_webhook_shape,
    replaced_webhook_shape,
    status_shape,
    url_error,
    webhook_shape,
)
from pressroom.errors import Code, Conflict, FieldError, Invalid, NotFound, Unprocessable
from pressroom.outbound import NOT_PUBLIC, UrlRefused
from pressroom.web.access import SessionOnly
from pressroom.web.idempotency import Once
from pressroom.web.paging import read_paged
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Routes, Tag

TAG = Tag(
    "Webhooks",
    "Where an account's events are sent, as they happen, signed. An endpoint belongs to a key, hears of everything "
    "that the key's account does, and is managed by the signed-in owner alone.",
)
routes: Final = Routes[Caller](TAG)
_ALL = "/api/auth/api-keys/{keyId}/webhooks"
ONE = _ALL + "/{webhookId}"
NONE = NotFound("There is no such webhook endpoint.")
_BAD_ADDRESS = Invalid([url_error(NOT_PUBLIC)])
KEY_HAS_ENDED = Unprocessable([FieldError("keyId", Code.NOT_ALLOWED, KEY_ENDED)])
DISABLED = Unprocessable(
    [FieldError("webhookId", Code.NOT_ALLOWED, "The endpoint is disabled. Remove it and add it again.")]
)


async def add_vetted(request: Request[Caller], once: Once, body: CreateWebhook) -> Response:
    """Adds an endpoint to the key in the path, at most once."""
    if (stored := await once.stored()) is not None:
        return _secret(stored)
    account_id, key_id = request.caller.account.id, request.parameters["keyId"]
    await request.db.read(endpoints.check_key, account_id, key_id)  # No address is looked up for an unknown key.
    await _vet(request, body.url)
    now = request.clock.now()
    return _secret(
        await once(
            endpoints.add_webhook,
            lambda added: created_webhook_shape(*added, now),
            account_id,
            key_id,
            body.new_webhook(),
            request.caller.source,
        )
    )


async def replace_vetted(request: Request[Caller], once: Once, body: CreateWebhook) -> Response:
    """Puts an endpoint in the place of the one in the path, at most once."""
    named = request.caller.account.id, request.parameters["keyId"], request.parameters["webhookId"]
    try:
        await request.db.read(endpoints.get_webhook, *named)
    except NotFound:
        # A copy of this request may have replaced it at any moment, and then the answer is stored.
        if (stored := await once.stored()) is None:
            raise
    else:
        stored = await once.stored()
    if stored is not None:
        return _secret(stored)
    await _vet(request, body.url)
    now = request.clock.now()
    return _secret(
        await once(
            endpoints.replace_webhook,
            lambda replaced: replaced_webhook_shape(replaced, now),
            *named,
            body.new_webhook(),
            request.caller.source,
        )
    )


async def _vet(request: Request[Caller], url: str) -> None:
    """Raises Invalid for an address that nothing may be sent to."""
    try:
        await request.services.outbound.vet(url, request.caller.account.id)
    except UrlRefused as refused:
        raise Invalid([url_error(refused.message)]) from None


def _secret(response: Response) -> Response:
    response.holds_secret = True
    return response


@routes.post(
    _ALL,
    SessionOnly(recent=True),
    summary="Add a webhook endpoint",
    gives=CreatedWebhookOut,
    location=ONE.replace("webhookId", "made"),
    fails=(
        _BAD_ADDRESS,
        NotFound("There is no such key."),
        Conflict("A key has at most 5 webhook endpoints; remove one to add another."),
        KEY_HAS_ENDED,
    ),
    example=CREATE_WEBHOOK_EXAMPLE,
    response_example=CREATED_WEBHOOK_EXAMPLE,
)
async def create_webhook(request: Request[Caller], body: CreateWebhook) -> Response:
    """Has the chosen events of the key's account sent to the address from now on. Its signing secret is in this
    answer and its replays, and nowhere else, ever again. A key has at most 5 endpoints; the sixth is a 409."""
    return await add_vetted(request, request.once, body)


@routes.get(
    _ALL,
    SessionOnly(),
    summary="List webhook endpoints",
    gives=WebhookList,
    fails=(NotFound("There is no such key."),),
    paged=True,
    response_example=WebhookList([WEBHOOK_EXAMPLE], None),
)
async def list_webhooks(request: Request[Caller]) -> Response:
    """The key's endpoints, disabled ones too, newest first."""
    now, account_id, key_id = request.clock.now(), request.caller.account.id, request.parameters["keyId"]
    shown, cursor = await read_paged(request, lambda webhook: webhook.id, endpoints.list_webhooks, account_id, key_id)
    return json_response(WebhookList([webhook_shape(webhook, now) for webhook in shown], cursor))


@routes.get(
    ONE,
    SessionOnly(),
    summary="Show a webhook endpoint",
    gives=WebhookOut,
    fails=(NONE,),
    response_example=WEBHOOK_EXAMPLE,
)
async def show_webhook(request: Request[Caller]) -> Response:
    """One endpoint, without its secret."""
    webhook = await request.db.read(endpoints.get_webhook, *named(request))
    return json_response(webhook_shape(webhook, request.clock.now()))


@routes.get(
    ONE + "/status",
    SessionOnly(),
    summary="Show how a webhook endpoint does",
    gives=WebhookStatusOut,
    fails=(NONE,),
    response_example=STATUS_EXAMPLE,
)
async def show_status(request: Request[Caller]) -> Response:
    """The waiting deliveries of the endpoint, its next attempt, and the results of its latest deliveries and test."""
    return json_response(status_shape(await request.db.read(endpoints.get_status, *named(request))))


@routes.patch(
    ONE,
    SessionOnly(),
    summary="Change the events or the label of a webhook endpoint",
    gives=WebhookOut,
    fails=(Invalid([FieldError("events", Code.TOO_FEW, "Choose at least one.")]), NONE),
    example=EDIT_WEBHOOK_EXAMPLE,
    response_example=EDITED_WEBHOOK_EXAMPLE,
)
async def edit_webhook(request: Request[Caller], body: EditWebhook) -> Response:
    """Changes what is given: the event types from now on, or the label. The secret stays, and deliveries queued before
    stay queued. A disabled endpoint stays disabled."""
    return await request.once(
        endpoints.change_webhook,
        _shown(request),
        *named(request),
        body.kinds(),
        body.label,
        request.caller.source,
    )


@routes.post(
    ONE + "/pause",
    SessionOnly(),
    summary="Pause a webhook endpoint",
    gives=WebhookOut,
    fails=(NONE, DISABLED),
    response_example=PAUSED_WEBHOOK_EXAMPLE,
)
async def pause_webhook(request: Request[Caller]) -> Response:
    """Makes all deliveries to the endpoint, tests included, wait without spending an attempt until it is resumed. Only
    deliveries under way still arrive. Deliveries that wait for more than 30 days are removed."""
    return await request.once(endpoints.pause, _shown(request), *named(request), request.caller.source)


@routes.post(
    ONE + "/resume",
    SessionOnly(),
    summary="Resume a webhook endpoint",
    gives=WebhookOut,
    fails=(NONE, DISABLED),
    response_example=WEBHOOK_EXAMPLE,
)
async def resume_webhook(request: Request[Caller]) -> Response:
    """Sends the deliveries that waited since the pause, oldest first. A disabled endpoint stays disabled."""
    return await request.once(endpoints.resume, _shown(request), *named(request), request.caller.source)


@routes.post(
    ONE + "/replace",
    SessionOnly(recent=True),
    summary="Replace a webhook endpoint",
    gives=ReplacedWebhookOut,
    location=_ALL + "/{made}",
    fails=(_BAD_ADDRESS, NONE, KEY_HAS_ENDED),
    example=CREATE_WEBHOOK_EXAMPLE,
    response_example=REPLACED_WEBHOOK_EXAMPLE,
)
async def replace_webhook(request: Request[Caller], body: CreateWebhook) -> Response:
    """Removes an endpoint and adds another in its place, both or neither: so a disabled one is enabled again, and its
    address is changed. With the same URL the new one continues the old one: `redeliver` since `missedSince` brings
    what that missed. The signing secret is in this answer and its replays, and nowhere else, ever again."""
    return await replace_vetted(request, request.once, body)


@routes.delete(
    ONE,
    SessionOnly(),
    summary="Remove a webhook endpoint",
    gives=RemovedOut,
    fails=(NONE,),
    response_example=RemovedOut("Webhook endpoint removed", WEBHOOK_EXAMPLE.id),
)
async def remove_webhook(request: Request[Caller]) -> Response:
    """Sends the endpoint nothing more; at most what is under way still arrives. Add it again, and redeliver brings
    what it missed."""
    removed = RemovedOut("Webhook endpoint removed", request.parameters["webhookId"])
    return await request.once(endpoints.remove_webhook, lambda _: removed, *named(request), request.caller.source)


@routes.post(
    ONE + "/test",
    SessionOnly(),
    summary="Send a test",
    gives=TestSentOut,
    status=202,
    fails=(NONE, KEY_HAS_ENDED, DISABLED),
    response_example=TEST_SENT_EXAMPLE,
)
async def send_test(request: Request[Caller]) -> Response:
    """Queues a `webhook.test` for the endpoint, ahead of everything else that waits. It is tried once, and its failure
    does not count."""
    return await request.once(deliveries.send_test, TestSentOut, *named(request))


@routes.post(
    ONE + "/rotate",
    SessionOnly(recent=True),
    summary="Rotate a signing secret",
    gives=RotatedOut,
    fails=(NONE, KEY_HAS_ENDED),
    response_example=ROTATED_EXAMPLE,
)
async def rotate_webhook(request: Request[Caller]) -> Response:
    """Issues a new secret, with which everything is signed from now on. Receivers should accept either for 24
    hours: a delivery that is under way may still have the old signature."""
    webhook_id = request.parameters["webhookId"]

    def shape(rotated: tuple[str, int]) -> RotatedOut:
        secret, until = rotated
        return RotatedOut(webhook_id, secret, secret[:SHOWN], iso(until))

    response = await request.once(endpoints.rotate_secret, shape, *named(request), request.caller.source)
    response.holds_secret = True
    return response


def _shown(request: Request[Caller]) -> Callable[[Webhook], WebhookOut]:
    now = request.clock.now()
    return lambda webhook: webhook_shape(webhook, now)


def named(request: Request[Caller]) -> tuple[str, str, str]:
    """Returns the ids of the caller's account and of the key and the endpoint in the path."""
    return request.caller.account.id, request.parameters["keyId"], request.parameters["webhookId"]
