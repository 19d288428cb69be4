"""Posts that are edited while a process indexes them."""

import asyncio
import os
from collections.abc import Sequence

import pytest

from pressroom.clock import SettableClock
from pressroom.db import Tx
from pressroom.db.migrate import migrate
from pressroom.db.postgres.database import open_postgres
from pressroom.domains.accounts.actions import NewAccount, create_account
from pressroom.domains.accounts.models import Caller
from pressroom.domains.limits.actions import Allowance
from pressroom.domains.posts.actions.edit import edit_post
from pressroom.domains.posts.actions.publish import publish_post
from pressroom.domains.posts.models import BARE, Edit, NewPost, parse_text
from pressroom.domains.posts.visibility import Visibility
from pressroom.domains.search import queries
from pressroom.domains.search.actions import index_posts
from pressroom.domains.search.jobs import index_waiting
from pressroom.domains.search.models import parse_search
from pressroom.domains.search.posts import search_posts
from tests.harness.locks import WAITING
from tests.services.postgres import PostgresServer


def test_edit_of_a_post_that_is_being_indexed_is_indexed_too(
    postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres_server.create_database(f"search_indexing_{os.getpid()}")

    async def work() -> None:
        db = await open_postgres(url, SettableClock())
        try:
            await migrate(db)
            caller = Caller(await db.transact(create_account, NewAccount("author", "author@example.org", "no hash")))
            new = NewPost(parse_text("before"), BARE, None)
            post = (await db.transact(publish_post, caller, new, Allowance(10, 10, 10))).post
            has_read = asyncio.Event()

            async def list_indexed(tx: Tx, post_ids: Sequence[str]) -> dict[str, int]:
                """Waits, after the texts were read, for the edit: until that waits in turn, or is done."""
                has_read.set()
                while not await tx.one(WAITING) and not editing.done():
                    pass
                return await original(tx, post_ids)

            async def edit() -> None:
                await has_read.wait()
                await db.transact(edit_post, caller, post.id, Edit(parse_text("after"), Visibility.PUBLIC))

            original = queries.list_indexed
            editing = asyncio.create_task(edit())
            with monkeypatch.context() as patched:
                patched.setattr(queries, "list_indexed", list_indexed)
                await db.transact(index_posts)
            await editing
            await index_waiting(db)
            for word, ids in (("before", []), ("after", [post.id])):
                found = await search_posts(db, parse_search(word), caller.account.id, None, 20)
                assert [view.post.id for view in found.posts] == ids
        finally:
            await db.close()

    asyncio.run(work())
