"""Peers that are slow, broken or after our memory. Every one of them ends in a failure with a kind, or in an answer."""

import asyncio
import contextlib
import gzip
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable

import pytest

from pressroom.outbound import Failure, OutboundFailed, OutboundResponse
from pressroom.outbound.heads import Method
from tests.outbound.peers import Peer, always, endless, loaded, once, open_client, outcome, peer, run

HEAD = b"HTTP/1.1 200 OK\r\n"
Handler = Callable[[Peer, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def failure(handle: Handler, *, seconds: float = 10.0, method: Method = "POST") -> OutboundFailed:
    """How a request to a peer fails."""

    async def work() -> OutboundResponse | OutboundFailed:
        async with peer(handle) as it, open_client() as client:
            return await outcome(client.request(method, it.url(), {}, b"{}", seconds=seconds))

    failed = run(work())
    assert isinstance(failed, OutboundFailed)
    assert failed.message.endswith(".")
    return failed


def drip(start: bytes, drops: bytes) -> Handler:
    """Sends `start`, and then `drops` byte by byte, over and over."""

    async def handle(it: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await it.read_request(reader)
        writer.write(start)
        while True:
            for drop in drops:
                writer.write(bytes([drop]))
                await writer.drain()
                await asyncio.sleep(0.02)

    return handle


async def never_answers(it: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await it.read_request(reader)
    await asyncio.Event().wait()


async def never_reads(it: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def closes_at_once(it: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    pass


async def resets(it: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await it.read_request(reader)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


@pytest.mark.parametrize(
    "handle",
    [
        never_answers,
        never_reads,
        drip(b"", b"HTTP/1.1 200 OK\r\nX: " + b"a" * 500),
        drip(HEAD + b"Content-Length: 1000\r\n\r\n", b"a"),
        drip(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n"),
        drip(HEAD + b"\r\n", b"a"),
        drip(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        drip(HEAD, b"X: y\r\n"),
    ],
    ids=["silent", "unread", "status line", "body", "chunks", "body until the end", "interim answers", "headers"],
)
def test_slow_peer_ends_at_the_deadline(handle: Handler) -> None:
    failed = failure(handle, seconds=0.3)
    assert (failed.kind, failed.message) == (Failure.TIMEOUT, "No complete answer within 0.3 seconds.")


def test_a_look_up_that_hangs_counts_in_the_deadline() -> None:
    async def never(host: str, port: int) -> list[str]:
        await asyncio.Event().wait()
        return []

    async def work() -> None:
        async with open_client() as client:
            assert isinstance(await outcome(client.request("GET", "https://no.example/", {})), OutboundFailed)
            loaded(client)._resolver._look_up = never
            failed = await outcome(client.request("POST", "https://hook.example/", {}, b"x", seconds=0.1))
            assert isinstance(failed, OutboundFailed)
            assert failed.kind is Failure.TIMEOUT

    run(work())


def test_a_peer_that_never_completes_its_handshake() -> None:
    async def work() -> None:
        async with peer(never_reads) as it, open_client() as client:
            failed = await outcome(client.request("POST", it.url(scheme="https"), {}, b"x", seconds=0.2))
            assert isinstance(failed, OutboundFailed)
            assert failed.kind is Failure.TIMEOUT

    run(work())


@pytest.mark.parametrize("method", ["POST", "GET"])
@pytest.mark.parametrize("handle", [closes_at_once, resets, once(b""), once(HEAD), once(HEAD + b"X: y\r\n")])
def test_connections_that_break(handle: Handler, method: Method) -> None:
    assert failure(handle, method=method).kind is Failure.CLOSED


@pytest.mark.parametrize(
    "answer",
    [
        HEAD + b"Content-Length: 10\r\n\r\nshort",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nab",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n",
    ],
)
def test_bodies_that_break_off(answer: bytes) -> None:
    failed = failure(once(answer))
    assert failed.kind is Failure.CLOSED
    assert failed.message == "The connection was closed before the answer was complete."


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"220 mail.example ESMTP\r\n",
        b"\x15\x03\x01\x00\x02\x02\x50",
        b"-ERR unknown command\r\n",
        b"HTTP/9.9 200 OK\r\n\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 20 OK\r\n\r\n",
        HEAD + b"no colon\r\n\r\n",
        HEAD + b"X : y\r\n\r\n",
        HEAD + b"X: a\x00b\r\n\r\n",
        HEAD + b"Content-Length: -1\r\n\r\n",
        HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        HEAD + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nx",
        b"<html>" * 100,
    ],
)
def test_answers_that_are_no_http(answer: bytes) -> None:
    assert failure(once(answer)).kind is Failure.PROTOCOL


def test_chunks_that_are_none() -> None:
    assert failure(once(HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n")).kind in (Failure.PROTOCOL, Failure.CLOSED)


@pytest.mark.parametrize(
    "handle",
    [
        endless(HEAD, b"X-More: and more\r\n" * 50),
        endless(HEAD + b"X: ", b"a" * 10_000),
        endless(HEAD, b"a" * 10_000),
        endless(b"HTTP/1.1 200 ", b"a" * 10_000),
        endless(b"", b"a" * 10_000),
        endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
        endless(b"", b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" * 100),
        endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n1;x=", b"a" * 65_536),
    ],
    ids=["headers", "a value", "a name", "a reason", "a status line", "100", "103", "a chunk's extension"],
)
def test_endless_answer_is_cut_off(handle: Handler) -> None:
    assert failure(handle).kind is Failure.PROTOCOL


def test_interim_answers_are_broken_off_at_a_size_and_not_at_the_deadline() -> None:
    async def handle(it: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await it.read_request(reader)
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n" * 4_000)
        await asyncio.Event().wait()

    assert failure(handle, seconds=60.0).message == "The answer goes on without an end."


@pytest.mark.parametrize(
    "handle",
    [
        endless(HEAD + b"Content-Length: 1000000000\r\n\r\n", b"a" * 65_536),
        endless(HEAD + b"\r\n", b"a" * 65_536),
        endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", (b"10000\r\n" + b"a" * 65_536 + b"\r\n")),
        endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n" * 10_000),
    ],
    ids=["a length of 1 GB", "until the end", "chunks", "small chunks"],
)
def test_a_body_without_an_end_is_a_success_with_its_start(handle: Handler) -> None:
    async def work() -> None:
        async with peer(handle) as it, open_client() as client:
            for _ in range(2):
                answer = await client.request("POST", it.url(), {}, b"x")
                assert (answer.status, answer.body) == (200, b"a" * 2_048)
            assert it.connections == 2

    run(work())


async def never_reads_the_body(it: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    await asyncio.Event().wait()


async def answers_before_the_body(it: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
    await writer.drain()
    while await reader.read(65_536):
        pass


def test_a_body_that_nobody_takes() -> None:
    async def work() -> None:
        async with peer(never_reads_the_body) as it, open_client() as client:
            failed = await outcome(client.request("POST", it.url(), {}, bytes(1_000_000) * 30, seconds=0.3))
            assert isinstance(failed, OutboundFailed)
            assert failed.kind is Failure.TIMEOUT

    run(work())


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n"], ids=["none", "early"])
def test_unsent_rest_of_a_request_is_dropped(answer: bytes) -> None:
    """A connection that was closed only when all is sent would stay open for as long as the peer likes."""
    asked, ended = asyncio.Event(), asyncio.Event()
    taken: asyncio.Queue[int] = asyncio.Queue()

    async def reads_late(it: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        count = len(await reader.readuntil(b"\r\n\r\n"))
        writer.write(answer)
        asked.set()
        await ended.wait()
        with contextlib.suppress(ConnectionError):
            while read := await reader.read(1_000_000):
                count += len(read)
        taken.put_nowait(count)

    async def work() -> None:
        async with peer(reads_late) as it, open_client() as client:
            asking = asyncio.create_task(client.request("POST", it.url(), {}, bytes(30_000_000)))
            await asked.wait()
            if not answer:
                asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            ended.set()
            assert await taken.get() < 30_000_000

    run(work())


def test_an_answer_that_comes_before_the_body_is_sent() -> None:
    async def work() -> None:
        async with peer(answers_before_the_body) as it, open_client() as client:
            assert (await client.request("POST", it.url(), {}, bytes(1_000_000))).status == 413

    run(work())


def test_a_connection_on_which_a_body_is_still_to_be_sent_is_not_kept() -> None:
    async def answers_and_reads_no_body(it: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
        await asyncio.Event().wait()

    async def work() -> None:
        async with peer(answers_and_reads_no_body) as it, open_client() as client:
            for _ in range(2):
                assert (await client.request("POST", it.url(), {}, bytes(1_000_000) * 30)).status == 413
            assert it.connections == 2

    run(work())


def test_a_bomb_stays_packed() -> None:
    bomb = gzip.compress(bytes(20_000_000))
    head = HEAD + f"Content-Encoding: gzip\r\nContent-Length: {len(bomb)}\r\n\r\n".encode()

    async def work() -> None:
        async with peer(always(head + bomb)) as it, open_client() as client:
            assert (await client.request("GET", it.url(), {})).body == bomb[:2_048]

    run(work())


GREEDY = """
import resource, sys, uvloop
from tests.outbound.peers import open_client

async def main(url):
    async with open_client() as client:
        await client.request("POST", url, {}, b"x")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(20):
            await client.request("POST", url, {}, b"x")
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)

uvloop.run(main(sys.argv[1]))
"""


@pytest.mark.parametrize(
    "handle",
    [
        endless(HEAD + b"Content-Length: 1000000000\r\n\r\n", b"a" * 65_536),
        endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n" * 10_000),
    ],
    ids=["1 GB", "small chunks"],
)
def test_memory_stays_flat(handle: Handler) -> None:
    async def work() -> int:
        async with peer(handle) as it:
            child = await asyncio.create_subprocess_exec(
                sys.executable, "-c", GREEDY, it.url(), stdout=subprocess.PIPE, limit=1_000
            )
            try:
                out, _ = await child.communicate()
            finally:
                if child.returncode is None:
                    child.kill()
            assert child.returncode == 0
            return int(out)

    assert run(work()) < 20_000  # KiB; twenty bodies of 1 GB each
