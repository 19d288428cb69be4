"""How a worker's concurrency is shared out: never exceeded, and something of it for every kind of endpoint."""

from random import Random

import pytest

from pressroom.domains.webhooks.models import Endpoint, Speed
from pressroom.domains.webhooks.slots import CONCURRENCY, POOLS, Slot, Slots, pools_of


def endpoint(number: int) -> Endpoint:
    return Endpoint(
        account_id=f"account{number % 5}",
        id=f"endpoint{number}",
        url=f"https://{number % 3}.example/{number}",
        consecutive_failures=0,
        probe_at=None,
        speed=Speed.NEW,
    )


def test_the_pools_are_those_of_the_usual_concurrency() -> None:
    assert pools_of(CONCURRENCY) == POOLS


@pytest.mark.parametrize("concurrency", [*range(4, 40), 100, 544, 1_887, 4_000, 10_000])
def test_pools_together_are_no_more_than_the_concurrency(concurrency: int) -> None:
    pools = pools_of(concurrency)
    assert sum(pool.slots for pool in pools.values()) <= concurrency
    assert min(share for pool in pools.values() for share in (pool.slots, pool.of_account, pool.of_host)) > 0


@pytest.mark.parametrize("concurrency", [1, 2, 3, 4, 7, 16, 50])
def test_no_more_is_under_way_than_the_concurrency(concurrency: int) -> None:
    chance, slots = Random(concurrency), Slots(concurrency)
    used: list[Slot] = []
    for _ in range(2_000):
        chosen: list[tuple[Speed, Endpoint]] = []
        for speed in slots.speeds():
            if slots.has_free(speed):
                wanted = [endpoint(chance.randrange(100)) for _ in range(chance.randrange(4))]
                chosen += [(speed, each) for each in slots.choose(speed, wanted, len(chosen))]
        for speed, each in chosen:
            used.append(slots.take(speed, each.account_id, each.url))
            slots.widen(used[-1], chance.randrange(1, 9))
        for slot in chance.sample(used, chance.randrange(len(used) + 1)):
            if chance.random() < 0.5:
                slots.slow_down(slot)
            else:
                used.remove(slot)
                slots.give_back(slot)
        assert sum(slot.width for slot in used) <= concurrency


def test_with_one_slot_every_kind_of_endpoint_has_its_turn() -> None:
    slots, begun = Slots(1), set[Speed]()
    for number in range(3):
        chosen: list[tuple[Speed, Endpoint]] = []
        for speed in slots.speeds():
            chosen += [(speed, each) for each in slots.choose(speed, [endpoint(number)], len(chosen))]
        ((speed, each),) = chosen
        begun.add(speed)
        slots.give_back(slots.take(speed, each.account_id, each.url))
    assert begun == set(Speed)


def test_slot_wider_than_the_rest_of_the_slow_pool_stays() -> None:
    slots, moved = Slots(100), list[bool]()
    for number in range(5):
        slot = slots.take(Speed.QUICK, f"account{number}", f"https://{number}.example/")
        slots.widen(slot, 8)
        assert slot.width == 8
        moved.append(slots.slow_down(slot))

    # 100 without the 50 of quick and the 16 of new endpoints are 34.
    assert moved == [True] * 4 + [False]
