"""Requests as large as limits allow, and a little larger: targets, headers, JSON bodies and forms."""

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, Final
from urllib.parse import quote

import msgspec

from pressroom.domains.accounts.models import Caller
from pressroom.web.error_responses import LONGEST_TARGET
from pressroom.web.incoming_body import FORM_LIMIT, JSON_LIMIT
from pressroom.web.multipart_rules import MOST_PARTS, TEXT_BYTES, FormRules
from pressroom.web.page_form_bodies import rules_of
from pressroom.web.page_forms import NoFields
from pressroom.web.query import MOST
from pressroom.web.routing import Route

Parts = dict[str, Any]
"""Arguments of a request, as httpx takes them."""

Requests = Iterable[tuple[str, Parts]]
"""Requests, each with its name."""

HEADS: Final = 48 * 1024
"""Bytes of headers; the server takes a head of 64 KiB."""

WHOLE_FILE: Final = 1024 * 1024
TINY: Final = 3

MARKS: Final = "a" + "\u0301" * 30

VALUES: Final[dict[str, Callable[[int], str]]] = {
    "plain text": lambda size: f'"{"a" * size}"',
    "marks": lambda size: f'"{_filled(MARKS, size)}"',
    "escapes": lambda size: f'"{_filled(chr(92) + "u0041", size)}"',
    "lines": lambda size: f'"{_filled(chr(92) + "n", size)}"',
    "digits": lambda size: "9" * size,
    "decimals": lambda size: f"0.{'1' * size}",
    "numbers": lambda size: f"[{_joined('1', size)}]",
    "fractions": lambda size: f"[{_joined('1e9', size)}]",
    "texts": lambda size: f"[{_joined(chr(34) + 'ab' + chr(34), size)}]",
    "objects": lambda size: f"[{_joined('{}', size)}]",
    "names": lambda size: f"{{{','.join(f'{chr(34)}{n}{chr(34)}:1' for n in range(size // 10))}}}",
    "lists in lists": lambda size: "[" * (size // 2) + "]" * (size // 2),
    "objects in objects": lambda size: '{"":' * (size // 6) + "1" + "}" * (size // 6),
}
"""JSON of about so many bytes. Each is cut off as well, so that the place of the error is looked for."""

TEXTS: Final[dict[str, Callable[[int], bytes]]] = {
    "plain text": lambda size: b"a" * size,
    "escapes": lambda size: b"%e2%82%ac" * (size // 9),
    "line breaks": lambda size: b"a%0A" * (size // 4),
    "raw line breaks": lambda size: b"a\r\n" * (size // 3),
    "marks": lambda size: quote(_filled(MARKS, size // 3)).encode(),
    "digits": lambda size: b"9" * size,
    "NUL": lambda size: b"%00" * (size // 3),
    "dots": lambda size: b"." * size,
    "not UTF-8": lambda size: b"%ff" * (size // 3),
}
"""The value of a field of an urlencoded form, of about so many bytes."""

BOUNDARY: Final = b"b" * 70
MULTIPART: Final = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY.decode()}"}
URLENCODED: Final = {"Content-Type": "application/x-www-form-urlencoded"}


def targets(path: str) -> Iterator[tuple[str, Parts]]:
    """Targets of 8 KB, with few and with many parameters, and one that is too long."""
    room = LONGEST_TARGET - len(path) - 10
    queries = {
        "a long parameter": "q=" + "a" * room,
        "a long name": "a" * room,
        "escapes": "cursor=" + "%E2%82%AC" * (room // 9),
        "digits": "limit=" + "9" * room,
        "100 parameters": "&".join(f"p{number}={'a' * (room // MOST - 6)}" for number in range(MOST)),
        "100 alike": "&".join(["cursor=" + "a" * (room // MOST - 8)] * MOST),
        "many parameters": "&" * room,
        "many names": "a&" * (room // 2),
        "an address": f"url={quote('http://a/' + '@' * (room - 50))}",
        "too long": "a" * LONGEST_TARGET,
    }
    for name, query in queries.items():
        yield f"target, {name}", {"url": f"{path}?{query}"}


def paths(declared: str, fill: Callable[[str], str]) -> Iterator[tuple[str, Parts]]:
    """Paths whose last parameter is as long as a target may be; `fill` replaces the others."""
    if "{" not in declared:
        return
    before, _, after = declared.rpartition("{")
    before, after = fill(before), fill(after.partition("}")[2])
    room = LONGEST_TARGET - len(before) - len(after)
    for name, text in {
        "plain": "a" * room,
        "escapes": "%E2%82%AC" * (room // 9),
        "marks": quote(_filled(MARKS, room // 3)),
        "slashes": "%2F" * (room // 3),
        "bytes": "%FF" * (room // 3),
    }.items():
        yield f"path, {name}", {"url": before + text + after}


def headers() -> Iterator[tuple[str, Parts]]:
    """Many headers, and long values of each that is read."""
    yield "headers, many", {"headers": [(f"x-{number}", "a") for number in range(90)]}
    yield "headers, one long", {"headers": {"X-Long": "a" * HEADS}}
    for name, unit in {
        "Cookie": "a=b; ",
        "Accept-Encoding": "gzip;q=0.1, ",
        "Accept": "text/html;q=0.1, ",
        "Accept-Language": "de;q=0.1, ",
        "Authorization": "Basic a",
        "User-Agent": "Mozilla/5.0 (X11; Linux) ",
        "Referer": "http://a/?a=b&",
        "Origin": "http://a.",
        "If-None-Match": '"a", ',
        "If-Modified-Since": "Mon, ",
        "If-Range": '"a", ',
        "Range": "bytes=0-1,2-3,",
        "X-Forwarded-For": "10.0.0.1, ",
        "Forwarded": "for=10.0.0.1;",
        "Idempotency-Key": "a",
        "Content-Type": "multipart/form-data; a=b;",
        "HX-Request": "true",
    }.items():
        yield f"header {name}", {"headers": {name: _filled(unit, HEADS).strip()}}
    yield "cookies, one long", {"headers": {"Cookie": f"session={'a' * HEADS}"}}
    yield "cookies, all named session", {"headers": {"Cookie": _filled("session=;", HEADS)}}
    yield "cookies, semicolons", {"headers": {"Cookie": ";" * HEADS}}


def json_bodies(kind: type[msgspec.Struct], *, each_alone: bool) -> Iterator[tuple[str, Parts]]:
    """JSON bodies up to the limit: each kind of value in all fields, in an unknown one, and cut off.

    With `each_alone` it comes in each field alone, too.
    """
    fields = [field.encode_name for field in msgspec.structs.fields(kind)]
    room = JSON_LIMIT - 100
    for name, value in VALUES.items():
        share = room // len(fields) - 50 if fields else room
        everywhere = ",".join(f'"{field}":{value(share)}' for field in fields)
        yield f"JSON, {name} in all fields", _json(f"{{{everywhere}}}")
        yield f"JSON, {name} in an unknown field", _json(f'{{"x":{value(room)}}}')
        yield f"JSON, {name} cut off", _json(f'{{"x":{value(room)[:-1]}')
        for field in fields if each_alone else ():
            yield f"JSON, {name} in {field}", _json(f'{{"{field}":{value(room)}}}')
    first = fields[0] if fields else "x"
    yield "JSON, unknown names", _json(f"{{{_numbered(room)}}}")
    yield "JSON, unknown names with marks", _json(f"{{{_numbered(room, 'é')}}}")
    yield "JSON, a long unknown name", _json(f'{{"{_filled(MARKS, room // 2)}":1}}')
    yield "JSON, long unknown names", _json(f"{{{_numbered(room, 'a' * 1_000)}}}")
    yield "JSON, a name again and again", _json(f"{{{_joined(f'{chr(34)}{first}{chr(34)}:1', room)}}}")
    yield "JSON, white space", _json("{" + " " * room + "}")
    yield "JSON, too large", _json("{" + " " * JSON_LIMIT + "}")


def page_forms(route: Route[Caller], *, each_alone: bool) -> Iterator[tuple[str, Parts]]:
    """Bodies of the form of a page, urlencoded and as multipart; with `each_alone` each text in each field alone."""
    assert route.page_form is not None
    rules = rules_of(route.takes or NoFields, route.page_form.fields)
    room = FORM_LIMIT - 200
    for name, text in TEXTS.items():
        share = text(room // len(rules.fields) - 50)
        yield f"form, {name} in all fields", _form(b"&".join(b"%b=%b" % (f.encode(), share) for f in rules.fields))
        yield f"form, {name} in an unknown field", _form(b"x=" + text(room))
        yield f"form, {name} as a name", _form(text(room) + b"=")
        for field in rules.fields if each_alone else ():
            yield f"form, {name} in {field}", _form(field.encode() + b"=" + text(room))
    for field in ("x", *(rules.fields if each_alone else rules.fields[:1])):
        yield f"form, {field} 1,000 times", _form(b"&".join([b"%b=%b" % (field.encode(), b"a" * 200)] * MOST_PARTS))
    yield "form, 1,000 fields", _form(b"&".join(b"x%d=1" % number for number in range(MOST_PARTS)))
    yield "form, 5,000 fields", _form(b"&".join(b"x%d=1" % number for number in range(5 * MOST_PARTS)))
    yield "form, ampersands", _form(b"&" * room)
    yield "form, too large", _form(b"a" * (FORM_LIMIT + 1))
    files = route.page_form.files.rules if route.page_form.files else rules
    yield from multipart_forms(files, rules.fields if each_alone else rules.fields[:1])


def multipart_forms(rules: FormRules, fields: tuple[str, ...]) -> Iterator[tuple[str, Parts]]:
    """Multipart bodies of many parts, long names, long heads and tiny chunks, with and without files."""
    for field in chain(("x",), fields):
        yield f"multipart, {field} 1,000 times", _multipart(_part(field, b"") * MOST_PARTS)
        yield f"multipart, {field} 1,000 texts", _multipart(_part(field, "é".encode() * 100) * MOST_PARTS)
        yield f"multipart, {field} in tiny chunks", _in_chunks(_part(field, b"a\r\n" * 500) * 2)
        yield f"multipart, {field} full", _multipart(_part(field, b"a" * TEXT_BYTES))
        yield f"multipart, {field} full of line breaks", _multipart(_part(field, b"\r\n" * (TEXT_BYTES // 2)))
    yield "multipart, too many parts", _multipart(_part("x", b"") * (MOST_PARTS + 1))
    yield "multipart, a long name", _multipart(_part("x" * 4_000, b""))
    yield "multipart, long names", _multipart(_part("x" * 4_000, b"") * MOST_PARTS)
    yield "multipart, quotes in names", _multipart(_part('\\"' * 2_000, b"") * 100)
    yield "multipart, parameters", _multipart(_part('x"' + ';a="b"' * 600 + ';c="', b"") * 100)
    yield "multipart, a header too long", _multipart(_part("x" * 100_000, b""))
    if field := rules.file_field:
        yield from _files(field, rules)


def _files(field: str, rules: FormRules) -> Iterator[tuple[str, Parts]]:
    nearly = b"\r\n--" + BOUNDARY[:-1]
    for name, data in {
        "zeros": bytes(WHOLE_FILE),
        "line breaks": b"\r\n" * (WHOLE_FILE // 2),
        "boundaries, nearly": nearly * (WHOLE_FILE // len(nearly)),
        "hyphens": b"\r\n--" * (WHOLE_FILE // 4),
        "too large": bytes(min(rules.file_bytes, 8 * WHOLE_FILE) + 1),
    }.items():
        yield f"file, {name}", _multipart(_file(field, "a.png", data))
    yield "file, tiny chunks", _in_chunks(_file(field, "a.png", bytes(10_000)))
    yield "files, 1,000 empty", _multipart(_file(field, "", b"") * MOST_PARTS)
    yield "files, 1,000 small", _multipart(_file(field, "a.png", b"a") * MOST_PARTS)
    yield "file, a long name", _multipart(_file(field, "é" * 2_000, b"a"))
    yield "file, a name of quotes", _multipart(_file(field, '\\"' * 2_000, b"a"))


def _json(text: str) -> Parts:
    return {"content": text.encode(), "headers": {"Content-Type": "application/json"}}


def _form(body: bytes) -> Parts:
    return {"content": body, "headers": URLENCODED}


def _multipart(parts: bytes) -> Parts:
    return {"content": parts + b"--" + BOUNDARY + b"--\r\n", "headers": MULTIPART}


def _in_chunks(parts: bytes) -> Parts:
    """A body whose chunks have a few bytes each."""
    body = _multipart(parts)["content"]
    return {"content": [body[at : at + TINY] for at in range(0, len(body), TINY)], "headers": MULTIPART}


def _part(name: str, text: bytes) -> bytes:
    return b'--%b\r\nContent-Disposition: form-data; name="%b"\r\n\r\n%b\r\n' % (BOUNDARY, name.encode(), text)


def _file(field: str, name: str, data: bytes) -> bytes:
    disposition = f'Content-Disposition: form-data; name="{field}"; filename="{name}"'
    return b"--%b\r\n%b\r\nContent-Type: image/png\r\n\r\n%b\r\n" % (BOUNDARY, disposition.encode(), data)


def _filled(unit: str, size: int) -> str:
    """Returns a text of at most so many bytes of UTF-8."""
    return unit * (size // len(unit.encode()))


def _joined(unit: str, size: int) -> str:
    return ",".join([unit] * (size // (len(unit) + 1)))


def _numbered(size: int, name: str = "x") -> str:
    each = len(json.dumps(name)) + 10
    return ",".join(f'"{name}{number}":1' for number in range(size // each))
