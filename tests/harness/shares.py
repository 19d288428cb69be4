"""How a run is shared out among its workers: what shares a server stays together, what takes long is evenly divided."""

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


class ByModule(LoadGroupScheduling):
    """Hands out whole modules, so that a module's server is started in one worker and not in each.

    Groups (`xdist_group`) and large modules come first. Single tests come last: when nothing else is left, no worker is
    idle for longer than one test takes.
    """

    def _split_scope(self, nodeid: str) -> str:
        """Returns the name of what a test is handed out with."""
        scope = super()._split_scope(nodeid)
        if scope != nodeid or nodeid.startswith(BY_THE_TEST):
            return scope
        return nodeid.partition("::")[0]
