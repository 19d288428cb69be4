"""What posts and keys go through while parts of the service fail, each step recorded in a history."""

import asyncio
from collections.abc import Sequence

from tests.harness.callers import Caller
from tests.harness.histories import History
from tests.harness.owners import Owner
from tests.harness.process import ServerProcess

SCOPES = ("posts:write", "posts:delete")


class Crowd:
    """Three people who are signed in, and two keys of the first; each asks either server."""

    def __init__(self, servers: Sequence[ServerProcess], history: History) -> None:
        self._servers, self._history = servers, history
        owners = [Owner(servers[0], name) for name in ("alice", "bob", "carol")]
        self._readers = [Caller(servers, {"Cookie": owner.cookie}, history) for owner in owners]
        self._writers = [Caller(servers, bearer(owners[0].key(label, SCOPES)), history) for label in ("one", "two")]
        self._owners = owners
        self._posts = 0

    def new_keys(self, number: int) -> list[dict[str, str]]:
        """Makes keys of the second person, for `live`."""
        return [self._owners[1].new_key(f"key {n}").json() for n in range(number)]

    async def live(self, posts: int, keys: Sequence[dict[str, str]]) -> None:
        """Takes new posts and given keys through all of their acts, side by side."""
        async with asyncio.TaskGroup() as calls:
            for _ in range(posts):
                self._posts += 1
                calls.create_task(life_of_a_post(self._writers, self._readers[0], self._posts))
                calls.create_task(likes_of_a_post(self._writers[0], self._readers, self._posts))
            for key in keys:
                holder = Caller(self._servers, bearer(key["key"]), self._history)
                calls.create_task(life_of_a_key(self._readers[1], holder, key["id"]))


async def life_of_a_post(writers: list[Caller], reader: Caller, number: int) -> None:
    """A post is made, then edited, read and, if its number is odd, deleted from all sides at once."""
    text = f"post {number}"
    post_id = await writers[0].publish(text)
    writers[0].made(post_id, text)
    async with asyncio.TaskGroup() as group:
        for who, writer in enumerate(writers):
            group.create_task(writer.edit(post_id, f"{text} by {who}"))
            group.create_task(reader.read(post_id))
            if number % 2:
                group.create_task(writer.delete(post_id))
    await reader.read(post_id)


async def likes_of_a_post(writer: Caller, readers: list[Caller], number: int) -> None:
    """A post is liked from all sides, by some for a moment only."""
    post_id = await writer.publish(f"liked {number}")

    async def like(reader: Caller, name: str) -> None:
        await reader.like(post_id, name)
        await reader.count_likes(post_id)
        if number % 2:
            await reader.unlike(post_id, name)
            await reader.count_likes(post_id)

    await asyncio.gather(*(like(reader, f"reader{who}") for who, reader in enumerate(readers)))
    await writer.count_likes(post_id)


async def life_of_a_key(owner: Caller, holder: Caller, key_id: str) -> None:
    """A key is used, and revoked meanwhile."""
    await holder.use(key_id)
    await asyncio.gather(*(holder.use(key_id) for _ in range(3)), owner.revoke(key_id))
    await holder.use(key_id)


def bearer(key: str) -> dict[str, str]:
    """The header that a key goes in."""
    return {"Authorization": f"Bearer {key}"}
