"""Every route of the server, put together from the packages' own lists. Nothing is opened to read them.

A test (tests/web/test_routes.py) finds every declared route and fails when one is missing here.
"""

from typing import Any, Final

from pressroom.domains.accounts import (
    avatar_pages,
    block_pages,
    block_routes,
    credential_pages,
    entry_pages,
    log_pages,
    profile_pages,
    security_pages,
    security_routes,
    sign_in_pages,
)
from pressroom.domains.accounts import link_routes as account_links
from pressroom.domains.accounts import routes as accounts
from pressroom.domains.accounts import setup_routes as setup
from pressroom.domains.accounts import two_factor_routes as two_factor
from pressroom.domains.accounts.models import Caller
from pressroom.domains.administration import belongings_pages as admin_belonging_pages
from pressroom.domains.administration import belongings_routes as admin_belongings
from pressroom.domains.administration import invitations
from pressroom.domains.administration import pages as admin_pages
from pressroom.domains.administration import routes as administration
from pressroom.domains.clips import pages as clip_pages
from pressroom.domains.clips import routes as clips
from pressroom.domains.comments import pages as comment_pages
from pressroom.domains.comments import routes as comments
from pressroom.domains.follows import pages as follow_pages
from pressroom.domains.follows import routes as follows
from pressroom.domains.follows import suggestion_routes as suggestions
from pressroom.domains.home import pages as home
from pressroom.domains.hubs import pages as hub_pages
from pressroom.domains.hubs import routes as hubs
from pressroom.domains.inbox import pages as inbox
from pressroom.domains.inbox import routes as inbox_routes
from pressroom.domains.keys import pages as key_pages
from pressroom.domains.keys import routes as keys
from pressroom.domains.mail import pages as mail
from pressroom.domains.media import picture_pages, picture_routes
from pressroom.domains.media import serving as media
from pressroom.domains.notifications import routes as notifications
from pressroom.domains.personal_data import pages as data_pages
from pressroom.domains.personal_data import routes as personal_data
from pressroom.domains.posts import pages as post_pages
from pressroom.domains.posts import reaction_routes
from pressroom.domains.posts import routes as posts
from pressroom.domains.reading import act_pages as acts
from pressroom.domains.reading import feeds
from pressroom.domains.reading import pages as reading
from pressroom.domains.reading import preview_routes as previewing
from pressroom.domains.reports import admin_pages as report_admin_pages
from pressroom.domains.reports import admin_routes as report_admin_routes
from pressroom.domains.reports import pages as report_pages
from pressroom.domains.reports import routes as reports
from pressroom.domains.settings_pages import pages as settings_pages
from pressroom.domains.webhooks import delivery_pages
from pressroom.domains.webhooks import delivery_routes as deliveries
from pressroom.domains.webhooks import pages as webhook_pages
from pressroom.domains.webhooks import routes as webhooks
from pressroom.web import site
from pressroom.web.routing import Route

API_ROUTES: Final[tuple[Route[Caller], ...]] = (
    *posts.ROUTES,
    *reaction_routes.ROUTES,
    *previewing.ROUTES,
    *comments.ROUTES,
    *clips.ROUTES,
    *accounts.ROUTES,
    *picture_routes.ROUTES,
    *account_links.ROUTES,
    *setup.API_ROUTES,
    *two_factor.ROUTES,
    *personal_data.ROUTES,
    *security_routes.ROUTES,
    *keys.ROUTES,
    *webhooks.ROUTES,
    *deliveries.ROUTES,
    *follows.ROUTES,
    *suggestions.ROUTES,
    *hubs.ROUTES,
    *inbox_routes.ROUTES,
    *notifications.ROUTES,
    *administration.ROUTES,
    *admin_belongings.ROUTES,
    *invitations.API_ROUTES,
    *reports.ROUTES,
    *report_admin_routes.ROUTES,
    *block_routes.ROUTES,
)
"""The operations of the API, in the order of the API reference."""

PAGE_ROUTES: Final[tuple[Route[Caller], ...]] = (
    *home.ROUTES,
    *inbox.ROUTES,
    *post_pages.ROUTES,
    *clip_pages.ROUTES,
    *entry_pages.ROUTES,
    *setup.ROUTES,
    *mail.ROUTES,
    *reading.ROUTES,
    *feeds.ROUTES,
    *acts.ROUTES,
    *comment_pages.ROUTES,
    *follow_pages.ROUTES,
    *hub_pages.ROUTES,
    *media.ROUTES,
    *sign_in_pages.ROUTES,
    *profile_pages.ROUTES,
    *picture_pages.ROUTES,
    *avatar_pages.ROUTES,
    *security_pages.ROUTES,
    *data_pages.ROUTES,
    *credential_pages.ROUTES,
    *log_pages.ROUTES,
    *key_pages.ROUTES,
    *settings_pages.ROUTES,
    *webhook_pages.ROUTES,
    *delivery_pages.ROUTES,
    *admin_pages.ROUTES,
    *admin_belonging_pages.ROUTES,
    *invitations.ROUTES,
    *report_pages.ROUTES,
    *report_admin_pages.ROUTES,
    *block_pages.ROUTES,
)
"""The pages that people read and the media in them, and the pages on which they do something."""

SITE_ROUTES: Final[tuple[Route[Any], ...]] = site.ROUTES
"""Probes, the API reference, static files and the pictures of hubs."""

ROUTES: Final[tuple[Route[Caller], ...]] = (*API_ROUTES, *PAGE_ROUTES, *SITE_ROUTES)
