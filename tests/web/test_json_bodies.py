"""From JSON to structs, by the fast way and the slow one."""

import json
import unicodedata
from collections.abc import Iterator
from datetime import datetime
from enum import IntEnum
from typing import Annotated, Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Meta

from pressroom.errors import Code, FieldError, Invalid
from pressroom.server.routes import API_ROUTES
from pressroom.web.access import Anyone
from pressroom.web.json_bodies import DECOMPOSED, Body, decode
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

NOW = 1_800_000_000_000


def declared() -> dict[str, type[msgspec.Struct]]:
    """The body of every route that takes one with fields; what is all file has none."""
    return {
        route.name: route.takes
        for route in API_ROUTES
        if route.takes is not None and msgspec.structs.fields(route.takes)
    }


BODIES = declared()


def outcome(kind: type[msgspec.Struct], raw: bytes) -> object:
    """The struct, or the fields and codes of the errors."""
    try:
        return decode(kind, raw, [], NOW)
    except Invalid as refusal:
        return [(field_error.field, field_error.code) for field_error in refusal.field_errors]


def the_slow_way(kind: type[msgspec.Struct], raw: bytes) -> bytes:
    """The same body, written so that the fast way does not take it: with an escape, and null for a field, first."""
    name = msgspec.structs.fields(kind)[0].encode_name
    return b'{"\\u%04x%b":null%b' % (ord(name[0]), name[1:].encode(), b"}" if raw == b"{}" else b"," + raw[1:])


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
likely = st.sampled_from(
    ["PUBLIC", "posts:write", "30d", "2040-01-01T00:00:00Z", "10.0.0.0/8", "mira", "a@b.example", "0123456789"]
)
values = st.recursive(
    scalars | likely,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "latitude", "longitude", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.mark.parametrize("kind", BODIES.values(), ids=BODIES)
@given(data=st.data())
@settings(max_examples=60)
def test_both_ways_say_the_same(kind: type[msgspec.Struct], data: st.DataObject) -> None:
    names = [field.encode_name for field in msgspec.structs.fields(kind)]
    body = data.draw(st.dictionaries(st.sampled_from([*names, "unknown"]), values, max_size=len(names)))
    raw = json.dumps(body).encode()

    fast, slow = outcome(kind, raw), outcome(kind, the_slow_way(kind, raw))

    assert fast == slow


ANY_VALUE: list[Any] = [None, True, 0, -1, 10**30, 1.5, "", "ä", "a", [], [[]], [{}], [None], ["ä"], {}, {"ä": 1}]


@pytest.mark.parametrize("kind", BODIES.values(), ids=BODIES)
def test_there_is_a_rule_for_every_field(kind: type[msgspec.Struct]) -> None:
    for field in msgspec.structs.fields(kind):
        for value in ANY_VALUE:
            raw = json.dumps({field.encode_name: value}).encode()
            for written in (raw, the_slow_way(kind, raw)):
                assert isinstance(outcome(kind, written), kind | list), f"{field.encode_name} = {value!r}"


def test_a_type_without_a_rule_is_not_let_through() -> None:
    class Odd(Body):
        when: dict[str, int]

    with pytest.raises(TypeError, match="no rule for when"):
        decode(Odd, '{"when":{"ä":1}}'.encode(), [], NOW)


class Sample(Body):
    """With a rule of its own."""

    text: Annotated[str, Meta(max_length=3, extra_json_schema={"pattern": "."})] | None = None
    free: str | None = None

    def field_errors(self, now: int) -> Iterator[FieldError]:
        if not self.text:
            yield FieldError("text", Code.REQUIRED, "Needed.")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, [("text", "required")]),
        ({"text": "abcd"}, [("text", "too_long")]),
        ({"text": 1}, [("text", "type")]),
        ({"text.a": 1}, [("text.a", "unknown_field"), ("text", "required")]),
        ({"text[0]": 1}, [("text[0]", "unknown_field"), ("text", "required")]),
        ({"text": "äöüä", "x": 1}, [("text", "too_long"), ("x", "unknown_field")]),
    ],
)
def test_a_field_is_complained_of_once(body: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert outcome(Sample, json.dumps(body).encode()) == expected


def test_faults_found_before_come_first() -> None:
    before = FieldError("header.Idempotency-Key", Code.INVALID_FORMAT, "No.")

    for raw in (b"{}", b'{"x":1}', b'{"text":"a"}'):
        with pytest.raises(Invalid) as refusal:
            decode(Sample, raw, [before], NOW)
        assert refusal.value.field_errors[0] == before


@pytest.mark.parametrize("text", ["e\u0301", "e\u0301" * 3, "\u1112\u1161\u11ab" * 3, "\u03b1\u0313\u0300\u0345" * 3])
def test_text_is_measured_as_it_is_kept(text: str) -> None:
    kept = unicodedata.normalize("NFC", text)

    assert len(kept) <= 3
    assert outcome(Sample, json.dumps({"text": text}).encode()) == Sample(text=kept)


def test_nothing_that_composes_to_fit_is_more_times_too_long() -> None:
    longest = max(len(unicodedata.normalize("NFD", chr(point))) for point in range(0x110000))

    assert longest == DECOMPOSED


class Sized(Body):
    """Numbers with one bound each."""

    least: Annotated[int, Meta(ge=1)] | None = None
    most: Annotated[float, Meta(le=2)] | None = None
    within: Annotated[int, Meta(ge=1, le=3)] | None = None


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b'{"least": 0}', "Must be at least 1."),
        (b'{"most": 2.5}', "Must be at most 2."),
        (b'{"within": 4}', "Must lie between 1 and 3."),
    ],
)
def test_number_out_of_one_bound_names_that_bound(raw: bytes, message: str) -> None:
    with pytest.raises(Invalid) as refusal:
        decode(Sized, raw, [], NOW)

    assert [(error.code, error.message) for error in refusal.value.field_errors] == [(Code.OUT_OF_RANGE, message)]


@pytest.mark.parametrize(
    "kind",
    [
        Annotated[str, Meta(pattern="^a")],
        list[Annotated[str, Meta(pattern="^a")]],
        Annotated[int, Meta(gt=1)],
        Annotated[int, Meta(lt=1)],
        Annotated[float, Meta(multiple_of=2)],
        dict[str, int],
        tuple[int, ...],
        int | str,
        IntEnum("Number", ["ONE"]),
        datetime,
    ],
)
def test_route_with_a_rule_that_nobody_checks_cannot_be_declared(kind: Any) -> None:
    body = msgspec.defstruct("Taken", [("field", kind)], bases=(Body,), kw_only=True)

    async def handler(request: Request[None], body: Any) -> Response:
        raise NotImplementedError

    handler.__annotations__["body"] = body
    with pytest.raises(TypeError, match=r"Taken\.field"):
        Routes[None]().post("/api/x", Anyone(), summary="x")(handler)
