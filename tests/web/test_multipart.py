"""Forms as clients send them and as nobody should: the parts kept, and the errors."""

from pathlib import Path

import pytest

from pressroom.errors import MAX_FIELD_ERRORS, Code, Invalid, PressroomError
from pressroom.web.error_responses import UnsupportedMediaType
from pressroom.web.multipart import HEAD_BYTES
from pressroom.web.multipart_rules import (
    LONGEST_NAME,
    MOST_PARTS,
    TEXT_BYTES,
    FormRules,
    boundary_of,
    form_schema,
)
from tests.web.form_bodies import END, RULES, field_errors, file, part, read, seen, text

GOOD = (
    text("content", "Grüße 👋".encode())
    + file(
        b"\r\n--" + b"\r" * 90 + b"\x00\xff" * 3_000,
        'q"%22 ü.png'.replace('"', "%22"),
        "media",
        "Content-Type: image/PNG",
    )
    + text("altText", b"one")
    + file(b"", "")
    + text("_charset_", b"UTF-8")
    + text("altText", b"")
    + file(b"x", "C:\\\\dir\\\\b.gif")
    + END
)


def test_a_form_as_browsers_send_it(tmp_path: Path) -> None:
    files, texts, wrong = seen(read(tmp_path, GOOD, length=len(GOOD)))

    body = b"\r\n--" + b"\r" * 90 + b"\x00\xff" * 3_000
    assert files[0] == (body, len(body), body[:HEAD_BYTES], "image/png", 'q"" ü.png')
    assert files[1][:4] == (b"x", 1, b"x", None)
    assert texts == {"content": ["Grüße 👋"], "altText": ["one", ""]}
    assert wrong == []


def test_cut_at_every_place_it_is_the_same_form(tmp_path: Path) -> None:
    body = text("content", "ü".encode()) + file(b"\r\n--\r\n-b\r") + text("altText", b"\r") + END
    whole = seen(read(tmp_path, body))
    assert whole[2] == []

    for cut in range(len(body) + 1):
        assert seen(read(tmp_path, [body[:cut], body[cut:]])) == whole
    assert seen(read(tmp_path, [body[at : at + 1] for at in range(len(body))])) == whole


def test_cut_off_at_every_place_nothing_is_left(tmp_path: Path) -> None:
    body = text("content") + file(b"x" * 50) + END

    for cut in range(len(body) - 2):
        with pytest.raises(Invalid) as refusal:
            read(tmp_path, body[:cut])
        assert [(field_error.field, field_error.code) for field_error in refusal.value.field_errors] == [
            ("body", Code.INVALID_FORMAT)
        ]


@pytest.mark.parametrize(
    ("content_type", "error"),
    [
        ("", UnsupportedMediaType),
        ("application/json", UnsupportedMediaType),
        ("multipart/mixed; boundary=b", UnsupportedMediaType),
        ("multipart/form-data", Invalid),
        ("multipart/form-data; boundary=", Invalid),
        ('multipart/form-data; boundary=""', Invalid),
        ("multipart/form-data; boundary=" + "b" * 71, Invalid),
        ("multipart/form-data; " + "a=b; " * 9_000 + "boundary=b", Invalid),
        ("multipart/form-data; boundary=b; boundary=c", Invalid),
        ("multipart/form-data; boundary=b\nmultipart/form-data; boundary=c", Invalid),
        ('multipart/form-data; boundary="b ', Invalid),
        ('multipart/form-data; boundary="b "', Invalid),
        ('multipart/form-data; boundary="b\r\n"', Invalid),
        ("multipart/form-data; boundary=b\u00fc", Invalid),
        ("multipart/form-data; boundary=b, c", Invalid),
    ],
)
def test_a_type_that_names_no_form(tmp_path: Path, content_type: str, error: type[PressroomError]) -> None:
    with pytest.raises(error):
        read(tmp_path, file() + END, content_type)


