"""Prints the events that a Python client iterates over, a line of JSON each.

python read_events.py sync|async BASE_URL KEY AFTER
"""

import asyncio
import json
import sys

from pressroom_client import AsyncPressroom, Pressroom


def read(base_url: str, key: str, after: str) -> None:
    """Reads with the synchronous client."""
    with Pressroom(base_url, key) as client:
        for cursor, event in client.events(after):
            print(json.dumps({"cursor": cursor, "event": event}), flush=True)


async def read_asynchronously(base_url: str, key: str, after: str) -> None:
    """Reads with the asynchronous client."""
    async with AsyncPressroom(base_url, key) as client:
        async for cursor, event in client.events(after):
            print(json.dumps({"cursor": cursor, "event": event}), flush=True)


if __name__ == "__main__":
    kind, *arguments = sys.argv[1:]
    asyncio.run(read_asynchronously(*arguments)) if kind == "async" else read(*arguments)
