"""The baseline of deliveries: a bare aiohttp loop that signs bodies and posts them, with nothing to read or write down.

    python -m benchmarks.baseline_deliveries --port 9000 --count 20000

The same number of addresses, requests under way and bytes as the worker; the same signature. Prints deliveries per
second, and the microseconds of CPU that each took.
"""

import argparse
import asyncio
import hashlib
import hmac
import time
import uuid
from datetime import UTC, datetime
from typing import Final

import aiohttp
import msgspec
import uvloop
from tests.harness.queued import CONTENT

from benchmarks.queued import ENDPOINTS
from pressroom.domains.webhooks.models import Speed
from pressroom.domains.webhooks.slots import POOLS

SECRET: Final = b"whsec_0123456789abcdefghijklmnopqrstuv"


class Baseline(msgspec.Struct):
    """The result: deliveries per second, and microseconds of CPU that each took."""

    per_second: float
    cpu: float


def body(now: float) -> bytes:
    """An envelope of the size that the worker sends."""
    moment = datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    post = {
        "id": "0" * 26, "authorId": "0" * 26, "content": CONTENT, "type": "POST", "visibility": "PUBLIC",
        "isShare": False, "originalPostId": None, "hubId": None, "createdAt": moment,
    }  # fmt: skip
    envelope = {"event": "post.created", "id": f"evt_{uuid.uuid4()}", "created_at": moment, "data": {"post": post}}
    return msgspec.json.encode(envelope)


async def run(port: int, count: int) -> Baseline:
    """Posts `count` bodies."""
    bodies = iter([body(time.time()) for _ in range(count)])
    urls = [f"http://127.0.0.1:{port}/{number}" for number in range(ENDPOINTS)]
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def slot(place: int) -> None:
            url = urls[place % len(urls)]
            for payload in bodies:
                at = int(time.time())
                signature = hmac.digest(SECRET, b"%d." % at + payload, hashlib.sha256).hex()
                headers = {
                    "Content-Type": "application/json",
                    "User-Agent": "Pressroom/0.1.0",
                    "X-Service-Signature": f"t={at},v1={signature}",
                    "X-Service-Event": "post.created",
                    "X-Service-Delivery-Id": "evt_" + "0" * 36,
                }
                async with session.post(url, data=payload, headers=headers) as answer:
                    await answer.read()
                    assert answer.status == 200

        began, busy = time.perf_counter(), time.process_time()
        await asyncio.gather(*[slot(place) for place in range(POOLS[Speed.QUICK].slots)])
        took = time.perf_counter() - began
        return Baseline(count / took, (time.process_time() - busy) / count * 1e6)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.baseline_deliveries", description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--count", type=int, required=True)
    given = parser.parse_args()
    print(msgspec.json.encode(uvloop.run(run(given.port, given.count))).decode())


if __name__ == "__main__":
    main()
