"""Requests to peers that behave: the bytes sent, the response, the connections used."""

import asyncio
import contextlib
import ipaddress
from collections.abc import AsyncGenerator

import pytest

from pressroom.outbound import Failure, OutboundClient, OutboundFailed, OutboundResponse, Policy, connections
from pressroom.outbound.heads import Method
from tests.outbound.peers import (
    LOOPBACK,
    NO_CONTENT,
    NO_TLS,
    Peer,
    always,
    loaded,
    once,
    open_client,
    outcome,
    peer,
    run,
    until,
)

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"


def test_a_post_and_its_answer() -> None:
    async def work() -> None:
        async with peer(always(OK)) as it, open_client() as client:
            headers = {"Content-Type": "application/json", "X-Service-Event": "post.created"}
            answer = await client.request("POST", it.url("/hook?a[]=1&b=%2f"), headers, b'{"a":1}')
            assert answer == OutboundResponse(200, {"content-type": "text/plain", "content-length": "2"}, b"ok")
            lines = it.heads[0].split(b"\r\n")
            assert lines[0] == b"POST /hook?a[]=1&b=%2f HTTP/1.1"
            assert f"Host: 127.0.0.1:{it.port}".encode() in lines
            assert b"Accept-Encoding: identity" in lines
            assert b"X-Service-Event: post.created" in lines
            assert lines.count(b"Content-Type: application/json") == 1
            assert not any(line.lower().startswith((b"cookie", b"authorization")) for line in lines)
            assert it.bodies == [b'{"a":1}']

    run(work())


def test_the_name_is_kept_for_the_host_header_while_its_address_is_connected_to() -> None:
    async def work() -> None:
        async with (
            peer(always(NO_CONTENT)) as it,
            open_client(known={"xn--bcher-kva.example": ["127.0.0.1"]}) as client,
        ):
            assert (await client.request("GET", it.url("/", "B\u00fccher.example"), {})).status == 204
            assert f"Host: xn--bcher-kva.example:{it.port}".encode() in it.heads[0].split(b"\r\n")

    run(work())


@pytest.mark.parametrize(
    ("raw", "body"),
    [
        (NO_CONTENT, b""),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", b""),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", b"abcde"),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK, b"ok"),
        (b"HTTP/1.1 500 Broken\r\nContent-Length: 5\r\n\r\nsorry", b"sorry"),
        (b"HTTP/1.1 200 OK\r\n\r\nuntil the end", b"until the end"),
        (b"HTTP/1.0 200 OK\r\n\r\nold", b"old"),
    ],
)
def test_every_framing_of_a_body(raw: bytes, body: bytes) -> None:
    async def work() -> None:
        async with peer(once(raw)) as it, open_client() as client:
            assert (await client.request("POST", it.url(), {}, b"{}")).body == body

    run(work())


def test_only_the_start_of_a_body_is_kept_and_no_more_than_asked_is_read() -> None:
    async def work() -> None:
        long = b"HTTP/1.1 200 OK\r\nContent-Length: 4000000\r\n\r\n" + b"0123456789" * 400_000
        async with peer(always(long)) as it, open_client() as client:
            read = 5_000_000
            assert (await client.request("GET", it.url(), {}, read=read)).body == b"0123456789" * 204 + b"01234567"
            assert (await client.request("GET", it.url(), {}, read=read, keep=5)).body == b"01234"
            everything = await client.request("GET", it.url(), {}, read=read, keep=read)
            assert everything.body == b"0123456789" * 400_000
            assert it.connections == 1
            assert len((await client.request("GET", it.url(), {}, read=100, keep=9_000)).body) == 100
            await client.request("GET", it.url(), {})
            assert it.connections == 2

    run(work())


def test_a_redirect_is_an_answer_and_is_not_followed() -> None:
    async def work() -> None:
        for status in (301, 302, 303, 307, 308):
            head = f"HTTP/1.1 {status} Moved\r\nLocation: http://169.254.169.254/latest/\r\nContent-Length: 0\r\n\r\n"
            async with peer(once(head.encode())) as it, open_client() as client:
                for method in ("POST", "GET"):
                    answer = await client.request(method, it.url(), {}, b"x" if method == "POST" else None)
                    assert (answer.status, answer.headers["location"]) == (status, "http://169.254.169.254/latest/")
                assert it.connections == 2

    run(work())


def test_cookies_are_not_kept() -> None:
    async def work() -> None:
        setting = b"HTTP/1.1 200 OK\r\nSet-Cookie: a=b; Path=/\r\nContent-Length: 0\r\n\r\n"
        async with peer(always(setting)) as it, open_client(known={"hook.example": ["127.0.0.1"]}) as client:
            for _ in range(2):
                await client.request("POST", it.url("/", "hook.example"), {}, b"x")
            assert b"cookie" not in it.heads[1].lower()

    run(work())


def test_compressed_bodies_stay_as_they_are() -> None:
    async def work() -> None:
        packed = b"\x1f\x8b not really"
        head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(packed)}\r\n\r\n".encode()
        async with peer(always(head + packed)) as it, open_client() as client:
            answer = await client.request("GET", it.url(), {})
            assert (answer.body, answer.headers["content-encoding"]) == (packed, "gzip")

    run(work())


