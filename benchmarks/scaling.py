"""Computes the tables of docs/scaling.md, the resource that ends first, from the costs in docs/performance.md.

.venv/bin/python -m benchmarks.scaling      writes the tables anew
"""

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

DOCS: Final = Path(__file__).parent.parent / "docs"
PAGE: Final = DOCS / "scaling.md"
TABLES: Final = "<!-- The tables are made by `python -m benchmarks.scaling`; do not edit below this line. -->\n"

RATES: Final = (10, 100, 1_000, 10_000)
"""Creates a second."""

YEARS: Final = 3
DAY: Final = 86_400
YEAR: Final = 365 * DAY
BUSY: Final = 0.7
"""The share of a resource that may be in use before answers wait noticeably."""


class Costs(msgspec.Struct, frozen=True):
    """The measured costs of one create: CPU in microseconds, sizes in bytes, and three rates of the machine."""

    loop: float
    server: float
    postgres: float
    delivery: float
    http: float
    sqlite_written: float
    sqlite_lasting: float
    sqlite_month: float
    sqlite_day: float
    wal: float
    postgres_lasting: float
    postgres_month: float
    postgres_day: float
    redis: float
    deleted: float  # rows a second that retention deletes
    restored: float  # megabytes of the database a second, by a base backup
    loaded: float  # the same by pg_restore


class Assumed(msgspec.Struct, frozen=True):
    """The machine that is assumed, not measured: a large one of today."""

    cores: int = 64
    disk: float = 1e9  # bytes written a second
    space: float = 8e12  # bytes
    restore: float = 8 * 3600  # seconds without service that an operator accepts
    month: float = 37 * DAY  # 30 days, and a partition of a week that is dropped as a whole


class Use(msgspec.Struct, frozen=True):
    """The use of a resource at a rate. `share`: of one piece, which is full at `bound`."""

    resource: str
    share: float
    shown: str
    bound: float = BUSY

    @property
    def pieces(self) -> int:
        """Returns the number of pieces, none of them used beyond its bound."""
        return math.ceil(self.share / self.bound)


SOURCES: Final = {
    "loop": "event loop with SQLite, CPU, µs",
    "server": "server with PostgreSQL, CPU, µs",
    "postgres": "PostgreSQL, CPU, µs",
    "redis": "Redis, CPU, µs",
    "delivery": "one delivery, CPU, µs",
    "http": "HTTP: request and answer, bytes",
    "sqlite_written": "SQLite: written to disk (WAL, checkpoints, access log), bytes",
    "sqlite_lasting": "SQLite: kept for good, bytes",
    "sqlite_month": "SQLite: kept for 30 days, without delivery, bytes",
    "sqlite_day": "SQLite: kept for 24 hours, bytes",
    "wal": "PostgreSQL: WAL, bytes",
    "postgres_lasting": "PostgreSQL: kept for good, bytes",
    "postgres_month": "PostgreSQL: kept for 30 days, event and delivery, bytes",
    "postgres_day": "PostgreSQL: kept for 24 hours, bytes",
    "deleted": "rows that retention deletes a second on PostgreSQL",
    "restored": "PostgreSQL: copied by a base backup, MB a second",
    "loaded": "PostgreSQL: restored by pg_restore, MB a second",
}
"""Each cost by the first cell of its row in docs/performance.md#cost-of-a-create."""


def measured(page: str) -> Costs:
    """Returns the costs in the tables of docs/performance.md. Raises LookupError for a missing one."""
    tables = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line[:1] == "|"]
    found: dict[str, float] = {}
    for name, label in SOURCES.items():
        rows = [row for row in tables if row[0] == label]
        if len(rows) != 1:
            raise LookupError(f"docs/performance.md has {len(rows)} rows {label!r}: benchmarks/scaling.py needs one")
        number = re.match(r"[\d,.]+", rows[0][1])
        if number is None:
            raise LookupError(f"docs/performance.md: no figure beside {label!r}")
        found[name] = float(number[0].replace(",", ""))
    return Costs(**found)


def on_sqlite(rate: float, costs: Costs, there: Assumed) -> list[Use]:
    """Returns the use of one server process and its file."""
    steady = rate * (costs.sqlite_month * 30 * DAY + costs.sqlite_day * DAY)
    return [
        _cores("event loop: creates and deliveries", rate * (costs.loop + costs.delivery) / 1e6, 1),
        _disk("disk, written", rate * costs.sqlite_written, there),
        *_space(rate * costs.sqlite_lasting, steady, there, there.disk),
    ]