@pytest.mark.parametrize(
    ("content_type", "boundary"),
    [
        (
            "multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW",
            "----WebKitFormBoundary7MA4YWxkTrZu0gW",
        ),
        ('Multipart/Form-Data;charset=utf-8; BOUNDARY="a b\\?:=c" ;', "a b?:=c"),
        ("multipart/form-data; boundary=----=_Part_1_2.3", "----=_Part_1_2.3"),
        ("multipart/form-data; boundary=" + "b" * 70, "b" * 70),
    ],
)
def test_boundaries_that_clients_choose(content_type: str, boundary: str) -> None:
    assert boundary_of(content_type) == boundary


NO_FORM = {
    "nothing": b"",
    "another boundary": file().replace(b"--b", b"--c") + b"--c--\r\n",
    "preamble": b"preamble\r\n" + file() + END,
    "no last boundary": file(),
    "no part closed": b"--b\r\n",
    "bare line breaks": (file() + END).replace(b"\r\n", b"\n"),
    "bare line break in a header": part('; name="media"; filename="a"\nX-A: b', b"x") + END,
    "folded header": part(';\r\n name="media"; filename="a"', b"x") + END,
    "control character": part('; name="me\x01dia"; filename="a"', b"x") + END,
    "NUL in a name": part('; name="content\x00"', b"x") + END,
    "no disposition": b"--b\r\nContent-Type: image/png\r\n\r\nx\r\n" + END,
    "disposition of another kind": b'--b\r\nContent-Disposition: attachment; name="media"\r\n\r\nx\r\n' + END,
    "header without colon": b"--b\r\nContent-Disposition\r\n\r\nx\r\n" + END,
    "header not UTF-8": b'--b\r\nContent-Disposition: form-data; name="\xff"\r\n\r\nx\r\n' + END,
    "nested": file(b"--c\r\n\r\n--c--", "a", "media", "Content-Type: multipart/mixed; boundary=c") + END,
    "part longer than it says": file(b"bytes", "a", "media", "Content-Length: 4") + END,
    "part shorter than it says": file(b"bytes", "a", "media", "Content-Length: 6") + END,
    "length of a part no number": file(b"bytes", "a", "media", "Content-Length: -1") + END,
    "long header": file(b"x", "a", "media", "X-A: " + "a" * 5_000) + END,
    "endless header": b"--b\r\nX-A: " + b"a" * 300_000,
    "many headers": file(b"x", "a", "media", *(f"X-{n}: a" for n in range(5_000))) + END,
    "boundary within": file(b"x\r\n--bx") + END,
}


@pytest.mark.parametrize("body", NO_FORM.values(), ids=NO_FORM)
def test_a_body_that_is_no_form(tmp_path: Path, body: bytes) -> None:
    for chunks in ([body], [body[at : at + 7] for at in range(0, len(body), 7)]):
        with pytest.raises(Invalid) as refusal:
            read(tmp_path, chunks)
        assert [(field_error.field, field_error.code) for field_error in refusal.value.field_errors] == [
            ("body", Code.INVALID_FORMAT)
        ]


@pytest.mark.parametrize("off_by", [-1, 1])
def test_wrong_lengths(tmp_path: Path, off_by: int) -> None:
    body = file() + END
    with pytest.raises(Invalid) as refusal:
        read(tmp_path, body, length=len(body) + off_by)
    assert [field_error.field for field_error in refusal.value.field_errors] == ["body"]


