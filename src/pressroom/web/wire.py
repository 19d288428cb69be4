"""Types of strings that many bodies and responses use, annotated for the API reference."""

from typing import Annotated

from msgspec import Meta

from pressroom.text import CONTROLS, INVISIBLE

Id = str
"""An opaque text that sorts by time of creation, as the introduction of the API reference explains."""

NextCursor = str | None
"""The cursor of the next page; null on the last."""

Time = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
Url = Annotated[str, Meta(extra_json_schema={"format": "uri"})]
"""An address to fetch something from."""

Permalink = Annotated[str, Meta(description="The address for people.", extra_json_schema={"format": "uri"})]

VISIBLE = r"\S"
"""A pattern for text that is not only white space."""

SHOWN = rf"[^{INVISIBLE}]"
"""A pattern for text with at least one visible character."""

ONE_LINE = rf"^(?=.*[^{INVISIBLE}])[^{CONTROLS}]*$"
"""A pattern for names: `pressroom.text`."""

EXAMPLE_BASE = "https://press.example"
"""The base address that examples show."""


def some_given(**fields: dict[str, object]) -> dict[str, object]:
    """Returns the JSON Schema that at least one field is given; null counts as absent.

    Written with `not`: from an `anyOf` with `required`, generators of clients make a type for each case, or none.

    Args:
        fields: The schema of each field.
    """
    return {"not": {"properties": {name: {"not": schema} for name, schema in fields.items()}}}
