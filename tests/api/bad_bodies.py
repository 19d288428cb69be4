"""Bodies made of good and bad fields, each with the answer to it."""

import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from tests.api.bad_fields import FIELDS, READER, Fields
from tests.api.bad_values import NOT_JSON, TAKEN, Raw, Said, Twice, bad

FieldErrors = tuple[tuple[str, str], ...]
Tree = dict[str, Any]

UNKNOWN: Tree = {"x": None, "": 1, "constructor": {}, "__proto__": [[{"a": None}]], "\u202e": "", "a.b[0]": False}
"""Unknown fields."""

NO_OBJECTS = {
    **{Raw(text): bad("type", "body") for text in ("[]", '"content"', "5", "-0.0", "null", "true")},
    **{
        Raw(text): NOT_JSON for text in ("{", "{}{}", "{,}", "NaN", '{"content":"a",}', '{"content"}', "\0", "\ufeff{}")
    },
    Raw(" \n"): bad("required", "body"),
}
"""Bodies that are no JSON object."""

GIF = {"type": "gif", "url": "https://images.example.org/heron.gif"}
OF_PASSKEYS = ("credentialId", "userHandle", "clientDataJSON", "authenticatorData", "signature")
WHOLE: dict[str, dict[str, tuple[Tree, dict[str, str]]]] = {
    "create_post": {
        "nothing": ({}, {"content": "required"}),
        "content alone": ({"content": "a"}, {}),
        "nulls": (dict.fromkeys(["content", "visibility", "location", "hubId", "poll"]), {"content": "required"}),
        "a place that is blank and too far": (
            {"content": " ", "location": {"name": " ", "latitude": 91}},
            {"content": "required", "location.name": "too_short", "location.latitude": "out_of_range"},
        ),
        "a place that is blank and misspelt": (
            {"content": "a", "location": {"name": " ", "latitud": 9}},
            {"location.name": "too_short", "location.latitud": "unknown_field"},
        ),
        "a poll with a number, a blank and a double": (
            {"content": "a", "poll": {"question": " ", "options": [" ", "a", "a", 5]}},
            {
                "poll.question": "too_short",
                "poll.options[0]": "too_short",
                "poll.options[2]": "duplicate",
                "poll.options[3]": "type",
            },
        ),
        "a poll with a double for too long": (
            {"content": "a", "poll": {"options": ["a", "a"], "durationMinutes": 4}},
            {"poll.options[1]": "duplicate", "poll.durationMinutes": "out_of_range"},
        ),
    },
    "edit_post": {
        "nothing": ({}, {"body": "required"}),
        "nulls": ({"content": None, "visibility": None}, {"body": "required"}),
        "an unknown field alone": ({"contnet": "a"}, {"contnet": "unknown_field", "body": "required"}),
        "content alone": ({"content": "a"}, {}),
        "visibility alone": ({"visibility": "CUSTOM"}, {}),
        "blank content alone": ({"content": " "}, {"content": "required"}),
        "wrong content alone": ({"content": 5}, {"content": "type"}),
        "a wrong visibility alone": ({"visibility": "public"}, {"visibility": "invalid_choice"}),
    },
    "create_draft": {
        "nothing": ({}, {}),
        "nulls": (dict.fromkeys(["content", "visibility", "location", "publishAt", "mediaIds", "usernames"]), {}),
        "a blank place, a double and a time that is over": (
            {"location": {"name": " "}, "poll": {"options": ["a", "a"]}, "publishAt": "2020-01-01T00:00Z"},
            {"location.name": "too_short", "poll.options[1]": "duplicate", "publishAt": "out_of_range"},
        ),
    },
    "edit_draft": {
        "nothing": ({}, {"version": "required"}),
        "a version alone": ({"version": 1}, {}),
        "nulls": ({"version": 1, **dict.fromkeys(["content", "poll", "publishAt", "needsApproval"])}, {}),
    },
    "publish_draft": {"nothing": ({}, {})},
    "accept_follow_requests": {"nothing": ({}, {})},
    "bounce_post": {"nothing": ({}, {})},
    "vote": {
        "nothing": ({}, {"choices": "required"}),
        "a string and a double": ({"choices": ["0", 1, 1]}, {"choices[0]": "type", "choices[2]": "duplicate"}),
    },
    "set_audience": {
        "nothing": ({}, {"usernames": "required"}),
        "nobody": ({"usernames": []}, {}),
        "a number and a double": (
            {"usernames": [READER, 5, READER]},
            {"usernames[1]": "type", "usernames[2]": "duplicate"},
        ),
    },
    "publish_text": {
        "nothing": ({}, {"text": "required"}),
        "an empty text": ({"text": ""}, {}),
    },
    "set_filters": {
        "nothing": ({}, {"filters": "required"}),
        "none": ({"filters": []}, {}),
        "no word": ({"filters": [{"text": "?!"}]}, {"filters[0].text": "invalid_format"}),
        "a number and a double": (
            {"filters": [{"text": "Ferry"}, 5, {"text": "f\u00e9rry!"}]},
            {"filters[1]": "type", "filters[2].text": "duplicate"},
        ),
    },
    "edit_comment": {"nothing": ({}, {"content": "required"})},
    "create_comment": {
        "nothing": ({}, {"content": "required"}),
        "nulls": ({"content": None, "parentId": None, "media": None}, {"content": "required"}),
        "empty content alone": ({"content": ""}, {"content": "required"}),
        "blank content alone": ({"content": "\u3000"}, {"content": "required"}),
        "content alone": ({"content": "a"}, {}),
        "media alone": ({"media": GIF}, {}),
        "wrong content alone": ({"content": 5}, {"content": "type"}),
        "wrong media alone": ({"media": 5}, {"media": "type"}),
        "media of two faults": (
            {"media": {"type": "video", "url": "http://example.org/"}},
            {"media.type": "invalid_choice", "media.url": "invalid_format"},
        ),
        "media and content at fault": (
            {"content": "a" * 501, "media": {**GIF, "url": "http://example.org/"}},
            {"content": "too_long", "media.url": "invalid_format"},
        ),
    },
    "edit_clip": {
        "nothing": ({}, {"body": "required"}),
        "nulls": ({"caption": None, "visibility": None}, {"body": "required"}),
        "an unknown field alone": ({"content": "a"}, {"content": "unknown_field", "body": "required"}),
        "an empty caption alone": ({"caption": ""}, {}),
        "visibility alone": ({"visibility": "CUSTOM"}, {}),
        "a wrong caption alone": ({"caption": 5}, {"caption": "type"}),
    },
    "sign_up": {
        "nothing": ({}, {"username": "required", "email": "required", "password": "required"}),
        "everything too short": (
            {"username": "a", "email": "b", "password": "c", "displayName": " "},
            {"username": "too_short", "email": "invalid_format", "password": "too_short", "displayName": "too_short"},
        ),
    },
    "set_up": {
        "nothing": ({}, {"username": "required", "email": "required", "password": "required", "token": "required"})
    },
    "read_notifications": {"nothing": ({}, {"upTo": "required"})},
    "edit_notification_settings": {
        "nothing": ({}, {"body": "required"}),
        "nulls": ({"like": None, "follow.requested": None}, {"body": "required"}),
        "one alone": ({"follow.requested": "off"}, {}),
        "a wrong way alone": ({"like": "sms"}, {"like": "invalid_choice"}),
        "an unknown type alone": ({"likes": "off"}, {"likes": "unknown_field", "body": "required"}),
        "an object for a dot": ({"follow": {"requested": "off"}}, {"follow": "type"}),
    },
    "forgot_password": {"nothing": ({}, {"email": "required"})},
    "reset_password": {"nothing": ({}, {"token": "required", "password": "required"})},
    "verify_email": {"nothing": ({}, {"token": "required"})},
    "sign_in_by_link": {"nothing": ({}, {"token": "required"})},
    "sign_in": {"nothing": ({}, {"login": "required", "password": "required"})},
    "add_passkey": {"nothing": ({}, dict.fromkeys(("name", "clientDataJSON", "attestationObject"), "required"))},
    "rename_passkey": {"nothing": ({}, {"name": "required"})},
    "sign_in_with_passkey": {"nothing": ({}, dict.fromkeys(OF_PASSKEYS, "required"))},
    "confirm_with_passkey": {"nothing": ({}, dict.fromkeys(OF_PASSKEYS, "required"))},
    "confirm_password": {"nothing": ({}, {"password": "required"})},
    "delete_own_account": {"nothing": ({}, {"username": "required", "password": "required"})},
    "change_password": {"nothing": ({}, {"password": "required"})},
    "change_email": {"nothing": ({}, {"email": "required"})},
    "confirm_two_factor": {"nothing": ({}, {"code": "required"})},
    "remove_two_factor": {
        "nothing": ({}, {"body": "required"}),
        "null for both": ({"password": None, "code": None}, {"body": "required"}),
    },
    "edit_me": {
        "nothing": ({}, {"body": "required"}),
        "null for a name": ({"username": None}, {"body": "required"}),
        "null for the bio": ({"bio": None}, {}),
        "a wrong bio alone": ({"bio": 5}, {"bio": "type"}),
        "an unknown field alone": ({"Bio": "a"}, {"Bio": "unknown_field", "body": "required"}),
    },
    "create_key": {
        "nothing": ({}, {"label": "required", "scopes": "required"}),
        "every rule broken": (
            {"label": " ", "scopes": ["media:write"] * 2, "expiry": "soon", "ipAllowlist": ["here"]},
            {
                "label": "too_short",
                "scopes[1]": "duplicate",
                "expiry": "invalid_format",
                "ipAllowlist[0]": "invalid_format",
            },
        ),
        "an unknown scope and a double": (
            {"label": "a", "scopes": ["like", "media:write", "media:write"]},
            {"scopes[0]": "invalid_choice", "scopes[2]": "duplicate"},
        ),
        "a number and no network": (
            {"label": "a", "scopes": ["media:write"], "ipAllowlist": [5, "here"]},
            {"ipAllowlist[0]": "type", "ipAllowlist[1]": "invalid_format"},
        ),
    },
    "edit_key": {"nothing": ({}, {"note": "required"})},
    "make_invitation": {"nothing": ({}, {})},
    "verify_account": {
        "nothing": ({}, {"reason": "required", "body": "required"}),
        "a reason alone": ({"reason": "a"}, {"body": "required"}),
        "a blank reason alone": ({"reason": " "}, {"reason": "too_short", "body": "required"}),
        "nulls": ({"reason": "a", "verified": None, "emailVerified": None}, {"body": "required"}),
        "the badge alone": ({"reason": "a", "verified": False}, {}),
        "the e-mail address alone": ({"reason": "a", "emailVerified": True}, {}),
        "a wrong badge alone": ({"reason": "a", "verified": 1}, {"verified": "type"}),
    },
    "set_limits": {"nothing": ({}, {"reason": "required"}), "a reason alone": ({"reason": "a"}, {})},
    "suspend_account": {"nothing": ({}, {"reason": "required"})},
    "revoke_key_of": {"nothing": ({}, {"reason": "required"})},
    "disable_webhook_of": {"nothing": ({}, {"reason": "required"})},
    "restore_account": {"nothing": ({}, {"reason": "required"})},
    "delete_account": {
        "nothing": ({}, {"username": "required", "reason": "required"}),
        "a blank reason": ({"username": "a", "reason": " "}, {"reason": "too_short"}),
    },
    "create_hub": {
        "nothing": ({}, {"name": "required", "slug": "required"}),
        "a blank name and a short slug": ({"name": " ", "slug": "-"}, {"name": "too_short", "slug": "too_short"}),
    },
    "create_block": {
        "nothing": ({}, {"pattern": "required", "reason": "required"}),
        "neither address nor domain": (
            {"pattern": "a b", "reason": " "},
            {"pattern": "invalid_format", "reason": "too_short"},
        ),
    },
    "decide_report": {"nothing": ({}, {"decision": "required", "reason": "required"})},
    "create_report": {
        "nothing": ({}, {"type": "required", "id": "required", "reason": "required"}),
        "a hub for a blank reason": (
            {"type": "hub", "id": "x", "reason": " "},
            {"type": "invalid_choice", "reason": "too_short"},
        ),
    },
    "exclude_from_explore": {
        "nothing": ({}, {"type": "required", "subject": "required", "reason": "required"}),
        "a comment for a blank reason": (
            {"type": "comment", "subject": "x", "reason": " "},
            {"type": "invalid_choice", "reason": "too_short"},
        ),
    },
    "create_webhook": {
        "nothing": ({}, {"url": "required", "events": "required"}),
        "a user, a number, a test and a double": (
            {"url": "https://you@8.8.8.8/", "events": [5, "webhook.test", "post.created", "post.created"]},
            {
                "url": "not_allowed",
                "events[0]": "type",
                "events[1]": "invalid_choice",
                "events[3]": "duplicate",
            },
        ),
    },
    "edit_webhook": {
        "nothing": ({}, {"body": "required"}),
        "a number, a test and a double": (
            {"events": [5, "webhook.test", "post.created", "post.created"]},
            {"events[0]": "type", "events[1]": "invalid_choice", "events[3]": "duplicate"},
        ),
    },
    "redeliver_events": {
        "nothing": ({}, {"since": "required"}),
        "until alone": ({"until": "2027-01-01T00:00Z"}, {"since": "required"}),
        "since alone": ({"since": "2027-01-15T08:00:00.000Z"}, {}),
        "since in the future": ({"since": "2027-01-15T08:00:00.001Z"}, {"since": "out_of_range"}),
        "a span of the future": ({"since": "2027-01-16T00:00Z", "until": "2027-01-17T00:00Z"}, {}),
        "times that are none, and an unknown event": (
            {"since": "soon", "until": "2027-01-01", "eventTypes": ["like"]},
            {"since": "invalid_format", "until": "invalid_format", "eventTypes[0]": "invalid_choice"},
        ),
    },
}
"""Bodies in which several fields come together, with their field errors."""
WHOLE["replace_webhook"] = WHOLE["create_webhook"]
WHOLE["preview_post"] = WHOLE["create_post"]
WHOLE["preview_redelivery"] = WHOLE["redeliver_events"]


