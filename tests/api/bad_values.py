"""Values for the fields of JSON bodies, by the kind of the field, and the error of each."""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class Raw:
    """JSON to the letter, or what somebody takes for JSON."""

    text: str


@dataclass(frozen=True)
class Twice:
    """The values of a name that an object holds twice."""

    first: object
    last: object


@dataclass(frozen=True)
class New:
    """A text of so many characters that no request had before."""

    length: int
    ending: str = ""

    def text(self, number: int) -> str:
        """The text of the request with this number."""
        return f"{number:0>{self.length - len(self.ending)}}{self.ending}"


class Said(NamedTuple):
    """The answer to a value: its status, 0 for the operation's success, and code and place of each fault.

    A place is what follows the field's path: `[1]`, `.name`, or nothing for the field itself.
    """

    status: int
    field_errors: tuple[tuple[str, str], ...] = ()


def bad(code: str, place: str = "") -> Said:
    """The value breaks a rule."""
    return Said(400, ((place, code),))


TAKEN = Said(0)
REQUIRED, TYPE, TOO_SHORT, TOO_LONG = bad("required"), bad("type"), bad("too_short"), bad("too_long")
FORMAT, RANGE, CHOICE = bad("invalid_format"), bad("out_of_range"), bad("invalid_choice")
NOT_JSON = Said(400, (("body", "invalid_format"),))
"""The body as a whole is no JSON, or holds what no text can be."""

Values = dict[str, tuple[object, Said]]


@dataclass(frozen=True)
class Field:
    """A field: a good value and others. `kept`: an accepted value is shown in the answer as it was sent."""

    good: object
    values: Values
    kept: bool = True

    @property
    def absent(self) -> Said:
        """The error of a missing value, which is that of null."""
        return self.values["null"][1]

    @property
    def wrong(self) -> tuple[object, Said]:
        """A value that is wrong by itself, and its error."""
        return next(each for each in self.values.values() if each[1].status == 400 and each[1] is not NOT_JSON)


def spelled(value: object, number: int, *, escaped: bool) -> str:
    """A body as JSON, every character of its names and texts as it is or as an escape."""
    match value:
        case Raw(text):
            return text
        case New():
            return spelled(value.text(number), number, escaped=escaped)
        case dict():
            members = [
                f"{spelled(name, number, escaped=escaped)}:{spelled(each, number, escaped=escaped)}"
                for name, item in value.items()
                for each in ((item.first, item.last) if isinstance(item, Twice) else (item,))
            ]
            return f"{{{','.join(members)}}}"
        case list():
            return f"[{','.join(spelled(item, number, escaped=escaped) for item in value)}]"
        case str() if escaped:
            units = value.encode("utf-16-be").hex()
            return '"' + "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4)) + '"'
        case _:
            return json.dumps(value, ensure_ascii=False)


def text(
    longest: int | None,
    *,
    null: Said,
    empty: Said = TAKEN,
    blank: Said = TAKEN,
    shortest: int = 0,
    fine: Said = TAKEN,
    good: object = "Some words of it",
) -> Field:
    """Free text. `fine` is said of all that keeps to the limits."""
    return Field(
        good,
        {
            "a number": (5, TYPE),
            "true": (True, TYPE),
            "a list": (["Some words of it"], TYPE),
            "an object": ({"text": "Some words of it"}, TYPE),
            "null": (None, null),
            "nothing": ("", empty),
            "blank": ("\t\u3000\n\u2003 " * 3, blank),
            **strange_characters(fine),
            **(lengths(longest, fine) if longest else {"very long": ("x" * 10_000, fine)}),
            **(least_lengths(shortest, fine) if shortest else {}),
        },
        kept=fine is TAKEN,
    )


