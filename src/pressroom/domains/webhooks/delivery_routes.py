"""Deliveries over HTTP: for the signed-in owner of their endpoint alone."""

from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.webhooks.actions import deliveries
from pressroom.domains.webhooks.delivery_filters import PARAMETERS, read_listing
from pressroom.domains.webhooks.delivery_schemas import (
    DeliveryDetailOut,
    RedeliveryPreviewOut,
    ResentOut,
    delivery_detail_shape,
    preview_shape,
)
from pressroom.domains.webhooks.examples import (
    DELIVERY_DETAIL_EXAMPLE,
    DELIVERY_EXAMPLE,
    REDELIVER_EXAMPLE,
    REDELIVERED_EXAMPLE,
    REDELIVERY_PREVIEW_EXAMPLE,
    RESENT_EXAMPLE,
)
from pressroom.domains.webhooks.routes import DISABLED, KEY_HAS_ENDED, NONE, ONE, TAG, named
from pressroom.domains.webhooks.schemas import DeliveryList, RedeliveredOut, RedeliverEvents, delivery_shape
from pressroom.errors import Code, FieldError, Invalid, NotFound, Unprocessable
from pressroom.web.access import SessionOnly
from pressroom.web.paging import read_paged
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller](TAG)


_NO_DELIVERY: Final = NotFound("There is no such delivery to this endpoint.")
_BAD_SPAN: Final = Invalid([FieldError("until", Code.OUT_OF_RANGE, "Must not be before since.")])
_TOO_OLD: Final = Unprocessable(
    [
        FieldError(
            "deliveryId",
            Code.NOT_ALLOWED,
            "The event is of 2026-10-01T10:00:00.000Z. Events can be sent again for 30 days.",
        )
    ]
)


@routes.get(
    ONE + "/deliveries",
    SessionOnly(),
    summary="List deliveries",
    gives=DeliveryList,
    fails=(NONE,),
    paged=True,
    query=PARAMETERS,
    response_example=DeliveryList([DELIVERY_EXAMPLE], None),
)
async def list_deliveries(request: Request[Caller]) -> Response:
    """The endpoint's deliveries and the receiver's answers, newest event first. Kept for 30 days after the last
    attempt. Filters may be combined."""
    page, wanted = read_listing(request.query)
    shown, cursor = await read_paged(
        request, lambda delivery: delivery.event_id, deliveries.list_deliveries, *named(request), wanted, page=page
    )
    return json_response(DeliveryList([delivery_shape(delivery) for delivery in shown], cursor))


@routes.get(
    ONE + "/deliveries/{deliveryId}",
    SessionOnly(),
    summary="Show a delivery",
    gives=DeliveryDetailOut,
    fails=(_NO_DELIVERY,),
    response_example=DELIVERY_DETAIL_EXAMPLE,
)
async def show_delivery(request: Request[Caller]) -> Response:
    """One delivery with its body and headers as they were sent, which secret signed each attempt, and what the
    receiver answered."""
    found = await request.db.read(deliveries.get_delivery, *named(request), request.parameters["deliveryId"])
    return json_response(delivery_detail_shape(found[1]))


@routes.post(
    ONE + "/deliveries/{deliveryId}/resend",
    SessionOnly(),
    summary="Send a delivery again",
    gives=ResentOut,
    status=202,
    fails=(_NO_DELIVERY, KEY_HAS_ENDED, DISABLED, _TOO_OLD),
    response_example=RESENT_EXAMPLE,
)
async def resend_delivery(request: Request[Caller]) -> Response:
    """Queues the same envelope once more, with its id, time and bytes; one that waits for its next attempt is sent
    now. `queued` is false when it was due already, or under way. Answers before it is sent."""
    return await request.once(
        deliveries.resend,
        lambda resent: ResentOut(resent.id, resent.queued),
        *named(request),
        request.parameters["deliveryId"],
    )


@routes.post(
    ONE + "/redeliver",
    SessionOnly(),
    summary="Redeliver events",
    gives=RedeliveredOut,
    fails=(_BAD_SPAN, NONE, KEY_HAS_ENDED, DISABLED),
    example=REDELIVER_EXAMPLE,
    response_example=REDELIVERED_EXAMPLE,
)
async def redeliver_events(request: Request[Caller], body: RedeliverEvents) -> Response:
    """Sends again what happened in a span of time, oldest first: also what failed, what the endpoint never got, and
    what happened while no endpoint stood. What waits for its next attempt is sent now. At most 1,000 events a call,
    from the last 30 days: ask for spans that hold fewer. Envelopes keep their id, time and bytes. Answers before
    anything is sent."""
    wanted = body.redelivery(request.clock.now())
    return await request.once(
        deliveries.redeliver,
        lambda result: RedeliveredOut(result.queued, result.skipped_duplicates),
        *named(request),
        wanted,
    )


@routes.post(
    ONE + "/redeliver/preview",
    SessionOnly(),
    summary="Preview a redelivery",
    gives=RedeliveryPreviewOut,
    fails=(_BAD_SPAN, NONE, KEY_HAS_ENDED, DISABLED),
    example=REDELIVER_EXAMPLE,
    response_example=REDELIVERY_PREVIEW_EXAMPLE,
    idempotent=False,
)
async def preview_redelivery(request: Request[Caller], body: RedeliverEvents) -> Response:
    """The result that the same call of redeliver would have now. Changes nothing, and so takes no Idempotency-Key."""
    wanted = body.redelivery(request.clock.now())
    found = await request.db.read(deliveries.preview, *named(request), wanted)
    return json_response(preview_shape(found, wanted))