DOTTED = {name for name in FIELDS["edit_notification_settings"] if "." in name}
"""Fields whose own name has a dot."""


@dataclass(frozen=True)
class Case:
    """A body for an operation, and its errors. `path` leads to the field that is tried, `""` to none."""

    operation: str
    path: str
    name: str
    body: Tree | Raw
    said: Said

    @property
    def field_errors(self) -> list[tuple[str, str]]:
        """Field and code of each fault, sorted."""
        return sorted(_placed(self.path, self.said))

    @property
    def value(self) -> object:
        """The value in the body at the path."""
        return _get(self.body, self.path) if self.path else None

    def __str__(self) -> str:
        return " ".join(part for part in (self.operation, self.path, self.name) if part)


def all_cases() -> Iterator[Case]:
    """Every case of every operation."""
    for operation in FIELDS:
        yield from cases_of(operation)


def cases_of(operation: str) -> Iterator[Case]:
    """Every case of an operation."""
    fields = FIELDS[operation]
    yield from _values(operation, fields)
    yield from _doubled(operation, fields)
    yield from _renamed(operation, fields)
    yield from _unknown(operation, fields)
    yield from _everything_wrong(operation, fields)
    yield from _whole(operation)


def good_body(fields: Fields) -> Tree:
    """A body that has every field."""
    body: Tree = {}
    for path, field in fields.items():
        if not path.endswith("]"):
            _put(body, path, copy.deepcopy(field.good))
    return body


