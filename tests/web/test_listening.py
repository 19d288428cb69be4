"""The server listens before it says so."""

import asyncio
import socket

from pressroom.settings import Settings
from pressroom.web.asgi import HttpScope, Receive, Send
from pressroom.web.server import make_server
from tests.services.ports import free_port


async def nothing(scope: HttpScope, receive: Receive, send: Send) -> None:
    """An application that nobody asks."""


def test_connections_are_taken_when_the_start_is_reported() -> None:
    port, connected = free_port(), list[bool]()

    def connect() -> None:
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            connected.append(True)
        server.stop()

    server = make_server(nothing, Settings({"PRESSROOM_PORT": str(port)}))
    server.on_startup(connect)
    asyncio.run(asyncio.wait_for(server.serve(), 60))

    assert connected
