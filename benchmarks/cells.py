"""Simulates accounts over several cells that are routed by the place in their ids (docs/decisions/0018-cells.md).

.venv/bin/python -m benchmarks.cells [--accounts 1000000] [--exponent 1.0]

An account draws its place at random, as Pressroom does. Its load follows a Zipf law by rank. The 32,768 places form
1,024 ranges, and each cell owns a run of ranges. Printed for each number of cells: the load of the busiest cell beside
the mean, the ranges that must move until no cell has more than 1.1 of the mean, their share of all load, and the share
of acts between two random accounts that need two cells.
"""

import argparse
import random
from collections.abc import Sequence
from typing import Final

PLACES: Final = 1 << 15
RANGES: Final = 1024
CELLS: Final = (2, 4, 8, 16, 32, 64)
BALANCED: Final = 1.1


def loads_of_ranges(accounts: int, exponent: float, seed: int) -> list[float]:
    """Returns the load of each range; all together are 1."""
    chance = random.Random(seed)
    loads = [0.0] * RANGES
    for rank in range(1, accounts + 1):
        loads[chance.randrange(PLACES) * RANGES // PLACES] += rank**-exponent
    total = sum(loads)
    return [load / total for load in loads]


def balance(loads: Sequence[float], cells: int) -> tuple[float, float, int, float]:
    """Moves ranges from the busiest cell to the idlest, each time the largest one that does not overload the idlest.

    Returns the load of the busiest cell beside the mean, before and after, the moves, and the load that they carried.
    """
    owned = [sorted(loads[RANGES * cell // cells : RANGES * (cell + 1) // cells]) for cell in range(cells)]
    before = max(map(sum, owned)) * cells
    moves, carried = 0, 0.0
    while max(map(sum, owned)) * cells > BALANCED:
        busiest, idlest = max(owned, key=sum), min(owned, key=sum)
        room = BALANCED / cells - sum(idlest)
        fitting = [load for load in busiest if load <= room]
        if not fitting or len(busiest) == 1:
            break
        busiest.remove(fitting[-1])
        idlest.append(fitting[-1])
        moves, carried = moves + 1, carried + fitting[-1]
    return before, max(map(sum, owned)) * cells, moves, carried


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cells", description=__doc__)
    parser.add_argument("--accounts", type=int, default=1_000_000)
    parser.add_argument("--exponent", type=float, default=1.0)
    options = parser.parse_args()
    loads = loads_of_ranges(options.accounts, options.exponent, seed=1)
    largest = 1 / sum(rank**-options.exponent for rank in range(1, options.accounts + 1))
    print(f"largest account {largest:.1%} of all load, largest range {max(loads):.1%}")
    for cells in CELLS:
        before, after, moves, carried = balance(loads, cells)
        print(
            f"{cells:3} cells: busiest {before:5.2f} of the mean, {after:5.2f} after {moves:3} moves of {carried:.1%};"
            f" acts over two cells {1 - 1 / cells:.0%}"
        )


if __name__ == "__main__":
    main()
