"""Every declared route is listed, in one place, and can be read without anything being opened."""

import pkgutil
import subprocess
import sys
from collections import Counter
from importlib import import_module
from typing import Any, cast

import pressroom
from pressroom.server.routes import ROUTES
from pressroom.web.routing import Route, Routes
from pressroom.web.site import VERIFIERS

NAMES = ("routes", "pages", "site", "serving", "invitations", "site_texts", "feeds", "sitemaps")
"""How modules that declare routes end: import-linter holds those of packages to the rules for routes."""


def declaring() -> dict[str, list[Route[Any]]]:
    """Returns the routes of each module that declares some."""
    found: dict[str, list[Route[Any]]] = {}
    for each in pkgutil.walk_packages(pressroom.__path__, "pressroom."):
        if not each.name.endswith("__main__"):
            held = vars(import_module(each.name)).values()
            if routes := [route for value in held if isinstance(value, Routes) for route in cast("Routes[Any]", value)]:
                found[each.name] = routes
    return found


def test_every_declared_route_is_served() -> None:
    served = {id(route) for route in ROUTES}
    found = declaring()

    assert len(found) > 40
    assert [name for name in found if not name.endswith(NAMES)] == []
    for name, routes in found.items():
        assert [route.name for route in routes if id(route) not in served] == [], f"{name}: add it to server/routes.py"
    assert len(served) == sum(map(len, found.values()))


def test_files_have_their_routes() -> None:
    paths = {route.path for route in ROUTES}
    assert {f"/docs/{name}" for name in VERIFIERS} <= paths
    assert len([path for path in paths if path.startswith("/static/")]) > 10


def test_no_two_routes_are_at_one_place() -> None:
    places = Counter((route.method, route.path) for route in ROUTES)

    assert [place for place, count in places.items() if count > 1] == []


def test_listing_routes_opens_nothing() -> None:
    program = """
import sys, threading
from pressroom.server.routes import openapi_document
from pressroom.server.routes import ROUTES
from pressroom.settings import Settings
assert ROUTES and openapi_document(Settings({}))
unneeded = {"apsw", "asyncpg", "redis", "granian", "pressroom.server.runtime", "pressroom.db.sqlite.database"}
opened = unneeded & sys.modules.keys()
print(threading.active_count(), sorted(opened))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout == "1 []\n"
