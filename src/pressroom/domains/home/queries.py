"""SQL of the front page."""

from typing import Final

import msgspec

from pressroom.db import Query


class FirstSteps(msgspec.Struct):
    """The first steps that an account has ever taken."""

    has_key: bool
    has_post: bool
    has_endpoint: bool


# Not EXISTS for the posts: for that PostgreSQL may walk through the table and hope to meet one of the account soon. The
# first post from the account on is one step along the primary key.
FIND_FIRST_STEPS: Final = Query(
    FirstSteps,
    "SELECT EXISTS (SELECT 1 FROM api_keys WHERE account_id = :account_id) AS has_key,"
    " coalesce((SELECT account_id FROM posts WHERE account_id >= :account_id ORDER BY account_id, id LIMIT 1), '')"
    " = :account_id AS has_post,"
    " EXISTS (SELECT 1 FROM webhooks WHERE account_id = :account_id) AS has_endpoint",
)
