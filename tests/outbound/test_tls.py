"""Certificates: only those of trusted authorities, for the very host, and in date."""

import asyncio
import datetime
import socket
import ssl
from pathlib import Path

import pytest
import trustme

from pressroom.outbound import NOT_PUBLIC, Failure, OutboundClient, OutboundFailed, Policy
from tests.outbound.certificates import YEAR, self_signed, serving
from tests.outbound.peers import LOOPBACK, NO_CONTENT, Peer, always, open_client, outcome, peer, run

NAMES = {"hook.example": ["127.0.0.1"], "other.example": ["127.0.0.1"]}


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def trusting(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


def failure(context: ssl.SSLContext, trusting: ssl.SSLContext, host: str = "hook.example") -> OutboundFailed:
    async def work() -> OutboundFailed:
        async with peer(always(NO_CONTENT), context) as it, open_client(LOOPBACK, NAMES, trusting) as client:
            failed = await outcome(client.request("POST", it.url("/", host, "https"), {}, b"secret"))
            assert isinstance(failed, OutboundFailed)
            assert it.heads == []
            return failed

    return run(work())


def test_a_good_certificate_for_a_name(authority: trustme.CA, trusting: ssl.SSLContext) -> None:
    seen: list[str | None] = []
    context = serving(authority.issue_cert("hook.example"))
    context.sni_callback = lambda _socket, name, _context: seen.append(name)

    async def work() -> None:
        async with peer(always(NO_CONTENT), context) as it, open_client(LOOPBACK, NAMES, trusting) as client:
            for _ in range(3):
                answer = await client.request("POST", it.url("/", "HOOK.example", "https"), {}, b"x")
                assert answer.status == 204
            assert it.connections == 1
            assert f"Host: hook.example:{it.port}".encode() in it.heads[0].split(b"\r\n")

    run(work())
    assert seen == ["hook.example"]


def test_a_good_certificate_for_an_address(authority: trustme.CA, trusting: ssl.SSLContext) -> None:
    async def work() -> None:
        context = serving(authority.issue_cert("127.0.0.1"))
        async with peer(always(NO_CONTENT), context) as it, open_client(LOOPBACK, NAMES, trusting) as client:
            assert (await client.request("POST", it.url(scheme="https"), {}, b"x")).status == 204

    run(work())


def test_a_certificate_for_another_name(authority: trustme.CA, trusting: ssl.SSLContext) -> None:
    context = serving(authority.issue_cert("hook.example"))
    failed = failure(context, trusting, "other.example")
    assert (failed.kind, failed.message) == (Failure.TLS, "The certificate is not for this host name.")
    failed = failure(context, trusting, "127.0.0.1")
    assert (failed.kind, failed.message) == (Failure.TLS, "The certificate is not for this address.")


def test_an_expired_certificate(authority: trustme.CA, trusting: ssl.SSLContext) -> None:
    past = datetime.datetime.now(datetime.UTC) - YEAR
    failed = failure(serving(authority.issue_cert("hook.example", not_before=past - YEAR, not_after=past)), trusting)
    assert (failed.kind, failed.message) == (Failure.TLS, "The certificate has expired.")


def test_a_certificate_of_the_future(authority: trustme.CA, trusting: ssl.SSLContext) -> None:
    future = datetime.datetime.now(datetime.UTC) + YEAR
    failed = failure(
        serving(authority.issue_cert("hook.example", not_before=future, not_after=future + YEAR)), trusting
    )
    assert (failed.kind, failed.message) == (Failure.TLS, "The certificate is not valid yet.")


def test_a_certificate_of_an_unknown_authority(trusting: ssl.SSLContext) -> None:
    failed = failure(serving(trustme.CA().issue_cert("hook.example")), trusting)
    assert failed.kind is Failure.TLS
    assert failed.message.startswith("The certificate comes from an authority that is not trusted")


def test_a_certificate_that_signed_itself(trusting: ssl.SSLContext, tmp_path: Path) -> None:
    failed = failure(self_signed(tmp_path), trusting)
    assert (failed.kind, failed.message) == (Failure.TLS, "The certificate is self-signed.")


def test_the_system_s_authorities_are_the_default(authority: trustme.CA) -> None:
    context = serving(authority.issue_cert("127.0.0.1"))

    async def work() -> None:
        async with peer(always(NO_CONTENT), context) as it:
            client = OutboundClient(LOOPBACK)
            failed = await outcome(client.request("POST", it.url(scheme="https"), {}, b"x"))
            await client.close()
            assert isinstance(failed, OutboundFailed)
            assert failed.kind is Failure.TLS

    run(work())


def test_a_peer_that_speaks_no_tls(trusting: ssl.SSLContext) -> None:
    async def talks(it: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async def work() -> None:
        async with peer(talks) as it, open_client(LOOPBACK, NAMES, trusting) as client:
            failed = await outcome(client.request("POST", it.url("/", "hook.example", "https"), {}, b"x"))
            assert isinstance(failed, OutboundFailed)
            assert (failed.kind, failed.message) == (Failure.TLS, "The host does not speak TLS on this port.")

    run(work())


def test_a_peer_that_leaves_during_the_handshake(trusting: ssl.SSLContext) -> None:
    async def leaves(it: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(5)

    async def work() -> None:
        async with peer(leaves) as it, open_client(LOOPBACK, NAMES, trusting) as client:
            failed = await outcome(client.request("POST", it.url("/", "hook.example", "https"), {}, b"x"))
            assert isinstance(failed, OutboundFailed)
            assert failed.kind in (Failure.TLS, Failure.CONNECT)

    run(work())


def test_a_peer_that_speaks_only_old_tls(authority: trustme.CA, trusting: ssl.SSLContext) -> None:
    context = serving(authority.issue_cert("hook.example"))
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    trusting.minimum_version = ssl.TLSVersion.TLSv1_3
    assert failure(context, trusting).kind is Failure.TLS


def test_closed_port_is_a_refused_connection() -> None:
    async def work() -> None:
        async with peer(always(NO_CONTENT)) as it:
            url = it.url()
        async with open_client() as client:
            failed = await outcome(client.request("POST", url, {}, b"x"))
            assert isinstance(failed, OutboundFailed)
            assert (failed.kind, failed.message) == (Failure.CONNECT, "The connection was refused.")

    run(work())


def test_a_name_that_does_not_resolve() -> None:
    async def work() -> None:
        async with open_client(Policy(False)) as client:
            failed = await outcome(client.request("POST", "https://gone.example/", {}, b"x"))
            assert isinstance(failed, OutboundFailed)
            assert (failed.kind, failed.message) == (Failure.NAME, NOT_PUBLIC)

    run(work())


LAST = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


@pytest.mark.parametrize("answer", [b"", LAST], ids=["called off", "answered"])
def test_a_peer_that_does_not_end_tls_holds_no_socket(
    authority: trustme.CA, trusting: ssl.SSLContext, answer: bytes
) -> None:
    """It says nothing when told that TLS ends; a close would wait half a minute for that."""
    context = serving(authority.issue_cert("hook.example"))

    async def work() -> None:
        loop, asked = asyncio.get_running_loop(), asyncio.Event()

        def until_hung_up(door: socket.socket) -> None:
            with door.accept()[0] as accepted, context.wrap_socket(accepted, server_side=True) as talking:
                talking.recv(65_536)
                talking.sendall(answer)
                loop.call_soon_threadsafe(asked.set)
                with socket.socket(fileno=talking.detach()) as bare:
                    bare.settimeout(15.0)
                    while bare.recv(65_536):
                        pass

        with socket.create_server(("127.0.0.1", 0)) as door:
            held = asyncio.create_task(asyncio.to_thread(until_hung_up, door))
            async with open_client(LOOPBACK, NAMES, trusting) as client:
                url = f"https://hook.example:{door.getsockname()[1]}/"
                asking = asyncio.create_task(client.request("POST", url, {}, b"x"))
                await asked.wait()
                if not answer:
                    asking.cancel()
                await asyncio.gather(asking, return_exceptions=True)
                await held

    run(work())
