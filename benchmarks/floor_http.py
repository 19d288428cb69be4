"""The floor of HTTP: bare Litestar handlers that take and give the real shapes, on the real server's own options.

    python -m benchmarks.floor_http --port 8001

No key is looked up, nothing is stored, nothing logged. The server is made by `pressroom.serve.make_server`
itself around another application, so that its options cannot drift from the real ones.
"""

import argparse
import asyncio
import signal
from types import SimpleNamespace
from typing import Any, Final, cast
from unittest import mock

import uvloop
from litestar import Litestar, get, post

from pressroom import serve
from pressroom.domains.accounts.models import Account, Caller, SourceKey
from pressroom.domains.accounts.schemas import AccountOut, account_shape
from pressroom.domains.posts.models import Post, PostType, Visibility
from pressroom.domains.posts.schemas import CreatePost, PostOut, new_post_shape
from pressroom.runtime import Runtime
from pressroom.settings import Settings

BASE_URL: Final = "http://127.0.0.1:8000"
NOW: Final = 1_800_000_000_000
ACCOUNT: Final = Account(
    "01ARZ3NDEKTSV4RRFFQ69G5FAV", "account0", "account0@example.org", "account0", None,
    verified=False, email_verified=False, is_private=False, is_creator=False,
    total_followers=0, total_following=0, total_posts=0, created_at=NOW,
)  # fmt: skip
CALLER: Final = Caller(ACCOUNT, SourceKey("01ARZ3NDEKTSV4RRFFQ69G5FAW", "key 0", "svc_live_abcdef"))
POST: Final = Post(
    id="01ARZ3NDEKTSV4RRFFQ69G5FAX",
    account_id=ACCOUNT.id,
    key_id="01ARZ3NDEKTSV4RRFFQ69G5FAW",
    type=PostType.POST,
    content="The harbour bridge opens again on Monday.",
    visibility=Visibility.PUBLIC,
    location=None,
    created_at=NOW,
    updated_at=NOW,
)
POST_OUT: Final = new_post_shape(POST, CALLER, BASE_URL)
ACCOUNT_OUT: Final = account_shape(ACCOUNT, BASE_URL)


@post("/api/posts", status_code=201)
async def create_post(data: CreatePost) -> PostOut:
    """Decodes a post and gives one."""
    POST_OUT.content = data.content
    return POST_OUT


@get("/api/auth/me")
async def show_me() -> AccountOut:
    """Gives an account."""
    return ACCOUNT_OUT


def bare_app(*_: Any) -> Litestar:
    """The bare application, with the same switches off as the real one has."""
    return Litestar([create_post, show_me], openapi_config=None, logging_config=None)


async def serve_until_stopped(port: int) -> None:
    """Serves until SIGTERM."""
    runtime = cast("Runtime", SimpleNamespace(settings=Settings({"PRESSROOM_PORT": str(port)})))
    with mock.patch.object(serve, "create_app", bare_app):
        server = serve.make_server(runtime)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, server.stop)
    await server.serve()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.floor_http", description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    uvloop.run(serve_until_stopped(parser.parse_args().port))


if __name__ == "__main__":
    main()
