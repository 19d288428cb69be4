"""Publishes with an API key of a Pressroom server.

    from pressroom_client import Pressroom

    with Pressroom("https://press.example.org", KEY) as press:
        post = press.create_post("Hello")

`Pressroom` and `AsyncPressroom` have the same methods. Errors are in `errors`, types in `types`, deliveries of webhooks
in `webhooks`.
"""

from pressroom_client import errors, types, webhooks
from pressroom_client._async_client import AsyncPressroom
from pressroom_client._files import File
from pressroom_client._sync_client import Pressroom
from pressroom_client._version import __version__
from pressroom_client.errors import ApiError, NoAnswer, PressroomError

__all__ = [
    "ApiError",
    "AsyncPressroom",
    "File",
    "NoAnswer",
    "Pressroom",
    "PressroomError",
    "__version__",
    "errors",
    "types",
    "webhooks",
]
