"""The texts of the document."""

from typing import Final

from pressroom.errors import Code, Limit
from pressroom.settings import Settings
from pressroom.web.incoming_body import JSON_LIMIT

_INTRODUCTION: Final = """\
Pressroom publishes for programs. A program holds an API key, the key stands for one account, and what it publishes \
appears in that account's name.

## Keys and sessions

Send a key as `Authorization: Bearer svc_live_…`. The account's owner makes keys, signed in; each has scopes, and may \
have an expiry and a list of networks that it may be used from. A key is shown once, when it is made. A revoked or \
expired key is refused from the next request on.

The web app uses the cookie `session` instead. Where an operation takes either, a request with an `Authorization` \
header is judged by that header alone. Some operations are for the signed-in owner only and answer 403 to every key.

## Requests

Bodies are JSON objects in UTF-8, at most {body_limit:,} bytes. `null` for an optional field means that it is not \
given, except where the field says otherwise. An unknown field is refused by name, so a misspelt one never goes \
unnoticed. Text is brought into Unicode normal form C first, then measured in code points, stored and returned so.
No text may hold the character NUL.

Ids are opaque strings that sort by time of creation. Times are ISO 8601 in UTC with milliseconds, \
`2026-11-20T16:08:12.345Z`. Addresses in answers are absolute. Lists come in pages: `nextCursor` is the `cursor` of \
the next page, and null on the last. \
Answers may gain fields; ignore those that you do not know. HEAD is answered like GET, without the body.

Every answer has `X-Request-Id`, which names the request in the server's log: quote it in a report. Answers under \
`/api` have `X-Service-Api-Version: 1` and `Cache-Control: no-store` too.

## Idempotency

Give a write the header `Idempotency-Key`, a fresh UUID for example, and send it again whenever the \
answer did not arrive. The first request that succeeds stores its answer for 24 hours, in the same transaction as its \
effect; every repetition gets that answer, with status 200 and `Idempotent-Replayed: true`, and has no other effect. \
What counts as a repetition is the same account, method, path and key; where its body is another than the first one's, \
the answer also has `Idempotent-Body-Differs: true`. A request that was refused or failed stores nothing and may be \
sent again under its key. Signing up and in, which no account does, store nothing. A stored answer never holds a new \
API key: the replay of its creation has null in its place.

## Webhooks

The owner has events sent to https addresses, as they happen: signed, tried again with growing pauses, and once more \
on demand. An envelope can arrive more than once; its `id` identifies it. What is sent is shown under Webhooks.

## Limits

| Limit | Per | |
| --- | --- | --- |
| {per_minute:,} requests in any 60 seconds | key | `X-RateLimit-*` and `RateLimit` show its state |
| {per_day:,} requests in any 24 hours | key | `RateLimit` shows its state |
| {posts:,} times `POST /api/posts` in any 60 seconds | key | `RateLimit` shows its state |
| {quota:,} posts, clips and bounces a UTC day | account, over all its keys | failed and repeated writes spend nothing |

The windows roll: there is no moment at which a counter jumps back. After a 429 wait `retryAfter` seconds, which the \
header `Retry-After` repeats. Trying sooner counts against the minute and keeps the key out longer; {refusals:,} \
refusals within {window:,} seconds revoke it. Repetitions of a write are requests like others.

## Errors

Every error has the same envelope: `error` is a label, `message` is for people, and the rest \
depends on the failure. Checks come in this order: path and method (404, 405), key or session (401), its address \
(403), rate limits (429), whether a key may do this at all and its scope (403), the body (408, 413, 415, 400), \
repetition of an earlier write, what is stored (404, 409, 422), the daily quota (429). A 400 lists every fault of the \
request in `details`, not the first alone. A 5xx is safe to retry with an `Idempotency-Key`.

A path that does not exist is a 404, a method that a path does not take a 405 with `Allow`: `x-elsewhere` in this \
document, which also has what any operation may answer when something fails: 500 and 503.
"""

WHEN: Final = {
    "Validation failed": "the request is malformed or breaks a field's own rule; `details` lists every fault.",
    "Missing API key": "there is neither an `Authorization` header nor a session.",
    "Invalid API key": "the `Authorization` header does not hold a key that was issued here.",
    "API key revoked": "the key was taken back.",
    "API key expired": "the key reached its expiry time.",
    "Not signed in": "there is no session, or it has ended.",
    "Invalid credentials": "the login is unknown, the password is wrong, or so is the code that the account wants.",
    "IP address not allowed": "the request comes from outside the key's allowlist; it is not counted.",
    "Missing required scope": "the key lacks the scope that `requiredScope` names.",
    "Session required": "an API key was presented, and this is for people who are signed in.",
    "Password required": "the password was given more than 30 minutes ago: confirm it first.",
    "Account suspended": "the password is right, but the operator has suspended the account.",
    "Cross-origin request refused": "a browser sent this from a page of another origin.",
    "Not found": "it is absent, deleted, or not for this caller's eyes.",
    "Method not allowed": "the path exists, the method does not; `Allow` lists those that do.",
    "Request timeout": "the body did not arrive in time.",
    "Conflict": "it exists already, or a cap is reached.",
    "Cursor expired": "events after the cursor are no longer kept; `oldest` is the cursor to go on after.",
    "Payload too large": "the body is larger than any that this operation takes.",
    "URI too long": "path and query together have more than 8 KiB.",
    "Unsupported media type": "the body is of another type, or encoded.",
    "Unprocessable": "the request is well-formed, but stored state forbids it; `details` says what.",
    "Rate limit exceeded": "the key has made too many requests; `message` names the limit that bound.",
    "Daily content quota exceeded": "the account has published all that a UTC day allows.",
    "Too many attempts": "too many sign-ins failed for this login or from this address.",
    "Internal error": "something failed here; safe to retry with an `Idempotency-Key`.",
    "Unavailable": "something that the service depends on is away; safe to retry with an `Idempotency-Key`.",
}
"""When an error has this label."""

