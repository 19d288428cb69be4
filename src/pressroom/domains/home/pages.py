"""The front page (docs/web-app.md#the-front-page) and the page of notifications (docs/web-app.md#lists)."""

import re
from typing import Final

import msgspec

from pressroom.db import Tx
from pressroom.domains.accounts.models import Caller
from pressroom.domains.clips import actions as clips
from pressroom.domains.clips.models import ClipView
from pressroom.domains.clips.schemas import clip_shape
from pressroom.domains.explore.pages import explore_page
from pressroom.domains.home import actions
from pressroom.domains.home.queries import FIND_FIRST_STEPS, FirstSteps
from pressroom.domains.hubs.actions import list_choice
from pressroom.domains.hubs.models import HubChoice
from pressroom.domains.hubs.schemas import wanted_hub
from pressroom.domains.limits.allowance import allowance_of
from pressroom.domains.media.uploads import staged_uploads
from pressroom.domains.media.urls import addresses_of
from pressroom.domains.notifications.actions import mark_one, mark_read
from pressroom.domains.notifications.schemas import ReadNotifications, UnreadOut
from pressroom.domains.posts.actions import lookup, publish
from pressroom.domains.posts.forms import COMPOSE_FIELDS, COMPOSE_FILES, ComposePost
from pressroom.domains.posts.models import PostView
from pressroom.domains.posts.routes import await_card
from pressroom.domains.posts.schemas import post_shape
from pressroom.domains.posts.visibility import Visibility
from pressroom.domains.previews.schemas import card_shape
from pressroom.domains.reading.markup import linked, shortened
from pressroom.domains.reading.rendering import host_of
from pressroom.domains.reading.routes import find_card
from pressroom.domains.sign_in.routes import ask_for_verification
from pressroom.ids import BEYOND
from pressroom.settings.values import Signup
from pressroom.web.access import Page, Visitor
from pressroom.web.page_forms import FormState, NoFields
from pressroom.web.paging import place_of
from pressroom.web.permalinks import Permalinks
from pressroom.web.rendering import redirect, render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes
from pressroom.web.templating import COMPOSE_POLICY

routes: Final = Routes[Caller]()


POSTS: Final = 20
"""Own posts on a page."""

CLIPS: Final = 3
"""The account's newest clips on the front page; /clips has all."""


class OwnThings(msgspec.Struct):
    """The account's part of the front page, read on one snapshot."""

    steps: FirstSteps
    hubs: HubChoice
    posts: list[PostView]
    clips: list[ClipView]


async def read_own(tx: Tx, account_id: str, before: str, hub: str) -> OwnThings:
    """Returns the account's part of the front page: its first steps, hubs, newest clips, and a page of its posts
    and one more, with ids below `before`. `hub` is the id of the hub to publish into, if one is named."""
    steps = await tx.one(FIND_FIRST_STEPS, account_id=account_id)
    return OwnThings(
        steps=steps or FirstSteps(has_key=False, has_post=False, has_endpoint=False),
        hubs=await list_choice(tx, account_id, hub),
        posts=await lookup.list_own_briefly(tx, account_id, before, POSTS + 1),
        clips=await clips.list_own(tx, account_id, BEYOND, CLIPS),
    )


@routes.page("/", Visitor(), summary="The front page")
async def show_home(request: Request[Caller], form: FormState) -> Response:
    """Renders the compose box above the account's posts, or an introduction or explore for people who are not signed
    in."""
    if request.who is None and request.settings.public_explore:
        return await explore_page(request)
    if request.who is None:
        values = {"is_open": request.settings.signup is Signup.OPEN, "is_dev": request.services.mail.kept is not None}
        return await render(request, "home/front.html", values, script=False)
    return await _show(request, form, {})


async def _show(request: Request[Caller], form: FormState, more: dict[str, object]) -> Response:
    account, mail = request.caller.account, request.services.mail
    before, hub = place_of(request.query), wanted_hub(request.query, form)
    own = await request.db.read(read_own, account.id, before or BEYOND, hub)
    addresses, now = addresses_of(request, lasting=False), request.clock.now()
    posts = own.posts[:POSTS]
    values: dict[str, object] = {
        "steps": own.steps,
        "account": account,
        "asks": mail.is_available and not account.email_verified,
        "is_dev": mail.kept is not None,
        "hubs": own.hubs,
        "hub": hub,
        "posts": [post_shape(view, addresses, now) for view in posts],
        "polls": {view.post.id for view in posts if view.post.has_poll},
        "clips": [clip_shape(view, addresses) for view in own.clips],
        "next_page": f"/?before={posts[-1].post.id}" if len(own.posts) > POSTS else None,
        "first_page": "/" if before else None,
        "preview": None,
        "shortened": shortened,
        "linked": linked,
        "host_of": host_of,
        **more,
    }
    return await render(request, "home/start.html", values, form=form, policy=COMPOSE_POLICY)


