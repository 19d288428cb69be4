"""The limit of HTTP: a bare ASGI handler that sends the headers and bodies of real responses, on the real server.

    python -m benchmarks.limit_http --port 8001

It reads the body of a POST and does nothing else: no route, no key, nothing stored, nothing logged. The server is
made by the package's own `make_server`, so that its options cannot drift from the real ones.
"""

import argparse
import asyncio
import signal
from typing import Final

import uvloop

from pressroom.settings import Settings
from pressroom.web.asgi import HeaderList, HttpScope, Receive, Send
from pressroom.web.server import make_server

ME: Final = (
    b'{"id":"01ARZ3NDEKTSV4RRFFQ69G5FAV","username":"account0","email":"account0@example.org",'
    b'"displayName":"account0","avatar":"http://127.0.0.1:8000/avatars/01ARZ3NDEKTSV4RRFFQ69G5FAV.svg",'
    b'"coverImage":null,"bio":null,"verified":false,"emailVerified":false,"isPrivate":false,"discoverable":true,'
    b'"isCreator":false,'
    b'"totalFollowers":0,"totalFollowing":0,"totalPosts":0,"createdAt":"2026-11-20T16:08:12.345Z"}'
)

POST: Final = (
    b'{"id":"01ARZ3NDEKTSV4RRFFQ69G5FAV","content":"The harbour bridge opens again on Monday.","media":null,'
    b'"linkPreview":null,"location":null,"type":"POST","visibility":"PUBLIC",'
    b'"createdAt":"2026-11-20T16:08:12.345Z","updatedAt":"2026-11-20T16:08:12.345Z","editedAt":null,'
    b'"deletedAt":null,"author":{"id":"01ARZ3NDEKTSV4RRFFQ69G5FAV","username":"account0","displayName":"account0",'
    b'"avatar":"http://127.0.0.1:8000/avatars/01ARZ3NDEKTSV4RRFFQ69G5FAV.svg","verified":false,"verifiedType":null},'
    b'"hub":null,"sourceApiKey":{"id":"01ARZ3NDEKTSV4RRFFQ69G5FAV","label":"key 0","keyPrefix":"svc_live_abcdef"},'
    b'"isBounce":false,"bouncedBy":null,"originalPost":null,"poll":null,'
    b'"stats":{"likes":0,"comments":0,"shares":0,"shareCount":0,"views":0},'
    b'"userInteractions":{"liked":false,"saved":false}}'
)

HEADERS: Final[HeaderList] = [
    (b"content-type", b"application/json"),
    (b"x-request-id", b"0123456789abcdef"),
    (b"x-service-api-version", b"1"),
    (b"cache-control", b"no-store"),
    (b"x-ratelimit-limit", b"1000000"),
    (b"x-ratelimit-remaining", b"999999"),
    (b"x-ratelimit-reset", b"1790000000"),
]
"""Those of every keyed response."""

LOCATION: Final = (b"location", b"http://127.0.0.1:8000/api/posts/01ARZ3NDEKTSV4RRFFQ69G5FAV")


async def answer(scope: HttpScope, receive: Receive, send: Send) -> None:
    """Sends a post to a POST and an account to everything else."""
    status, body, headers = 200, ME, list(HEADERS)
    if scope["method"] == "POST":
        await receive()
        status, body = 201, POST
        headers.append(LOCATION)
    headers.append((b"content-length", b"%d" % len(body)))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


async def serve_until_stopped(port: int) -> None:
    """Serves until SIGTERM."""
    server = make_server(answer, Settings({"PRESSROOM_PORT": str(port)}))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, server.stop)
    await server.serve()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.limit_http", description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    uvloop.run(serve_until_stopped(parser.parse_args().port))


if __name__ == "__main__":
    main()