FAULTY: dict[str, tuple[bytes, list[tuple[str, Code]]]] = {
    "no part at all": (END, [("media", Code.REQUIRED)]),
    "no file": (text("content") + END, [("media", Code.REQUIRED)]),
    "only an input left empty": (file(b"", "") + END, [("media", Code.REQUIRED)]),
    "fifth and sixth file": (file() * 6 + END, [("media[4]", Code.TOO_MANY), ("media[5]", Code.TOO_MANY)]),
    "fifth file, empty": (file() * 4 + file(b"") + END, [("media[4]", Code.TOO_MANY)]),
    "too large": (file() + file(b"x" * 200_001) + file(b"x" * 200_000) + END, [("media[1]", Code.TOO_LARGE)]),
    "empty": (file(b"") + file() + END, [("media[0]", Code.TOO_SHORT)]),
    "an input left empty takes no place": (file(b"", "") + file() + file(b"") + END, [("media[1]", Code.TOO_SHORT)]),
    "unknown": (file() + text("visibilty") + END, [("visibilty", Code.UNKNOWN_FIELD)]),
    "unknown file": (file() + file(field="media[]") + END, [("media[]", Code.UNKNOWN_FIELD)]),
    "unknown, long": (file() + text("x" * 999) + END, [("x" * LONGEST_NAME, Code.UNKNOWN_FIELD)]),
    "unknown, with a line break": (file() + text("a%0D%0Ab") + END, [("a\ufffd\ufffdb", Code.UNKNOWN_FIELD)]),
    "twice": (file() + text("content") * 3 + END, [("content", Code.DUPLICATE)]),
    "file for text": (file() + file(field="content") + END, [("content", Code.TYPE)]),
    "file for repeated text": (file() + text("altText") + file(field="altText") + END, [("altText[1]", Code.TYPE)]),
    "text for a file": (
        file() + text("media") + file(b"") + END,
        [("media[1]", Code.TYPE), ("media[2]", Code.TOO_SHORT)],
    ),
    "not UTF-8": (file() + text("content", b"\xff") + END, [("content", Code.INVALID_FORMAT)]),
    "surrogate": (file() + text("content", b"\xed\xa0\x80") + END, [("content", Code.INVALID_FORMAT)]),
    "NUL": (file() + text("altText") + text("altText", b"\x00") + END, [("altText[1]", Code.INVALID_FORMAT)]),
    "another charset": (
        file() + text("content", "ü".encode(), "Content-Type: text/plain; charset=ISO-8859-1") + END,
        [("content", Code.INVALID_FORMAT)],
    ),
    "form in another charset": (
        file() + text("_charset_", b"windows-1252") + END,
        [("_charset_", Code.INVALID_FORMAT)],
    ),
    "long text": (file() + text("content", b"x" * (TEXT_BYTES + 1)) + END, [("content", Code.TOO_LONG)]),
    "much text": (file() + text("altText", b"x" * TEXT_BYTES) * 7 + END, [("body", Code.TOO_LONG)]),
    "no name": (file() + part("", b"x") + END, [("body", Code.INVALID_FORMAT)]),
    "empty name": (file() + text("") + END, [("body", Code.INVALID_FORMAT)]),
    "two names": (file() + part('; name="content"; name="location"', b"x") + END, [("body", Code.INVALID_FORMAT)]),
    "two dispositions": (
        file(b"x", "a", "media", 'Content-Disposition: form-data; name="content"') + END,
        [("body", Code.INVALID_FORMAT), ("media", Code.REQUIRED)],
    ),
    "two types": (
        file() + file(b"x", "a", "media", "Content-Type: image/png", "content-type: image/gif") + END,
        [("body", Code.INVALID_FORMAT)],
    ),
    "base64 file": (
        file(b"eA==", "a", "media", "Content-Transfer-Encoding: Base64") + END,
        [("media[0]", Code.INVALID_FORMAT)],
    ),
    "quoted text": (
        file() + text("content", b"=FF", "Content-Transfer-Encoding: quoted-printable") + END,
        [("content", Code.INVALID_FORMAT)],
    ),
    "several at once": (
        text("a") + file(b"") + text("content", b"\xff") + file(b"x" * 200_001) + text("location", b"\x00") + END,
        [
            ("a", Code.UNKNOWN_FIELD),
            ("media[0]", Code.TOO_SHORT),
            ("content", Code.INVALID_FORMAT),
            ("media[1]", Code.TOO_LARGE),
            ("location", Code.INVALID_FORMAT),
        ],
    ),
}


