"""The header Location of every 201 and of its replays: where to find what was created."""

import re
from typing import Final, TypeVar
from urllib.parse import quote

import msgspec

from pressroom.web.request import Request
from pressroom.web.response import Response

C = TypeVar("C")

_PLACE: Final = re.compile(r"{(\w+)}")


_MADE: Final = "{made}"


class _Made(msgspec.Struct):
    """The field that the response to every creation has."""

    id: str


_decoder = msgspec.json.Decoder(_Made)


def location_of(template: str, request: Request[C], response: Response) -> tuple[bytes, bytes]:
    """Returns the header Location.

    Args:
        template: A path in which `{made}` stands for the id in the response, other names for the request's parameters.
        request: The request.
        response: The response to it: a 201, or the replay of one.
    """
    made = _decoder.decode(response.body).id
    if request.parameters:
        known = {**request.parameters, "made": made}
        path = _PLACE.sub(lambda place: quote(known[place[1]], safe=""), template)
    else:
        path = template.replace(_MADE, quote(made, safe=""))
    return b"location", (request.settings.base_url + path).encode()
