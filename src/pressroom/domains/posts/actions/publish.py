"""Publishing posts and bouncing them: quota, row, counters, hashtags, notifications and event in one transaction
(docs/posts.md#bounces)."""

from contextlib import suppress

import msgspec

from pressroom.db import Tx
from pressroom.domains.accounts.models import Caller
from pressroom.domains.accounts.queries import status
from pressroom.domains.events.actions import emit
from pressroom.domains.hubs.actions import find_joined
from pressroom.domains.hubs.models import Hub
from pressroom.domains.limits.actions import check_content_quota, spend_content_quota
from pressroom.domains.limits.models import Allowance, own_limits
from pressroom.domains.media.actions import attach_media, take_storage
from pressroom.domains.media.queries import move_to_owner
from pressroom.domains.notifications.actions import notify
from pressroom.domains.notifications.models import NotificationType
from pressroom.domains.posts.actions.edit import delete_post
from pressroom.domains.posts.actions.lookup import complete, get_post, get_view
from pressroom.domains.posts.actions.reach import reach_readers, set_audience
from pressroom.domains.posts.events import post_created
from pressroom.domains.posts.models import (
    BARE,
    NewPoll,
    NewPost,
    ParsedText,
    Post,
    PostFields,
    PostType,
    PostView,
    SeenPost,
)
from pressroom.domains.posts.queries import indexing, reactions, writing
from pressroom.domains.posts.visibility import Visibility
from pressroom.domains.previews.actions import want_card
from pressroom.domains.privacy.actions import list_filtering
from pressroom.errors import Code, Conflict, FieldError, NotFound, Unprocessable
from pressroom.ids import new_id


async def publish_post(tx: Tx, caller: Caller, new: NewPost, allowance: Allowance) -> PostView:
    """Publishes a post and returns it as its author sees it.

    It takes one unit of the account's content of the day, and storage for its media (docs/limits.md). Raises
    Unprocessable when the account is no member of the hub or stores too much, QuotaExceeded.
    """
    # First the checks without a lock, then storage before quota: rows are locked in one order everywhere
    # (docs/architecture.md#locks).
    hub = await _check_hub(tx, caller, new)
    await take_storage(tx, caller.account, "media", new.media, allowance.storage)
    await spend_quota(tx, caller, allowance)
    post = new_post(tx, caller, PostType.POST, new.content, new.fields, hub)
    post.has_poll, post.has_media = new.poll is not None, new.has_media
    post.preview_url, post.preview_forced = new.card_url, new.forced_link is not None
    await save_and_emit(tx, post, new.content)
    # Behind the post's row: the draft's files never belong to a post that was refused.
    if new.files_of is not None:
        await move_to_owner(tx, post.account_id, new.files_of, post.id)
    await attach_media(tx, post.account_id, post.id, new.media)
    if new.poll is not None:
        await _attach_poll(tx, post.id, new.poll)
    return (await complete(tx, [post], caller.account.id))[0]


async def publish_composed(
    tx: Tx, caller: Caller, new: NewPost, allowance: Allowance, usernames: list[str] | None
) -> PostView:
    """Publishes a post together with its allowlist, if it is given one. Raises what `publish_post` and `set_audience`
    raise."""
    view = await publish_post(tx, caller, new, allowance)
    if usernames is not None:
        await set_audience(tx, caller, view.post.id, usernames)
    return view


async def precheck_post(tx: Tx, caller: Caller, new: NewPost, allowance: Allowance) -> str | None:
    """Checks a post before `publish_post` and writes nothing; returns the URL of its future link card.

    Raises the refusals of that action, by the same checks.
    """
    await _check_hub(tx, caller, new)
    await check_quota(tx, caller, allowance)
    return new.card_url


async def _check_hub(tx: Tx, caller: Caller, new: NewPost) -> Hub | None:
    """Returns the hub to publish into, if any. Raises Unprocessable when the account is no member of it."""
    hub_id = new.fields.hub_id
    return None if hub_id is None else await get_joined_hub(tx, caller, hub_id)


async def check_quota(tx: Tx, caller: Caller, allowance: Allowance) -> None:
    """Raises QuotaExceeded when `spend_quota` would, and spends nothing."""
    quota, signed_in = _quota(tx, caller, allowance)
    await check_content_quota(tx, caller.account.id, quota, signed_in=signed_in)


async def spend_quota(tx: Tx, caller: Caller, allowance: Allowance) -> None:
    """Spends one unit of the account's daily quota, of that by key or of that signed in. Raises QuotaExceeded."""
    quota, signed_in = _quota(tx, caller, allowance)
    await spend_content_quota(tx, caller.account.id, quota, signed_in=signed_in)


def _quota(tx: Tx, caller: Caller, allowance: Allowance) -> tuple[int, bool]:
    """Returns the account's daily quota, its own or that of the `allowance`, and whether it is that signed in."""
    signed_in = caller.key is None
    own = own_limits(caller.account.limits, tx.now)
    return own.allowance(allowance).content(signed_in=signed_in), signed_in


def new_post(
    tx: Tx, caller: Caller, kind: PostType, content: ParsedText | None, fields: PostFields, hub: Hub | None = None
) -> SeenPost:
    """Returns a post of the caller that is not stored yet, as the caller will see it. `hub` is that of `fields`."""
    account, key = caller.account, caller.key
    return SeenPost(
        **msgspec.structs.asdict(fields),
        id=new_id(tx.now, account.id),
        account_id=account.id,
        key_id=caller.key_id,
        type=kind,
        content=content.text if content else None,
        created_at=tx.now,
        updated_at=tx.now,
        username=account.username,
        display_name=account.display_name,
        avatar_token=account.avatar_token,
        verified=account.verified,
        key_label=key.label if key else None,
        key_prefix=key.key_prefix if key else None,
        hub_name=hub.name if hub else None,
        hub_slug=hub.slug if hub else None,
        is_author=True,
    )


