"""The front page (docs/web-app.md#the-front-page) and the page of notifications (docs/web-app.md#lists)."""

import re
from typing import Final

import msgspec

from pressroom.db import Tx
from pressroom.domains.accounts.models import Account, Caller
from pressroom.domains.accounts.schemas import avatar_address
from pressroom.domains.clips.schemas import ClipOut, clip_shape
from pressroom.domains.drafts.forms import DRAFT_FIELDS, ComposeDraft
from pressroom.domains.explore.actions import suggest_people
from pressroom.domains.explore.models import SuggestedPerson
from pressroom.domains.explore.pages import explore_page
from pressroom.domains.explore.schemas import person_shape
from pressroom.domains.home import actions
from pressroom.domains.home.compose_pages import publish_box
from pressroom.domains.home.queries import FIND_FIRST_STEPS, FirstSteps
from pressroom.domains.hubs.actions import list_choice
from pressroom.domains.hubs.models import HubChoice
from pressroom.domains.hubs.schemas import wanted_hub
from pressroom.domains.media.urls import MediaAddresses, addresses_of
from pressroom.domains.notifications.actions import mark_one, mark_read
from pressroom.domains.notifications.schemas import ReadNotifications, UnreadOut
from pressroom.domains.posts.examples import POST_EXAMPLE
from pressroom.domains.posts.forms import COMPOSE_FILES
from pressroom.domains.posts.models import PostView
from pressroom.domains.posts.schemas import PostOut, post_shape
from pressroom.domains.previews.schemas import card_shape
from pressroom.domains.reading.rendering import awaits_files, card_values, own_bounces_of, placeholders_of
from pressroom.domains.reading.routes import find_card
from pressroom.domains.sign_in.routes import ask_for_verification
from pressroom.domains.timeline.actions import read_timeline
from pressroom.domains.timeline.models import Entry, Timeline
from pressroom.errors import Code, FieldError
from pressroom.ids import BEYOND
from pressroom.settings.values import Signup
from pressroom.web.access import Page, Visitor
from pressroom.web.page_forms import FormState, NoFields
from pressroom.web.paging import place_of
from pressroom.web.permalinks import Permalinks
from pressroom.web.rendering import check_developer, redirect, render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes
from pressroom.web.templating import COMPOSE_POLICY

routes: Final = Routes[Caller]()


ENTRIES: Final = 20
"""Entries of the timeline on a page."""

PEOPLE: Final = 8
"""Accounts that an empty timeline offers to follow."""


class Home(msgspec.Struct):
    """The home of an account, read on one snapshot. `people`: whom an empty timeline offers to follow."""

    steps: FirstSteps
    hubs: HubChoice
    timeline: Timeline
    people: list[SuggestedPerson]


async def read_home(tx: Tx, account: Account, before: str, hub: str) -> Home:
    """Returns the account's first steps, hubs and the page of its timeline below `before`. `hub` is the id of the hub
    to publish into, if one is named."""
    steps = await tx.one(FIND_FIRST_STEPS, account_id=account.id)
    timeline = await read_timeline(tx, account.id, account.total_following, before, ENTRIES)
    is_empty = not timeline.entries and timeline.next_page is None
    return Home(
        steps=steps or FirstSteps(has_key=False, has_post=False, has_endpoint=False),
        hubs=await list_choice(tx, account.id, hub),
        timeline=timeline,
        people=await suggest_people(tx, account.id, PEOPLE) if is_empty else [],
    )


class ShownEntry(msgspec.Struct):
    """An entry of the timeline as the template shows it."""

    id: str
    post: PostOut | None
    clip: ClipOut | None


def shown_entry(entry: Entry, addresses: MediaAddresses, now: int) -> ShownEntry:
    """Returns an entry for the template: a bounced post within its bounce, as in every list of posts."""
    view = entry.post
    if entry.bounce is not None:
        view = PostView(entry.bounce, original=view)
    post = None if view is None else post_shape(view, addresses, now)
    return ShownEntry(entry.id, post, clip_shape(entry.clip, addresses) if entry.clip else None)


