"""Computes docs/scaling.md, which resource ends first at which rate, from the costs measured in docs/performance.md.

.venv/bin/python -m benchmarks.scaling      writes the page anew
"""

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

DOCS: Final = Path(__file__).parent.parent / "docs"
PAGE: Final = DOCS / "scaling.md"

RATES: Final = (10, 1_000, 100_000)
"""Creates a second."""

DAY: Final = 86_400
SPACE: Final = "disk, filled in a day"
BUSY: Final = 0.7
"""How much of a resource may be in use before answers wait noticeably."""


class Costs(msgspec.Struct, frozen=True):
    """What one create costs, as measured: CPU in microseconds, sizes in bytes, pictures a second on two cores."""

    loop: float
    server: float
    postgres: float
    delivery: float
    http: float
    sqlite_written: float
    sqlite_kept: float
    wal: float
    postgres_kept: float
    redis_moved: float
    redis: float
    pictures: float


class Assumed(msgspec.Struct, frozen=True):
    """What is there, which was not measured: a large machine of today, and one picture to so many creates."""

    cores: int = 64
    disk: float = 1e9  # bytes a second
    space: float = 8e12  # bytes
    network: float = 1.25e9  # bytes a second
    puts: float = 3_500  # a second, for one prefix of a bucket: S3's own figure
    creates_per_picture: int = 100
    objects_per_picture: int = 3  # as it came, as it is shown, its thumbnail


class Need(msgspec.Struct, frozen=True):
    """What a rate needs of a resource, and how much of it one piece has, in the same unit."""

    resource: str
    needed: float
    has: float
    unit: str
    remedy: str

    @property
    def share(self) -> float:
        """How much of one piece is in use; more than 1: one does not suffice."""
        return self.needed / self.has

    @property
    def pieces(self) -> int:
        """How many pieces it takes, none of them busier than BUSY."""
        return math.ceil(self.share / BUSY)


SOURCES: Final = {
    "loop": "event loop with SQLite, CPU, µs",
    "server": "server with PostgreSQL, CPU, µs",
    "postgres": "PostgreSQL, CPU, µs",
    "redis": "Redis, CPU, µs",
    "delivery": "one delivery, CPU, µs",
    "http": "HTTP: request and answer, bytes",
    "sqlite_written": "SQLite: written to disk (WAL, checkpoints, access log), bytes",
    "sqlite_kept": "SQLite: kept in the file, bytes",
    "wal": "PostgreSQL: WAL, bytes",
    "postgres_kept": "PostgreSQL: kept, with event and delivery, bytes",
    "redis_moved": "Redis: exchanged, bytes",
    "pictures": "pictures of 12 megapixels that a server prepares a second",
}
"""Each cost by the first cell of its row in docs/performance.md#cost-of-a-create."""


def measured(page: str) -> Costs:
    """Returns the costs that stand in the tables of docs/performance.md. Raises LookupError when one is gone."""
    tables = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line[:1] == "|"]
    found: dict[str, float] = {}
    for name, label in SOURCES.items():
        rows = [row for row in tables if row[0] == label]
        if len(rows) != 1:
            raise LookupError(f"docs/performance.md has {len(rows)} rows {label!r}: say in benchmarks/scaling.py which")
        number = re.match(r"[\d,.]+", rows[0][1])
        if number is None:
            raise LookupError(f"docs/performance.md: no figure beside {label!r}")
        found[name] = float(number[0].replace(",", ""))
    return Costs(**found)


def on_sqlite(rate: float, costs: Costs, there: Assumed) -> list[Need]:
    """Returns what a rate needs of one server process with its file."""
    return [
        Need("event loop: creates, deliveries", rate * (costs.loop + costs.delivery) / 1e6, 1, "cores", "PostgreSQL"),
        Need("disk, written", rate * costs.sqlite_written, there.disk, "bytes/s", "PostgreSQL"),
        Need(SPACE, rate * costs.sqlite_kept * DAY, there.space, "bytes", "a larger disk"),
        *_beside(rate, costs, there),
    ]


def on_postgres(rate: float, costs: Costs, there: Assumed) -> list[Need]:
    """Returns what a rate needs of PostgreSQL, Redis and any number of server processes."""
    return [
        Need("server processes", rate * costs.server / 1e6, 1, "cores", "more processes, on any number of machines"),
        Need("PostgreSQL, CPU of one primary", rate * costs.postgres / 1e6, there.cores, "cores", "shards by account"),
        Need("PostgreSQL, WAL", rate * costs.wal, there.disk, "bytes/s", "shards by account"),
        Need(SPACE, rate * costs.postgres_kept * DAY, there.space, "bytes", "shards by account"),
        Need("Redis, one thread", rate * costs.redis / 1e6, 1, "cores", "Redis Cluster"),
        Need("network of Redis", rate * costs.redis_moved, there.network, "bytes/s", "Redis Cluster"),
        Need("deliveries, one to a create", rate * costs.delivery / 1e6, 1, "cores", "more `pressroom worker`"),
        *_beside(rate, costs, there),
    ]