def test_header_values_that_are_no_utf_8_can_be_stored() -> None:
    async def work() -> None:
        head = b"HTTP/1.1 302 Found\r\nLocation: /\xff\xc3\xa9\r\nContent-Length: 0\r\n\r\n"
        async with peer(always(head)) as it, open_client() as client:
            assert (await client.request("GET", it.url(), {})).headers["location"] == "/\ufffd\u00e9"

    run(work())


def test_proxies_of_the_environment_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        async with peer(always(OK)) as proxy, peer(always(OK)) as it, open_client() as client:
            for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
                monkeypatch.setenv(name, proxy.url())
            monkeypatch.delenv("no_proxy", raising=False)
            monkeypatch.delenv("NO_PROXY", raising=False)
            await client.request("POST", it.url(), {}, b"x")
            assert (it.connections, proxy.connections) == (1, 0)

    run(work())


def test_a_hundred_requests_on_one_connection() -> None:
    async def work() -> None:
        async with peer(always(OK)) as it, open_client() as client:
            for number in range(100):
                await client.request("POST" if number % 2 else "GET", it.url(f"/{number}"), {}, b"x")
            assert it.connections == 1

    run(work())


def test_the_name_is_looked_up_once_for_each_new_connection() -> None:
    asked: list[str] = []

    async def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"]

    async def work() -> None:
        async with peer(always(OK)) as it, closing(OutboundClient(LOOPBACK, resolve=resolve, tls=NO_TLS)) as client:
            for _ in range(5):
                await client.request("POST", it.url("/", "hook.example"), {}, b"x")
            assert (it.connections, asked) == (1, ["hook.example"])

    run(work())


def test_the_connection_goes_to_the_vetted_address_and_never_to_a_second_look_up() -> None:
    turns = iter([["127.0.0.1"], ["10.0.0.1"]])

    async def resolve(host: str, port: int) -> list[str]:
        return next(turns)

    async def work() -> None:
        async with peer(once(OK)) as it, closing(OutboundClient(LOOPBACK, resolve=resolve, tls=NO_TLS)) as client:
            url = it.url("/", "hook.example")
            assert (await client.request("POST", url, {}, b"x")).status == 200
            await until(lambda: not any(map(is_open, kept(client))))
            again = await outcome(client.request("POST", url, {}, b"x"))
            assert isinstance(again, OutboundFailed)
            assert again.kind is Failure.REFUSED_ADDRESS
            assert again.message == "The host does not resolve, or not to public addresses alone; use a public host."
            assert it.connections == 1

    run(work())


def test_socket_is_judged_by_its_own_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were the reader or the resolver to let an address through, the socket would still not be opened."""

    async def work() -> None:
        async with peer(always(OK)) as it, open_client(known={"hook.example": ["127.0.0.1"]}) as client:
            await client.vet(it.url())
            await client.vet(it.url("/", "hook.example"))
            loaded(client)._policy = Policy(False)
            assert isinstance(loaded(client)._open(), connections.Connector)
            for host in ("127.0.0.1", "hook.example"):
                failed = await outcome(client.request("GET", it.url("/", host), {}))
                assert isinstance(failed, OutboundFailed)
                assert failed.kind is Failure.REFUSED_ADDRESS
                assert (
                    failed.message == "The host does not resolve, or not to public addresses alone; use a public host."
                )
            assert it.connections == 0

    run(work())


def test_a_kept_connection_that_the_peer_closed_meanwhile_costs_nothing() -> None:
    async def one_each(it: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answers one request; when the next one is there, closes without a word."""
        await it.read_request(reader)
        writer.write(OK)
        await it.read_request(reader)

    async def work() -> None:
        async with peer(one_each) as it, open_client() as client:
            for method in ("POST", "GET"):
                for _ in range(3):
                    assert (await client.request(method, it.url(), {}, b"x")).status == 200
            assert it.connections == 6

    run(work())