@routes.page("/", Visitor(), summary="The front page")
async def show_home(request: Request[Caller], form: FormState) -> Response:
    """Renders the compose box above the account's timeline, or an introduction or explore for people who are not signed
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
    home = await request.db.read(read_home, account, before or BEYOND, hub)
    addresses, now = addresses_of(request, lasting=False), request.clock.now()
    timeline = home.timeline
    entries = [shown_entry(entry, addresses, now) for entry in timeline.entries]
    posts = [entry.post for entry in timeline.entries if entry.post is not None]
    placeholders = placeholders_of(posts)
    values: dict[str, object] = {
        **card_values(request, placeholders),
        "steps": home.steps,
        "account": account,
        "asks": mail.is_available and not account.email_verified,
        "is_dev": mail.kept is not None,
        "hubs": home.hubs,
        "hub": hub,
        "entries": entries,
        "awaits_files": awaits_files(
            [entry.post for entry in entries if entry.post], [entry.clip for entry in entries if entry.clip]
        ),
        "placeholders": placeholders,
        "own_bounces": own_bounces_of(posts),
        "people": [person_shape(each, request.settings.base_url) for each in home.people],
        "here": f"/?before={before}" if before else "/",
        "next_page": f"/?before={timeline.next_page}" if timeline.next_page else None,
        "first_page": "/" if before else None,
        "preview": None,
        "draft": None,
        "action": "/",
        **more,
    }
    return await render(request, "home/start.html", values, form=form, policy=COMPOSE_POLICY)


@routes.submit("/", Page(), again=show_home, fields=DRAFT_FIELDS, files=COMPOSE_FILES, summary="Publish a post")
async def publish_composed(request: Request[Caller], body: ComposeDraft) -> Response:
    """Publishes the content of the compose box."""
    return await publish_box(request, body)


@routes.submit(
    "/preview",
    Page(is_limited=False),
    again=show_home,
    fields=DRAFT_FIELDS,
    files=COMPOSE_FILES,
    summary="Preview a post",
)
async def preview_composed(request: Request[Caller], body: ComposeDraft) -> Response:
    """Shows a post as POST /api/posts/preview does, above the form as it was typed. Files are named, and not kept."""
    new = body.new_post()
    card = None if request.files else await request.db.read(find_card, new)
    preview: dict[str, object] = {
        "content": new.content.text if new.content else "",
        "visibility": new.fields.visibility,
        "place": new.fields.location_name,
        "poll": new.poll,
        "card": card_shape(card, request.settings.base_url) if card else None,
        "link": None if request.files or card else new.card_url,
        "files": [file.name for file in request.files],
    }
    return await _show(request, FormState(typed=request.typed, lines=DRAFT_FIELDS.lines), {"preview": preview})


@routes.submit("/verify/send", Page(), again=show_home, summary="Send the confirmation again")
async def send_verification(request: Request[Caller], body: NoFields) -> Response:
    """Mails another link to confirm the e-mail address like POST /api/auth/verify/send."""
    await ask_for_verification(request)
    return redirect("/", done="verification-sent")


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
        "avatar_address": avatar_address,
        "next_page": f"?{page.next_page}" if page.next_page else None,
        "first_page": INBOX if before or read else None,
    }
    return await render(request, "home/notifications.html", values, form=form)


@routes.submit(f"{INBOX}/read", Page(), again=show_notices, summary="Mark notifications as read")
async def read_notices(request: Request[Caller], body: ReadNotifications) -> Response:
    """Marks the shown notifications as read, like POST /api/notifications/read."""
    await request.once(mark_read, UnreadOut, request.caller.account.id, body.up_to)
    return redirect(INBOX, done="notifications-read")


@routes.submit(f"{INBOX}/{{notificationId}}/read", Page(), again=show_notices, summary="Mark a notification as read")
async def read_notice(request: Request[Caller], body: NoFields) -> Response:
    """Marks one as read, like POST /api/notifications/{notificationId}/read."""
    await request.once(mark_one, UnreadOut, request.caller.account.id, request.parameters["notificationId"])
    return redirect(INBOX, done="notifications-read")


@routes.get("/dev/design", Visitor(), summary="Every part of the pages, in development mode")
async def show_design(request: Request[Caller]) -> Response:
    """Returns the page of the design; a 404 outside development mode, to other machines, and under foreign names."""
    check_developer(request, is_on=request.settings.dev)
    errors = [
        FieldError("label", Code.TOO_SHORT, "A label has 1 to 60 characters."),
        FieldError("many[1]", Code.INVALID_FORMAT, "300.1.1.1 is no address."),
    ]
    values: dict[str, object] = {
        **card_values(request, {}),
        "post": POST_EXAMPLE,
        "own_bounces": set[str](),
        "here": "/dev/design",
        "new": FormState(),
        "refused": FormState(
            typed={"many": ["10.0.0.1", "300.1.1.1"]}, field_errors=errors, lines={"many"}, status=400
        ),
    }
    return await render(request, "dev/design.html", values, form=FormState())
