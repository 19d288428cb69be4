"""Every field of every JSON body of the API, with accepted and refused values."""

from dataclasses import replace

from pressroom.domains.notifications.models import NotificationType
from pressroom.domains.sign_in.two_factor import LONGEST_CODE
from tests.api.bad_endpoints import EDITED_EVENTS, REDELIVERY, WEBHOOK
from tests.api.bad_values import (
    FORMAT,
    REQUIRED,
    TAKEN,
    TOO_SHORT,
    TYPE,
    Field,
    New,
    Said,
    Values,
    bad,
    choice,
    flag,
    formatted,
    items,
    number,
    text,
    thing,
    whole,
)

Fields = dict[str, Field]

READER = "listed_reader"
"""An existing account."""

SCOPES = [
    *("posts:write", "posts:delete", "media:write", "bounces:write", "comments:write", "clips:write"),
    *("drafts:write", "events:read"),
]
STRANGER = Said(422, (("", "not_allowed"),))
"""Said of what could be an identifier, and is none that the account can use here."""


def also(field: Field, values: Values) -> Field:
    """The field with more values."""
    return replace(field, values={**field.values, **values})


def visibility() -> Field:
    return choice("PRIVATE", "PUBLIC", "FOLLOWERS", "CONNECTIONS", "CUSTOM", null=TAKEN)


def identifier() -> Field:
    return text(None, null=TAKEN, empty=STRANGER, blank=STRANGER, fine=STRANGER, good=None)


def shown_id(*, null: Said) -> Field:
    """The id of something that a list showed: another text would stand before or after all of them."""
    good = "01KW1H3V9C5Q2Z7M4X8N6B0T1R"
    return text(26, null=null, empty=TOO_SHORT, blank=FORMAT, fine=FORMAT, good=good)


def username() -> Field:
    wrong = {
        "too_short": ["", "ab", "\u00e4", "a\u0308b", "a\n"],
        "too_long": ["x" * 31, "\u00e4" * 31, "x" * 20_000],
        "invalid_format": [
            "a b",
            "a-b",
            "@abc",
            "abc\n",
            " abc",
            "a\u0308bc",
            "abc\u202e",
            "abc\0",
            "a\x01b",
            "\u0661" * 3,
        ],
    }
    return formatted(New(12), [New(3), New(30), New(9, "_Aa")], wrong, null=REQUIRED)


DIRECTED = {"control characters", "bidi overrides"}


UNSEEN: Values = {
    "invisible": ("\u200b\u2060\ufeff" * 5, TOO_SHORT),
    **{
        f"too_short: {each!r}": (each, TOO_SHORT)
        for each in ("\u200b\u2060\ufeff", "\u3164", "\u2800", "\u202e \u202c", "\ufe0f\u200d", "\U000e0041")
    },
}
"""Text without a visible character."""


def reason(longest: int) -> Field:
    """Why somebody does something: something of it is seen."""
    return also(text(longest, null=REQUIRED, empty=TOO_SHORT, blank=TOO_SHORT), UNSEEN)


def name(longest: int, *, null: Said) -> Field:
    """A name in one line: something of it is seen, and nothing in it moves or hides what stands beside it."""
    wrong = ["a\nb", "a\tb", "a\x85b", "\u202eevil", "a\u2066b", "a\u200fb", "a\u061cb", "a\u2028b"]
    free = text(longest, null=null, empty=TOO_SHORT, blank=TOO_SHORT)
    strange = {case: (value, FORMAT) for case, (value, _) in free.values.items() if case in DIRECTED}
    return also(
        free,
        {
            **strange,
            **{f"invalid_format: {each!r}": (each, FORMAT) for each in wrong},
            **UNSEEN,
            "joined": ("\U0001f469\u200d\U0001f692 \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", TAKEN),
        },
    )


