"""`pressroom listen`: a local webhook receiver that verifies and prints deliveries, and fails on request.

Deliveries are printed as plain text: none of their bytes reaches the terminal as a control sequence
(docs/webhooks.md#local-testing).
"""

import asyncio
import contextlib
import hashlib
import json
import logging
import re
import signal
import unicodedata
from collections import OrderedDict
from collections.abc import Generator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, cast

from aiohttp import web
from rich.console import Console
from rich.highlighter import JSONHighlighter
from rich.text import Text

from pressroom.errors import SettingError
from pressroom.receivers.forwarding import Forwarder
from pressroom.receivers.verification import VerificationFailed, verify

LARGEST_BODY: Final = 1024 * 1024
"""Bytes of the largest body that is read. A larger one gets a 413."""

BODY_SECONDS: Final = 30.0
"""Seconds that a delivery's body may take to arrive."""

SECRET_PREFIX: Final = 12
"""Characters of a secret that its endpoint shows, and no more of it is printed here."""

LONGEST_SHOWN: Final = 4000
"""Characters of a delivery's data that are shown."""

LONGEST_NAME: Final = 100
"""Characters of an event's name or an id that are shown."""

REMEMBERED: Final = 10_000
"""Number of most recent ids that are remembered to mark duplicates."""

CONCURRENT: Final = 100
"""Deliveries that are handled at once. Further ones get a 503."""

RETRY_SOON: Final = "X-Service-Retry-Soon"
"""Header that makes a server in development mode retry within seconds, so that users of --fail can watch."""

LONGEST_DURATION: Final = 3600.0
STOP_SECONDS: Final = 2.0

