"""No message points to a page that is not there: each path of our own that a message names has a route."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pressroom
from tests.api.conftest import server
from tests.harness.local import LocalServer
from tests.pages.reader import fetch

__all__ = ["server"]

SOURCE = Path(pressroom.__file__).parent
PAGES = "login|signup|settings|notifications|saved|hubs|follows|admin|forgot|reset|verify|docs|openapi"
"""The beginnings of the addresses of pages, those included that do not exist yet."""

SHOWN_WHEN_THERE = {"sections.html"}
"""Templates whose addresses are shown only when there is such a page."""

VALUE = re.compile(r"\{\{.*?\}\}", re.DOTALL)
MARKUP = re.compile(r"\{%.*?%\}|\{#.*?#\}", re.DOTALL)
"""The parts that a template fills in, and the rest that is not shown."""

NAMED = re.compile(rf"(?<![\w/.:…{{}}])(/(?:{PAGES})(?:[/.][\w./{{}}-]*)?)(?![\w-])")


def messages() -> Iterator[tuple[str, str]]:
    """Every text of more than one word in the code and in the templates, and where it stands."""
    for file in SOURCE.rglob("*.py"):
        nodes = list(ast.walk(ast.parse(file.read_text("utf-8"))))
        docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
                if id(node) in docstrings:
                    continue
                yield f"{file.name}:{node.lineno}", node.value
    for file in (SOURCE / "web" / "templates").rglob("*.html"):
        if file.name in SHOWN_WHEN_THERE:
            continue
        yield file.name, MARKUP.sub(" ", VALUE.sub("x", file.read_text("utf-8"))).replace('"', " ")


def test_every_page_that_a_message_names_is_there(server: LocalServer) -> None:
    named = {path.rstrip("."): where for where, text in messages() for path in NAMED.findall(text)}

    assert "/docs" in named
    assert {path: where for path, where in named.items() if fetch(server, path).status_code == 404} == {}