def _values(operation: str, fields: Fields) -> Iterator[Case]:
    """Each field with each of its values."""
    yield Case(operation, "", "good", good_body(fields), TAKEN)
    for path, field in fields.items():
        for name, (value, said) in field.values.items():
            body = good_body(fields)
            _put(body, path, value)
            yield Case(operation, path, name, body, said)


def _doubled(operation: str, fields: Fields) -> Iterator[Case]:
    """Each field twice: the last counts."""
    for path, field in fields.items():
        if path.endswith("]"):
            continue
        wrong, said = field.wrong
        right = _get(good_body(fields), path)
        for name, twice, verdict in (
            ("wrong and then right", Twice(wrong, right), TAKEN),
            ("right and then wrong", Twice(right, wrong), said),
            ("right and then null", Twice(right, None), field.absent),
        ):
            body = good_body(fields)
            _put(body, path, twice)
            yield Case(operation, path, name, body, verdict)


def _renamed(operation: str, fields: Fields) -> Iterator[Case]:
    """Each field left out, or under a name that is not quite its own."""
    for path, field in fields.items():
        if path.endswith("]"):
            continue
        parent, name = _split(path)
        alike = (
            name.capitalize(),
            name.upper(),
            re.sub("([A-Z])", r"_\1", name).lower(),
            f"{name} ",
            f"{parent}.{name}",
        )
        for other in ("", *dict.fromkeys(each for each in alike if each != name)):
            body = good_body(fields)
            siblings = _get(body, parent)
            value = siblings.pop(name)
            field_errors = _placed(path, field.absent)
            if other:
                siblings[other] = value
                field_errors += ((_joined(parent, other), "unknown_field"),)
            yield Case(operation, "", f"{path} as {other}" if other else f"no {path}", body, _said(field_errors))


