"""Blocking e-mail addresses, domains and networks for sign-up (docs/moderation.md#blocked-addresses).

Each action takes an open transaction first.
"""

import ipaddress
import re
from typing import Final

import idna

from pressroom.db import Tx
from pressroom.domains.accounts import queries
from pressroom.domains.accounts.models import Block, folded
from pressroom.domains.audit.actions import record
from pressroom.domains.audit.models import Kind, Source
from pressroom.errors import Code, Conflict, FieldError, NotFound, Unprocessable
from pressroom.ids import new_id

LABELS: Final = 20
"""Parts of a domain that are looked at, from its end: `a.b.example.org` has four."""

_LENGTHS: Final = {4: range(8, 33), 6: range(16, 65)}
"""The lengths of blocked networks, by the version of IP; of IPv6 a client has a /64 (docs/limits.md)."""

_DOMAIN: Final = re.compile(r"[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*")


def pattern_of(text: str) -> str | None:
    """Returns what `text` blocks: an e-mail address, a domain (`example.org`, also as `@example.org`), or a network.

    None: nothing of these.
    """
    network = _network(text.strip())
    if network is not None:
        return str(network) if network.prefixlen in _LENGTHS[network.version] else None
    local, at, domain = text.strip().rpartition("@")
    ascii_domain = _ascii(domain)
    if len(text) > 320 or not _DOMAIN.fullmatch(ascii_domain) or (at and any(map(str.isspace, local))):
        return None
    return f"{folded(local)}@{ascii_domain}" if local else ascii_domain


def patterns_for(email: str) -> list[str]:
    """Returns every pattern that would block an address: itself, its domain, and the domains above that."""
    local, _, domain = email.rpartition("@")
    ascii_domain = _ascii(domain)
    labels = ascii_domain.split(".")[-LABELS:]
    return [f"{folded(local)}@{ascii_domain}", *(".".join(labels[start:]) for start in range(len(labels)))]


def networks_of(address: str) -> list[str]:
    """Returns every network that would block a client at an IP address."""
    network = _network(address)
    if network is None:
        return []
    return [str(network.supernet(new_prefix=length)) for length in _LENGTHS[network.version]]


async def check_network(tx: Tx, address: str) -> None:
    """Raises Unprocessable for a client in a network that an admin has blocked."""
    if await queries.is_blocked(tx, networks_of(address)):
        message = "This server takes no new accounts from your network. Ask its operator."
        raise Unprocessable([FieldError("body", Code.NOT_ALLOWED, message)])


async def check_not_blocked(tx: Tx, email: str) -> None:
    """Raises Unprocessable for an address that an admin has blocked."""
    if await queries.is_blocked(tx, patterns_for(email)):
        message = "This server takes no accounts with this e-mail address. Use another one, or ask its operator."
        raise Unprocessable([FieldError("email", Code.NOT_ALLOWED, message)])


async def block(tx: Tx, admin: Source, pattern: str, reason: str) -> Block:
    """Blocks an address, or a domain with all below it, for accounts to come; returns the block.

    Raises Conflict when it is blocked already.
    """
    made = Block(new_id(tx.now), pattern, reason, tx.now)
    if not await queries.insert_block(tx, block_id=made.id, pattern=pattern, reason=reason):
        raise Conflict(f"{pattern} is blocked already.")
    await record(tx, "", Kind.ADDRESS_BLOCKED, admin, pattern=pattern, reason=reason)
    return made


async def unblock(tx: Tx, admin: Source, block_id: str) -> str:
    """Takes a block off and returns its pattern. Raises NotFound."""
    pattern = await queries.delete_block(tx, block_id)
    if pattern is None:
        raise NotFound("There is no such block.")
    await record(tx, "", Kind.ADDRESS_UNBLOCKED, admin, pattern=pattern)
    return pattern


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    """Returns the network that `text` names; an address of IPv6 stands for its /64."""
    try:
        network = ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None
    return network.supernet(new_prefix=64) if network.version == 6 and network.prefixlen > 64 else network


def _ascii(domain: str) -> str:
    """Returns a domain as name servers know it; as it is when it cannot be one."""
    if domain.isascii():
        return domain.lower()
    try:
        return idna.encode(domain, uts46=True).decode()
    except idna.IDNAError:
        return domain.lower()
