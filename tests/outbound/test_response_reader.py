"""Where a response ends, what of it is kept, and how much of a wasteful one is read."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressroom.outbound import Failure, OutboundFailed
from pressroom.outbound.response_reader import (
    CHUNK_BYTES,
    CHUNKS,
    FRAMING_BYTES,
    INTERIM,
    ResponseReader,
)

HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"
READ, KEEP = 65_536, 2_048


def read(raw: bytes, *, most: int = READ, keep: int = KEEP) -> ResponseReader:
    """A reader that was given these bytes at once."""
    reader = ResponseReader(most, keep)
    reader.feed(raw)
    return reader


def chunks(size: int, number: int) -> bytes:
    """So many chunks of the same size."""
    return (b"%x\r\n" % size + b"a" * size + b"\r\n") * number


@pytest.mark.parametrize("size", [1, 2, 3, 10, 100, CHUNK_BYTES - 1])
def test_small_chunks_are_read_up_to_a_number(size: int) -> None:
    reader = read(CHUNKED + chunks(size, 70_000) + END, most=2**24, keep=2**24)

    assert (reader.ended, reader.complete, reader.leaves_nothing) == (True, False, False)
    assert reader.chunks == CHUNKS
    assert reader.body == b"a" * (size * CHUNKS)


def test_delivery_keeps_a_response_in_one_byte_chunks() -> None:
    assert read(CHUNKED + chunks(1, 70_000)).body == b"a" * KEEP


def test_any_number_of_large_chunks_is_read() -> None:
    reader = read(CHUNKED + chunks(CHUNK_BYTES, 10_000) + END, most=2**24, keep=2**24)

    assert (reader.complete, len(reader.body)) == (True, 10_000 * CHUNK_BYTES)


def test_framing_of_twice_the_payload_and_16_kib_is_read() -> None:
    payload = 4_000
    line = b"%x\r\n" % payload
    fixed = len(line) + len(b"\r\n0\r\n\r\n")
    trailer = 2 * payload + FRAMING_BYTES - fixed - len(b"X: \r\n")
    for longer in (0, 1):
        rest = b"X: " + b"t" * (trailer + longer) + b"\r\n"
        reader = read(CHUNKED + line + b"a" * payload + b"\r\n0\r\n" + rest + b"\r\n")
        assert (reader.ended, reader.complete) == (True, not longer)
        assert reader.body == b"a" * KEEP


def test_extensions_of_chunks_are_framing() -> None:
    reader = read(CHUNKED + (b"1;x=" + b"e" * 996 + b"\r\na\r\n") * 1_000)

    assert (reader.ended, reader.complete) == (True, False)
    assert reader.framing < FRAMING_BYTES + 2_000


@pytest.mark.parametrize("waits", [b"1;x=" + b"e" * 20_000, b"1\r\na\r\n1;x=" + b"e" * 20_000])
def test_the_line_of_a_chunk_has_an_end(waits: bytes) -> None:
    with pytest.raises(OutboundFailed) as failed:
        read(CHUNKED + waits)
    assert failed.value.kind is Failure.PROTOCOL


def test_interim_responses_are_read_up_to_a_number() -> None:
    assert read(b"HTTP/1.1 103 Early Hints\r\n\r\n" * INTERIM + HEAD + b"Content-Length: 0\r\n\r\n").complete
    with pytest.raises(OutboundFailed) as failed:
        read(b"HTTP/1.1 103 Early Hints\r\n\r\n" * (INTERIM + 1) + HEAD + b"Content-Length: 0\r\n\r\n")
    assert failed.value.kind is Failure.PROTOCOL


def test_interim_responses_have_no_more_bytes_than_framing_may() -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\n" + b"Link: x\r\n" * 50 + b"X: " + b"l" * 4_000 + b"\r\n\r\n"
    assert read(hints * 3 + HEAD + b"Content-Length: 0\r\n\r\n").complete
    with pytest.raises(OutboundFailed):
        read(hints * 4)


WHOLE = [
    HEAD + b"Content-Length: 0\r\n\r\n",
    HEAD + b"Content-Length: 5\r\n\r\nhello",
    b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n",
    b"HTTP/1.1 304 Not Modified\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\n" + HEAD + b"Content-Length: 2\r\n\r\nok",
    CHUNKED + END,
    CHUNKED + chunks(3, 2) + END,
    CHUNKED + b"3;a=b \r\nabc\r\n000\r\nX: y\r\nZ: z\r\n\r\n",
    CHUNKED + b"3 \nabc\n0\n\n",
    b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
]


@pytest.mark.parametrize("raw", WHOLE)
def test_a_response_ends_with_its_last_byte(raw: bytes) -> None:
    for length in range(len(raw)):
        assert not read(raw[:length]).ended
    assert read(raw).leaves_nothing
    for more in (b"\r\n", b"\n", b"0", b"H", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"):
        after = read(raw + more)
        assert (after.complete, after.leaves_nothing) == (True, False)


@given(st.sampled_from(WHOLE), st.lists(st.integers(0, 120), max_size=8))
def test_response_in_any_pieces_is_read_alike(raw: bytes, cuts: list[int]) -> None:
    whole, reader = read(raw), ResponseReader(READ, KEEP)
    places = sorted({0, len(raw), *(cut for cut in cuts if cut < len(raw))})
    for start, end in itertools.pairwise(places):
        reader.feed(raw[start:end])

    assert (reader.complete, reader.leaves_nothing) == (True, True)
    assert (reader.status, reader.body, reader.chunks) == (whole.status, whole.body, whole.chunks)
    assert reader.framing == whole.framing


@given(st.lists(st.integers(1, 400), max_size=40), st.lists(st.integers(1, 8_000), max_size=10))
def test_chunks_in_any_pieces_are_read_alike(sizes: list[int], cuts: list[int]) -> None:
    raw = CHUNKED + b"".join(chunks(size, 1) for size in sizes) + END
    reader = ResponseReader(READ, READ)
    for start, end in itertools.pairwise(sorted({0, len(raw), *(cut for cut in cuts if cut < len(raw))})):
        reader.feed(raw[start:end])

    assert reader.leaves_nothing
    assert reader.body == b"a" * sum(sizes)


@pytest.mark.parametrize("length", [HEAD + b"\r\n", b"HTTP/1.0 200 OK\r\n\r\n"])
def test_a_body_without_a_length_ends_with_the_connection(length: bytes) -> None:
    reader = read(length + b"abc")
    assert not reader.ended
    assert reader.end_of_input()
    assert (reader.body, reader.complete, reader.leaves_nothing) == (b"abc", True, False)


@pytest.mark.parametrize(
    "broken", [b"", b"HTTP/1.1 2", HEAD + b"Content-Length: 5\r\n\r\nhell", CHUNKED + b"1\r\na\r\n"]
)
def test_a_connection_that_ends_before_the_response_does_not_complete_it(broken: bytes) -> None:
    assert not read(broken).end_of_input()


@pytest.mark.parametrize(
    "line", [b"zz\r\n", b"-1\r\n", b"+1\r\n", b"0x1\r\n", b"1_0\r\n", b"\r\n", b"1" * 17 + b"\r\n"]
)
def test_lines_that_begin_no_chunk_are_refused(line: bytes) -> None:
    for before in (b"", b"1\r\na\r\n"):
        with pytest.raises(OutboundFailed):
            read(CHUNKED + before + line + b"a\r\n" * 20)


def test_no_more_of_a_body_is_read_than_asked() -> None:
    for raw in (HEAD + b"Content-Length: 200\r\n\r\n", HEAD + b"\r\n", CHUNKED + b"c8\r\n"):
        reader = read(raw + b"a" * 200, most=100, keep=50)
        assert (reader.ended, reader.complete, reader.body) == (True, False, b"a" * 50)
