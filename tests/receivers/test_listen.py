"""The listener at a developer's desk: a process of its own, real requests, and nothing hostile on the terminal."""

import hmac
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping

import httpx
import pytest

from pressroom.receivers.listen import LARGEST_BODY, LONGEST_SHOWN, parse_duration, parse_envelope, plain, pretty, shown

SECRET = "whsec_0123456789ABCDEFGHIJKLMNOPQRSTUV"
OTHER = "whsec_zyxwvutsrqponmlkjihgfedcba987654"
ID = "evt_0b0c7f2e-6a1d-4c7e-9d55-3f1c1a2b3c4d"
DEADLINE = 60.0

DRIVER = """
import asyncio, json, sys
from rich.console import Console
from pressroom.errors import SettingError
from pressroom.receivers.listen import Misbehaviour, listen
given = json.loads(sys.argv[1])
vars(sys.modules["pressroom.receivers.listen"]).update(given["limits"])
try:
    asyncio.run(listen("127.0.0.1", given["port"], given["secrets"], Misbehaviour(given["fail"], given["slow"]),
        Console(force_terminal=given["colour"], color_system="standard" if given["colour"] else None)))
except SettingError as error:
    sys.exit(error.message)
"""


class Listening:
    """A listener's process, and its output. `limits` are constants of the module under other values."""

    def __init__(
        self,
        *secrets: str,
        port: int = 0,
        fail: int = 0,
        slow: float = 0.0,
        colour: bool = False,
        environment: Mapping[str, str] | None = None,
        **limits: float,
    ) -> None:
        behaviour = {"fail": fail, "slow": slow, "colour": colour, "limits": limits}
        given = json.dumps({"port": port, "secrets": secrets, **behaviour})
        self.process = subprocess.Popen(
            [sys.executable, "-c", DRIVER, given],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={"PYTHONUTF8": "1", **(environment or {})},
        )
        self._printed = b""
        self._changed = threading.Condition()
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def printed(self) -> str:
        """All that was printed so far."""
        with self._changed:
            return self._printed.decode()

    def wait_for(self, pattern: str) -> re.Match[str]:
        """Waits until a pattern is printed."""
        deadline = time.monotonic() + DEADLINE
        while True:
            before = self.printed()
            if match := re.search(pattern, before, re.DOTALL):
                return match
            with self._changed:
                more = self._changed.wait_for(lambda: self._printed != before.encode(), deadline - time.monotonic())  # noqa: B023
            assert more, f"{pattern!r} was not printed:\n{before}"

    @property
    def url(self) -> str:
        """Where it listens, once it says so."""
        return self.wait_for(r"Listening at (?:\x1b\[[0-9;]*m)*(http://127\.0\.0\.1:[0-9]+/)")[1]

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Sends a signal; the exit status."""
        self.process.send_signal(number)
        status = self.process.wait(DEADLINE)
        self._reading.join()
        return status

    def _read(self) -> None:
        assert self.process.stdout
        with self.process.stdout as stdout:
            while piece := stdout.read1():  # type: ignore[attr-defined] — a pipe is a BufferedReader
                with self._changed:
                    self._printed += piece
                    self._changed.notify_all()


Start = Callable[..., Listening]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts listeners, and ends them with the test."""
    made: list[Listening] = []

    def make(*secrets: str, **given: object) -> Listening:
        made.append(Listening(*secrets, **given))  # pyright: ignore[reportArgumentType]
        return made[-1]

    yield make
    for each in made:
        each.process.kill()
        each.process.wait()
        each._reading.join()


def envelope(data: object = None, event: str = "post.created", id_: str = ID) -> bytes:
    """The body of a delivery."""
    return json.dumps(
        {"event": event, "id": id_, "created_at": "2026-01-02T03:04:05.678Z", "data": data or {}}
    ).encode()


def post(
    listening: Listening, body: bytes, secret: str = SECRET, age: int = 0, headers: Mapping[str, str] | None = None
) -> int:
    """Sends a body, signed; the status of the answer."""
    at = int(time.time()) - age
    digest = hmac.new(secret.encode(), b"%d." % at + body, "sha256").hexdigest()
    signed = {"X-Service-Signature": f"t={at},v1={digest}", "X-Service-Delivery-Id": ID, **(headers or {})}
    return httpx.post(listening.url, content=body, headers=signed, timeout=DEADLINE).status_code


def test_genuine_deliveries_are_shown(start: Start) -> None:
    listening = start(SECRET)
    assert post(listening, envelope({"post": {"content": "Grüße", "likes": 3}})) == 200
    printed = listening.wait_for(r"(?m)^\d\d:\d\d:\d\d post\.created (\S+) verified\n(.*)\n  Answer: 200\n")
    assert printed[1] == ID
    assert json.loads(printed[2]) == {"post": {"content": "Grüße", "likes": 3}}
    assert '"content": "Grüße"' in printed[2]
    assert "give --secret" not in listening.printed()
    guide = listening.printed()
    assert f'/api/auth/api-keys/KEY_ID/webhooks {{"url": "{listening.url}", "events"' in guide


