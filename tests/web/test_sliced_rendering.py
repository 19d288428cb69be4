"""Long work on the event loop, a slice at a time."""

import asyncio
import itertools
from collections.abc import Iterator

from pressroom.web.sliced_rendering import SLICE, Slices

PIECE = "x" * 100


def test_pages_are_rendered_in_turn_one_slice_in_each_round_of_the_loop() -> None:
    made: list[int] = []
    rounds: list[int] = []

    def pieces(page: int, count: int) -> Iterator[str]:
        for _ in range(count):
            made.append(page)
            yield PIECE

    async def run() -> list[str]:
        loop, slices = asyncio.get_running_loop(), Slices()

        def beat() -> None:
            rounds.append(len(made))
            beating[0] = loop.call_soon(beat)

        beating = [loop.call_soon(beat)]
        done = await asyncio.gather(*(slices.join(pieces(page, 1_000)) for page in range(4)), slices.join(pieces(4, 1)))
        beating[0].cancel()
        return done

    done = asyncio.run(run())

    assert [len(page) for page in done] == [100_000] * 4 + [100]
    between = [after - before for before, after in itertools.pairwise(rounds)]
    assert max(between) * len(PIECE) < SLICE + len(PIECE)
    assert made.index(4) * len(PIECE) < 5 * SLICE, "a short page waits for one slice of each that is long"


def test_what_fails_leaves_the_others_their_turn() -> None:
    def broken() -> Iterator[str]:
        yield PIECE
        raise LookupError

    async def run() -> str:
        slices = Slices()
        failed, whole = await asyncio.gather(slices.join(broken()), slices.join([PIECE] * 200), return_exceptions=True)
        assert isinstance(failed, LookupError)
        assert isinstance(whole, str)
        return whole

    assert asyncio.run(run()) == PIECE * 200