def strange_characters(fine: Said) -> Values:
    """What free text can hold, NUL and halves of surrogate pairs apart."""
    return {
        "control characters": ("0123456789\x01\x08\x1b\x7f\x85\u2028end", fine),
        "bidi overrides": ("0123456789\u202edne\u202c \u2066isolated\u2069", fine),
        "no characters": ("0123456789\ufffe\uffff\U0010ffff\ue000", fine),
        "invisible": ("\u200b\u2060\ufeff" * 5, fine),
        "a surrogate pair": (Raw('"0123456789\\ud83d\\ude00"'), fine),
        "the first half of a pair": (Raw('"0123456789\\ud83d"'), NOT_JSON),
        "the second half of a pair": (Raw('"0123456789\\ude00"'), NOT_JSON),
        "a pair the wrong way round": (Raw('"0123456789\\ude00\\ud83d"'), NOT_JSON),
        "NUL": ("0123456789\0end", FORMAT),
        "a raw NUL": (Raw('"0123456789\0end"'), NOT_JSON),
        "a raw line break": (Raw('"0123456789\nend"'), NOT_JSON),
    }


def lengths(longest: int, fine: Said) -> Values:
    """Text at its limit and past it: counted in code points, after normal form C."""
    return {
        "the longest": ("x" * longest, fine),
        "one too many": ("x" * (longest + 1), TOO_LONG),
        "very long": ("x" * 20_001, TOO_LONG),
        "the longest, not ASCII": ("\U0001f98a" * longest, fine),
        "one too many, not ASCII": ("\U0001f98a" * (longest + 1), TOO_LONG),
        "too long until it is composed": ("a\u0308" * longest, fine),
        "too long when it is composed": ("a\u0308" * (longest + 1), TOO_LONG),
        "the longest, with marks that stay": (("q\u0308" * longest)[:longest], fine),
        "one too many, with marks that stay": (("q\u0308" * longest)[: longest + 1], TOO_LONG),
        "too long and NUL": ("x" * longest + "\0", FORMAT),
    }


def least_lengths(shortest: int, fine: Said) -> Values:
    """Text at its least length and below."""
    return {
        "the shortest": ("x" * shortest, fine),
        "one too few": ("x" * (shortest - 1), TOO_SHORT),
        "long enough until it is composed": ("a\u0308" * (shortest - 1), TOO_SHORT),
        "the shortest, composed": ("a\u0308" * shortest, fine),
    }


def no_json_numbers() -> Values:
    """What looks like a number and is none in JSON, or none that a computer holds."""
    written = ("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1e99999999999", "+1", "01", ".5", "1.", "0x1", "1_0")
    numbers = {number: number for number in written} | {"10**5000": "1" + "0" * 5000}
    return {name: (Raw(number), NOT_JSON) for name, number in numbers.items()}


def no_numbers(null: Said) -> Values:
    """Values of another type than a number."""
    return {
        "a string": ("1", TYPE),
        "no text": ("", TYPE),
        "true": (True, TYPE),
        "false": (False, TYPE),
        "a list": ([1], TYPE),
        "an object": ({"value": 1}, TYPE),
        "null": (None, null),
        **no_json_numbers(),
    }


def number(low: int, high: int, *, null: Said) -> Field:
    """A number, both ends included."""
    return Field(
        12.345678901234567,
        {
            **no_numbers(null),
            "the lowest": (low, TAKEN),
            "the highest": (Raw(f"{high}.000"), TAKEN),
            "just below": (math.nextafter(low, -math.inf), RANGE),
            "just above": (math.nextafter(high, math.inf), RANGE),
            "10**400": (Raw("1" + "0" * 400), RANGE),
            "-10**400": (Raw("-1" + "0" * 400), RANGE),
            "1e308": (Raw("1e308"), RANGE),
            "minus zero": (-0.0, TAKEN),
            "next to zero": (5e-324, TAKEN),
            "nearer to zero": (Raw("1e-999"), TAKEN),
            "nearest to zero": (Raw("-1e-99999999999"), TAKEN),
            "zero, with an exponent": (Raw("0e99999999999"), TAKEN),
            "a capital exponent": (Raw("1E+1"), TAKEN),
            "5,000 digits behind the point": (Raw("0." + "0" * 5000 + "1"), TAKEN),
        },
    )


