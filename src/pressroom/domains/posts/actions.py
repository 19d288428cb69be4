"""What is done with posts. Each takes an open transaction first."""

from pressroom.clock import iso
from pressroom.db import Tx
from pressroom.domains.accounts import queries as accounts
from pressroom.domains.accounts.models import Caller
from pressroom.domains.events.actions import append_event
from pressroom.domains.events.models import EventType
from pressroom.domains.limits.actions import spend_content_quota
from pressroom.domains.posts import queries
from pressroom.domains.posts.models import CreatedPost, Draft, Post, PostCreatedData, PostType
from pressroom.ids import new_id


async def publish_post(tx: Tx, caller: Caller, draft: Draft, daily_quota: int) -> Post:
    """Publishes a post: quota, row, the account's counter and the event commit together or not at all.

    A caller with a key spends one unit of the account's `daily_quota`. Raises QuotaExceeded
    (SPEC, POST /api/posts and Per-account quotas).
    """
    account = caller.account
    if caller.key is not None:
        await spend_content_quota(tx, account.id, daily_quota)
    post = Post(
        id=new_id(tx.now),
        account_id=account.id,
        key_id=caller.key.id if caller.key else None,
        type=PostType.POST,
        content=draft.content,
        visibility=draft.visibility,
        location=draft.location,
        created_at=tx.now,
        updated_at=tx.now,
    )
    await queries.insert_post(tx, post)
    await accounts.add_posts(tx, account.id, 1)
    await append_event(tx, EventType.POST_CREATED, _created(post), account_id=account.id)
    return post


def _created(post: Post) -> PostCreatedData:
    return PostCreatedData(
        CreatedPost(
            id=post.id,
            author_id=post.account_id,
            content=post.content,
            type=post.type,
            visibility=post.visibility,
            is_share=False,
            original_post_id=None,
            hub_id=None,
            created_at=iso(post.created_at),
        )
    )