async def save_and_emit(tx: Tx, post: Post, content: ParsedText | None) -> None:
    """Stores a new post, updates its account's counters, indexes its hashtags, notifies mentioned accounts and emits
    post.created. A job indexes its words."""
    await writing.insert_post(tx, post)
    if post.type != PostType.SHARE:
        await indexing.insert_unindexed(tx, post.id)
    if post.preview_url is not None:
        await want_card(tx, post.preview_url, post.account_id)
    if content is not None:
        await reach_readers(tx, post.account_id, post.id, content, post.visibility)
    await status.add_posts(tx, post.account_id, {post.visibility: 1}, new_id=post.id)
    # Behind the account's counter, whose row lock keeps an endpoint from being replaced between its look-up and the
    # commit.
    await emit(tx, post_created(post), account_id=post.account_id, at_end=True)


async def get_joined_hub(tx: Tx, caller: Caller, hub_id: str) -> Hub:
    """Returns a hub that the account is a member of. Raises Unprocessable when it is not, or there is no such hub."""
    hub = await find_joined(tx, caller.account.id, hub_id)
    if hub is None:
        message = "The account is not a member of such a hub. Join it first, or leave hubId out."
        raise Unprocessable([FieldError("hubId", Code.NOT_ALLOWED, message)])
    return hub


async def _attach_poll(tx: Tx, post_id: str, new: NewPoll) -> None:
    closes_at = tx.now + new.duration
    await reactions.insert_poll(tx, post_id=post_id, question=new.question, multiple=new.multiple, closes_at=closes_at)
    for position, label in enumerate(new.options):
        await reactions.insert_option(tx, post_id, position, label)


async def bounce_post(
    tx: Tx, caller: Caller, post_id: str, content: ParsedText | None, allowance: Allowance
) -> PostView:
    """Bounces a post and returns the bounce: a quote when there is `content`. A plain bounce stands for its original.

    Raises NotFound when the caller does not see the post, Unprocessable when it is not PUBLIC, Conflict when the
    account has a plain bounce of it already, QuotaExceeded when the daily quota is spent.
    """
    kind = PostType.SHARE if content is None else PostType.QUOTE
    original = await _resolve(tx, post_id, caller.account.id)
    # This locks the original. Its visibility is read by the same statement, since the copy in `original` may be
    # outdated by now.
    visibility = await writing.count_bounce(tx, original.id, plain=kind is PostType.SHARE)
    _check_bounceable(visibility)
    # Behind the lock, so two plain bounces at once do not both find none.
    if kind is PostType.SHARE and await writing.find_plain_bounce(tx, caller.account.id, original.id):
        raise Conflict("The account has bounced this post already. Delete that bounce first, or quote the post.")
    await spend_quota(tx, caller, allowance)
    bounce = new_post(tx, caller, kind, content, BARE)
    bounce.original_id = original.id
    bounce.preview_url = content.link if content else None
    await save_and_emit(tx, bounce, content)
    await _notify_author(tx, bounce, original.account_id)
    return await get_view(tx, bounce.id, caller.account.id)


async def _notify_author(tx: Tx, bounce: SeenPost, author: str) -> None:
    """Notifies the author of the post that a new bounce shares."""
    if bounce.type == PostType.SHARE:
        await notify(tx, author, NotificationType.BOUNCE, actor_id=bounce.account_id, post_id=bounce.original_id)
    elif not await list_filtering(tx, [author], bounce.content):
        await notify(tx, author, NotificationType.QUOTE, actor_id=bounce.account_id, post_id=bounce.id)


async def unbounce_post(tx: Tx, caller: Caller, post_id: str) -> str:
    """Deletes the caller's plain bounce of a post and returns the post's id. Without one nothing changes.

    Raises NotFound when the caller does not see the post.
    """
    original = await _resolve(tx, post_id, caller.account.id)
    bounce_id = await writing.find_plain_bounce(tx, caller.account.id, original.id)
    if bounce_id is not None:
        with suppress(NotFound):  # It has just been deleted.
            await delete_post(tx, caller, bounce_id)
    return original.id


async def precheck_quote(tx: Tx, caller: Caller, post_id: str, content: ParsedText, allowance: Allowance) -> str | None:
    """Checks a quote before `bounce_post` and writes nothing; returns the URL of its future link card.

    Raises the refusals of that action, by the same checks.
    """
    _check_bounceable((await _resolve(tx, post_id, caller.account.id)).visibility)
    await check_quota(tx, caller, allowance)
    return content.link


def _check_bounceable(visibility: str | None) -> None:
    """Checks the visibility of the post to bounce; None when it was deleted."""
    if visibility is None:
        raise NotFound("There is no such post.")
    if visibility != Visibility.PUBLIC:
        message = f"Only PUBLIC posts can be bounced; this one is {visibility}."
        raise Unprocessable([FieldError("body", Code.NOT_ALLOWED, message)])


async def _resolve(tx: Tx, post_id: str, reader: str) -> SeenPost:
    """Returns the post, or its original if it is a plain bounce. Raises NotFound."""
    post = await get_post(tx, post_id, reader)
    if post.type == PostType.SHARE and post.original_id is not None:
        return await get_post(tx, post.original_id, reader)
    return post