def test_either_secret_verifies_and_no_other(start: Start) -> None:
    listening = start(OTHER, SECRET)
    assert post(listening, envelope()) == 200
    assert post(listening, envelope(), secret="whsec_wrong") == 400
    listening.wait_for(r"NOT VERIFIED\. The signature does not match any of the 2 secrets.*Answer: 400\n")
    assert post(listening, envelope(), age=3600) == 400
    listening.wait_for(r"NOT VERIFIED\. The delivery is too old.*Answer: 400\n")
    assert httpx.post(listening.url, content=envelope()).status_code == 400
    listening.wait_for(r"NOT VERIFIED\. The header X-Service-Signature is absent")
    assert "Duplicate" not in listening.printed()


def test_missing_secret_is_reported(start: Start) -> None:
    listening = start()
    assert post(listening, envelope(), secret="whatever") == 200
    listening.wait_for(rf"post\.created {ID} not verified: give --secret\n")


def test_duplicates_are_marked(start: Start) -> None:
    listening = start(SECRET)
    for _ in range(3):
        assert post(listening, envelope()) == 200
    assert post(listening, envelope(id_="evt_another")) == 200
    listening.wait_for("evt_another verified.*Answer: 200")
    assert re.findall(r"this id came \d times", listening.printed()) == ["this id came 2 times", "this id came 3 times"]


def test_the_first_requests_fail_when_asked_to(start: Start) -> None:
    listening = start(SECRET, fail=3)
    wrong = post(listening, envelope(), secret=OTHER)
    assert [wrong, *(post(listening, envelope()) for _ in range(3))] == [500, 500, 500, 200]
    listening.wait_for(r"first 3 requests.*500 \(--fail: 1 of 3\).*500 \(--fail: 3 of 3\).*Answer: 200\n")


def test_a_slow_answer_is_waited_for_and_may_be_given_up(start: Start) -> None:
    listening = start(SECRET, slow=0.2)
    began = time.monotonic()
    assert post(listening, envelope()) == 200
    assert time.monotonic() - began >= 0.2
    listening.wait_for(r"Answer: 200 after 0\.2 s\n")

    slower = start(SECRET, slow=600)
    url = slower.url
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(url, content=envelope(), timeout=0.2)
    slower.wait_for("The sender hung up before it was answered")
    assert slower.stop() == 0


def test_a_stop_does_not_wait_for_slow_answers(start: Start) -> None:
    listening = start(SECRET, slow=600)
    answers: list[int] = []
    sending = threading.Thread(target=lambda: answers.append(post(listening, envelope())))
    sending.start()
    listening.wait_for("Answer: 200 after 600 s")
    assert listening.stop() == 0
    sending.join(DEADLINE)
    assert answers == [200]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_cleanly(start: Start, number: int) -> None:
    listening = start(SECRET)
    with httpx.Client() as client:
        assert client.post(listening.url, content=envelope()).status_code == 400
        assert listening.stop(number) == 0
    assert listening.printed().endswith("Stopped.\n")
    assert "Traceback" not in listening.printed()


HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\x00\r\b\u202eevil\u2066\u200b\ud800[bold red]markup[/] [link=x]:smile:"


def test_nothing_hostile_reaches_the_terminal(start: Start) -> None:
    listening = start(SECRET)
    assert post(listening, envelope({HOSTILE: HOSTILE}, HOSTILE, HOSTILE)) == 200
    assert post(listening, HOSTILE.encode("utf-8", "surrogatepass")) == 400
    signature = {b"X-Service-Signature": b"t=1,v1=\x9b31m[red]"}
    assert httpx.post(listening.url, content=b"", headers=signature).status_code == 400
    listening.wait_for("Answer: 200.*Answer: 400.*Answer: 400")
    printed = listening.printed()
    assert set(printed) - {"\n"} == {each for each in printed if each.isprintable()}
    assert printed.count("[bold red]markup[/] [link=x]:smile:") == 5
    assert "\\x9b31m" in printed
    assert "\\u202eevil" in printed


def test_in_colour_only_colours_reach_the_terminal(start: Start) -> None:
    listening = start(SECRET, colour=True)
    assert post(listening, envelope({"n": HOSTILE}, HOSTILE)) == 200
    listening.wait_for("Answer: 200")
    without = re.sub(r"\x1b\[[0-9;]*m", "", listening.printed())
    assert without != listening.printed()
    assert "\x1b" not in without.replace("\n", "")
    assert set(without) - {"\n"} == {each for each in without if each.isprintable()}


def test_a_terminal_that_knows_ascii_alone(start: Start) -> None:
    listening = start(SECRET, environment={"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii:strict"})
    assert post(listening, envelope({"content": "Grüße 🎉"})) == 200
    listening.wait_for(r'"content": "Gr\\xfc\\xdfe \\U0001f389"')


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"\xff\xfe", b"[1]", b"null", b'{"event": 1, "id": "x", "data": {}}', b"[" * 200_000, b"9" * 5000],
)
def test_invalid_envelope_is_refused(start: Start, body: bytes) -> None:
    listening = start(SECRET)
    assert post(listening, body) == 400
    listening.wait_for(r"unknown event no id verified\n.*Answer: 400 \(not an envelope")
    assert post(listening, envelope()) == 200


