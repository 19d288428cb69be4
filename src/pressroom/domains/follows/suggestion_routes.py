"""Names for an allowlist while it is typed: of those whom the account follows, and of nobody else."""

import re
from typing import Final

from pressroom.domains.accounts.models import Caller, folded
from pressroom.domains.accounts.schemas import AuthorOut
from pressroom.domains.follows.queries import suggest_followed
from pressroom.domains.follows.routes import TAG
from pressroom.domains.follows.schemas import SuggestionsOut, person_shape
from pressroom.errors import Code, FieldError, Invalid
from pressroom.web.access import SessionOnly
from pressroom.web.query import parse_query
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import QueryParameter, Routes

routes: Final = Routes[Caller](TAG)


MOST: Final = 8
"""Names that are suggested at once."""

LOOKED_AT: Final = 2_000
"""Of how many whom the account follows names are suggested."""

LONGEST: Final = 30

_OF_NAMES: Final = re.compile(r"\w*", re.ASCII)
_TOO_LONG: Final = Invalid([FieldError("prefix", Code.TOO_LONG, f"A user name has at most {LONGEST} characters.")])


@routes.get(
    "/api/follows/suggestions",
    SessionOnly(),
    summary="Suggest user names",
    gives=SuggestionsOut,
    fails=(_TOO_LONG,),
    query=(
        QueryParameter(
            "prefix", "What the user names begin with, in any case.", {"type": "string", "maxLength": LONGEST}
        ),
    ),
    response_example=SuggestionsOut([AuthorOut.example()]),
)
async def suggest_follows(request: Request[Caller]) -> Response:
    """Up to 8 accounts that the account follows, by the beginning of their user names: for an allowlist. Of whoever it
    does not follow nothing is told."""
    prefix = parse_query(request.query).get("prefix", "").removeprefix("@")
    if len(prefix) > LONGEST:
        raise _TOO_LONG
    if not _OF_NAMES.fullmatch(prefix):
        return json_response(SuggestionsOut([]))
    own = request.caller.account.id
    found = await request.db.read(suggest_followed, own, folded(prefix), looked_at=LOOKED_AT, limit=MOST)
    return json_response(SuggestionsOut([person_shape(each, request.settings.base_url) for each in found]))
