"""Rules of names: of those in a line of their own, and of user names that look alike (docs/people.md#names). Pure."""

from collections.abc import Iterator

from pressroom.errors import Code, FieldError
from pressroom.text import has_controls, is_invisible


def name_errors(field: str, name: str | None, what: str) -> Iterator[FieldError]:
    """Yields an error when a name shows nothing, or holds what would move or hide what stands beside it.

    Args:
        field: Where the name was given.
        name: The name; None when there is none. An empty one is left to the type of its field.
        what: What the message calls it, with its article: `A display name`.
    """
    if not name:
        return
    if is_invisible(name):
        yield FieldError(field, Code.TOO_SHORT, f"{what} must show something.")
    elif has_controls(name):
        message = f"{what} is one line, without control characters and marks of the direction of writing."
        yield FieldError(field, Code.INVALID_FORMAT, message)


def username_shape(username: str) -> str:
    """Returns a user name in lower case and without `_`, for comparison (docs/people.md#reserved-user-names)."""
    return username.lower().replace("_", "")
