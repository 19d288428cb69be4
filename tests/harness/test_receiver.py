"""The receiver that other tests rely on follows its scripts."""

import gzip
import ssl
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
import trustme

from tests.harness.behaviours import MEGABYTE, ZEROES, zeroes_in_gzip
from tests.harness.receiver import (
    Behaviour,
    Received,
    Receiver,
    answer,
    close,
    close_at_once,
    drip,
    endless,
    gzip_bomb,
    hold,
    malformed,
    never,
    redirect,
    reset,
)


def test_received_requests_are_shown_and_answered_over_one_connection() -> None:
    with Receiver() as receiver, httpx.Client() as client:
        receiver.behave("/a", answer(500), answer(418, {"X-Thing": "tea"}, b"short and stout"))
        headers = {"X-Service-Delivery-Id": "evt_1", "X-Service-Event": "post.created", "X-Service-Signature": "t=1"}
        answers = [client.post(receiver.url("/a?x=1"), json={"n": n}, headers=headers) for n in range(3)]
        assert [each.status_code for each in answers] == [500, 418, 418]
        assert (answers[1].headers["x-thing"], answers[1].content) == ("tea", b"short and stout")
        assert client.post(receiver.url("/b")).status_code == 200
        first, second, third = receiver.of("/a")
        assert (first.id, first.event, first.signature, first.query) == ("evt_1", "post.created", "t=1", "x=1")
        assert [each.envelope["n"] for each in (first, second, third)] == [0, 1, 2]
        assert first.at <= second.at <= third.at <= time.monotonic()
        assert (receiver.count(), receiver.count("/b"), receiver.connections) == (4, 1, 1)
        assert not +receiver.in_flight


def test_thousands_of_requests() -> None:
    with Receiver() as receiver, httpx.Client() as client:
        worker = threading.Thread(target=lambda: [client.post(receiver.url(), content=b"x" * 500) for _ in range(2000)])
        worker.start()
        receiver.wait(lambda r: r.count() == 2000)
        worker.join()
        assert receiver.connections == 1


def test_held_request_is_in_flight_until_released() -> None:
    with Receiver() as receiver, ThreadPoolExecutor(6) as pool:
        receiver.behave("/a", hold(204))
        answers = [pool.submit(httpx.post, receiver.url("/a")) for _ in range(5)]
        receiver.wait(lambda r: r.in_flight["/a"] == 5)
        receiver.behave("/a", answer(200))
        receiver.release("/a")
        assert {each.result(120).status_code for each in answers} == {204}
        assert httpx.post(receiver.url("/a")).status_code == 200
        assert (receiver.in_flight["/a"], receiver.most_in_flight["/a"]) == (0, 5)


def test_closed_connection_is_no_longer_in_flight() -> None:
    with Receiver() as receiver:
        receiver.behave("/a", never())
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(receiver.url("/a"), timeout=0.2)
        receiver.wait(lambda r: r.count("/a") == 1 and r.in_flight["/a"] == 0)


@pytest.mark.parametrize("behaviour", [close(), close_at_once(), reset(), malformed()])
def test_no_answer(behaviour: Behaviour) -> None:
    with Receiver() as receiver:
        receiver.behave("/a", behaviour, answer(200))
        with pytest.raises(httpx.TransportError):
            httpx.post(receiver.url("/a"), content=b"x" * 100)
        assert httpx.post(receiver.url("/a")).status_code == 200
        assert receiver.count("/a") == 2


def test_hanging_up_before_anything_is_read() -> None:
    with Receiver() as receiver:
        receiver.hangs_up = True
        with pytest.raises(httpx.TransportError):
            httpx.post(receiver.url())
        receiver.hangs_up = False
        assert httpx.post(receiver.url()).status_code == 200
        assert receiver.count() == 1


def test_dripping_comes_byte_by_byte() -> None:
    with Receiver() as receiver:
        receiver.behave("/a", drip(body=b"ok", every=0.001), drip())
        assert httpx.post(receiver.url("/a")).content == b"ok"
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(receiver.url("/a"), timeout=0.1)


@pytest.mark.parametrize("chunked", [True, False])
def test_endless_answers_end_where_they_say_and_can_be_left(chunked: bool) -> None:
    with Receiver() as receiver:
        receiver.behave("/a", endless(3 * MEGABYTE + 1, chunked=chunked), endless(chunked=chunked))
        assert len(httpx.post(receiver.url("/a")).content) == 3 * MEGABYTE + 1
        with httpx.stream("POST", receiver.url("/a")) as answered:
            assert len(next(answered.iter_bytes(64 * 1024))) == 64 * 1024
        receiver.wait(lambda r: r.in_flight["/a"] == 0)


def test_gzip_bomb() -> None:
    assert gzip.decompress(zeroes_in_gzip(2)) == bytes(2 * ZEROES)
    with Receiver() as receiver:
        receiver.behave("/a", gzip_bomb())
        with httpx.stream("POST", receiver.url("/a")) as answered:
            assert answered.headers["content-encoding"] == "gzip"
            assert MEGABYTE < len(b"".join(answered.iter_raw())) < 4 * MEGABYTE


def test_a_script_decides_by_the_request() -> None:
    def script(request: Received) -> Behaviour:
        return redirect("/elsewhere") if request.envelope["n"] else answer(204)

    with Receiver() as receiver:
        receiver.behave("/a", script)
        assert httpx.post(receiver.url("/a"), json={"n": 0}).status_code == 204
        assert httpx.post(receiver.url("/a"), json={"n": 1}).headers["location"] == "/elsewhere"


def test_a_script_that_fails_fails_the_test() -> None:
    def scripted() -> None:
        with Receiver() as receiver:
            receiver.behave("/a", lambda request: request.envelope)
            with pytest.raises(httpx.TransportError):
                httpx.post(receiver.url("/a"))

    with pytest.raises(AssertionError, match="script"):
        scripted()


def test_wait_in_vain_shows_the_received_requests() -> None:
    with Receiver() as receiver:
        httpx.post(receiver.url("/seen"), content=b"abc")
        with pytest.raises(AssertionError, match=r"(?s)1 requests over 1 connections.*POST /seen .*abc"):
            receiver.wait(lambda r: r.count() == 2, seconds=0.05)


def test_a_wait_asks_again_when_something_happens() -> None:
    with Receiver() as receiver, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(receiver.wait, lambda r: r.count() == 3)
        for _ in range(3):
            assert not waiting.done()
            httpx.post(receiver.url())
        waiting.result(120)


def test_https_and_coming_back_on_the_same_port() -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    with Receiver(context) as receiver, httpx.Client(verify=trusting) as client:
        receiver.behave("/reset", reset())
        assert client.post(receiver.url("/a", host="localhost"), content=b"abc").status_code == 200
        assert receiver.received[0].body == b"abc"
        with pytest.raises(httpx.TransportError):
            client.post(receiver.url("/reset", host="localhost"))
        with pytest.raises(httpx.ConnectError):
            client.post(receiver.url("/a"))
    with pytest.raises(httpx.ConnectError):
        httpx.post(f"http://127.0.0.1:{receiver.port}/")
    with Receiver(port=receiver.port) as again:
        assert httpx.post(again.url()).status_code == 200