_CODES: Final = {
    Code.REQUIRED: "a field that is needed is absent",
    Code.TYPE: "the value is of another JSON type",
    Code.UNKNOWN_FIELD: "there is no such field",
    Code.TOO_LONG: "more characters than allowed",
    Code.TOO_SHORT: "fewer characters than needed, or white space alone",
    Code.TOO_MANY: "more items than allowed",
    Code.TOO_FEW: "fewer items than needed",
    Code.OUT_OF_RANGE: "a number or a time outside its range",
    Code.INVALID_CHOICE: "not one of the listed values",
    Code.INVALID_FORMAT: "the text does not have the form that is needed",
    Code.UNSUPPORTED_MEDIA_TYPE: "a file of a type that is not taken",
    Code.TOO_LARGE: "a file that is too large",
    Code.NOT_ALLOWED: "well-formed, but not possible here",
    Code.DUPLICATE: "given more than once",
}

_LIMITS: Final = {
    Limit.REQUESTS_PER_MINUTE: "requests of the key in any 60 seconds",
    Limit.REQUESTS_PER_DAY: "requests of the key in any 24 hours",
    Limit.POSTS_PER_MINUTE: "posts of the key in any 60 seconds",
    Limit.CONTENT_PER_DAY: "posts, clips and bounces by key, of the account, this UTC day",
    Limit.SESSION_WRITES_PER_MINUTE: "writes of the account, signed in, in any 60 seconds",
    Limit.SESSION_CONTENT_PER_DAY: "posts, clips and bounces of the account, signed in, this UTC day",
    Limit.STREAMS_PER_KEY: "streams of events that the key has open",
    Limit.SIGN_INS: "passwords of the account or the address, right or wrong",
    Limit.SIGNUPS_PER_HOUR: "sign-ups from the address",
    Limit.RESETS_PER_HOUR: "requests for a new password from the address",
    Limit.MAILS_PER_HOUR: "mails of one kind to one address",
    Limit.EMAIL_CHANGES_PER_HOUR: "e-mail addresses that an account asks for",
}

PROBLEM_FIELDS: Final = {
    "error": "Which failure it is. A later version may know more: treat an unknown one by its status.",
    "message": "For people; its wording may change.",
    "retryAfter": "On 429: whole seconds after which one request will pass, if none is sent before.",
    "limit": "On 429: the limit that was reached.",
    "oldest": "On `Cursor expired`: the cursor before the oldest event that is kept.",
    "requiredScope": "On `Missing required scope`: the scope that the key lacks.",
    "details": "On 400 and 422: every fault that was found.",
    "draft": "On a 409 of a draft: the draft as it stands.",
}
FIELD_ERROR_PROPERTIES: Final = {
    "field": "A dotted path into the body, list items as `media[2]`; `body` for a fault of the whole, "
    "`header.Idempotency-Key` for a header, a parameter's name for a parameter.",
    "message": "For people; its wording may change.",
}

REFUSAL: Final = "Refused: the request, its key or session is not admitted, or a limit is reached. Nothing was done."
FAILURE: Final = "Failed; safe to retry with an `Idempotency-Key`."

REPLAY: Final = "A replay: the stored answer of an earlier request. Nothing was done."

SECURITY_SCHEMES: Final[dict[str, dict[str, object]]] = {
    "apiKey": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "svc_live_…",
        "description": "An API key: `svc_live_` and 38 letters and digits, of which the last 6 are a checksum.",
    },
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "session",
        "description": "The cookie of a signed-in browser, from signing up or in. It ends 30 days after its last use: "
        "a response to a request that sends it may renew it, once a day. Unsafe requests must come from the "
        "service's own origin.",
    },
}

PARAMETERS: Final[dict[str, dict[str, object]]] = {
    "idempotencyKey": {
        "name": "Idempotency-Key",
        "in": "header",
        "description": "Makes the write safe to repeat for 24 hours: 1 to 255 visible ASCII characters, as of a UUID.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
        "example": "0d1f6a5e-3b0c-4c59-9d55-0f6f7f3a2b11",
    },
    "pageLimit": {
        "name": "limit",
        "in": "query",
        "description": "How many items at most.",
        "schema": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
    },
    "pageCursor": {
        "name": "cursor",
        "in": "query",
        "description": "The `nextCursor` of the page before, unchanged; the first page without it.",
        "schema": {"type": "string"},
    },
}
"""Parameters that many operations take."""


def introduction(settings: Settings) -> str:
    """Returns the introduction, with the limits of this server."""
    return _INTRODUCTION.format(
        body_limit=JSON_LIMIT,
        per_minute=settings.requests_per_minute,
        per_day=settings.requests_per_day,
        posts=settings.posts_per_minute,
        quota=settings.daily_content_quota,
        refusals=settings.abuse_refusals,
        window=settings.abuse_window_seconds,
    )


def limits() -> str:
    """Returns the description of the limits: each name with its meaning."""
    return "Which limit was reached. A later version may know more.\n\n" + "\n".join(
        f"- `{limit}`: {_LIMITS[limit]}" for limit in Limit
    )


def codes() -> str:
    """Returns the description of the codes: each with its meaning."""
    return "What kind of fault it is. A later version may know more.\n\n" + "\n".join(
        f"- `{code}`: {_CODES[code]}" for code in Code
    )
