"""What development mode shows, it shows on the machine that it runs on, and nowhere else."""

import socket
from typing import Any

import psutil
import pytest

from pressroom.server.routes import ROUTES
from pressroom.web.access import Page
from tests.api.actors import nobody
from tests.harness.local import LocalServer

AT = {"Host": "localhost"}
PAGES = sorted(
    {route.path for route in ROUTES if route.path.startswith("/dev/") and not isinstance(route.access, Page)}
)
"""Pages of development mode that ask for no session."""


def other_addresses() -> list[str]:
    """Addresses of this machine that are not loopback: a connection to one comes from it."""
    found = [each for some in psutil.net_if_addrs().values() for each in some if each.family == socket.AF_INET]
    return [each.address for each in found if not each.address.startswith("127.")]


def test_there_are_pages_of_development_mode() -> None:
    assert "/dev/mail" in PAGES


@pytest.mark.parametrize("path", PAGES)
def test_connection_from_elsewhere_gets_404(local_server: Any, path: str) -> None:
    addresses = other_addresses()
    if not addresses:
        pytest.skip("this machine has no address but loopback ones")
    server: LocalServer = local_server(DEV=1, HOST="0.0.0.0", BASE_URL="http://127.0.0.1:8000")  # a test

    for address in addresses:
        assert nobody.get(f"http://{address}:{server.port}{path}", headers=AT).status_code == 404
    assert nobody.get(f"http://127.0.0.1:{server.port}{path}", headers=AT).status_code == 200


FORWARDED = {
    "203.0.113.9": 404,
    "127.0.0.1, 203.0.113.9": 404,
    "203.0.113.9, 127.0.0.1": 404,
    "": 404,
    "unknown": 404,
    "127.0.0.1": 200,
    "::1": 200,
}


@pytest.mark.parametrize("trusted", ["127.0.0.1/32", ""])
def test_request_forwarded_from_elsewhere_gets_404(local_server: Any, trusted: str) -> None:
    server: LocalServer = local_server(DEV=1, TRUSTED_PROXIES=trusted)

    def status(path: str, forwarded_for: str) -> int:
        return nobody.get(server.base_url + path, headers={**AT, "X-Forwarded-For": forwarded_for}).status_code

    for path in PAGES:
        assert {forwarded_for: status(path, forwarded_for) for forwarded_for in FORWARDED} == FORWARDED