@pytest.mark.parametrize(("body", "expected"), FAULTY.values(), ids=FAULTY)
def test_every_fault_is_named_with_its_place(tmp_path: Path, body: bytes, expected: list[tuple[str, Code]]) -> None:
    assert field_errors(tmp_path, body) == expected
    pieces = [body[at : at + 11] for at in range(0, len(body), 11)]
    assert [(field_error.field, field_error.code) for field_error in read(tmp_path, pieces).field_errors] == expected


FINE = {
    "line break first": b"\r\n" + file() + END,
    "epilogue": file() + END + b"epilogue",
    "no line break after the end": file() + b"--b--",
    "unquoted, as .NET sends it": part("; name=media; filename=a.png; filename*=utf-8''a.png", b"bytes") + END,
    "name in the older way": part("; name=\"media\"; filename*=UTF-8''%C3%A4.png", b"bytes") + END,
    "backslashes, as older curl sends them": part('; name="media"; filename="a\\"b\\\\.png"', b"bytes") + END,
    "path of a Windows browser": part('; name="media"; filename="C:\\dir\\"', b"bytes") + END,
    "small letters": b'--b\r\ncontent-disposition:form-data; NAME="media"; FileName="a"\r\n\r\nbytes\r\n' + END,
    "binary": file(b"bytes", "a", "media", "Content-Transfer-Encoding: binary", "Content-Length: 5") + END,
    "long name": file(b"bytes", "ü" * 1_500) + END,
    "bytes without a name": file(b"bytes", "") + END,
}


@pytest.mark.parametrize("body", FINE.values(), ids=FINE)
def test_spellings_of_different_clients_are_read(tmp_path: Path, body: bytes) -> None:
    for chunks in ([body], [body[at : at + 1] for at in range(len(body))]):
        files, texts, wrong = seen(read(tmp_path, chunks))
        assert (len(files), files[0][0], texts, wrong) == (1, b"bytes", {}, [])
        assert len(files[0][4]) <= LONGEST_NAME


def test_ascii_passes_for_any_charset_that_holds_it(tmp_path: Path) -> None:
    body = file() + text("content", b"plain", "Content-Type: text/plain; charset=ISO-8859-1") + END
    assert seen(read(tmp_path, body))[1:] == ({"content": ["plain"]}, [])


def test_faults_are_listed_up_to_a_number(tmp_path: Path) -> None:
    just = text("x") * MAX_FIELD_ERRORS
    assert field_errors(tmp_path, file() + just + END) == [("x", Code.UNKNOWN_FIELD)] * MAX_FIELD_ERRORS
    assert field_errors(tmp_path, file() + just * 100) == [("x", Code.UNKNOWN_FIELD)] * (MAX_FIELD_ERRORS - 1) + [
        ("body", Code.TOO_MANY)
    ]


def test_ten_thousand_parts(tmp_path: Path) -> None:
    fits = file() + text("altText", b"") * (MOST_PARTS - 1)
    assert field_errors(tmp_path, fits + END) == []
    assert field_errors(tmp_path, fits + text("altText", b"") * 9_000) == [("body", Code.TOO_MANY)]
    assert field_errors(tmp_path, file() + file(b"", "") * 10_000) == [("body", Code.TOO_MANY)]


def test_schema_states_the_accepted_form() -> None:
    texts: dict[str, object] = {"content": {"type": "string"}}
    schema = form_schema(RULES, texts)
    assert schema["properties"] == {
        "media": {"type": "array", "items": {"type": "string", "format": "binary"}, "minItems": 1, "maxItems": 4},
        **texts,
    }
    assert schema["required"] == ["media"]
    assert form_schema(FormRules("video", 1, 1), {})["properties"] == {"video": {"type": "string", "format": "binary"}}
