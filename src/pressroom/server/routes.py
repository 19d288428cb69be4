"""Every route of the server, put together from the modules that declare them. Nothing is opened to read them.

A test (tests/web/test_routes.py) finds every module with routes and fails when one is missing here.
"""

from typing import Any, Final

from pressroom.domains.accounts import profile_pages
from pressroom.domains.accounts import routes as accounts
from pressroom.domains.accounts.models import Caller
from pressroom.domains.administration import invitations
from pressroom.domains.administration import pages as admin_pages
from pressroom.domains.administration import routes as administration
from pressroom.domains.clips import pages as clip_pages
from pressroom.domains.clips import routes as clips
from pressroom.domains.comments import pages as comment_pages
from pressroom.domains.comments import routes as comments
from pressroom.domains.follows import pages as follow_pages
from pressroom.domains.follows import routes as follows
from pressroom.domains.home import pages as home
from pressroom.domains.home import routes as notification_lists
from pressroom.domains.hubs import pages as hub_pages
from pressroom.domains.hubs import routes as hubs
from pressroom.domains.keys import pages as key_pages
from pressroom.domains.keys import routes as keys
from pressroom.domains.mail import pages as mail
from pressroom.domains.media import pages as picture_pages
from pressroom.domains.media import routes as pictures
from pressroom.domains.media import serving as media
from pressroom.domains.moderation import pages as moderation_pages
from pressroom.domains.moderation import routes as moderation
from pressroom.domains.notifications import routes as notifications
from pressroom.domains.personal_data import pages as data_pages
from pressroom.domains.personal_data import routes as personal_data
from pressroom.domains.posts import pages as post_pages
from pressroom.domains.posts import routes as posts
from pressroom.domains.reading import feeds
from pressroom.domains.reading import pages as reading
from pressroom.domains.reading import routes as post_previews
from pressroom.domains.reports import pages as report_pages
from pressroom.domains.reports import routes as reports
from pressroom.domains.sign_in import pages as sign_in_pages
from pressroom.domains.sign_in import routes as sign_in
from pressroom.domains.sign_in import security_pages, security_routes
from pressroom.domains.sign_up import pages as sign_up_pages
from pressroom.domains.sign_up import routes as sign_up
from pressroom.domains.sign_up import setup_routes as setup
from pressroom.domains.webhooks import delivery_pages
from pressroom.domains.webhooks import delivery_routes as deliveries
from pressroom.domains.webhooks import key_pages as one_key_pages
from pressroom.domains.webhooks import pages as webhook_pages
from pressroom.domains.webhooks import routes as webhooks
from pressroom.web import site
from pressroom.web.routing import Route

API_ROUTES: Final[tuple[Route[Caller], ...]] = (
    *posts.routes,
    *post_previews.routes,
    *comments.routes,
    *clips.routes,
    *sign_up.routes,
    *sign_in.routes,
    *accounts.routes,
    *pictures.routes,
    *sign_in.link_routes,
    *setup.routes,
    *security_routes.two_factor_routes,
    *personal_data.routes,
    *security_routes.routes,
    *keys.routes,
    *webhooks.routes,
    *deliveries.routes,
    *follows.routes,
    *hubs.routes,
    *notification_lists.routes,
    *notifications.routes,
    *administration.routes,
    *invitations.routes,
    *reports.routes,
    *moderation.routes,
)
"""The operations of the API, in the order of the API reference."""

PAGE_ROUTES: Final[tuple[Route[Caller], ...]] = (
    *home.routes,
    *post_pages.routes,
    *clip_pages.routes,
    *sign_up_pages.routes,
    *setup.pages,
    *mail.routes,
    *reading.routes,
    *feeds.routes,
    *comment_pages.routes,
    *follow_pages.routes,
    *hub_pages.routes,
    *media.routes,
    *sign_in_pages.routes,
    *profile_pages.routes,
    *picture_pages.routes,
    *security_pages.routes,
    *data_pages.routes,
    *key_pages.routes,
    *one_key_pages.routes,
    *webhook_pages.routes,
    *delivery_pages.routes,
    *admin_pages.routes,
    *invitations.pages,
    *report_pages.routes,
    *moderation_pages.routes,
)
"""The pages that people read and the media in them, and the pages on which they do something."""

SITE_ROUTES: Final[tuple[Route[Any], ...]] = (*site.routes,)
"""Probes, the API reference, static files and the pictures of hubs."""

ROUTES: Final[tuple[Route[Caller], ...]] = (*API_ROUTES, *PAGE_ROUTES, *SITE_ROUTES)
