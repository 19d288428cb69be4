"""The headers of responses."""

from typing import Final

from pressroom.settings import Settings
from pressroom.web.openapi.schemas import Json

RATE_LIMITS: Final = (
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "RateLimit-Policy",
    "RateLimit",
)
RETRY_AFTER: Final = "Retry-After"
CHALLENGE: Final = "WWW-Authenticate"
REPLAYED: Final = "Idempotent-Replayed"
BODY_DIFFERS: Final = "Idempotent-Body-Differs"
LOCATION: Final = "Location"
ALLOW: Final = "Allow"
COOKIE: Final = "Set-Cookie"


def reference(name: str) -> Json:
    """Returns a reference to a header's description."""
    return {"$ref": f"#/components/headers/{name}"}


def of_refusals() -> dict[str, Json]:
    """Returns the headers of refusals by operations, beside those of every response."""
    return {name: reference(name) for name in (*RATE_LIMITS, CHALLENGE, RETRY_AFTER)}


def allow() -> dict[str, Json]:
    """Returns the header that lists the methods of a path."""
    return {ALLOW: _header("The methods that the path takes.", "GET, POST, HEAD")}


def cookie(does: str) -> Json:
    """Returns the header that sets or removes a cookie."""
    return {**reference(COOKIE), "description": does}


def components(settings: Settings) -> dict[str, Json]:
    """Returns every header that more than one response has."""
    per_minute, per_day = settings.requests_per_minute, settings.requests_per_day
    return {
        RATE_LIMITS[0]: _count("Requests that a key may make in any 60 seconds.", per_minute),
        RATE_LIMITS[1]: _count("Requests left in the current 60 seconds.", max(0, per_minute - 3)),
        RATE_LIMITS[2]: _count(
            "Unix time in seconds at which the oldest counted request leaves the minute.", 1795190952
        ),
        RATE_LIMITS[3]: _of_key(
            "Every limit that applies to the route: its name, as in `limit` of a 429, how much (`q`) in how many"
            " seconds (`w`).",
            {"type": "string"},
            f'"requests_per_minute";q={per_minute};w=60, "requests_per_day";q={per_day};w=86400',
        ),
        RATE_LIMITS[4]: _of_key(
            "The rest (`r`) of each limit that is counted per key, and the seconds until it grows (`t`).",
            {"type": "string"},
            f'"requests_per_minute";r={max(0, per_minute - 3)};t=12,'
            f' "requests_per_day";r={max(0, per_day - 3)};t=85020',
        ),
        RETRY_AFTER: {
            "description": "On 429 and 503: seconds to wait before the next try.",
            "schema": {"type": "integer", "minimum": 1},
            "example": 12,
        },
        CHALLENGE: {
            "description": "On 401: the scheme to authenticate with.",
            "schema": {"type": "string", "enum": ["Bearer"]},
            "example": "Bearer",
        },
        COOKIE: _header(
            "A cookie to keep or to forget.", "session=8Kd…; Path=/; HttpOnly; SameSite=Lax; Max-Age=2592000"
        ),
        LOCATION: _header(
            "Where what was made is found.",
            f"{settings.base_url}/api/posts/01KVCVX25JSSB86WQ50AY87SX4",
            {"type": "string", "format": "uri"},
        ),
        REPLAYED: {
            "description": "This is the stored answer of an earlier request with the same Idempotency-Key.",
            "schema": {"type": "string", "enum": ["true"]},
            "example": "true",
        },
        BODY_DIFFERS: {
            "description": "On a replay: the body of this request was not that of the first.",
            "schema": {"type": "string", "enum": ["true"]},
            "example": "true",
        },
    }


def _header(description: str, example: object, schema: Json | None = None) -> Json:
    return {
        "description": description,
        "required": True,
        "schema": schema or {"type": "string"},
        "example": example,
    }


def _count(description: str, example: int) -> Json:
    return _of_key(description, {"type": "integer", "minimum": 0}, example)


def _of_key(description: str, schema: Json, example: object) -> Json:
    return {"description": f"{description} On answers to an active key.", "schema": schema, "example": example}