PUBLISH: Fields = {
    "content": text(5000, null=REQUIRED, empty=REQUIRED, blank=REQUIRED),
    "visibility": visibility(),
    "location": thing(null=TAKEN),
    "location.name": name(255, null=REQUIRED),
    "location.latitude": number(-90, 90, null=TAKEN),
    "location.longitude": number(-180, 180, null=TAKEN),
    "comments": replace(choice("followers", "everyone", "nobody", null=TAKEN), good=None),  # not for keys
    "hubId": identifier(),
    "poll": thing(null=TAKEN),
    "poll.options": also(
        items(["The fox", "The heron"], "option {}".format, 2, 10, null=REQUIRED),
        {
            "one twice": (["a", "b", "a"], bad("duplicate", "[2]")),
            "one three times": (["a", "a", "a"], Said(400, (("[1]", "duplicate"), ("[2]", "duplicate")))),
            "the same once composed": (["\u00e9", "e\u0301"], bad("duplicate", "[1]")),
            "another case": (["a", "A"], TAKEN),
            "another width": (["A", "\uff21"], TAKEN),
        },
    ),
    "poll.options[0]": name(100, null=TYPE),
    "poll.question": text(300, null=TAKEN, empty=TOO_SHORT, blank=TOO_SHORT),
    "poll.multiple": flag(null=TAKEN),
    "poll.durationMinutes": whole(5, 43_200, null=TAKEN),
    "linkPreviewUrl": formatted(
        "https://page.example/heron",
        [
            "HTTP://PAGE.EXAMPLE",
            " https://page.example/ ",
            "https://page.example:8443/a b?q=1&q=%zz#part",
            "https://m\u00fcnchen.example/\u00e4",
            "https://[2001:db8::7]/",
            "https://page.example/" + "x" * 2_027,
        ],
        {
            "too_long": ["https://page.example/" + "x" * 2_028, "x" * 20_000],
            "invalid_format": [
                *(
                    "",
                    " ",
                    "https://",
                    "https:",
                    "https:///x",
                    "//page.example/",
                    "/heron",
                    "page.example",
                    "mailto:a@b",
                ),
                *("javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "https://a b/", "https://a\0b/"),
                *("https://you@page.example/", "https://you:me@page.example/", "https://@page.example/"),
                *("https://page.example:x/", "https://page.example:99999/", "https://[::1/"),
                "https://page.example/" + "\u00e4" * 2_000,
            ],
        },
        null=TAKEN,
    ),
}
COMMENT: Fields = {
    "content": text(500, null=TAKEN),
    "parentId": identifier(),
    "media": thing(null=TAKEN),
    "media.type": choice("gif", "image", null=REQUIRED),
    "media.url": formatted(
        "https://images.example.org/heron.gif",
        [
            "HTTPS://EXAMPLE.ORG",
            "https://example.org:443/?q=1#part",
            "https://[2001:db8::7]/",
            "https://m\u00fcnchen.example/a\u0308",
            "https://example.org/" + "x" * 1980,
            "https://example.org/" + "a\u0308" * 1980,
        ],
        {
            "too_long": ["https://example.org/" + "x" * 1981, "https://example.org/" + "a\u0308" * 1981],
            "invalid_format": [
                *("", " ", "https://", "https:", "//example.org/", "/heron.gif", "example.org", "http://example.org/"),
                *("javascript:alert(1)", "data:image/gif,x", "https://a b/", "https://example.org/\n", " https://a/"),
                *("https://you@example.org/", "https://you:me@example.org/", "https://@example.org/", "https:///x"),
                *("https://example.org:x/", "https://example.org:99999/", "https://[::1/", "https://example.org/\0"),
                *("https://example.org/\x01", "https://example.org/\u202e", "https://example.org/\u200b"),
            ],
        },
        null=REQUIRED,
    ),
}
HUB: Fields = {
    "name": name(100, null=REQUIRED),
    "slug": formatted(
        New(12),
        [New(3), New(40), New(9, "-a-")],
        {
            "too_short": ["", "ab", "\u00e4", "a\u0308b"],
            "too_long": ["x" * 41, "\u00e4" * 41, "x" * 20_000],
            "invalid_format": [
                "a b",
                "a_b",
                "ABC",
                "a/b",
                "abc\n",
                "..a",
                "abc\u202e",
                "abc\0",
                "a\u0308bc",
                "\u0661" * 3,
            ],
        },
        null=REQUIRED,
    ),
    "description": text(500, null=TAKEN),
}
LINK = text(100, null=REQUIRED, empty=STRANGER, blank=STRANGER, fine=STRANGER, good="A" * 43)
"""The token of a link. None holds here."""


SIGN_UP: Fields = {
    "username": username(),
    "email": formatted(
        New(24, "@example.org"),
        [New(9, "@b"), New(254, "@example.org"), New(30, "+tag@example.org"), New(30, "@m\u00fcnchen.example")],
        {
            "too_long": ["x" * 243 + "@example.org", "x" * 20_000, "\u00e4" * 255],
            "invalid_format": [
                *(
                    "",
                    " ",
                    "a",
                    "a@",
                    "@example.org",
                    "a@b@c",
                    "a b@example.org",
                    "a@b c",
                    "a@.org",
                    "a@b..org",
                    "a@b.",
                ),
                *(
                    "a@example.org\n",
                    "a@example.org\r\nBcc: b@example.org",
                    "a@example.org,b@example.org",
                    "<a@b>",
                    "a:b@c",
                ),
                *("a\0@example.org", "a@example\0.org", "a@example.org\0", "a\x01@example.org", "a@exam\x01ple.org"),
                *("a\u202e@example.org", "a@exam\u200eple.org", "a\u2066@example.org", "a\x85@example.org"),
                *("a@example.o\x01rg", "a@example.org\x7f", "a\x7f@example.org"),
            ],
        },
        null=REQUIRED,
    ),
    "password": text(200, null=REQUIRED, empty=TOO_SHORT, shortest=10, good="nine plums and a kettle"),
    "displayName": name(100, null=TAKEN),
}


def encoded(longest: int) -> Field:
    """Bytes as base64url."""
    wrong = {
        "too_short": [""],
        "too_long": ["x" * (longest + 1), "x" * 20_000],
        "invalid_format": ["a b", "\u00e4", "YQ==", "a+b", "a/b", "a\0", "a\n"],
    }
    return formatted("YWJj", ["A-_9", "x" * longest], wrong, null=REQUIRED)


PASSKEY: Fields = {
    "credentialId": encoded(1_400),
    "userHandle": encoded(100),
    "clientDataJSON": encoded(4_000),
    "authenticatorData": encoded(16_000),
    "signature": encoded(16_000),
}
PROFILE: Fields = {
    "displayName": name(100, null=TAKEN),
    "username": also(username(), {"null": (None, TAKEN)}),
    "bio": text(500, null=TAKEN),
    "isPrivate": flag(null=TAKEN),
    "discoverable": flag(null=TAKEN),
}
KEY: Fields = {
    "label": name(60, null=REQUIRED),
    "scopes": also(
        items([SCOPES[0]], lambda place: SCOPES[place % 8], 1, 8, null=REQUIRED),
        {
            "one twice": ([SCOPES[1], SCOPES[0], SCOPES[1]], bad("duplicate", "[2]")),
            "one eight times": (SCOPES[:1] * 8, Said(400, tuple((f"[{at}]", "duplicate") for at in range(1, 8)))),
            "two unknown": (
                ["like", SCOPES[0], "*"],
                Said(400, (("[0]", "invalid_choice"), ("[2]", "invalid_choice"))),
            ),
        },
    ),
    "scopes[0]": choice(*SCOPES, null=TYPE),
    "expiry": formatted(
        "90d",
        [
            *("never", "30d", "1y", "2027-01-15T08:00:00.001Z", "2027-06-30T00:00Z", "9999-12-31T23:59:59.999Z"),
            *("20270630T000000+0200", "2027-06-30T00:00:00.000000-23:59"),
        ],
        {
            "too_long": ["2027-06-30T00:00:00." + "0" * 20 + "Z", "9" * 20_000, "\u00e4" * 41],
            "out_of_range": [
                "2027-01-15T08:00:00.000Z",
                "1970-01-01T00:00Z",
                "2027-01-15T08:30+01:00",
                "0001-01-01T00:00Z",
            ],
            "invalid_format": [
                *("", " ", "NEVER", "never ", "31d", "2y", "-1", "0", "2027-06-30", "2027-06-30T00:00:00", "tomorrow"),
                *(
                    "2027-02-29T00:00Z",
                    "2027-13-01T00:00Z",
                    "2027-06-30T00:60Z",
                    "2027-06-30 00:00Z",
                    "30d\0",
                    "9" * 40,
                ),
                *(
                    "9999-12-31T23:59:59-00:01",
                    "0000-01-01T00:00Z",
                    "2027-06-30T00:00z",
                    "\u0662027-06-30T00:00Z",
                    "30d\x01",
                ),
            ],
        },
        null=TAKEN,
        kept=False,
    ),
    "ipAllowlist": also(
        items(["203.0.113.0/24"], "198.51.100.{}".format, 0, 50, null=TAKEN),
        {
            "one twice": (["203.0.113.7", "203.0.113.7/32", "::ffff:203.0.113.7"], TAKEN),
            "two unknown": (["a", "::1", ""], Said(400, (("[0]", "invalid_format"), ("[2]", "invalid_format")))),
        },
    ),
    "ipAllowlist[0]": formatted(
        "203.0.113.0/24",
        ["203.0.113.7", "0.0.0.0/0", "::/0", "::1", "2001:db8::/32", "::ffff:203.0.113.0/120", "2001:DB8::7"],
        {
            "invalid_format": [
                *(
                    "",
                    " ",
                    "localhost",
                    "203.0.113",
                    "203.0.113.256",
                    "203.0.113.7/24",
                    "203.0.113.0/33",
                    "203.0.113.0/-1",
                ),
                *(
                    "203.0.113.0/",
                    "/24",
                    "203.0.113.0/24/24",
                    "203.0.113.007",
                    "2001:db8::7/32",
                    "::/129",
                    ":::",
                    "fe80::1%eth0",
                ),
                *(
                    "203.0.113.7 ",
                    "203.0.113.7\n",
                    "203.0.113.7\0",
                    "\uff12\uff10\uff13.0.113.7",
                    "1" * 10_000,
                    "10.0.0.0-10.0.0.9",
                ),
            ]
        },
        null=TYPE,
        kept=False,
    ),
}
NOBODY = bad("invalid_choice")._replace(status=422)

REASON = reason(200)

NO_FILE = Said(422, (("", "not_allowed"),))
TOO_MANY = Said(422, (("", "too_many"),))
DRAFT: Fields = {
    **PUBLISH,
    "content": text(5000, null=TAKEN),
    "hubId": text(100, null=TAKEN),
    # Neither is for keys.
    "usernames": replace(
        also(
            items([READER], "nobody{}".format, 0, 1000, null=TAKEN),
            {"one twice, in another case": ([READER, READER.upper()], bad("duplicate", "[1]"))},
        ),
        good=[],
    ),
    "usernames[0]": text(30, null=TYPE),
    "mediaIds": replace(
        also(
            items(
                ["a"],
                "file{}".format,
                0,
                10,
                null=TAKEN,
                full=Said(422, tuple((f"[{place}]", "not_allowed") for place in range(10))),
            ),
            {"one twice": (["a", "b", "a"], bad("duplicate", "[2]"))},
        ),
        good=[],
    ),
    "mediaIds[0]": text(26, null=TYPE, empty=NO_FILE, blank=NO_FILE, fine=NO_FILE),
    "altText": replace(
        items(["all red"], "all red {}".format, 0, 10, null=TAKEN, full=Said(422, (("[0]", "too_many"),))), good=[]
    ),
    "altText[0]": text(1_500, null=TYPE, empty=TOO_MANY, blank=TOO_MANY, fine=TOO_MANY),
    "publishAt": formatted(
        None,
        ["2027-06-30T00:00Z", "2027-01-15T08:00:00.001Z", "2028-01-15T08:00:00.000Z", "20270630T000000+0200"],
        {
            "too_long": ["2027-06-30T00:00:00." + "0" * 20 + "Z", "9" * 20_000, "\u00e4" * 41],
            "out_of_range": [
                *("2027-01-15T08:00:00.000Z", "1970-01-01T00:00Z", "2028-01-15T08:00:00.001Z", "9999-12-31T00:00Z"),
            ],
            "invalid_format": ["", " ", "tomorrow", "2027-06-30", "2027-06-30T00:00:00", "2027-02-29T00:00Z", "30d\0"],
        },
        null=TAKEN,
        kept=False,
    ),
    "needsApproval": replace(flag(null=TAKEN), good=False),  # one that needs it cannot be scheduled by a key
}

LIMITS_END = formatted(
    "2027-06-30T00:00Z",
    ["2027-01-15T08:00:00.001Z", "9999-12-31T23:59:59.999Z"],
    {
        "too_long": ["9" * 20_000],
        "out_of_range": ["2027-01-15T08:00:00.000Z", "1970-01-01T00:00Z"],
        "invalid_format": ["", " ", "tomorrow", "2027-06-30", "2027-02-29T00:00Z"],
    },
    null=TAKEN,
    kept=False,
)
# Only one of the texts has an end: no value is right for all.
ANNOUNCEMENT_END = formatted(
    None,
    [],
    {"too_long": ["9" * 20_000], "out_of_range": ["1970-01-01T00:00Z"], "invalid_format": ["", "tomorrow"]},
    null=TAKEN,
    kept=False,
)
VERSION = replace(whole(1, 1_000_000_000, null=REQUIRED), kept=False)
STALE = Said(409)

FIELDS: dict[str, Fields] = {
    "create_post": PUBLISH,
    "edit_post": {
        "content": text(5000, null=TAKEN, empty=REQUIRED, blank=REQUIRED),
        "visibility": visibility(),
        "comments": PUBLISH["comments"],
    },
    "publish_text": {"text": replace(text(20_000, null=REQUIRED), kept=False), "endsAt": ANNOUNCEMENT_END},
    "set_filters": {
        "filters": also(
            items([{"text": "ferry"}], lambda place: {"text": f"ferry {place}"}, 0, 100, null=REQUIRED),
            {"each of them wrong": ([[], {}], Said(400, (("[0]", "type"), ("[1].text", "required"))))},
        ),
        "filters[0]": thing(null=TYPE),
        "filters[0].text": text(100, null=REQUIRED, empty=REQUIRED, blank=REQUIRED),
        "filters[0].wholeWord": flag(null=TAKEN),
        "filters[0].places": items(["timeline"], lambda _: "timeline", 1, 2, null=TAKEN),
        "filters[0].places[0]": choice("timeline", "notifications", null=TYPE),
    },
    "accept_follow_requests": {"upTo": shown_id(null=TAKEN)},
    "bounce_post": {"content": text(5000, null=TAKEN)},
    "vote": {
        "choices": also(
            items([0, 1], lambda place: place, 1, 10, null=REQUIRED),
            {"one twice": ([2, 0, 2, 0], Said(400, (("[2]", "duplicate"), ("[3]", "duplicate"))))},
        ),
        "choices[0]": whole(0, 9, null=TYPE),
    },
    "set_audience": {
        "usernames": also(
            items(
                [READER],
                "nobody{}".format,
                0,
                1000,
                null=REQUIRED,
                full=Said(422, tuple((f"[{place}]", "invalid_choice") for place in range(1000))),
            ),
            {
                "one twice, in another case": ([READER, READER.upper()], bad("duplicate", "[1]")),
                "one twice, folded": (["stra\u00dfe", "STRASSE"], bad("duplicate", "[1]")),
                "two unknown": (
                    ["nobody1", READER, "nobody2"],
                    Said(422, (("[0]", "invalid_choice"), ("[2]", "invalid_choice"))),
                ),
            },
        ),
        "usernames[0]": also(
            text(30, null=TYPE, empty=NOBODY, blank=NOBODY, fine=NOBODY, good=READER),
            {"another case": (READER.upper(), TAKEN)},
        ),
    },
    "preview_post": {
        **{name: replace(field, kept=False) for name, field in PUBLISH.items()},
        "hubId": text(None, null=TAKEN),
    },
    "create_draft": DRAFT,
    "edit_draft": {**DRAFT, "version": also(VERSION, {"the highest": (1_000_000_000, STALE)})},
    "publish_draft": {"version": also(VERSION, {"the highest": (1_000_000_000, STALE), "null": (None, TAKEN)})},
    "edit_clip": {"caption": text(2200, null=TAKEN), "visibility": visibility()},
    "create_comment": COMMENT,
    "edit_comment": {"content": text(500, null=REQUIRED, empty=REQUIRED, blank=REQUIRED)},
    "sign_up": {**SIGN_UP, "invite": text(100, null=TAKEN, good="A" * 43)},
    "set_up": {**SIGN_UP, "token": text(100, null=REQUIRED, good="A" * 43)},
    "forgot_password": {"email": SIGN_UP["email"]},
    "reset_password": {"token": LINK, "password": SIGN_UP["password"]},
    "verify_email": {"token": LINK},
    "sign_in_by_link": {"token": LINK},
    "sign_in": {
        "login": text(254, null=REQUIRED),
        "password": text(200, null=REQUIRED),
        "code": text(LONGEST_CODE, null=TAKEN),
    },
    "confirm_password": {"password": text(200, null=REQUIRED)},
    "add_passkey": {
        "name": name(60, null=REQUIRED),
        "clientDataJSON": encoded(4_000),
        "attestationObject": encoded(16_000),
    },
    "rename_passkey": {"name": name(60, null=REQUIRED)},
    "sign_in_with_passkey": PASSKEY,
    "confirm_with_passkey": PASSKEY,
    "delete_own_account": {
        "username": text(100, null=REQUIRED, empty=TOO_SHORT),
        "password": text(200, null=REQUIRED),
    },
    "change_password": {"password": SIGN_UP["password"]},
    "change_email": {"email": SIGN_UP["email"]},
    "confirm_two_factor": {"code": text(LONGEST_CODE, null=REQUIRED, empty=TOO_SHORT)},
    "remove_two_factor": {
        "password": text(200, null=TAKEN),
        "code": text(LONGEST_CODE, null=TAKEN, empty=TOO_SHORT),
    },
    "edit_me": PROFILE,
    "create_key": KEY,
    "edit_key": {"note": text(500, null=REQUIRED)},
    "create_hub": HUB,
    "make_invitation": {"note": text(200, null=TAKEN)},
    "verify_account": {"verified": flag(null=TAKEN), "emailVerified": flag(null=TAKEN), "reason": REASON},
    "set_limits": {
        "reason": REASON,
        "requestsPerMinute": whole(1, 100_000, null=TAKEN),
        "requestsPerDay": whole(1, 100_000_000, null=TAKEN),
        "postsPerMinute": whole(1, 100_000, null=TAKEN),
        "contentPerDay": whole(0, 10_000_000, null=TAKEN),
        "sessionWritesPerMinute": whole(1, 100_000, null=TAKEN),
        "sessionContentPerDay": whole(0, 10_000_000, null=TAKEN),
        "storageBytes": whole(0, 10**12, null=TAKEN),
        "endsAt": LIMITS_END,
    },
    "suspend_account": {"reason": REASON},
    "restore_account": {"reason": REASON},
    "revoke_key_of": {"reason": REASON},
    "disable_webhook_of": {"reason": REASON},
    "delete_account": {"username": text(100, null=REQUIRED), "reason": REASON},
    "create_block": {
        "pattern": formatted(
            New(12, ".example"),
            [New(9, ".example"), New(9, "@example.org"), New(4, ".b\u00fccher.example")],
            {
                "too_long": ["x" * 321],
                "too_short": [""],
                "invalid_format": ["@", "a b.example", "a@b@", "example..org"],
            },
            null=REQUIRED,
            kept=False,
        ),
        "reason": reason(500),
    },
    "decide_report": {
        "decision": choice("hidden", "shown", "deleted", "suspended", "dismissed", null=REQUIRED),
        "reason": reason(500),
    },
    "create_report": {
        "type": choice("post", "comment", "account", null=REQUIRED),
        "id": text(100, null=REQUIRED, empty=TOO_SHORT),
        "reason": reason(500),
    },
    "exclude_from_explore": {
        "type": choice("tag", "post", "account", "hub", null=REQUIRED),
        "subject": text(200, null=REQUIRED, empty=TOO_SHORT),
        "reason": reason(500),
    },
    "create_webhook": WEBHOOK,
    "replace_webhook": WEBHOOK,
    "edit_webhook": {**EDITED_EVENTS, "label": also(name(60, null=TAKEN), {"nothing": ("", TAKEN)})},
    "redeliver_events": REDELIVERY,
    "read_notifications": {"upTo": shown_id(null=REQUIRED)},
    "edit_notification_settings": {each.value: choice("app", "mail", "off", null=TAKEN) for each in NotificationType},
    "preview_redelivery": {
        name: replace(field, kept=name not in ("since", "until")) for name, field in REDELIVERY.items()
    },
}
