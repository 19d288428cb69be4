"""User names that an account cannot take: those of the service, and those that another account gave up.

Others would take the first for the service's own (docs/people.md#reserved-user-names), and the second for the account
that had them (docs/people.md#user-names).
"""

from typing import Final

from pressroom.clock import DAY
from pressroom.db import Tx
from pressroom.domains.accounts import queries
from pressroom.domains.accounts.models import Account, folded
from pressroom.errors import Code, Conflict, FieldError, Invalid
from pressroom.text import username_shape

RESERVED: Final = 90 * DAY
"""How long a user name that was given up stays reserved for its account (docs/people.md#user-names)."""

RESERVATIONS: Final = 100
"""User names that one account can reserve: more than anybody needs, too few to hoard names."""

PATHS: Final = """
    about account accounts admin api auth avatars cards clip clips comment comments compose dashboard decisions
    dev discover docs download downloads drafts events explore export favicon feed feeds follow followers
    following follows forgot healthz home hub hubs inbox invitations invite join llms login logout manifest me media
    messages metrics notifications oembed offline openapi openapikeys post posts preview privacy profile readyz register
    report reports reset robots saved search serviceworker settings setup signin signout signup sitemap static
    suggestions tag tags terms timeline tos unsubscribe upload uploads user users verify wellknown
"""
"""First parts of our paths, those that may come, and what people expect to be one."""

ROLES: Final = """
    abuse accounting administrator administrators admins anonymous billing bot ceo compliance contact copyright
    customerservice deleted deletedaccount dmca editorial everyone guest help helpdesk info legal mod moderation
    moderator moderators mods nobody null official operator operators owner payments press pressroom safety sales
    secretary security self service staff superuser support sysadmin sysop system team trust undefined unknown
    verified
"""
"""People and offices that others trust."""

INFRASTRUCTURE: Final = """
    assets autoconfig autodiscover bin broadcasthost cache cdn cgi config console daemon database db dns email etc
    ftp git graphql host hostmaster http https imap internal ip isatap localdomain localhost mail mailer
    mailerdaemon mx noc noreply ns ns1 ns2 ns3 ns4 oauth pop pop3 postmaster proxy root router rpc sftp smtp ssh
    ssl staging status subdomain sudo tls usenet uucp webhook webhooks webmail webmaster websocket wpad www www1
    www2 www3
"""
"""Names of machines, services and mailboxes (RFC 2142 among them)."""

RESERVED_USERNAMES: Final = frozenset(f"{PATHS} {ROLES} {INFRASTRUCTURE}".split())


def check_username(username: str, also: frozenset[str], own: str = "") -> None:
    """Raises Invalid for a reserved user name.

    Args:
        username: The name that an account is to have.
        also: The names that the operator has reserved (PRESSROOM_RESERVED_USERNAMES), by their shapes.
        own: The account's present name, which it may keep.
    """
    shape = username_shape(username)
    if (shape in RESERVED_USERNAMES or shape in also) and folded(username) != folded(own):
        message = f"The user name {username} is reserved. Choose another one."
        raise Invalid([FieldError("username", Code.NOT_ALLOWED, message)])


async def change_username(tx: Tx, before: str, account: Account) -> None:
    """Reserves the previous name for this account and frees the new one. Raises Conflict when it holds too many."""
    await check_unreserved(tx, account.username, but=account.id)
    await queries.free_username(tx, folded(account.username))
    if await queries.count_reserved(tx, account.id) >= RESERVATIONS:
        raise Conflict(f"{RESERVATIONS} earlier names are kept for this account for 90 days; take one of those back.")
    await queries.reserve_username(tx, folded(before), account.id, until=tx.now + RESERVED)


async def check_unreserved(tx: Tx, username: str, but: str = "") -> None:
    """Raises Conflict for a name that is reserved for an account other than `but`.

    Must be called after the name is written: an account that gave it up at the same moment has committed by then.
    """
    if await queries.is_reserved(tx, folded(username), but=but):
        raise Conflict(f"The user name {username} is taken.")
