"""The timeline against a naive model: over random follows, hubs, blocks, mutes, filters, visibilities and bounces."""

import itertools
from dataclasses import dataclass, field

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pressroom.db import Database, Tx
from pressroom.domains.accounts.actions import NewAccount, create_account
from pressroom.domains.accounts.queries import status as people
from pressroom.domains.clips import queries as clips
from pressroom.domains.follows import queries as follows
from pressroom.domains.hubs import queries as hubs
from pressroom.domains.media.actions import attach_media
from pressroom.domains.media.kinds import FileKind
from pressroom.domains.media.models import NewMedia
from pressroom.domains.posts.models import BARE, Post, PostType
from pressroom.domains.posts.queries import reach, writing
from pressroom.domains.posts.visibility import Relationship, Visibility, may_see
from pressroom.domains.privacy import queries as privacy
from pressroom.domains.timeline import actions
from pressroom.domains.timeline.actions import read_timeline
from pressroom.domains.timeline.models import Timeline
from pressroom.ids import BEYOND, new_id
from tests.harness.action_database import Run

START = 1_800_000_000_000
ACCOUNTS = 4
HUBS = 2
READER = 0
WORD = "election"
EXAMPLES = {"sqlite": 150, "postgres": 60}

_numbers = itertools.count()

Pair = tuple[int, int]


@dataclass(frozen=True)
class Planned:
    """A post or clip. Accounts, hubs and posts are numbers."""

    kind: str
    """post, clip, bounce or quote."""
    author: int
    visibility: Visibility
    hub: int | None
    audience: frozenset[int]
    deleted: bool
    says_word: bool
    shares: int | None