def whole(low: int, high: int, *, null: Said) -> Field:
    """A whole number, both ends included."""
    return Field(
        low,
        {
            **no_numbers(null),
            "the lowest": (low, TAKEN),
            "the highest": (high, TAKEN),
            "one below": (low - 1, RANGE),
            "one above": (high + 1, RANGE),
            "2**63": (2**63, RANGE),
            "-2**64": (-(2**64), RANGE),
            "10**400": (Raw("1" + "0" * 400), RANGE),
            "a point": (Raw(f"{low}.0"), TYPE),
            "an exponent": (Raw(f"{low}e0"), TYPE),
            "a fraction": (low + 0.5, TYPE),
            "minus zero with a point": (-0.0, TYPE),
            "minus zero": (Raw("-0"), TAKEN if low == 0 else RANGE),
            "1e308": (Raw("1e308"), TYPE),
        },
    )


def flag(*, null: Said) -> Field:
    """True or false."""
    return Field(
        True,
        {
            "a string": ("true", TYPE),
            "zero": (0, TYPE),
            "one": (1, TYPE),
            "a list": ([True], TYPE),
            "an object": ({"value": True}, TYPE),
            "null": (None, null),
            "false": (False, TAKEN),
            "a capital": (Raw("True"), NOT_JSON),
        },
    )


def choice(*choices: str, null: Said) -> Field:
    """One of some words."""
    one = choices[0]
    others = (one.swapcase(), one[:-1], f" {one}", f"{one}\n", f"{one}\0", "", " ", f"{one},{one}", "x" * 10_000)
    return Field(
        one,
        {
            "a number": (1, TYPE),
            "true": (True, TYPE),
            "a list": ([one], TYPE),
            "an object": ({"value": one}, TYPE),
            "null": (None, null),
            **{each: (each, TAKEN) for each in choices},
            **{f"not {ascii(each)[:20]}": (each, CHOICE) for each in others},
            "full width": ("".join(chr(ord(letter) + 0xFEE0) for letter in one), CHOICE),
            "half a pair": (Raw(f'"{one}\\ud800"'), NOT_JSON),
        },
    )


def items(
    good: list[object], item: Callable[[int], object], least: int, most: int, *, null: Said, full: Said = TAKEN
) -> Field:
    """A list. `full` is said of one that is as long as it may be."""
    return Field(
        good,
        {
            "a number": (5, TYPE),
            "true": (True, TYPE),
            "a string": (good[0], TYPE),
            "an object": ({"0": good[0]}, TYPE),
            "null": (None, null),
            "an empty list": ([], bad("too_few") if least else TAKEN),
            **({"one too few": (good[: least - 1], bad("too_few"))} if least else {}),
            **({"the fewest": (good[:least], TAKEN)} if least else {}),
            "the most": ([item(place) for place in range(most)], full),
            "one too many": ([item(place) for place in range(most + 1)], bad("too_many")),
            "far too many": (good[:1] * 2_000, bad("too_many")),
            "each of them wrong": ([[], {}], Said(400, (("[0]", "type"), ("[1]", "type")))),
        },
    )


def thing(*, null: Said) -> Field:
    """An object, whose fields stand for themselves."""
    others: Iterable[object] = (5, True, "name", [], [{}])
    return Field({}, {**{f"not {each!r}": (each, TYPE) for each in others}, "null": (None, null)})


def nothing() -> Field:
    """What only null is taken for, in this version."""
    others: Iterable[object] = (5, 0, True, False, "", "https://example.org/", [], {})
    return Field(None, {**{f"not {each!r}": (each, bad("not_allowed")) for each in others}, "null": (None, TAKEN)})


def formatted(
    good: object, right: Iterable[object], wrong: Mapping[str, Iterable[object]], *, null: Said, kept: bool = True
) -> Field:
    """Text of a certain form: values that have it, and by the code of their error those that do not."""
    return Field(
        good,
        {
            **{name: value for name, value in text(None, null=null).values.items() if value[1] in (TYPE, NOT_JSON)},
            "null": (None, null),
            **{f"right: {_short(each)}": (each, TAKEN) for each in right},
            **{f"{code}: {_short(each)}": (each, bad(code)) for code, others in wrong.items() for each in others},
        },
        kept=kept,
    )


def _short(value: object) -> str:
    return f"{ascii(value)[:40]} ({len(value)})" if isinstance(value, str) else ascii(value)
