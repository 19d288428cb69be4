"""Posts, and the time that passes between them."""

from pressroom.clock import MINUTE
from pressroom.domains.sign_in.sessions import begin_session
from tests.api.actors import Actor, body_of
from tests.harness.local import LocalServer
from tests.harness.receiver import answer
from tests.webhooks.endpoints import Endpoint


def post(author: Actor, times: int = 1) -> None:
    """Publishes in the web app, where no rate limits count."""
    for _ in range(times):
        body_of(author.web.post("/api/posts", json={"content": "Hello"}), 201)


def pass_time(server: LocalServer, milliseconds: int) -> None:
    """Lets time pass, and the worker see it."""
    server.clock.advance(milliseconds)
    server.deliver()


def tick(owner: Actor, *texts: str) -> list[int]:
    """Publishes each of these, a millisecond apart; when."""
    times: list[int] = []
    for content in texts:
        owner.server.clock.advance(1)
        times.append(owner.server.clock.now())
        assert owner.web.post("/api/posts", json={"content": content}).status_code == 201
    return times


def later(owner: Actor, milliseconds: int) -> None:
    """Lets time pass, and the owner sign in again: the wait may outlast a session."""
    owner.server.clock.advance(milliseconds)
    token = owner.server.run(owner.server.runtime.db.transact(begin_session, owner.account.id))
    owner.web.headers["Cookie"] = f"session={token}"


def fail_until_disabled(hook: Endpoint) -> int:
    """Publishes, and lets all five attempts fail. Returns when it was published (milliseconds)."""
    hook.behave(answer(500))
    published = hook.owner.server.clock.now()
    post(hook.owner)
    hook.owner.server.deliver()
    for wait in (1, 2, 4, 8):
        pass_time(hook.owner.server, 2 * wait * MINUTE)
    later(hook.owner, 1)
    assert hook.show()["status"] == "disabled"
    return published
