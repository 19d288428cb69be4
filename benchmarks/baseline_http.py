"""The baseline of HTTP: bare Litestar handlers with the real bodies and shapes, on the real server's own options.

    python -m benchmarks.baseline_http --port 8001

No key is looked up, nothing is stored, nothing logged. The server is made by the package's own `make_server`,
so that its options cannot drift from the real ones.
"""

import argparse
import asyncio
import signal
from typing import Final, cast

import uvloop
from litestar import Litestar, get, post

from pressroom.domains.accounts.schemas import AccountOut, AuthorOut
from pressroom.domains.keys.schemas import SourceKeyOut
from pressroom.domains.posts.models import PostType
from pressroom.domains.posts.schemas import CreatePost, InteractionsOut, PostOut, StatsOut
from pressroom.domains.posts.visibility import Visibility
from pressroom.settings import Settings
from pressroom.web.asgi import Application
from pressroom.web.server import make_server

BASE_URL: Final = "http://127.0.0.1:8000"
AT: Final = "2026-11-20T16:08:12.345Z"
ID: Final = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
AVATAR: Final = f"{BASE_URL}/avatars/{ID}.svg"


@post("/api/posts", status_code=201)
async def create_post(data: CreatePost) -> PostOut:
    """Decodes a post and returns one."""
    return PostOut(
        id=ID,
        content=data.content,
        media=None,
        link_preview=None,
        location=None,
        type=PostType.POST,
        visibility=Visibility.PUBLIC,
        created_at=AT,
        updated_at=AT,
        edited_at=None,
        deleted_at=None,
        author=AuthorOut(ID, "account0", "account0", AVATAR, verified=False, verified_type=None),
        hub=None,
        source_api_key=SourceKeyOut(ID, "key 0", "svc_live_abcdef"),
        is_bounce=False,
        bounced_by=None,
        original_post=None,
        poll=None,
        stats=StatsOut(),
        user_interactions=InteractionsOut(),
    )


@get("/api/auth/me")
async def show_me() -> AccountOut:
    """Returns an account."""
    return AccountOut(
        id=ID,
        username="account0",
        email="account0@example.org",
        display_name="account0",
        avatar=AVATAR,
        cover_image=None,
        bio=None,
        verified=False,
        email_verified=False,
        is_private=False,
        is_creator=False,
        total_followers=0,
        total_following=0,
        total_posts=0,
        created_at=AT,
    )


async def serve_until_stopped(port: int) -> None:
    """Serves until SIGTERM, with all of Litestar off that is not routing and shapes."""
    app = Litestar([create_post, show_me], openapi_config=None, logging_config=None)
    server = make_server(cast("Application", app), Settings({"PRESSROOM_PORT": str(port)}))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, server.stop)
    await server.serve()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.baseline_http", description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    uvloop.run(serve_until_stopped(parser.parse_args().port))


if __name__ == "__main__":
    main()
