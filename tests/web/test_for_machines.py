"""What programs ask a site for by themselves, the reference without script, and short dates."""

import pytest

from pressroom.clock import DAY, HOUR, MINUTE, SECOND
from pressroom.routes import API_ROUTES
from pressroom.web.template_filters import short_age
from tests.api.actors import nobody
from tests.api.conftest import one_engine, server
from tests.harness.local import LocalServer

__all__ = ["server"]

NOON = 1_795_262_400_000
"""2026-11-21, 12:00 UTC."""


@one_engine
def test_robots_and_icon(server: LocalServer) -> None:
    robots = nobody.get(f"{server.base_url}/robots.txt")
    assert (robots.status_code, robots.headers["Content-Type"]) == (200, "text/plain; charset=utf-8")
    assert "Disallow: /settings" in robots.text
    icon = nobody.get(f"{server.base_url}/favicon.ico")
    assert (icon.status_code, icon.headers["Content-Type"]) == (200, "image/svg+xml")


@one_engine
def test_the_reference_without_script(server: LocalServer) -> None:
    page = nobody.get(f"{server.base_url}/docs").text
    noscript = page.partition("<noscript>")[2].partition("</noscript>")[0]
    missing = [route.name for route in API_ROUTES if f"<code>{route.method} {route.path}</code>" not in noscript]
    assert missing == []


@pytest.mark.parametrize(
    ("ago", "shown"),
    [
        (-5 * SECOND, "now"),
        (59 * SECOND, "now"),
        (MINUTE, "1 min"),
        (59 * MINUTE, "59 min"),
        (5 * HOUR, "5 h"),
        (24 * HOUR, "1 d"),
        (6 * DAY, "6 d"),
        (7 * DAY, "14 Nov"),
        (365 * DAY, "21 Nov 2025"),
    ],
)
def test_short_dates(ago: int, shown: str) -> None:
    assert short_age(NOON - ago, NOON) == shown
