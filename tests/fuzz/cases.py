"""The cases that schemathesis makes of an operation, and the ways in which each of them goes out."""

import itertools
import json
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

import httpx
from hypothesis import strategies as st
from schemathesis import APIOperation, Case, GenerationMode

from tests.fuzz.subjects import Subject, Subjects
from tests.harness.documented import Json, resolve

Operation = APIOperation[Any, Any, Any, Any]

WAYS_PER_CASE = 2
"""To make a case takes several times as long as to send it, so each goes out in more than one way."""


class Manner(Enum):
    """What becomes of a case on its way."""

    PLAIN = auto()
    FRESH = auto()
    """Without an Idempotency-Key, so that it is no replay."""
    REPEATED = auto()
    """Under an Idempotency-Key that many others bear too."""
    UNESCAPED = auto()
    """JSON in UTF-8 instead of in escapes: the service reads the two in different ways."""
    LINKED = auto()
    """The body's fields that name something by its id name an existing thing."""
    CUT = auto()
    """The body ends early."""
    BARE = auto()
    """Without a body."""


Way = tuple[Subject, Manner]
WAYS: list[Way] = list(
    itertools.product(
        [*Subject, Subject.OWN, Subject.OWN, Subject.FOREIGN, Subject.FOREIGN],
        [*Manner, Manner.FRESH, Manner.FRESH, Manner.UNESCAPED, Manner.LINKED],
    )
)
"""Every subject in every manner; those that let a case through come more often."""

READ_HEADERS = ["Accept", "Content-Type", "Content-Encoding", "Cookie", "Origin", "Sec-Fetch-Site", "X-Forwarded-For"]
"""Headers that mean something to the service or to what stands before it, though no operation names them."""

WORDS = st.text(st.characters(min_codepoint=0x20, max_codepoint=0xFF, exclude_characters="\x7f"), max_size=20)
HEADERS = st.dictionaries(st.sampled_from(READ_HEADERS), WORDS.map(str.strip), min_size=1, max_size=3)
QUERIES = st.dictionaries(st.sampled_from(["limit", "cursor", "id"]) | WORDS, st.text(max_size=8), max_size=3)


@dataclass(frozen=True, slots=True)
class Plan:
    """A case, what is sent along with it that the document does not ask for, and the ways in which it goes out."""

    case: Case[Any]
    headers: dict[str, str]
    query: dict[str, str]
    ways: list[Way]


def plans(operation: Operation) -> st.SearchStrategy[Plan]:
    """Plans for an operation: of valid data and of invalid; where there is a body, most with nothing unasked-for."""
    nothing = [st.just(dict[str, str]())] * (3 if operation.body else 0)
    return st.builds(
        Plan,
        st.one_of(*(operation.as_strategy(mode) for mode in GenerationMode)),
        st.one_of(*nothing, HEADERS),
        st.one_of(*nothing, QUERIES),
        st.lists(st.sampled_from(WAYS), min_size=WAYS_PER_CASE, max_size=WAYS_PER_CASE),
    )


def _at_once(params: httpx.QueryParams) -> httpx.QueryParams:
    """The parameters without a wait for events that do not come."""
    waits = params.get("wait", "").isdecimal() and int(params["wait"]) <= 30
    return params.set("wait", "0") if waits else params


def request_of(plan: Plan, way: Way, subjects: Subjects, document: Json) -> httpx.Request:
    """The request of a plan that goes out in this way. Raises UnicodeEncodeError for what no header can hold."""
    subject, manner = way
    parts = _parts(plan.case, subjects.find(subject, plan.case.path) if plan.case.path_parameters else None)
    if manner is Manner.LINKED and isinstance(parts.get("json"), dict):
        path = httpx.URL(parts["url"]).path
        named = {field: subjects.find_for(field, path) for field in _reference_fields(plan.case, document)}
        parts["json"] = parts["json"] | named
    return subjects.author.api.build_request(
        parts["method"],
        parts["url"],
        params=_at_once(httpx.QueryParams(parts["params"]).merge(plan.query)) or None,
        headers=_headers({**parts["headers"], **plan.headers}, manner),
        **_body(parts, manner),
    )


def _parts(case: Case[Any], post_id: str | None) -> dict[str, Any]:
    """The arguments of the request, its path naming `post_id` if there is one; of its headers what the case wants."""
    made_up = dict(case.path_parameters)
    if post_id is not None:
        case.path_parameters.update(dict.fromkeys(made_up, post_id))
    parts = case.as_transport_kwargs(str(case.operation.base_url))
    case.path_parameters.update(made_up)
    wanted = {"content-type", *(name.lower() for name in case.headers)}
    return {**parts, "headers": {name: value for name, value in parts["headers"].items() if name.lower() in wanted}}


def _headers(headers: dict[str, Any], manner: Manner) -> list[tuple[bytes, bytes]]:
    if manner is Manner.FRESH:
        headers.pop("Idempotency-Key", None)
    if manner is Manner.REPEATED:
        headers["Idempotency-Key"] = "again"
    if manner is Manner.BARE:
        headers.pop("Content-Type", None)
    return [(name.encode("ascii"), str(value).encode("latin-1")) for name, value in headers.items()]


def _body(parts: dict[str, Any], manner: Manner) -> dict[str, Any]:
    """The body as httpx takes it."""
    if manner is Manner.BARE:
        return {}
    if "json" in parts:
        escaped = manner is not Manner.UNESCAPED
        content = json.dumps(parts["json"], ensure_ascii=escaped).encode("utf-8", "surrogatepass")
    elif isinstance(parts.get("data"), bytes):
        content = parts["data"]
    else:
        return {name: parts[name] for name in ("data", "files") if name in parts}
    return {"content": content[: len(content) // 2] if manner is Manner.CUT else content}


def _reference_fields(case: Case[Any], document: Json) -> list[str]:
    """The fields of the operation's body that name something by its id."""
    body = document["paths"][case.path][case.method.lower()]["requestBody"]["content"]["application/json"]
    return [name for name in resolve(document, body["schema"]).get("properties", {}) if name.endswith("Id")]
