"""Every declared route is listed, in one place, and can be read without anything being opened."""

import ast
import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

import pressroom
from pressroom.server.routes import ROUTES
from pressroom.web.routing import Route
from pressroom.web.site import STATIC_ROUTES, VERIFIER_ROUTES

ROOT = Path(pressroom.__file__).parent
DECLARING = {"declare", "declare_with_body", "declare_form"}
PER_FILE = "_file_route"
"""The one function that declares routes when it is called: `web.site` calls it once for each file."""

NAMES = (
    *("routes.py", "link_routes.py", "two_factor_routes.py"),
    *("pages.py", "sign_in_pages.py", "security_pages.py", "entry_pages.py", "serving.py", "site.py"),
    *("invitations.py", "feeds.py"),
)
"""Modules that may declare routes: import-linter holds those of packages to the rules for routes."""


def declared(path: Path) -> list[str]:
    """The functions that a module declares as routes."""
    return [
        node.name
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.AsyncFunctionDef | ast.FunctionDef)
        and any(called(decorator) in DECLARING for decorator in node.decorator_list)
    ]


def called(decorator: ast.expr) -> str:
    """The name of the function that a decorator calls."""
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def uses(path: Path) -> int:
    """How often a module calls what declares a route, as a decorator or otherwise."""
    return sum(
        isinstance(node, ast.Call) and called(node) in DECLARING for node in ast.walk(ast.parse(path.read_text()))
    )


def test_every_declared_route_is_listed() -> None:
    modules = [path for path in sorted(ROOT.rglob("*.py")) if declared(path) or uses(path)]
    listed = {id(route) for route in ROUTES}

    assert len(modules) > 8
    for path in modules:
        assert path.name.endswith(NAMES), f"{path} declares routes"
        assert uses(path) == len(declared(path)), f"{path} declares a route other than by a decorator"
        module = import_module(".".join(["pressroom", *path.relative_to(ROOT).with_suffix("").parts]))
        routes = [held for held in vars(module).values() if isinstance(held, Route)]
        per_file = ["file"] if hasattr(module, PER_FILE) else []
        assert sorted([*(route.name for route in routes), *per_file]) == sorted(declared(path))
        assert [route.name for route in routes if id(route) not in listed] == [], f"{path}: add them to ROUTES"


def test_files_have_their_routes() -> None:
    assert len(VERIFIER_ROUTES) == 2
    assert len(STATIC_ROUTES) > 10
    assert {id(route) for route in (*VERIFIER_ROUTES, *STATIC_ROUTES)} <= {id(route) for route in ROUTES}


def test_no_two_routes_are_at_one_place() -> None:
    places = Counter((route.method, route.path) for route in ROUTES)

    assert [place for place, count in places.items() if count > 1] == []


def test_listing_routes_opens_nothing() -> None:
    program = """
import sys, threading
from pressroom.server.document import openapi_document
from pressroom.server.routes import ROUTES
from pressroom.settings import Settings
assert ROUTES and openapi_document(Settings({}))
opened = {"apsw", "asyncpg", "redis", "granian", "pressroom.server.runtime", "pressroom.db.sqlite"} & sys.modules.keys()
print(threading.active_count(), sorted(opened))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout == "1 []\n"
