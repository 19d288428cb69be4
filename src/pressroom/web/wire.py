"""The strings that recur on the wire, annotated for the API reference."""

from typing import Annotated

from msgspec import Meta

Id = Annotated[str, Meta(description="Opaque; sorts by time of creation.")]
Time = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
Address = Annotated[str, Meta(extra_json_schema={"format": "uri"})]
"""Where something is to be fetched."""

VISIBLE = r"\S"
"""Pattern of text that shows something: not white space alone."""


EXAMPLE_BASE = "https://press.example"
"""The base address that examples show."""


def given(name: str, schema: dict[str, object]) -> dict[str, object]:
    """The JSON Schema that a field is there and, since null means absent, is of `schema`."""
    return {"required": [name], "properties": {name: schema}}