def on_postgres(rate: float, costs: Costs, there: Assumed) -> list[Use]:
    """Returns the use of one PostgreSQL primary: the part of an installation that cannot be multiplied."""
    steady = rate * (costs.postgres_month * there.month + costs.postgres_day * DAY)
    return [
        _cores("CPU of the primary", rate * costs.postgres / 1e6, there.cores),
        _disk("WAL", rate * costs.wal, there),
        Use("vacuum: stored answers deleted", rate / costs.deleted, f"{rate:,.0f} rows/s"),
        _cores("one Redis", rate * costs.redis / 1e6, 1),
        *_space(rate * costs.postgres_lasting, steady, there, costs.restored * 1e6),
    ]


def _cores(resource: str, used: float, there: float) -> Use:
    return Use(resource, used / there, f"{used:,.3g} of {there:,.0f} cores")


def _disk(resource: str, written: float, there: Assumed) -> Use:
    return Use(resource, written / there.disk, f"{_quantity(written)}/s")


def _space(lasting: float, steady: float, there: Assumed, restored: float) -> list[Use]:
    """Returns the use of space and of time to restore after YEARS.

    Args:
        lasting: Bytes a second that are kept for good.
        steady: Bytes of rows that expire, once as many are removed as are written.
        there: The machine.
        restored: Bytes a second that a restore brings back.
    """
    size = lasting * YEAR * YEARS + steady
    hours = size / restored / 3600
    return [
        Use(f"disk, after {YEARS} years", size / there.space, _quantity(size), 1),
        Use(f"restore, after {YEARS} years", size / restored / there.restore, f"{hours:,.1f} h", 1),
    ]


def page(costs: Costs, there: Assumed, text: str) -> str:
    """Returns docs/scaling.md with new tables. `text` is the page as it is."""
    written, mark, _ = text.partition(TABLES)
    return "\n".join([written + mark, *_head(there), *_single(costs, there), *_installations(costs, there), ""])


def _head(there: Assumed) -> Iterator[str]:
    yield "## Figures\n"
    yield (
        "Computed from the costs of one create with an idempotency key, an event and a delivery\n"
        "([performance.md](performance.md#cost-of-a-create)). Assumed, not measured:"
        f" machines of {there.cores} cores, a disk that\nwrites {_quantity(there.disk)}/s and holds"
        f" {_quantity(there.space)}, {there.restore / 3600:.0f} hours in which a database must be restored, and costs"
        f"\nin proportion to the rate. A resource is full at {BUSY:.0%}, where responses begin to wait; disk space and"
        " the time of a\nrestore at 100%.\n"
    )


def _single(costs: Costs, there: Assumed) -> Iterator[str]:
    for title, uses in (("One machine with SQLite", on_sqlite), ("One PostgreSQL primary", on_postgres)):
        yield f"### {title}\n"
        columns = [uses(rate, costs, there) for rate in RATES]
        yield f"| resource | {' | '.join(f'{rate:,}/s' for rate in RATES)} |"
        yield f"| --- |{' --- |' * len(RATES)}"
        for row in zip(*columns, strict=True):
            yield f"| {row[0].resource} | {' | '.join(f'{use.shown}: {_share(use.share)}' for use in row)} |"
        yield f"| **ends first** | {' | '.join(_first(column) for column in columns)} |\n"


def _share(share: float) -> str:
    return f"{share:.1%}" if share < 1 else f"{share:,.1f} times"


def _first(uses: Sequence[Use]) -> str:
    most = max(uses, key=lambda use: use.share / use.bound)
    return f"{most.resource}{'' if most.share > most.bound else ', not within this time'}"


def _installations(costs: Costs, there: Assumed) -> Iterator[str]:
    yield "### Installations by schema\n"
    yield (
        f"The installations that keep every resource of their primaries within its bounds for {YEARS} years, and their"
        " machines:\nper installation a primary and two standbys; processes for the API and for deliveries by their"
        " CPU; one Redis for all\nbelow its bound, Redis Cluster above.\n"
    )
    yield "| creates/s | installations | decided by | creates/s each | PostgreSQL | cores, API | cores, deliveries |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for rate in RATES:
        primary = [use for use in on_postgres(rate, costs, there) if use.resource != "one Redis"]
        most = max(primary, key=lambda use: use.share / use.bound)
        count = most.pieces
        api, sent = (math.ceil(rate * cost / 1e6 / BUSY) for cost in (costs.server, costs.delivery))
        yield f"| {rate:,} | {count:,} | {most.resource} | {rate / count:,.0f} | {3 * count:,} | {api} | {sent} |"


def _quantity(value: float) -> str:
    for size, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:,.3g} {prefix}B"
    return f"{value:,.3g} B"


def main() -> None:
    """Writes the page."""
    costs = measured((DOCS / "performance.md").read_text("utf-8"))
    PAGE.write_text(page(costs, Assumed(), PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
