"""Every route of the server, collected from the modules that declare them. Nothing is opened to read them.

A test (tests/web/test_routes.py) finds every module with routes and fails when one is missing here.
"""

import json
from pkgutil import resolve_name
from typing import Any, Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.webhooks.examples import EVENT_SHAPES
from pressroom.settings import Settings
from pressroom.web import site
from pressroom.web.access import Keyed
from pressroom.web.openapi import describe
from pressroom.web.routing import Route

DECLARED: Final = (
    "posts.routes",
    "reading.routes",
    "comments.routes",
    "clips.routes",
    "drafts.routes",
    "sign_up.routes",
    "sign_in.routes",
    "accounts.routes",
    "media.routes",
    "sign_in.routes:link_routes",
    "sign_up.setup_routes",
    "sign_in.security_routes:two_factor_routes",
    "sign_in.passkey_routes",
    "personal_data.routes",
    "sign_in.security_routes",
    "keys.routes",
    "event_stream.routes",
    "webhooks.routes",
    "webhooks.delivery_routes",
    "webhooks.overview_routes",
    "follows.routes",
    "privacy.routes",
    "timeline.routes",
    "hubs.routes",
    "search.routes",
    "home.routes",
    "explore.routes",
    "notifications.routes",
    "administration.routes",
    "administration.invitations",
    "administration.site_texts",
    "reports.routes",
    "moderation.routes",
    "home.pages",
    "home.compose_pages",
    "drafts.pages",
    "notifications.pages",
    "posts.pages",
    "clips.pages",
    "sign_up.pages",
    "mail.pages",
    "reading.pages",
    "reading.file_pages",
    "search.pages",
    "explore.pages",
    "reading.feeds",
    "reading.sitemaps",
    "comments.pages",
    "follows.pages",
    "privacy.pages",
    "hubs.pages",
    "media.serving",
    "sign_in.pages",
    "accounts.profile_pages",
    "media.pages",
    "sign_in.security_pages",
    "personal_data.pages",
    "keys.pages",
    "webhooks.key_pages",
    "webhooks.pages",
    "webhooks.delivery_pages",
    "administration.pages",
    "reports.pages",
    "moderation.pages",
)
"""The modules of `pressroom.domains` with routes: those of the API in the order of its reference, then the pages. Their
routes are in `routes`, unless another name is given behind a colon."""

_ROUTES: Final[tuple[Route[Caller], ...]] = tuple(
    route
    for place in DECLARED
    for route in resolve_name(f"pressroom.domains.{place if ':' in place else f'{place}:routes'}")
)

API_ROUTES: Final = tuple(route for route in _ROUTES if route.path.startswith("/api/"))
"""The operations of the API, in the order of the API reference."""

PAGE_ROUTES: Final = tuple(route for route in _ROUTES if not route.path.startswith("/api/"))
"""The pages that people read and the media in them, and the pages on which they do something."""

SITE_ROUTES: Final[tuple[Route[Any], ...]] = (*site.routes,)
"""Probes, the API reference, static files and the pictures of hubs."""

ROUTES: Final[tuple[Route[Caller], ...]] = (*API_ROUTES, *PAGE_ROUTES, *SITE_ROUTES)


def describe_api(settings: Settings, *, keyed: bool = False) -> dict[str, object]:
    """Returns the OpenAPI document of the service under these settings; `keyed`: of the operations that take a key."""
    routes = [route for route in API_ROUTES if isinstance(route.access, Keyed)] if keyed else API_ROUTES
    return describe(routes, EVENT_SHAPES, settings)


def openapi_document(settings: Settings, *, keyed: bool = False) -> str:
    """Returns that document as indented JSON, for people to read and to store."""
    return json.dumps(describe_api(settings, keyed=keyed), indent=2, ensure_ascii=False)
