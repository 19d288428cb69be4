"""The operator's commands on the installation: figures, jobs, endpoints. Each returns the command's output."""

from collections.abc import Iterator

import msgspec
from rich.markup import escape
from rich.table import Table

from pressroom import __version__
from pressroom.db import Database, Tx
from pressroom.db.params import batches
from pressroom.domains.accounts.queries.status import names_of
from pressroom.domains.administration import actions
from pressroom.domains.administration.schemas import (
    AdminEndpointOut,
    CountOut,
    JobList,
    OverviewOut,
    RetriedOut,
    dead_job_shape,
    facts_shape,
    overview_shape,
    queue_shape,
)
from pressroom.domains.audit.models import Source
from pressroom.domains.media import queries as media
from pressroom.domains.media.models import KindBytes
from pressroom.errors import Invalid
from pressroom.ids import BEYOND
from pressroom.web.paging import cursor_field_errors


class EndpointList(msgspec.Struct):
    """The webhook endpoints of an account, newest first."""

    webhooks: list[AdminEndpointOut]


class AccountUsage(msgspec.Struct, rename="camel"):
    """The bytes of media that an account stores, by the kinds of its uploads; a deleted account has no user name."""

    account_id: str
    username: str | None
    bytes: int
    kinds: list[KindBytes]


class Usage(msgspec.Struct):
    """The bytes of media of all accounts together, and the accounts that store most, the first first."""

    bytes: int
    accounts: list[AccountUsage]


async def stats(db: Database) -> OverviewOut:
    """Returns the state of the installation."""
    return overview_shape(await db.read(actions.read_overview), __version__, db.engine)


def stats_lines(found: OverviewOut) -> Iterator[tuple[str, str]]:
    """Yields the state of the installation as pairs of a name and a text."""
    yield "version", f"{found.version} on {found.engine}"
    yield "accounts", f"{_count(found.accounts)}, {_count(found.new_accounts)} of them new in 24 hours"
    yield "suspended", _count(found.suspended_accounts)
    yield "posts", f"{_count(found.posts)}, {_count(found.new_posts)} of them new in 24 hours"
    yield "media", f"{_count(found.stored_bytes)} bytes"
    for name, backlog in (("deliveries", found.deliveries), ("jobs", found.jobs)):
        since = f", the oldest since {backlog.oldest_at}" if backlog.oldest_at else ""
        yield name, f"{_count(backlog.waiting)} waiting{since}"
    yield "dead jobs", _count(found.jobs.dead)


async def list_jobs(db: Database, limit: int, cursor: str | None) -> JobList:
    """Returns how many jobs of each kind wait, and at most `limit` dead ones. Raises Invalid for a malformed cursor."""
    if field_errors := cursor_field_errors(cursor):
        raise Invalid(field_errors)
    depths, dead = await db.read(actions.read_jobs, cursor or BEYOND, limit + 1)
    more = dead[limit - 1].id if len(dead) > limit else None
    return JobList([queue_shape(each) for each in depths], [dead_job_shape(job) for job in dead[:limit]], more)


def queue_table(found: JobList) -> Table:
    """Returns the number of waiting jobs, by kind."""
    shown = Table("kind", "waiting", "oldest", box=None)
    for each in found.queues:
        shown.add_row(each.kind, _count(each.waiting), each.oldest_at)
    return shown


def dead_table(found: JobList) -> Table:
    """Returns the dead jobs."""
    shown = Table("id", "kind", "subject", "tries", "enqueued", "retry", "error", box=None)
    for job in found.dead:
        may = "yes" if job.can_be_retried else "no"
        shown.add_row(
            job.id, job.kind, _plain(job.subject), str(job.tries), job.enqueued_at, may, _plain(job.error or "")
        )
    return shown


async def retry_job(db: Database, job_id: str, source: Source) -> RetriedOut:
    """Has a dead job tried again. Raises NotFound, Unprocessable for a kind that ends for good."""
    job = await db.transact(actions.retry_job, source, job_id)
    return RetriedOut(job.id, job.kind)


async def usage(db: Database, limit: int) -> Usage:
    """Returns the `limit` accounts that store most media."""
    return await db.read(_usage, limit)


async def _usage(tx: Tx, limit: int) -> Usage:
    largest, names = await media.list_largest(tx, limit), dict[str, str]()
    for batch in batches([each.account_id for each in largest]):
        names |= await names_of(tx, batch)
    accounts = [
        AccountUsage(
            each.account_id, names.get(each.account_id), each.bytes, await media.list_kinds(tx, each.account_id)
        )
        for each in largest
    ]
    return Usage(await media.count_all_stored(tx), accounts)


def usage_table(found: Usage) -> Table:
    """Returns the accounts that store most media."""
    shown = Table("account", "bytes", "files", "by kind", box=None)
    for each in found.accounts:
        kinds = sorted(each.kinds, key=lambda kind: -kind.bytes)
        by_kind = ", ".join(f"{kind.kind} {kind.bytes:,}" for kind in kinds)
        files = sum(kind.files for kind in kinds)
        shown.add_row(each.username or each.account_id, f"{each.bytes:,}", f"{files:,}", by_kind)
    return shown


async def list_webhooks(db: Database, username: str) -> EndpointList:
    """Returns the webhook endpoints of an account, without the queries of their addresses. Raises NotFound."""
    return EndpointList(facts_shape(await db.read(actions.read_account, username), 0).webhooks)


def webhook_table(found: EndpointList) -> Table:
    """Returns the webhook endpoints as a table for people to read."""
    shown = Table("id", "key", "status", "failures", "added", "address", "reason", box=None)
    for each in found.webhooks:
        failures, reason = str(each.consecutive_failures), each.disabled_reason or ""
        shown.add_row(each.id, each.key_id, each.status, failures, each.created_at, _plain(each.url), _plain(reason))
    return shown


def _count(of: CountOut) -> str:
    return f"{'more than ' if of.more else ''}{of.count:,}"


def _plain(text: str) -> str:
    """Returns text of strangers for a console: nothing in it is markup, or controls a terminal."""
    return escape(text if text.isprintable() else ascii(text)[1:-1])