@routes.submit("/", Page(), again=show_home, fields=COMPOSE_FIELDS, files=COMPOSE_FILES, summary="Publish a post")
async def publish_composed(request: Request[Caller], body: ComposePost) -> Response:
    """Publishes like POST /api/posts, POST /api/posts/upload when there are files, and PUT /api/posts/{id}/audience."""
    if await request.once.stored() is not None:
        return redirect("/", done="post-published")
    draft, allowance = body.draft(), allowance_of(request.settings)
    named = body.usernames if body.visibility == Visibility.CUSTOM else None
    if not request.files and draft.card_url is not None:
        await await_card(request, publish.precheck_post, request.caller, draft, allowance)
    async with staged_uploads(request, body.alt_text or []) as staged:
        draft.media = list(staged.files)
        staged.answered(
            await request.once(publish.publish_composed, _id_of, 201, request.caller, draft, allowance, named)
        )
    return redirect("/", done="post-published")


@routes.submit(
    "/preview",
    Page(is_limited=False),
    again=show_home,
    fields=COMPOSE_FIELDS,
    files=COMPOSE_FILES,
    summary="Preview a post",
)
async def preview_composed(request: Request[Caller], body: ComposePost) -> Response:
    """Shows a post as POST /api/posts/preview does, above the form as it was typed. Files are named, and not kept."""
    draft = body.draft()
    card = None if request.files else await request.db.read(find_card, draft)
    preview: dict[str, object] = {
        "content": draft.content.text if draft.content else "",
        "visibility": draft.fields.visibility,
        "place": draft.fields.location_name,
        "poll": draft.poll,
        "card": card_shape(card, request.settings.base_url) if card else None,
        "link": None if request.files or card else draft.card_url,
        "files": [file.name for file in request.files],
    }
    return await _show(request, FormState(typed=request.typed, lines=COMPOSE_FIELDS.lines), {"preview": preview})


@routes.submit("/verify/send", Page(), again=show_home, summary="Send the confirmation again")
async def send_verification(request: Request[Caller], body: NoFields) -> Response:
    """Mails another link to confirm the e-mail address like POST /api/auth/verify/send."""
    await ask_for_verification(request)
    return redirect("/", done="verification-sent")


def _id_of(view: PostView) -> str:
    return view.post.id


INBOX: Final = "/notifications"
_PLACE: Final = re.compile(r"[0-9A-Z]{26}|~")
"""An id, or the end of the unread notifications."""


@routes.page(INBOX, Page(), summary="Your notifications")
async def show_notices(request: Request[Caller], form: FormState) -> Response:
    """Renders the unread notifications, then the read ones."""
    before, read = (place_of(request.query, name, _PLACE) for name in ("before", "read"))
    page = await request.db.read(actions.open_notices, request.caller.account.id, before, read)
    values: dict[str, object] = {
        "page": page,
        "paths": Permalinks(),
        "next_page": f"?{page.next_page}" if page.next_page else None,
        "first_page": INBOX if before or read else None,
    }
    return await render(request, "home/notifications.html", values, form=form)


@routes.submit(f"{INBOX}/read", Page(), again=show_notices, summary="Mark notifications as read")
async def read_notices(request: Request[Caller], body: ReadNotifications) -> Response:
    """Marks the shown notifications as read, like POST /api/notifications/read."""
    await request.once(mark_read, UnreadOut, 200, request.caller.account.id, body.up_to)
    return redirect(INBOX, done="notifications-read")


@routes.submit(f"{INBOX}/{{notificationId}}/read", Page(), again=show_notices, summary="Mark a notification as read")
async def read_notice(request: Request[Caller], body: NoFields) -> Response:
    """Marks one as read, like POST /api/notifications/{notificationId}/read."""
    await request.once(mark_one, UnreadOut, 200, request.caller.account.id, request.parameters["notificationId"])
    return redirect(INBOX, done="notifications-read")
