"""SQL of the front page."""

from typing import Final

import msgspec

from pressroom.db import Query


class FirstSteps(msgspec.Struct):
    """What an account has ever done of the first steps."""

    has_key: bool
    has_post: bool
    has_endpoint: bool


FIND_FIRST_STEPS: Final = Query(
    FirstSteps,
    "SELECT EXISTS (SELECT 1 FROM api_keys WHERE account_id = :account_id) AS has_key,"
    " EXISTS (SELECT 1 FROM posts WHERE account_id = :account_id) AS has_post,"
    " EXISTS (SELECT 1 FROM webhooks WHERE account_id = :account_id) AS has_endpoint",
)
