"""What tests ask of a whole process: that it serves, stops in time, or says in one line why it cannot begin."""

from tests.harness.process import ServerProcess
from tests.harness.wire import Request, ask

LONGEST_STOP = 10.0
"""Seconds that a stop may take."""


def one_line(server: ServerProcess, *arguments: str) -> str:
    """The command fails with status 2, and its reason in one line on standard error, beside its log until then."""
    done = server.command(*(arguments or ("serve",)), check=False)
    assert done.returncode == 2, done
    assert "Traceback" not in done.stderr
    lines = [line for line in done.stderr.strip().splitlines() if not line.startswith('{"')]
    assert len(lines) == 1, lines
    return lines[0]


def serves(server: ServerProcess) -> bool:
    """Whether the server takes requests."""
    try:
        return ask(Request(server.port, "GET", "/readyz")).status == 200
    except OSError:
        return False
