"""An endpoint is replaced while something is published: one of the two gets the event, or `missed_since` covers it."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Final

import pytest

from pressroom.db import Query, Tx
from pressroom.domains.accounts.models import Caller
from pressroom.domains.clips.actions import publish_clip
from pressroom.domains.clips.models import ClipDraft
from pressroom.domains.comments.actions import add_comment
from pressroom.domains.comments.models import CommentDraft
from pressroom.domains.events.models import EventType
from pressroom.domains.keys.actions import get_key, revoke_own_key
from pressroom.domains.limits.actions import Allowance
from pressroom.domains.media.kinds import FileKind
from pressroom.domains.media.models import NewMedia
from pressroom.domains.posts.actions.publish import publish_post
from pressroom.domains.posts.models import BARE, NewPost, parse_text
from pressroom.domains.posts.visibility import Visibility
from pressroom.domains.webhooks.actions.endpoints import add_webhook, replace_webhook
from pressroom.domains.webhooks.models import NewWebhook, ReplacedWebhook
from pressroom.errors import Unprocessable
from pressroom.ids import new_id, time_of
from tests.api.actors import Actor, body_of
from tests.api.conftest import actor, alice, server

__all__ = ["actor", "alice", "server"]

pytestmark = pytest.mark.parametrize("server", ["postgres"], indirect=True)

WAITING: Final = Query(
    int,
    "SELECT count(*) FROM pg_locks WHERE NOT granted AND pid IN (SELECT l.pid FROM pg_locks l"
    " JOIN pg_database d ON d.oid = l.database WHERE d.datname = current_database())",
)
QUEUED: Final = Query(str, "SELECT event_id FROM deliveries WHERE account_id = :account_id AND webhook_id = :id")
POST_ID: Final = Query(str, "SELECT id FROM posts WHERE account_id = :account_id ORDER BY id LIMIT 1")

NEW: Final = NewWebhook("https://hooks.example.org/", list(EventType))
ALLOWANCE: Final = Allowance(1_000, 1_000, 10_000_000)

Publish = Callable[[Tx, Actor], Awaitable[object]]


async def post(tx: Tx, actor: Actor) -> None:
    await publish_post(tx, Caller(actor.account), NewPost(parse_text("said"), BARE), ALLOWANCE)


async def clip(tx: Tx, actor: Actor) -> None:
    video = NewMedia(new_id(tx.now), FileKind.MP4, None, 1_000)
    await publish_clip(tx, Caller(actor.account), ClipDraft("said", Visibility.PUBLIC, None, video), ALLOWANCE)


async def comment(tx: Tx, actor: Actor) -> None:
    post_id = await tx.one(POST_ID, account_id=actor.account.id)
    assert post_id is not None
    await add_comment(tx, Caller(actor.account), post_id, CommentDraft("said"))


WAYS: Final[list[Publish]] = [post, clip, comment]


@pytest.fixture
def hook_id(alice: Actor) -> str:
    """An endpoint of Alice's, who has published a post before."""
    body_of(alice.post("first"), 201)
    db = alice.server.runtime.db
    return alice.server.run(db.transact(add_webhook, alice.account.id, alice.record.id, NEW))[0].id


async def wait_for_another(tx: Tx) -> None:
    """Keeps the transaction open until another one waits for its locks."""
    while not await tx.one(WAITING):
        pass


def replace(alice: Actor, hook_id: str) -> Callable[[Tx], Awaitable[ReplacedWebhook]]:
    return lambda tx: replace_webhook(tx, alice.account.id, alice.record.id, hook_id, NEW)


def queued(alice: Actor, hook_id: str) -> list[str]:
    """The events that were queued for an endpoint."""
    db = alice.server.runtime.db
    return alice.server.run(db.read(lambda tx: tx.all(QUEUED, account_id=alice.account.id, id=hook_id)))


async def one_behind_the_other(
    alice: Actor,
    first: Callable[[Tx], Awaitable[object]],
    second: Callable[[Tx], Awaitable[object]],
    more: Callable[[Tx], Awaitable[object]] | None = None,
) -> tuple[object, object]:
    """What two transactions return; `second` begins after `first`, and ends after the first did `more`.

    Neither is begun anew, as it would be after a deadlock.
    """
    db, done = alice.server.runtime.db, asyncio.Event()
    begun: Counter[str] = Counter()

    async def held(tx: Tx) -> object:
        begun["first"] += 1
        result = await first(tx)
        await tx.one(WAITING)  # what waited to be sent has been: its locks are held
        done.set()
        if begun["first"] == 1:
            await wait_for_another(tx)
        return result if more is None else await more(tx)

    async def behind(tx: Tx) -> object:
        begun["second"] += 1
        return await second(tx)

    holding = asyncio.ensure_future(db.transact(held))
    await done.wait()
    result = (await asyncio.gather(db.transact(behind), return_exceptions=True))[0]
    outcomes = await holding, result
    assert begun == {"first": 1, "second": 1}
    return outcomes


@pytest.mark.parametrize("publish", WAYS)
def test_events_during_a_replacement_are_queued_for_the_new_endpoint(
    alice: Actor, hook_id: str, publish: Publish
) -> None:
    replaced, told = alice.server.run(
        one_behind_the_other(alice, replace(alice, hook_id), lambda tx: publish(tx, alice))
    )

    assert isinstance(replaced, ReplacedWebhook)
    assert not isinstance(told, BaseException)
    assert replaced.missed_since is None
    for each, count in ((replaced.webhook.id, 1), (hook_id, 0)):
        assert len(queued(alice, each)) == count


@pytest.mark.parametrize("publish", WAYS)
def test_event_just_before_a_replacement_counts_as_missed(alice: Actor, hook_id: str, publish: Publish) -> None:
    _, replaced = alice.server.run(one_behind_the_other(alice, lambda tx: publish(tx, alice), replace(alice, hook_id)))

    assert isinstance(replaced, ReplacedWebhook)
    (event_id,) = queued(alice, hook_id)
    assert replaced.missed_since == time_of(event_id)


def test_a_revocation_and_a_replacement_wait_in_one_order(alice: Actor, hook_id: str) -> None:
    account_id, key_id = alice.account.id, alice.record.id

    _, refused = alice.server.run(
        one_behind_the_other(
            alice,
            lambda tx: get_key(tx, account_id, key_id, lock=True),
            replace(alice, hook_id),
            lambda tx: revoke_own_key(tx, account_id, key_id),
        )
    )

    assert isinstance(refused, Unprocessable)