_DURATION: Final = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)(ms|s|m)?")
_SECONDS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, None: 1.0}
_HIDDEN: Final = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Unicode categories of characters that control a terminal, are invisible, or cannot be encoded."""

_GUIDE: Final = """\
Add that URL to one of your API keys as a webhook endpoint, on the page of your keys or by
POST /api/auth/api-keys/KEY_ID/webhooks {"url": "<URL>", "events": ["post.created"]}
It is an address of this machine: the service must run here and in development mode (PRESSROOM_DEV=1) to accept it.
"""


@dataclass(frozen=True, slots=True)
class Misbehaviour:
    """Failures on request: the first `fail` deliveries get a 500, and every response waits `slow` seconds."""

    fail: int = 0
    slow: float = 0.0


@dataclass(frozen=True, slots=True)
class Envelope:
    """The content of a delivery (docs/webhooks.md#envelope)."""

    event: str
    id: str
    data: object


@dataclass(frozen=True, slots=True)
class ReceivedDelivery:
    """One request and its verification. `refusal`: the fault of its signature; `times` counts its id."""

    body: bytes
    envelope: Envelope | None
    checked: bool
    refusal: str | None
    times: int = 1


async def listen(
    host: str, port: int, secrets: list[str], misbehaviour: Misbehaviour, out: Console, forward: str | None = None
) -> None:
    """Receives deliveries at any path of `host:port` until SIGINT or SIGTERM, and prints each to `out`.

    A delivery gets a 200 if any of `secrets` verifies it, and a 400 if none does or its body is not an envelope.
    Without secrets nothing is verified. With the URL `forward`, a delivery that would get a 200 is forwarded there and
    gets that response. Port 0 takes a free port. Must run in the main thread. Raises SettingError when it cannot
    listen, or when a secret or the URL is invalid.
    """
    if not all(secret.strip() and secret.isascii() for secret in secrets):
        raise SettingError("A secret is empty or not ASCII. Give --secret the endpoint's whole one, whsec_ included.")
    stopping = asyncio.Event()
    forwarder = None if forward is None else Forwarder(forward)
    listener = _Listener(secrets, misbehaviour, out, stopping, forwarder)
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", listener.handle)
    # The signature covers the raw body, so it must not be decompressed. Malformed requests must not be logged raw.
    runner = web.AppRunner(
        app,
        access_log=None,
        logger=_silent(),
        auto_decompress=False,
        handler_cancellation=True,
        keepalive_timeout=60,
        shutdown_timeout=STOP_SECONDS,
    )
    await runner.setup()
    try:
        with _stops_at_signals(stopping):
            await _start(runner, host, port)
            _greet(out, runner, secrets, misbehaviour)
            if forwarder:
                _print(out, Text(f"Passed on to {shown(forwarder.url, LONGEST_SHOWN)}"))
            await stopping.wait()
        _print(out, Text("Stopped.", style="dim"))
    finally:
        await runner.cleanup()
        if forwarder:
            await forwarder.close()


def parse_duration(text: str) -> float:
    """Returns the seconds of `500ms`, `12s`, `2m` or `3` (seconds), at most an hour. Raises ValueError."""
    match = _DURATION.fullmatch(text)
    seconds = float(match[1]) * _SECONDS[match[2]] if match else -1.0
    if not 0 <= seconds <= LONGEST_DURATION:
        raise ValueError(f"{shown(text)!r} is not a duration. Write 500ms, 12s or 2m, at most an hour.")
    return seconds


def parse_envelope(body: bytes) -> Envelope | None:
    """Returns the envelope in a body, or None if it is not one."""
    try:
        decoded: object = json.loads(body.decode())
    except (ValueError, RecursionError):
        return None
    if not isinstance(decoded, dict):
        return None
    members = cast("dict[str, object]", decoded)
    event, id_ = members.get("event"), members.get("id")
    if not isinstance(event, str) or not isinstance(id_, str) or "data" not in members:
        return None
    return Envelope(event, id_, members["data"])


def plain(text: str) -> str:
    """Returns the text with control and invisible characters written as escapes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(each if each == "\n" or not _is_hidden(each) else _escape(each) for each in text)


def shown(text: str, longest: int = LONGEST_NAME) -> str:
    """Returns at most `longest` characters of a text, escaped by `plain`, on one line."""
    head = plain(text[:longest]).replace("\n", "\\n")
    return head if len(text) <= longest else f"{head}..."


def pretty(data: object) -> str:
    """Returns data as indented JSON, escaped by `plain`; stops after LONGEST_SHOWN characters, however large it is."""
    pieces: list[str] = []
    left = LONGEST_SHOWN
    try:
        for piece in json.JSONEncoder(ensure_ascii=False, indent=2).iterencode(data):
            pieces.append(piece[:left])
            left -= len(piece)
            if left < 0:
                pieces.append("\n... shortened")
                break
    except RecursionError:
        pieces.append("\n... nested too deeply to be shown")
    return plain("".join(pieces))


def error_response(delivery: ReceivedDelivery, number: int, misbehaviour: Misbehaviour) -> tuple[int, str]:
    """Returns the status for the `number`-th request (from 1), and the reason if it is not 200."""
    if number <= misbehaviour.fail:
        return 500, f"--fail: {number} of {misbehaviour.fail}"
    if delivery.refusal is not None:
        return 400, ""
    if delivery.envelope is None:
        return 400, "not an envelope: the body is to be a JSON object with event, id and data"
    return 200, ""


def describe(delivery: ReceivedDelivery, at: datetime, status: int, reason: str, slow: float) -> Text:
    """Returns the printed lines of a delivery."""
    envelope = delivery.envelope
    text = Text.assemble(
        (f"{at:%H:%M:%S} ", "dim"),
        (shown(envelope.event) if envelope else "unknown event", "bold cyan"),
        " ",
        shown(envelope.id) if envelope else "no id",
        " ",
        _verdict(delivery),
    )
    if delivery.times > 1:
        text.append(f"\n  Duplicate: this id came {delivery.times} times. Act upon it once.", style="yellow")
    text.append("\n")
    if envelope:
        text.append_text(JSONHighlighter()(Text(pretty(envelope.data))))
    else:
        text.append(shown(delivery.body[: 4 * LONGEST_SHOWN].decode(errors="backslashreplace"), LONGEST_SHOWN))
    text.append(f"\n  Answer: {status}", style="green" if status < 300 else "red")
    text.append(f" after {slow:g} s" if slow else "")
    return text.append(f" ({reason})" if reason else "")


def _verdict(delivery: ReceivedDelivery) -> tuple[str, str]:
    if not delivery.checked:
        return "not verified: give --secret", "yellow"
    if delivery.refusal is not None:
        return f"NOT VERIFIED. {delivery.refusal}", "bold red"
    return "verified", "green"


def _prefixes(secrets: list[str]) -> str:
    """Returns the sentence by which people see that they gave the secret of another endpoint, or an earlier one."""
    shown = [secret[:SECRET_PREFIX] for secret in secrets if len(secret) > 2 * SECRET_PREFIX]
    return f" Does the endpoint's secretPrefix begin like --secret: {', '.join(shown)}?" if shown else ""


@dataclass(slots=True)
class _Listener:
    secrets: list[str]
    misbehaviour: Misbehaviour
    out: Console
    stopping: asyncio.Event
    forwarder: Forwarder | None
    _seen: OrderedDict[bytes, int] = field(default_factory=OrderedDict[bytes, int])
    _requests: int = 0
    _open: int = 0

    async def handle(self, request: web.Request) -> web.Response:
        """Returns the response to one request."""
        if request.method != "POST":
            return web.Response(status=405, headers={"Allow": "POST"}, text="Deliveries are sent by POST.\n")
        # Each open request keeps its body in memory, for as long as --slow says.
        if self._open >= CONCURRENT:
            return self._refuse(503, f"more than {CONCURRENT} deliveries at once")
        self._open += 1
        try:
            return await self._receive(request)
        finally:
            self._open -= 1

    async def _receive(self, request: web.Request) -> web.Response:
        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await _read(request)
        except TimeoutError:
            return self._refuse(408, f"the body took more than {BODY_SECONDS:g} s")
        if body is None:
            return self._refuse(413, f"the body has more than {LARGEST_BODY} bytes")
        self._requests += 1
        delivery = self._judge(body, request)
        status, reason = error_response(delivery, self._requests, self.misbehaviour)
        headers, answer = {} if status != 500 else {RETRY_SOON: "1"}, b""
        if status == 200 and self.forwarder:
            sent = await self.forwarder.send(request.headers.items(), body)
            status, headers, answer = sent.status, sent.headers, sent.body
            said = shown(answer.decode(errors="backslashreplace"), LONGEST_SHOWN) or "nothing more"
            reason = f"not passed on: {sent.failure}" if sent.failure else f"passed on, which answered: {said}"
        self._print(describe(delivery, datetime.now().astimezone(), status, reason, self.misbehaviour.slow))
        await self._wait_before_answering()
        return web.Response(status=status, headers=headers, body=answer or None)

    def _judge(self, body: bytes, request: web.Request) -> ReceivedDelivery:
        envelope, refusal = parse_envelope(body), None
        if self.secrets:
            try:
                verify(body, ",".join(request.headers.getall("X-Service-Signature", [])), self.secrets)
            except VerificationFailed as failure:
                refusal = f"{failure}{_prefixes(self.secrets) if 'does not match' in str(failure) else ''}"
        # A forged request must not make a genuine delivery look like a duplicate.
        times = self._remember(envelope.id) if envelope and refusal is None else 1
        return ReceivedDelivery(body, envelope, bool(self.secrets), refusal, times)

    def _remember(self, id_: str) -> int:
        """Returns how often an id came, including this time."""
        key = hashlib.sha256(id_.encode(errors="surrogatepass")).digest()
        times = self._seen[key] = self._seen.pop(key, 0) + 1
        # A session of days forgets the oldest ids instead of growing.
        if len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)
        return times

    async def _wait_before_answering(self) -> None:
        if not self.misbehaviour.slow:
            return
        try:
            async with asyncio.timeout(self.misbehaviour.slow):
                await self.stopping.wait()
        except TimeoutError:
            return
        except asyncio.CancelledError:
            self._print(Text("  The sender hung up before it was answered.", style="yellow"))
            raise

    def _refuse(self, status: int, reason: str) -> web.Response:
        self._print(Text(f"{datetime.now().astimezone():%H:%M:%S} Answer: {status} ({reason})", style="red"))
        answer = web.Response(status=status)
        # The body was not read to its end, so that no other request can follow it on this connection.
        answer.force_close()
        return answer

    def _print(self, text: Text) -> None:
        _print(self.out, text)


def _print(out: Console, text: Text) -> None:
    out.print(_encodable(text, out.encoding), soft_wrap=True, highlight=False)


def _encodable(text: Text, encoding: str) -> Text:
    """Returns the text unchanged if the terminal can encode it, else with escapes and without colour."""
    written = text.plain.encode(encoding, "backslashreplace").decode(encoding)
    return text if written == text.plain else Text(written)


async def _read(request: web.Request) -> bytes | None:
    """Returns the body, or None if it is too large."""
    if (request.content_length or 0) > LARGEST_BODY:
        return None
    body = bytearray()
    while piece := await request.content.readany():
        body += piece
        if len(body) > LARGEST_BODY:
            return None
    return bytes(body)


async def _start(runner: web.AppRunner, host: str, port: int) -> None:
    try:
        await web.TCPSite(runner, host, port, backlog=128).start()
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "this is no address"
        raise SettingError(f"Cannot listen on {shown(host)}:{port}: {reason}. Choose another port or host.") from None


def _greet(out: Console, runner: web.AppRunner, secrets: list[str], misbehaviour: Misbehaviour) -> None:
    host, port = runner.addresses[0][:2]
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
    text = Text.assemble("Listening at ", (url, "bold"), ". Stop with Ctrl-C.\n", _GUIDE.replace("<URL>", url))
    if not secrets:
        text.append("Deliveries are not verified: give --secret the one shown when the endpoint was added.\n", "yellow")
    if misbehaviour.fail:
        text.append(f"The first {misbehaviour.fail} requests are answered 500, whatever they hold.\n", "yellow")
    if misbehaviour.slow:
        text.append(f"Each is answered after {misbehaviour.slow:g} s.\n", "yellow")
    _print(out, text)


@contextlib.contextmanager
def _stops_at_signals(stopping: asyncio.Event) -> Generator[None]:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.set)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def _silent() -> logging.Logger:
    logger = logging.Logger("pressroom.receivers.listen")
    logger.addHandler(logging.NullHandler())
    return logger


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) in _HIDDEN


def _escape(character: str) -> str:
    return character.encode("unicode-escape", "surrogatepass").decode("ascii")
