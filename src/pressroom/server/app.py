"""The ASGI application: all routes behind the guards, over everything that a runtime holds open."""

import msgspec

from pressroom.domains.accounts.models import Caller
from pressroom.domains.notifications.actions import count_unread
from pressroom.domains.reading.actions import may_see
from pressroom.domains.reports.actions import count_waiting
from pressroom.domains.shared_state.models import SecretName
from pressroom.domains.site_texts.models import announcement_at
from pressroom.server.clock_watch import skew_notice
from pressroom.server.guards import PackageGuards
from pressroom.server.routes import ROUTES, describe_api
from pressroom.server.runtime import Runtime
from pressroom.threads import MadeOnce
from pressroom.web.codings import CachedBody
from pressroom.web.fragments import Fragments, SentPages
from pressroom.web.pipeline import Pipeline
from pressroom.web.router import Router
from pressroom.web.services import Services
from pressroom.web.site import preload_files, robots_of
from pressroom.web.templating import Slices


def create_app(runtime: Runtime) -> Pipeline[Caller]:
    """Returns the ASGI application over what `runtime` holds open."""
    preload_files()
    state = runtime.state
    services = Services(
        outbound=runtime.outbound,
        blobs=runtime.blobs,
        for_visitors=runtime.replica or runtime.db,
        await_card=runtime.cards.wait_for,
        media_secret=state.secret(SecretName.MEDIA),
        mail_secret=state.secret(SecretName.UNSUBSCRIBING),
        challenge_secret=state.secret(SecretName.PASSKEYS),
        maintenance=lambda: state.maintenance.message if state.maintenance is not None else None,
        announcement=lambda: announcement_at(state.announcement, runtime.clock.now()),
        slices=Slices(),
        fragments=Fragments(),
        sent_pages=SentPages(),
        passwords=runtime.passwords,
        mail=runtime.mailer,
        note_view=runtime.views.note,
        may_see=may_see,
        limiter=runtime.limiter,
        events=runtime.events,
        streams=runtime.streams,
        openapi=MadeOnce(lambda: CachedBody(msgspec.json.encode(describe_api(runtime.settings)))),
        openapi_keys=MadeOnce(lambda: CachedBody(msgspec.json.encode(describe_api(runtime.settings, keyed=True)))),
        robots=robots_of(ROUTES, runtime.settings.base_url).encode(),
        has_page=Router(ROUTES).has_page,
        clock_notice=lambda: skew_notice(runtime.clock),
        is_draining=lambda: runtime.draining,
        count_unread=count_unread,
        count_reports=count_waiting,
    )
    return Pipeline(ROUTES, PackageGuards(runtime), runtime.db, services, runtime.settings, runtime.clock, runtime.log)
