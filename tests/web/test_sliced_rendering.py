"""Long work on the event loop, a slice at a time."""

import asyncio
import itertools
from collections.abc import Iterator

from pressroom.turns import LoopUse, Turn, Turns
from pressroom.web.templating import SLICE, Slices

PIECE = "x" * 100


def test_clients_pages_are_rendered_in_turn_one_slice_in_each_round_of_the_loop() -> None:
    made: list[int] = []
    rounds: list[int] = []

    def pieces(page: int, count: int) -> Iterator[str]:
        for _ in range(count):
            made.append(page)
            yield PIECE

    async def run() -> list[str]:
        # No client's use is little, so that all of them wait from the first slice on; none has company, and rests.
        loop, slices, turns = asyncio.get_running_loop(), Slices(), Turns(use=LoopUse(little=-1, company=0))

        async def page(number: int, client: str, count: int) -> str:
            return await turns.run(Turn(client), slices.join(pieces(number, count)))

        def beat() -> None:
            rounds.append(len(made))
            beating[0] = loop.call_soon(beat)

        beating = [loop.call_soon(beat)]
        crowd = [page(number, client, 1_000) for number, client in enumerate("aaab")]
        done = await asyncio.gather(*crowd, page(4, "c", 1))
        beating[0].cancel()
        return done

    done = asyncio.run(run())

    assert [len(page) for page in done] == [100_000] * 4 + [100]
    between = [after - before for before, after in itertools.pairwise(rounds)]
    assert max(between) * len(PIECE) < SLICE + len(PIECE)
    assert made.index(4) * len(PIECE) < 3 * (SLICE + len(PIECE)), "a short page waits for one slice of each client"
    end = len(made) - 1 - made[::-1].index(3)
    assert end <= 2 * 1_000 + 2 * SLICE / len(PIECE), "b's page waits for a's as if there were only one"


def test_failed_request_leaves_others_their_turn() -> None:
    def broken() -> Iterator[str]:
        yield PIECE
        raise LookupError

    async def run() -> str:
        slices, turns = Slices(), Turns()
        failed, whole = await asyncio.gather(
            turns.run(Turn("a"), slices.join(broken())),
            turns.run(Turn("a"), slices.join([PIECE] * 200)),
            return_exceptions=True,
        )
        assert isinstance(failed, LookupError)
        assert isinstance(whole, str)
        return whole

    assert asyncio.run(run()) == PIECE * 200