def _unknown(operation: str, fields: Fields) -> Iterator[Case]:
    """Objects with an unknown field, and without any."""
    for parent in ("", *(path for path, field in fields.items() if field.good == {})):
        for name, value in UNKNOWN.items():
            body = good_body(fields)
            _get(body, parent)[name] = value
            place = _joined(parent, name)
            yield Case(operation, "", f"unknown {place!a}", body, bad("unknown_field", place))
        if parent:
            body = good_body(fields)
            _put(body, parent, {})
            inside = [path for path in fields if _split(path)[0] == parent and not path.endswith("]")]
            missing = chain.from_iterable(_placed(path, fields[path].absent) for path in inside)
            yield Case(operation, "", f"{parent} empty", body, _said(tuple(missing)))


def _everything_wrong(operation: str, fields: Fields) -> Iterator[Case]:
    """Every field wrong at once, and one unknown."""
    body = good_body(fields)
    field_errors: FieldErrors = (("x", "unknown_field"),)
    leaves = [path for path in fields if not any(steps(other)[:-1] == steps(path) for other in fields)]
    for path in leaves:
        value, said = fields[path].wrong
        _put(body, path, value)
        field_errors += _placed(path, said)
    body["x"] = "y"
    yield Case(operation, "", "everything wrong", body, Said(400, field_errors))


