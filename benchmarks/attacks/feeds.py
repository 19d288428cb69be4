"""Four connections ask for the feeds of dense posts and quotes, again and again."""

from aiohttp import ClientSession

from benchmarks.attacks import Attack, Stage, call, make_key, publish, sign_up
from benchmarks.attacks._reloading import reload

POSTS = 10
TEXT = ("#\ufdfa " * 1_667)[:5_000]


class Feeds(Attack):
    """Feeds of an account, a hub and a hashtag."""

    name = "feeds of dense posts"

    async def prepare(self, stage: Stage, http: ClientSession) -> None:
        session = await sign_up(http, stage, "dense")
        _, key = await make_key(http, stage, session)
        hub = await call(http, stage, "/api/hubs", {"name": "Dense", "slug": "dense"}, session)
        for _ in range(POSTS):
            post = await publish(http, stage, key, f"#dense {TEXT}"[:5_000], hubId=hub["id"])
            await call(http, stage, f"/api/posts/{post}/bounce", {"content": TEXT}, key)
        stage.notes["feeds"] = ["/@dense/feed.atom", "/hub/dense/feed.atom", "/tag/dense/feed.atom"]

    async def run(self, stage: Stage, http: ClientSession) -> None:
        await reload(stage, http, stage.notes["feeds"])


ATTACK = Feeds
