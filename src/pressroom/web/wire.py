"""The strings that recur on the wire, annotated for the API reference."""

from typing import Annotated

from msgspec import Meta

Id = Annotated[str, Meta(description="Opaque; sorts by time of creation.")]
Time = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
Url = Annotated[str, Meta(extra_json_schema={"format": "uri"})]
"""Where something is to be fetched."""

VISIBLE = r"\S"
"""Pattern of text that shows something: not white space alone."""


EXAMPLE_BASE = "https://press.example"
"""The base address that examples show."""


def some_given(**fields: dict[str, object]) -> dict[str, object]:
    """The JSON Schema that at least one field is there and, since null means absent, is of its schema.

    Said by `not`: from an `anyOf` with `required` generators of clients make a type for each way, or none at all.
    """
    return {"not": {"properties": {name: {"not": schema} for name, schema in fields.items()}}}