@dataclass(frozen=True)
class World:
    """The state that a reader's timeline depends on. Pairs are (acting account, other account)."""

    follows: frozenset[Pair]
    blocks: frozenset[Pair]
    mutes: frozenset[int]
    joined: frozenset[int]
    suspended: frozenset[int]
    is_filtered: bool
    items: tuple[Planned, ...]

    def blocked(self, other: int) -> bool:
        """Whether the reader and somebody block each other."""
        return bool(self.blocks & {(READER, other), (other, READER)})

    def sees(self, item: Planned) -> bool:
        """Whether the reader sees an item, deleted or not."""
        relationship = Relationship(
            is_author=item.author == READER,
            follows=(READER, item.author) in self.follows,
            followed_back=(item.author, READER) in self.follows,
            listed=item.kind != "clip" and READER in item.audience,
            blocked=self.blocked(item.author),
            suspended=item.author in self.suspended,
        )
        return may_see(item.visibility, relationship)

    def shown(self) -> list[tuple[int, int]]:
        """Place and subject of every entry, newest first, a bounced post as often as it was bounced."""
        found: list[tuple[int, int]] = []
        for place, item in reversed([*enumerate(self.items)]):
            comes = item.author == READER or (READER, item.author) in self.follows or item.hub in self.joined
            if not comes or item.deleted or not self.sees(item) or item.author in self.mutes:
                continue
            subject, others = place, [item]
            if item.kind == "bounce" and item.shares is not None:
                subject, others = item.shares, [self.items[item.shares]]
                if others[0].deleted or not self.sees(others[0]):
                    continue
            quoted = others[0].shares
            if quoted is not None and self.sees(self.items[quoted]) and not self.items[quoted].deleted:
                others.append(self.items[quoted])
            if any(each.author in self.mutes for each in others):
                continue
            authors = {item.author, *(each.author for each in others)}
            if self.is_filtered and READER not in authors and any(each.says_word for each in others):
                continue
            found.append((place, subject))
        return found

    def pages(self, limit: int) -> list[list[tuple[int, int]]]:
        """The pages of a timeline, each with a subject once."""
        pages: list[list[tuple[int, int]]] = []
        rest = self.shown()
        while True:
            page: dict[int, int] = {}
            for place, subject in rest:
                page.setdefault(subject, place)
                if len(page) > limit:
                    break
            entries = [(place, subject) for subject, place in page.items()]
            pages.append(entries[:limit])
            if len(entries) <= limit:
                return pages
            last = entries[limit - 1][0]
            rest = [each for each in rest if each[0] < last]


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Up to twenty items of four accounts, of whom the first one reads."""
    account = st.integers(0, ACCOUNTS - 1)
    pairs = [*itertools.permutations(range(ACCOUNTS), 2)]
    items: list[Planned] = []
    for _ in range(draw(st.integers(3, 20))):
        posts = [place for place, each in enumerate(items) if each.kind in ("post", "quote")]
        kinds = ["post", "post", "clip", "bounce", "bounce", "quote"]
        kind = draw(st.sampled_from(kinds if posts else kinds[:3]))
        author = draw(account)
        shares = draw(st.sampled_from(posts)) if kind in ("bounce", "quote") else None
        if kind == "bounce" and any(
            each.kind == "bounce" and each.author == author and each.shares == shares and not each.deleted
            for each in items
        ):
            kind, shares = "post", None
        is_bounce = shares is not None
        items.append(
            Planned(
                kind=kind,
                author=author,
                visibility=Visibility.PUBLIC if is_bounce else draw(st.sampled_from(Visibility)),
                hub=None if is_bounce else draw(st.none() | st.integers(0, HUBS - 1)),
                audience=frozenset() if kind == "clip" else draw(st.frozensets(account, max_size=2)),
                deleted=draw(st.integers(0, 5)) == 0,
                says_word=kind != "bounce" and draw(st.integers(0, 3)) == 0,
                shares=shares,
            )
        )
    return World(
        follows=draw(st.frozensets(st.sampled_from(pairs), min_size=2)),
        blocks=draw(st.just(frozenset[Pair]()) | st.frozensets(st.sampled_from(pairs), max_size=2)),
        mutes=draw(st.just(frozenset[int]()) | st.frozensets(st.integers(1, ACCOUNTS - 1), max_size=1)),
        joined=draw(st.frozensets(st.integers(0, HUBS - 1))),
        suspended=draw(st.just(frozenset[int]()) | st.frozensets(st.integers(1, ACCOUNTS - 1), max_size=1)),
        is_filtered=draw(st.booleans()),
        items=tuple(items),
    )


@dataclass
class Kept:
    """A world in the database."""

    world: World
    accounts: list[str] = field(default_factory=list[str])
    hubs: list[str] = field(default_factory=list[str])
    items: list[str] = field(default_factory=list[str])


async def keep(tx: Tx, world: World) -> Kept:
    """Writes a world down, under ids of its own."""
    kept = Kept(world)
    for _ in range(ACCOUNTS):
        name = f"name{next(_numbers)}"
        kept.accounts.append((await create_account(tx, NewAccount(name, f"{name}@example.org", "no hash"))).id)
    reader = kept.accounts[READER]
    for who, whom in sorted(world.follows):
        await follows.insert_follow(tx, account_id=kept.accounts[who], followed_id=kept.accounts[whom])
    for who, whom in sorted(world.blocks):
        await follows.insert_block(tx, account_id=kept.accounts[who], other_id=kept.accounts[whom])
    for whom in sorted(world.mutes):
        await follows.insert_mute(tx, account_id=reader, muted_id=kept.accounts[whom])
    for number in range(HUBS):
        hub_id, slug = new_id(tx.now), f"hub-{next(_numbers)}"
        await hubs.insert_hub(tx, hub_id=hub_id, account_id=reader, slug=slug, name="A hub", description=None)
        kept.hubs.append(hub_id)
        if number in world.joined:
            await hubs.insert_membership(tx, account_id=reader, hub_id=hub_id)
    if world.is_filtered:
        await privacy.insert_filter(
            tx, account_id=reader, position=0, text=WORD, whole_word=True, timeline=True, notifications=False
        )
    for place, item in enumerate(world.items):
        kept.items.append(await keep_item(tx, kept, place, item))
    for number in sorted(world.suspended):
        await people.suspend(tx, kept.accounts[number], START)
    return kept


async def keep_item(tx: Tx, kept: Kept, place: int, item: Planned) -> str:
    """Writes one post or clip down; its id."""
    author, item_id = kept.accounts[item.author], new_id(START + place)
    hub_id = None if item.hub is None else kept.hubs[item.hub]
    text = f"The {WORD.upper()}!" if item.says_word else "Hello"
    if item.kind == "clip":
        await clips.insert_clip(
            tx,
            clip_id=item_id,
            account_id=author,
            key_id=None,
            caption=text,
            visibility=item.visibility,
            hub_id=hub_id,
        )
        await attach_media(tx, author, item_id, [NewMedia(new_id(START), FileKind.MP4, None, 10)])
        await people.note_clip(tx, author, item_id)
        if item.deleted:
            await clips.delete_clip(tx, author, item_id)
        return item_id
    types = {"post": PostType.POST, "bounce": PostType.SHARE, "quote": PostType.QUOTE}
    post = Post(
        **msgspec.structs.asdict(msgspec.structs.replace(BARE, visibility=item.visibility, hub_id=hub_id)),
        id=item_id,
        account_id=author,
        key_id=None,
        type=types[item.kind],
        content=None if item.kind == "bounce" else text,
        created_at=START + place,
        updated_at=START + place,
        original_id=None if item.shares is None else kept.items[item.shares],
    )
    await writing.insert_post(tx, post)
    await people.add_posts(tx, author, {item.visibility: 1}, new_id=item_id)
    listed = [kept.accounts[number] for number in sorted(item.audience - {item.author})]
    await reach.replace_audience(tx, post_id=item_id, author=author, account_ids=listed)
    if item.deleted:
        await writing.delete_post(tx, author, item_id, None)
        await reach.set_audience_live(tx, item_id, live=False)
    return item_id


async def pages_of(tx: Tx, kept: Kept, limit: int) -> list[list[tuple[int, int]]]:
    """The pages that the service shows, as the model gives them."""
    pages: list[list[tuple[int, int]]] = []
    before: str | None = BEYOND
    while before is not None:
        page: Timeline = await read_timeline(tx, kept.accounts[READER], 2, before, limit)
        pages.append([(kept.items.index(each.id), kept.items.index(each.subject)) for each in page.entries])
        before = page.next_page
        assert len(pages) <= len(kept.items) + 1, "a page leads back to one before it"
    return pages


READINGS = {
    "at once": {},
    "a source at a time": {"SLOTS": 1},
    "few of everybody's posts first": {"MANY": -1, "WALKED": 4},
    "everybody's posts first": {"MANY": -1},
}
"""The ways of reading: constants of the action, small enough for a few posts."""


@pytest.mark.parametrize("reading", READINGS)
def test_timeline_equals_the_model(db: Database, run: Run, reading: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in READINGS[reading].items():
        monkeypatch.setattr(actions, name, value)
    met: set[str] = set()

    @given(worlds())
    @settings(max_examples=EXAMPLES[db.engine], derandomize=True, deadline=None)
    def check(world: World) -> None:
        kept = run(db.transact(keep, world))
        for limit in (3, 5, 50):
            expected = world.pages(limit)
            assert run(db.read(pages_of, kept, limit)) == expected
            shown = [world.items[place] for page in expected for place, _ in page]
            met.update(item.kind for item in shown)
            met.update("listed" for item in shown if item.visibility == Visibility.CUSTOM and item.author != READER)
            met.update("of a hub" for item in shown if (READER, item.author) not in world.follows | {(READER, READER)})
            met.update("further page" for page in expected[1:] if page)

    check()
    assert met == {"post", "clip", "bounce", "quote", "further page", "listed", "of a hub"}, (
        "the examples leave nothing out"
    )