def test_several_stale_connections_are_not_tried_one_after_the_other() -> None:
    arrived = asyncio.Event()

    async def together(it: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await it.read_request(reader)
        if it.connections >= 4:
            arrived.set()
        await arrived.wait()
        writer.write(OK)
        await it.read_request(reader)

    async def work() -> None:
        async with peer(together) as it, open_client() as client:
            await asyncio.gather(*(client.request("POST", it.url(), {}, b"x") for _ in range(4)))
            before = len(it.heads)
            assert (await client.request("POST", it.url(), {}, b"x")).status == 200
            assert (len(it.heads) - before, it.connections) == (2, 5)

    run(work())


@pytest.mark.parametrize("method", ["POST", "GET"])
def test_a_new_connection_that_is_closed_without_an_answer_is_not_tried_again(method: Method) -> None:
    async def work() -> None:
        async with peer(once(b"")) as it, open_client() as client:
            failed = await outcome(client.request(method, it.url(), {}, b"x"))
            assert isinstance(failed, OutboundFailed)
            assert (failed.kind, failed.message) == (Failure.CLOSED, "The connection was closed without an answer.")
            assert it.connections == 1

    run(work())


def test_a_kept_connection_that_breaks_after_the_first_byte_is_not_tried_again() -> None:
    async def handle(it: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await it.read_request(reader)
        writer.write(OK)
        await it.read_request(reader)
        writer.write(b"H")

    async def work() -> None:
        async with peer(handle) as it, open_client() as client:
            await client.request("POST", it.url(), {}, b"x")
            failed = await outcome(client.request("POST", it.url(), {}, b"x"))
            assert isinstance(failed, OutboundFailed)
            assert failed.kind is Failure.CLOSED
            assert it.connections == 1

    run(work())


def test_the_second_try_has_the_same_deadline() -> None:
    async def handle(it: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await it.read_request(reader)
        if it.connections == 1:
            writer.write(OK)
            await it.read_request(reader)
        else:
            await asyncio.Event().wait()

    async def work() -> None:
        async with peer(handle) as it, open_client() as client:
            await client.request("POST", it.url(), {}, b"x")
            failed = await outcome(client.request("POST", it.url(), {}, b"x", seconds=1.0))
            assert isinstance(failed, OutboundFailed)
            assert failed.kind is Failure.TIMEOUT
            assert it.connections == 2

    run(work())


def test_unsolicited_bytes_are_no_response() -> None:
    async def handle(it: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await it.read_request(reader)
        writer.write(OK)
        if it.connections == 1:
            await writer.drain()
            await go_on.wait()
            writer.write(b"HTTP/1.1 418 Early\r\nContent-Length: 0\r\n\r\n")
        await it.read_request(reader)

    go_on = asyncio.Event()

    async def work() -> None:
        async with peer(handle) as it, open_client() as client:
            await client.request("POST", it.url(), {}, b"x")
            go_on.set()
            async with asyncio.timeout(connections.IDLE_SECONDS / 2):  # and not because it was idle for too long
                await until(lambda: not any(map(is_open, kept(client))))
            assert (await client.request("POST", it.url(), {}, b"x")).status == 200
            assert it.connections == 2

    run(work())


def test_connections_beyond_the_limit_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "KEPT", 3)
    everybody = asyncio.Event()

    async def handle(it: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await it.read_request(reader)
        if it.connections >= 10:
            everybody.set()
        await everybody.wait()
        writer.write(OK)
        await it.read_request(reader)

    async def work() -> None:
        async with peer(handle) as it, open_client() as client:
            await asyncio.gather(*(client.request("POST", it.url(), {}, b"x") for _ in range(10)))
            assert it.connections == 10
            assert len(list(kept(client))) == 3

    run(work())


def test_idle_connections_are_closed_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "IDLE_SECONDS", 0.05)
    gone = asyncio.Event()

    async def handle(it: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await it.read_request(reader)
        writer.write(OK)
        if not await it.read_request(reader):
            gone.set()

    async def work() -> None:
        async with peer(handle) as it, open_client() as client:
            await client.request("POST", it.url(), {}, b"x")
            await gone.wait()

    run(work())


def test_a_closed_door_fails_softly() -> None:
    async def never(it: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await it.read_request(reader)
        await asyncio.Event().wait()

    async def work() -> None:
        async with peer(never) as it, open_client() as client:
            waiting = asyncio.create_task(outcome(client.request("POST", it.url(), {}, b"x")))
            await until(lambda: bool(it.heads))
            await client.close()
            for failed in (await waiting, await outcome(client.request("POST", it.url(), {}, b"x"))):
                assert isinstance(failed, OutboundFailed)
                assert failed.kind is Failure.OURS
        untouched = OutboundClient(Policy(False), tls=NO_TLS)
        await untouched.close()
        assert isinstance(await outcome(untouched.request("GET", "https://8.8.8.8/", {})), OutboundFailed)

    run(work())


def test_a_request_that_is_called_off_leaves_no_connection_behind() -> None:
    gone = asyncio.Event()

    async def handle(it: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await it.read_request(reader)
        if not await it.read_request(reader):
            gone.set()

    async def work() -> None:
        async with peer(handle) as it, open_client() as client:
            task = asyncio.create_task(client.request("POST", it.url(), {}, b"x"))
            await until(lambda: bool(it.heads))
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await gone.wait()

    run(work())


def test_v6_and_v4_are_both_tried() -> None:
    policy = Policy(True, (ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128")))

    async def work() -> None:
        known = {"both.example": ["::1", "127.0.0.1"]}
        async with peer(always(OK)) as it, open_client(policy, known) as client:
            assert (await client.request("POST", it.url("/", "both.example"), {}, b"x")).status == 200

    run(work())


def is_open(wire: connections.Wire) -> bool:
    return wire.is_connected()


def kept(client: OutboundClient) -> list[connections.Wire]:
    """The connections in the pool."""
    connector = loaded(client)._connector
    assert connector is not None
    return [wire for line in connector._conns.values() for wire, _ in line if isinstance(wire, connections.Wire)]


@contextlib.asynccontextmanager
async def closing(client: OutboundClient) -> AsyncGenerator[OutboundClient]:
    try:
        yield client
    finally:
        await client.close()
