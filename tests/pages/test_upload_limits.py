"""Forms that bring files count as writes before the files are stored, on whatever form they come."""

import pytest

from tests.api.actors import Actor
from tests.api.sockets import Wire
from tests.harness.roomy import ROOMY
from tests.media.uploads import BOUNDARY, file_part, form, text_part

WRITES = 3
SETTINGS = {**ROOMY, "SESSION_WRITES_PER_MINUTE": WRITES}
KIND = f"multipart/form-data; boundary={BOUNDARY}"


def send(who: Actor, path: str, size: int) -> int:
    """Sends the form with a file of so many bytes; the status."""
    parts = [file_part(b"\0" * size, name="a.png", kind="image/png"), text_part("content", "Hello")]
    return who.web.post(path, content=form(parts), headers={"Content-Type": KIND}).status_code


@pytest.mark.parametrize("length", ["Content-Length: 40000000", "Transfer-Encoding: chunked"])
@pytest.mark.parametrize("path", ["/preview", "/"])
def test_limited_writer_is_refused_before_files_are_read(alice: Actor, path: str, length: str) -> None:
    assert 429 not in [send(alice, "/preview", 300_000) for _ in range(WRITES)]

    with Wire(alice.server) as wire:
        head = (
            f"POST {path} HTTP/1.1",
            f"Host: 127.0.0.1:{alice.server.port}",
            f"Cookie: {alice.cookie}",
            f"Content-Type: {KIND}",
            length,
            "Connection: close",
        )
        wire.send("\r\n".join((*head, "", "")).encode())
        assert wire.reply().status == 429


def test_a_preview_without_files_is_no_write(alice: Actor) -> None:
    assert {alice.web.post("/preview", data={"content": "Hello"}).status_code for _ in range(WRITES + 2)} == {200}


def test_a_form_with_files_is_one_write(alice: Actor) -> None:
    statuses = [send(alice, "/", 300_000) for _ in range(WRITES + 1)]

    assert statuses[WRITES] == 429
    assert 429 not in statuses[:WRITES]
