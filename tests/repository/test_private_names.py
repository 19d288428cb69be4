"""The private names of libraries that the code uses: still there, and pinned to a minor version.

Such a name may go, or come to mean something else, in any release. When a test here fails after an upgrade, look at
what took the name's place before you raise the pin.
"""

import ast
import asyncio
import inspect
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import aiohttp
import pytest
from aiohttp.client_proto import ResponseHandler
from granian.server.embed import Server
from multipart import PushMultipartParser

ROOT = Path(__file__).parents[2]
PINNED = re.compile(r'"([a-z-]+)(?:\[\w+\])?>=(\d+)\.(\d+)[\d.]*,<(\d+)\.(\d+)"')
USED: list[tuple[str, type, Callable[..., object], str]] = [
    # library, class, the method that must use the name, the name
    ("granian", Server, Server._init_shared_socket, "_shd"),
    ("granian", Server, Server._init_shared_socket, "_ssp"),
    ("multipart", PushMultipartParser, PushMultipartParser.parse, "_on_segment_headerline"),
    ("aiohttp", aiohttp.TCPConnector, aiohttp.BaseConnector.__init__, "_factory"),
    ("aiohttp", aiohttp.TCPConnector, aiohttp.BaseConnector.__init__, "_loop"),
    ("aiohttp", aiohttp.TCPConnector, aiohttp.TCPConnector._create_direct_connection, "_factory"),
]


@pytest.mark.parametrize(("library", "kind", "user", "name"), USED)
def test_the_name_is_there_and_used_where_we_count_on_it(
    library: str, kind: type, user: Callable[..., object], name: str
) -> None:
    assert name in inspect.getsource(user), f"{library}: {kind.__name__}.{user.__name__} uses {name} no more"


@pytest.mark.parametrize("library", sorted({library for library, *_ in USED}))
def test_the_library_is_pinned_to_its_minor_version(library: str) -> None:
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    pin = next(each for each in dependencies if re.match(rf"{library}\b", each))
    found = PINNED.fullmatch(f'"{pin}"')

    assert found is not None, pin
    _, major, minor, next_major, next_minor = found.groups()
    assert (int(next_major), int(next_minor)) == (int(major), int(minor) + 1)


def test_a_response_handler_is_called_as_ours_expects() -> None:
    """`Wire` takes what comes in the place of its parent; under another name it would take nothing."""
    for name in (
        "data_received",
        "connection_lost",
        "abort",
        "force_close",
        "is_connected",
        "should_close",
    ):
        assert hasattr(ResponseHandler, name)
    assert list(inspect.signature(ResponseHandler.__init__).parameters)[:2] == ["self", "loop"]


def test_every_private_name_of_another_object_is_listed() -> None:
    """A private name that our classes inherit or read elsewhere, and that no pressroom class defines, is in USED."""
    defined: set[str] = set()
    read: dict[str, str] = {}
    for path in (ROOT / "src" / "pressroom").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    defined.add(name)
                case ast.Attribute(attr=name, ctx=ast.Store()) | ast.Name(id=name, ctx=ast.Store()):
                    defined.add(name)
                case ast.Attribute(attr=name, ctx=ast.Load()) if re.match(r"_[a-z]", name):
                    read[name] = str(path.relative_to(ROOT))
                case _:
                    pass
    listed = {name for *_, name in USED} | {"_exit", "_current_frames"}  # documented, in os and sys

    assert {name: where for name, where in read.items() if name not in defined | listed} == {}


def test_the_event_loop_of_a_connector_is_the_running_one() -> None:
    async def loop_of_connector() -> bool:
        connector = aiohttp.TCPConnector()
        try:
            return connector._loop is asyncio.get_running_loop()
        finally:
            await connector.close()

    assert asyncio.run(loop_of_connector())
