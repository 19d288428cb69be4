"""Four connections reload the pages that cost most to render of all that the limits allow."""

from aiohttp import ClientSession

from benchmarks.attacks import Attack, Stage, call, make_key, publish, sign_up
from benchmarks.attacks._reloading import reload

POSTS = 20
COMMENTS = 100
KINDS = {"tags": "#a ", "ligatures": "#ﷺ ", "mentions": "@abc ", "links": "http://a ", "marks": "&<>\"'"}
"""The piece that the densest texts repeat."""


class DensePages(Attack):
    """Profiles of quotes, a hub, a tag, and permalinks with comments, all of them as dense as can be."""

    name = "dense pages"

    async def prepare(self, stage: Stage, http: ClientSession) -> None:
        pages: list[str] = []
        for name, unit in KINDS.items():
            session = await sign_up(http, stage, f"dense_{name}")
            _, key = await make_key(http, stage, session)
            hub = await call(http, stage, "/api/hubs", {"name": name, "slug": f"dense-{name}"}, session)
            text = (unit * 5_000)[:5_000].strip()
            posts: list[str] = []
            for _ in range(POSTS):
                posts.append(await publish(http, stage, key, text, hubId=hub["id"]))
                await call(http, stage, f"/api/posts/{posts[-1]}/bounce", {"content": text}, key)
            for _ in range(COMMENTS):
                comment = {"content": (unit * 500)[:500].strip()}
                await call(http, stage, f"/api/posts/{posts[-1]}/comments", comment, key)
            pages += [f"/@dense_{name}", f"/post/{posts[-1]}", f"/hub/dense-{name}"]
        stage.notes["pages"] = [*pages, "/tag/a"]

    async def run(self, stage: Stage, http: ClientSession) -> None:
        await reload(stage, http, stage.notes["pages"])


ATTACK = DensePages