def _beside(rate: float, costs: Costs, there: Assumed) -> list[Need]:
    pictures = rate / there.creates_per_picture
    return [
        Need("network of the API", rate * costs.http, there.network, "bytes/s", "more machines"),
        Need("pictures", pictures, costs.pictures, "pictures/s", "more `pressroom worker`, two cores each"),
        Need("S3, one prefix", pictures * there.objects_per_picture, there.puts, "puts/s", "more prefixes"),
    ]


def page(costs: Costs, there: Assumed) -> str:
    """Returns docs/scaling.md."""
    return "\n".join([*_head(there), *_summary(costs, there), *_details(costs, there), ""])


def _head(there: Assumed) -> Iterator[str]:
    yield "<!-- Made by `python -m benchmarks.scaling` from performance.md; do not edit. -->"
    yield "# Scaling\n"
    yield (
        "Which resource ends first at a rate of creates, computed from costs that [performance.md](performance.md)\n"
        "gives for one create with an idempotency key, an event and a delivery. Assumed, not measured:"
        f" machines of {there.cores} cores,\na disk that writes {_quantity(there.disk, 'bytes/s')} and holds"
        f" {_quantity(there.space, 'bytes')}, a network of {_quantity(there.network, 'bytes/s')}, S3 with"
        f" {there.puts:,.0f} puts a second and prefix,\none picture of 12 megapixels to"
        f" {there.creates_per_picture} creates, and costs that grow with the rate alone. A piece is one process, one\n"
        f"PostgreSQL, one Redis, one bucket's prefix; it is full at {BUSY:.0%}, where answers begin to wait.\n"
    )
    yield (
        "A rate is what arrives in the long run; a peak of a minute needs as much. Retention ([operations.md]"
        "(operations.md)) bounds\nevents and deliveries, not posts. Nothing here shards by itself: one installation has"
        " one PostgreSQL primary, and shards by\naccount are installations side by side, each with accounts of its own."
        " Creates of one account run one after the other, from\nits row's lock to the commit, on all servers.\n"
    )


def _summary(costs: Costs, there: Assumed) -> Iterator[str]:
    yield "## What ends first\n"
    yield "| creates/s | SQLite, one process | its disk lasts | PostgreSQL, Redis, many processes | its disk lasts |"
    yield "| --- | --- | --- | --- | --- |"
    for rate in RATES:
        cells = " | ".join(_first(needs(rate, costs, there)) for needs in (on_sqlite, on_postgres))
        yield f"| {rate:,} | {cells} |"
    yield ""
    yield "The first named ends first. What can be multiplied freely (processes, workers) does not end; it is below.\n"


def _first(needs: Sequence[Need]) -> str:
    """Returns two cells: what is used most of what there is one of, and how long the disk lasts."""
    (space,) = (need for need in needs if need.resource == SPACE)
    lasts = f"{1 / space.share:,.2g} days" if space.share > 0.1 else f"{1 / space.share:,.0f} days"
    single = [need for need in needs if need is not space and not need.remedy.startswith("more")]
    first, *others = sorted(single, key=lambda need: -need.share)
    if first.share <= BUSY:
        return f"nothing; most used is {first.resource}: {first.share:.1%} | {lasts}"
    ended = [first, *(need for need in others if need.share > BUSY)]
    return "; ".join(f"{need.resource}: {need.share:,.1f} of one, then {need.remedy}" for need in ended) + f" | {lasts}"


def _details(costs: Costs, there: Assumed) -> Iterator[str]:
    for title, needs in (("One process with SQLite", on_sqlite), ("PostgreSQL and Redis", on_postgres)):
        yield f"## {title}\n"
        yield f"| resource | one piece has | {' | '.join(f'at {rate:,}/s | pieces' for rate in RATES)} | then |"
        yield f"| --- | --- | {' | '.join('--- | ---' for _ in RATES)} | --- |"
        for row in zip(*(needs(rate, costs, there) for rate in RATES), strict=True):
            cells = " | ".join(f"{_quantity(need.needed, need.unit)} | {need.pieces:,}" for need in row)
            yield f"| {row[0].resource} | {_quantity(row[0].has, row[0].unit)} | {cells} | {row[0].remedy} |"
        yield ""


def _quantity(value: float, unit: str) -> str:
    for size, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if unit.startswith("bytes") and value >= size:
            return f"{value / size:,.3g} {prefix}{unit.replace('bytes', 'B')}"
    return f"{value:,.3g} {unit}" if value < 1000 else f"{value:,.0f} {unit}"


def main() -> None:
    """Writes the page."""
    PAGE.write_text(page(measured((DOCS / "performance.md").read_text("utf-8")), Assumed()), "utf-8")


if __name__ == "__main__":
    main()
