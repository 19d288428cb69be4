"""How a run is shared out among its workers: what shares a server stays together, what takes long is evenly divided."""

from collections.abc import Sequence
from typing import Final

from xdist.scheduler import LoadGroupScheduling

BY_THE_TEST: Final = (
    "tests/e2e/",
    "tests/races/",
    "tests/services/",
    "tests/pages/test_every_page.py",
    "tests/pages/test_journey.py",
)
"""Where tests begin so whose modules are divided: they take long, and their tests share little or nothing."""


LONG: Final = (
    "tests/clients/test_document.py",
    "tests/domains/reading/test_scale.py",  # and with it the group "scale"
    "tests/e2e/test_kill.py",
    "tests/e2e/test_kill_deliveries.py",
    "tests/e2e/test_kill_jobs.py",
    "tests/e2e/test_kill_limits.py",
    "tests/e2e/test_kill_media.py",
    "tests/e2e/test_sole_counter.py",
    "tests/e2e/test_standby_away.py",
    "tests/fuzz/test_fuzz.py",
    "tests/races/test_session_write_race.py",
)
"""Modules with a test that takes longer than twenty seconds. Most of them wait: for leases, time-outs and restarts."""

FILLING: Final = ("tests/pages/test_every_page.py",)
"""Modules of many tests that take about a second each and wait for nothing."""

APART: Final = 6
"""So many modules begin between two long ones, so that what waits runs beside what computes."""


def in_turn(modules: Sequence[str]) -> list[str]:
    """Returns modules in the order in which they begin: long ones among the first, and last what fills every gap.

    Apart from that they stay in the order given.
    """
    order = [name for name in modules if name not in LONG + FILLING]
    for number, name in enumerate(name for name in modules if name in LONG):
        order.insert(number * APART, name)
    return [*order, *(name for name in modules if name in FILLING)]


class ByModule(LoadGroupScheduling):
    """Hands out whole modules, so that a module's server is started in one worker and not in each.

    They begin in the order in which they were collected, which `in_turn` has arranged: at the end of a run no worker
    waits for longer than one short test takes. A group (`xdist_group`) begins with the first of its modules.
    """

    def _split_scope(self, nodeid: str) -> str:
        """Returns the name of the share by which a test is handed out."""
        scope = super()._split_scope(nodeid)
        if scope != nodeid or nodeid.startswith(BY_THE_TEST):
            return scope
        return nodeid.partition("::")[0]
