"""One account links to pages in chunks of one byte, whose pictures come in chunks of one byte too."""

import asyncio
import itertools

from aiohttp import ClientSession

from benchmarks.attacks import Attack, Stage, publish, sign_up
from benchmarks.attacks._answering import answering
from benchmarks.processes import free_port

LINKS_PER_SECOND = 2.0
HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: %b\r\n\r\n"
END = b"0\r\n\r\n"
CARD = b'<title>T</title><meta property="og:image" content="/image">'


class ChunkedCards(Attack):
    """Pages of 400 KB and pictures of 250 KB, all of it one byte a chunk."""

    name = "link cards in tiny chunks"

    async def prepare(self, stage: Stage, http: ClientSession) -> None:
        stage.notes |= {"port": free_port(), "session": await sign_up(http, stage, "mallory")}

    async def run(self, stage: Stage, http: ClientSession) -> None:
        page = HEAD % b"text/html" + b"%x\r\n%b\r\n" % (len(CARD), CARD) + b"1\r\n \r\n" * 400_000 + END
        image = HEAD % b"image/png" + b"1\r\na\r\n" * 250_000 + END
        async with answering(stage.notes["port"], lambda path, _: image if path == b"/image" else page):
            for number in itertools.count():
                link = f"http://127.0.0.1:{stage.notes['port']}/{number}"
                await publish(http, stage, stage.notes["session"], link)
                await asyncio.sleep(1 / LINKS_PER_SECOND)


ATTACK = ChunkedCards