def _whole(operation: str) -> Iterator[Case]:
    for body, said in NO_OBJECTS.items():
        yield Case(operation, "", f"no object but {body.text}", body, said)
    for name, (body, field_errors) in WHOLE[operation].items():
        yield Case(operation, "", name, body, _said(tuple(field_errors.items())))


def _said(field_errors: FieldErrors) -> Said:
    return Said(400, field_errors) if field_errors else TAKEN


def _placed(path: str, said: Said) -> FieldErrors:
    """Field and code of each fault of a field that this is said of."""
    return said.field_errors if said == NOT_JSON else tuple((path + place, code) for place, code in said.field_errors)


def _split(path: str) -> tuple[str, str]:
    """`poll.options` → (`poll`, `options`)."""
    if path in DOTTED:
        return "", path
    parent, _, name = path.rpartition(".")
    return parent, name


def _joined(parent: str, name: str) -> str:
    return f"{parent}.{name}" if parent else name


def steps(path: str) -> list[str | int]:
    """`poll.options[0]` → `poll`, `options`, 0."""
    if path in DOTTED:
        return [path]
    return [int(step) if step.isdigit() else step for step in re.findall(r"[^.\[\]]+", path)]


def _get(body: Any, path: str) -> Any:
    for step in steps(path):
        body = body[step]
    return body


def _put(body: Any, path: str, value: object) -> None:
    *way, last = steps(path)
    for step in way:
        body = body[step]
    if last == len(body) and isinstance(body, list):
        body.append(value)
    else:
        body[last] = value
