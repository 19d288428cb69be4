"""What programs ask a site for by themselves, the reference without script, and short dates."""

import re

import pytest

from pressroom.clock import DAY, HOUR, MINUTE, SECOND
from pressroom.server.routes import API_ROUTES, ROUTES
from pressroom.web.access import Keyed, Page
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
    left_out = [re.escape(path).replace(r"\*", ".*") for path in re.findall(r"Disallow: (.+)", robots.text)]

    def is_left_out(path: str) -> bool:
        return any(re.match(each, path) for each in left_out)

    assert robots.text.endswith(f"\nSitemap: {server.base_url}/sitemap.xml\n")
    for route in ROUTES:
        path = re.sub(r"\{\w+\}", "0", route.path)
        if isinstance(route.access, Page) and route.method == "GET":
            assert is_left_out(path), route.path
    assert is_left_out("/settings/keys?before=x")
    for path in ("/", "/post/0", "/@ann", "/@ann/clips", "/hub/press", "/tag/heron", "/clip/0", "/docs", "/media/0"):
        assert not is_left_out(path), path
    icon = nobody.get(f"{server.base_url}/favicon.ico")
    assert (icon.status_code, icon.headers["Content-Type"]) == (200, "image/svg+xml")


@one_engine
def test_the_reference_without_script(server: LocalServer) -> None:
    page = nobody.get(f"{server.base_url}/docs").text
    noscript = page.partition("<noscript>")[2].partition("</noscript>")[0]
    missing = [route.name for route in API_ROUTES if f"<code>{route.method} {route.path}</code>" not in noscript]
    assert missing == []


@one_engine
def test_language_models_find_the_operations_of_a_key(server: LocalServer) -> None:
    answer = nobody.get(f"{server.base_url}/llms.txt")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/plain; charset=utf-8")
    assert answer.text.startswith("# Pressroom\n\n> ")
    assert f"]({server.base_url}/openapi-keys.json)" in answer.text
    keyed = [route for route in API_ROUTES if isinstance(route.access, Keyed)]
    assert [route.path for route in keyed if f"`{route.method} {route.path}`" not in answer.text] == []
    assert "/api/auth/api-keys" not in answer.text


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
