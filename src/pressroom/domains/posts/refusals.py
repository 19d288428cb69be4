"""Errors that the API reference shows for several routes of posts."""

from typing import Final

from pressroom.errors import Code, FieldError, Invalid, NotFound, Unprocessable

NO_POST: Final = NotFound("There is no such post.")
BAD_POST: Final = Invalid(
    [
        FieldError("content", Code.TOO_LONG, "At most 5,000 characters; this has 5,214."),
        FieldError(
            "visibility",
            Code.INVALID_CHOICE,
            "Must be one of PUBLIC, FOLLOWERS, CONNECTIONS, PRIVATE, CUSTOM.",
        ),
        FieldError("tags", Code.UNKNOWN_FIELD, "There is no such field; is it misspelt?"),
    ]
)
BAD_UPLOAD: Final = Invalid(
    [
        FieldError("media[1]", Code.TOO_LARGE, "A file has at most 8,388,608 bytes."),
        FieldError(
            "media[2]", Code.UNSUPPORTED_MEDIA_TYPE, "Declared as image/png, but by its bytes this is image/jpeg."
        ),
    ]
)
MEDIA_QUOTA_REACHED: Final = Unprocessable(
    [
        FieldError(
            "media",
            Code.TOO_LARGE,
            "The account may store 5,368,709,120 bytes of media, and these 9,120,400 are too many on top of it.",
        )
    ]
)
NOT_A_MEMBER: Final = Unprocessable(
    [
        FieldError(
            "hubId",
            Code.NOT_ALLOWED,
            "The account is not a member of such a hub. Join it first, or leave hubId out.",
        )
    ]
)