def test_long_bodies_are_read_up_to_a_mebibyte_and_shortened(start: Start) -> None:
    listening = start(SECRET)
    body = envelope({"content": "x" * (LARGEST_BODY - len(envelope({"content": ""})))})
    assert len(body) == LARGEST_BODY
    assert post(listening, body) == 200
    listening.wait_for(r"xxx\n\.\.\. shortened\n  Answer: 200")
    assert post(listening, body + b" ") == 413
    assert post(listening, b"x" * 5_000_000) == 413
    chunks = httpx.post(listening.url, content=iter([b"x" * 500_000] * 10), timeout=DEADLINE)
    assert chunks.status_code == 413
    listening.wait_for("Answer: 413.*Answer: 413.*Answer: 413")
    assert post(listening, envelope()) == 200
    assert len(listening.printed()) < 3 * LONGEST_SHOWN


def test_bodies_are_verified_as_they_came(start: Start) -> None:
    listening = start(SECRET)
    assert post(listening, b"not gzip at all", headers={"Content-Encoding": "gzip"}) == 400
    listening.wait_for("verified\nnot gzip at all")


def test_request_without_delivery_headers_is_refused(start: Start) -> None:
    listening = start(SECRET)
    assert httpx.get(listening.url).status_code == 405
    port = int(listening.url.rsplit(":", 1)[1].strip("/"))
    chunked = b"POST / HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\nzz\x1b[2J\r\n"
    for data in (b"\x1b[2J no HTTP \x00\r\n\r\n", b"POST /\x1b[2J HTTP/1.1\r\nHost: here\r\n\r\n", chunked):
        with socket.create_connection(("127.0.0.1", port), timeout=DEADLINE) as connection:
            connection.sendall(data)
            assert b" 400 " in connection.recv(1000)
    assert post(listening, envelope()) == 200
    listening.stop()
    assert set(listening.printed()) - {"\n"} == {each for each in listening.printed() if each.isprintable()}
    assert "[2J" not in listening.printed()
    assert "Traceback" not in listening.printed()


def test_a_body_that_does_not_end_is_not_waited_for(start: Start) -> None:
    listening = start(SECRET, BODY_SECONDS=0.2)
    port = int(listening.url.rsplit(":", 1)[1].strip("/"))
    with socket.create_connection(("127.0.0.1", port), timeout=DEADLINE) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 1000\r\n\r\n{")
        assert connection.recv(1000).startswith(b"HTTP/1.1 408 ")
    listening.wait_for("408 .the body took more than")
    assert post(listening, envelope()) == 200


def test_no_more_deliveries_at_once_than_it_can_hold(start: Start) -> None:
    listening = start(SECRET, slow=600, CONCURRENT=2)
    sending = [threading.Thread(target=post, args=(listening, envelope())) for _ in range(2)]
    for each in sending:
        each.start()
    listening.wait_for("Answer: 200.*Answer: 200")
    assert post(listening, envelope()) == 503
    assert listening.stop() == 0
    for each in sending:
        each.join(DEADLINE)


def test_bad_options_stop_the_start(start: Start) -> None:
    port = int(start(SECRET).url.rsplit(":", 1)[1].strip("/"))
    for listening, reason in (
        (start(SECRET, port=port), f"Cannot listen on 127.0.0.1:{port}: "),
        (start(SECRET, port=99_999), "Cannot listen on 127.0.0.1:99999: "),
        (start(""), "A secret is empty"),
    ):
        assert listening.process.wait(DEADLINE) == 1
        listening.wait_for(re.escape(reason))
        assert "Traceback" not in listening.printed()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("12s", 12.0), ("500ms", 0.5), ("2m", 120.0), ("3", 3.0), ("0", 0.0), ("1.5s", 1.5), ("60m", 3600.0)],
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text",
    ["", "s", "-1s", "1 s", "1h", "61m", "3601", "1e3", "nan", "inf", ".5s", "1.s", "9" * 10**6, "\u0663s", "1s\n"],
)
def test_no_durations(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration") as failure:
        parse_duration(text)
    assert len(str(failure.value)) < 250


def test_data_that_would_grow_without_end_is_cut() -> None:
    deep: object = list(range(100_000))
    for _ in range(300):
        deep = [deep]
    assert len(pretty(deep)) < 2 * LONGEST_SHOWN
    assert pretty({"a": [1]}) == '{\n  "a": [\n    1\n  ]\n}'
    assert pretty("\u202e" * 10_000).endswith("\\u202e\n... shortened")
    assert parse_envelope(b'{"event": "e", "id": "i", "data": ' + b"[" * 100_000 + b"]" * 100_000 + b"}") is None
    assert shown("a\nb" * 100) == "a\\nb" * 33 + "a..."
    assert plain("a\nb\t\x7f é\ufeff") == "a\nb\\t\\x7f é\\ufeff"
