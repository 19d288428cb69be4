"""Sessions of an account, and the names of their browsers (docs/sign-in.md#sessions).

Each action takes an open transaction first. A name is read from the User-Agent: a hint, for a browser can claim any.
"""

import hashlib
import re
from typing import Final

import msgspec

from pressroom.clock import DAY, MINUTE
from pressroom.db import Database, Tx
from pressroom.domains.accounts.models import network_of
from pressroom.domains.audit.actions import record
from pressroom.domains.audit.models import SERVICE, UNKNOWN, Kind, Source
from pressroom.domains.sign_in.queries import attempts, sessions
from pressroom.domains.sign_in.tokens import hash_token
from pressroom.errors import NotFound
from pressroom.ids import new_id, new_token
from pressroom.jobs.write_behind import WriteBehind

SESSION_LIFE: Final = 30 * DAY

SESSIONS: Final = 50
"""Sessions that an account has at most; one more ends the oldest."""

SESSION_RENEWAL: Final = DAY
"""A session in use is prolonged at most once in this time."""

KNOWN_ADDRESSES: Final = 20
KNOWN_ADDRESS_LIFE: Final = 90 * DAY
"""How many addresses are remembered for an account, and how long after the last sign-in from there."""

MOST_SEEN: Final = 100_000
"""Sessions whose last use waits to be written; of more, the last use is not noted."""

# The first that is found counts: each of the later ones is also named by some of those before it.
_BROWSERS: Final = (
    ("Edge", r"\bEdgA?(iOS)?/"),
    ("Opera", r"\bOPR/"),
    ("Samsung Internet", r"\bSamsungBrowser/"),
    ("Firefox", r"\b(Firefox|FxiOS)/"),
    ("Chrome", r"\b(Chrome|CriOS|Chromium|HeadlessChrome)/"),
    ("Safari", r"\bVersion/[0-9.]+ (Mobile/\S+ )?Safari/"),
    ("curl", r"^curl/"),
    ("Python", r"^python-"),
)
_SYSTEMS: Final = (
    ("iPhone", r"\biPhone\b"),
    ("iPad", r"\biPad\b"),
    ("Android", r"\bAndroid\b"),
    ("Windows", r"\bWindows\b"),
    ("ChromeOS", r"\bCrOS\b"),
    ("macOS", r"\bMac OS X\b"),
    ("Linux", r"\bLinux\b"),
)


class Seen(msgspec.Struct, frozen=True):
    """When (milliseconds, to the minute) and from where a session was used."""

    at: int
    address: str


class SessionUse:
    """When and from where each session was last used, to the minute; saved write-behind."""

    def __init__(self, db: Database) -> None:
        self._seen = WriteBehind[Seen](lambda seen: db.transact(_touch_all, seen), most=MOST_SEEN)

    def note(self, token_hash: str, seen_at: int, address: str, now: int) -> None:
        """Records a use at `now`; `seen_at` is the last one that is written down (both in milliseconds)."""
        minute = now // MINUTE * MINUTE
        if seen_at < minute:
            self._seen.add(token_hash, Seen(minute, address))

    async def flush(self) -> None:
        """Saves the recorded uses."""
        await self._seen.flush()


async def end_session(tx: Tx, account_id: str, session_id: str, source: Source) -> None:
    """Ends a session of the account: from the next request on it is refused. Raises NotFound."""
    agent = await sessions.end_session(tx, account_id, session_id)
    if agent is None:
        raise NotFound("There is no such session.")
    await record(tx, account_id, Kind.SIGNED_OUT, source, browser=name_of_agent(agent), sessionId=session_id)


async def end_other_sessions(tx: Tx, account_id: str, token: str, source: Source) -> int:
    """Ends all sessions of the account but that of `token`; returns how many."""
    ended = await sessions.end_others(tx, account_id, hash_token(token))
    if ended:
        await record(tx, account_id, Kind.OTHERS_SIGNED_OUT, source, count=ended)
    return ended


async def _touch_all(tx: Tx, seen: dict[str, Seen]) -> None:
    # In one order: two processes may write the same sessions at once.
    for token_hash in sorted(seen):
        use = seen[token_hash]
        await sessions.touch_session(tx, token_hash, seen_at=use.at, address=use.address)


async def begin_session(tx: Tx, account_id: str, source: Source = UNKNOWN) -> str:
    """Begins a session and returns its token, the cookie's value. The database stores only a hash of it.

    Ends the oldest ones beyond 50 (docs/sign-in.md#sessions). The account must be locked or new: of two sessions that
    begin at once neither would see the other.
    """
    token = new_token(account_id)
    await sessions.insert_session(
        tx,
        token_hash=hash_token(token),
        account_id=account_id,
        session_id=new_id(tx.now, account_id),
        source=source,
        expires_at=tx.now + SESSION_LIFE,
    )
    await record(tx, account_id, Kind.SIGNED_IN, source)
    for ended in await sessions.end_oldest(tx, account_id, but=SESSIONS):
        browser = name_of_agent(ended.agent)
        await record(tx, account_id, Kind.SIGNED_OUT, SERVICE, browser=browser, sessionId=ended.id)
    return token


async def sign_out(tx: Tx, token: str, source: Source = UNKNOWN) -> None:
    """Ends the session of this token."""
    account_id = await sessions.delete_session(tx, hash_token(token))
    if account_id is not None:
        await record(tx, account_id, Kind.SIGNED_OUT, source)


async def renew_session(tx: Tx, token: str) -> None:
    """Prolongs the session of this token to 30 days from now."""
    await sessions.renew_session(tx, token_hash=hash_token(token), expires_at=tx.now + SESSION_LIFE)


async def remember_address(tx: Tx, account_id: str, client: str) -> None:
    """Records that the account signed in from the address `client`; the latest addresses are stored, as hashes."""
    await attempts.remember_address(tx, account_id=account_id, address_hash=_hash_address(account_id, client))
    await attempts.forget_addresses(tx, account_id=account_id, but=KNOWN_ADDRESSES)


async def find_known_address(tx: Tx, account_id: str, client: str) -> str | None:
    """Returns the hash of the address `client` if the account signed in from there within the last 90 days, or None."""
    address_hash = _hash_address(account_id, client)
    since = tx.now - KNOWN_ADDRESS_LIFE
    known = await attempts.is_known_address(tx, account_id=account_id, address_hash=address_hash, since=since)
    return address_hash if known else None


def needs_renewal(renewed_at: int, now: int) -> bool:
    """Returns whether a session that is used at `now` must be prolonged. Both times are in milliseconds."""
    return now - renewed_at >= SESSION_RENEWAL


def _hash_address(account_id: str, client: str) -> str:
    # With the account's id: one address has different hashes at different accounts.
    return hashlib.sha256(f"{account_id} {network_of(client)}".encode()).hexdigest()


def name_of_agent(agent: str) -> str | None:
    """Returns browser and system of a User-Agent, such as `Firefox on Windows`; None when neither is known."""
    browser, system = _first(_BROWSERS, agent), _first(_SYSTEMS, agent)
    if browser and system:
        return f"{browser} on {system}"
    return browser or system


def _first(known: tuple[tuple[str, str], ...], agent: str) -> str | None:
    return next((name for name, pattern in known if re.search(pattern, agent)), None)
