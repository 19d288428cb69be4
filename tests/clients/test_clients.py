"""The clients of `clients/` tell one story to a real server, and publish once however many answers are lost."""

import asyncio
import json
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

import generate
from pressroom_client import AsyncPressroom, File, Pressroom, PressroomError, errors
from tests.harness import npm
from tests.harness.lossy_proxy import LossyProxy
from tests.harness.process import ServerProcess
from tests.media.uploads import image

HERE = Path(__file__).parent
CLIENTS = HERE.parents[1] / "clients"
SCOPES = ("posts:write", "media:write", "comments:write", "bounces:write", "clips:write", "drafts:write")
POSTS, SENDERS, LOST = 1_000, 8, 0.2
pytestmark = pytest.mark.xdist_group("clients")
needs_node = pytest.mark.skipif(npm.missing() is not None, reason=npm.missing() or "")

Step = dict[str, Any]
Outcome = dict[str, Any]


@pytest.fixture(scope="module")
def key(server: ServerProcess) -> str:
    """A key of that account."""
    return server.create_key("alice", *SCOPES)


@pytest.fixture
def story(tmp_path: Path) -> Path:
    """The story beside its files, with Idempotency-Keys of its own."""
    text = (HERE / "story.json").read_text().replace("story-once", f"story-{random.random()}")
    (tmp_path / "story.json").write_text(text)
    (tmp_path / "picture.png").write_bytes(image("PNG"))
    (tmp_path / "broken.png").write_bytes(image("PNG")[:60])
    return tmp_path / "story.json"


class Tale:
    """A story as it is told by a Python client, step by step."""

    def __init__(self, story: Path) -> None:
        self._folder = story.parent
        self.steps: list[Step] = json.loads(story.read_text())
        self.known: dict[str, Any] = {}

    def call(self, client: Any, step: Step) -> Any:
        """Begins the call of a step."""
        given = [self._filled(each) for each in step.get("arguments", [])]
        method = getattr(client, _snake(step["call"]))
        if step["call"] == "uploadPost":
            return method(given[0], **given[1])
        named = given.pop() if given and isinstance(given[-1], dict) else {}
        return method(*given, **named)

    def _filled(self, value: Any, *, inner: bool = False) -> Any:
        match value:
            case str() if value.startswith("$"):
                name, field = value[1:].split(".")
                return self.known[name][field]
            case str() if value.startswith("@"):
                return File(self._folder / value[1:], alt_text="A proof")
            case list():
                return [self._filled(each) for each in cast("list[Any]", value)]
            case dict():
                fields = cast("dict[str, Any]", value)
                return {
                    name if inner else _snake(name): self._filled(held, inner=True) for name, held in fields.items()
                }
            case _:
                return value


def _snake(name: str) -> str:
    return re.sub("[A-Z]", lambda capital: f"_{capital[0].lower()}", name)


def told_by_python(client: Pressroom, story: Path) -> list[Outcome]:
    """The outcome of each step."""
    tale, outcomes = Tale(story), list[Outcome]()
    for step in tale.steps:
        try:
            result = tale.call(client, step)
            outcomes.append({"gives": result if isinstance(result, dict) else list(result)})
        except PressroomError as error:
            outcomes.append(_thrown(error))
        else:
            tale.known[step.get("as", "")] = result
    return outcomes


async def told_by_async_python(client: AsyncPressroom, story: Path) -> list[Outcome]:
    """The outcome of each step."""
    tale, outcomes = Tale(story), list[Outcome]()
    for step in tale.steps:
        try:
            called = tale.call(client, step)
            result = [each async for each in called] if hasattr(called, "__aiter__") else await called
            outcomes.append({"gives": result})
        except PressroomError as error:
            outcomes.append(_thrown(error))
        else:
            tale.known[step.get("as", "")] = result
    return outcomes


def _thrown(error: PressroomError) -> Outcome:
    if not isinstance(error, errors.ApiError):
        return {"throws": type(error).__name__, "text": str(error)}
    faults = [[fault["field"], fault["code"]] for fault in error.details]
    outcome = {"throws": type(error).__name__, "status": error.status, "faults": faults, "text": str(error)}
    return outcome | {"requiredScope": error.required_scope}


def assert_story(story: Path, outcomes: list[Outcome], key: str) -> None:
    """Each step had its outcome, and no error tells the key."""
    steps: list[Step] = json.loads(story.read_text())
    known: dict[str, Any] = {}
    assert len(outcomes) == len(steps)
    for step, outcome in zip(steps, outcomes, strict=True):
        assert key not in json.dumps(outcome)
        for name in ("gives", "throws", "status", "faults", "requiredScope"):
            if name in step:
                assert name in outcome, (step, outcome)
                assert_within(step[name], outcome[name], known)
        known[step.get("as", "")] = outcome.get("gives")


def assert_within(expected: Any, found: Any, known: dict[str, Any]) -> None:
    """`found` has all that is expected, and may have more fields."""
    match expected:
        case dict():
            for name, held in cast("dict[str, Any]", expected).items():
                assert_within(held, found[name], known)
        case list():
            items = cast("list[Any]", expected)
            assert len(items) == len(found)
            for each, one in zip(items, found, strict=True):
                assert_within(each, one, known)
        case str() if expected.startswith("$"):
            name, field = expected[1:].split(".")
            assert found == known[name][field]
        case _:
            assert found == expected


def test_generated_files_are_up_to_date() -> None:
    stale = [path.name for path, text in generate.generated().items() if path.read_text() != text]

    assert stale == [], "run: .venv/bin/python clients/generate.py"


def test_python_client_performs_the_story(server: ServerProcess, key: str, story: Path) -> None:
    with Pressroom(server.base_url, key) as client:
        assert_story(story, told_by_python(client, story), key)
        assert key not in repr(client)
        assert key[:15] in repr(client)


def test_asynchronous_python_client_performs_the_story(server: ServerProcess, key: str, story: Path) -> None:
    async def tell() -> list[Outcome]:
        async with AsyncPressroom(server.base_url, key) as client:
            return await told_by_async_python(client, story)

    assert_story(story, asyncio.run(tell()), key)


@needs_node
def test_typescript_client_performs_the_story(server: ServerProcess, key: str, story: Path, typescript: Path) -> None:
    said = npm.run(story.parent, "node", str(HERE / "story.mjs"), str(typescript), server.base_url, key, str(story))

    told = json.loads(said)
    assert_story(story, told["outcomes"], key)
    assert key not in told["shown"]
    assert key[:15] in told["shown"]


def one_in_five() -> Callable[[], bool]:
    """Decides by chance, always alike, which answers are lost."""
    chance = random.Random(0)
    return lambda: chance.random() < LOST


def posts_of(server: ServerProcess, account: str) -> int:
    """The number of an account's posts, as its page of identity tells."""
    key = server.create_key(account)
    return httpx.get(f"{server.base_url}/api/auth/me", headers={"Authorization": f"Bearer {key}"}).json()["totalPosts"]


def test_thousand_posts_with_lost_answers_are_thousand_posts(server: ServerProcess) -> None:
    server.create_account("lossy")
    proxy = LossyProxy(server.port, one_in_five())
    key = server.create_key("lossy")

    def publish(sender: int) -> set[str]:
        with Pressroom(proxy.base_url, key) as client:
            return {client.create_post(f"{sender} {number}")["id"] for number in range(POSTS // SENDERS)}

    with ThreadPoolExecutor(SENDERS) as senders:
        ids = set[str]().union(*senders.map(publish, range(SENDERS)))
    proxy.close()

    assert len(ids) == POSTS
    assert posts_of(server, "lossy") == POSTS
    assert proxy.lost > POSTS / 10


@needs_node
def test_typescript_posts_with_lost_answers_are_published_once(
    server: ServerProcess, typescript: Path, tmp_path: Path
) -> None:
    server.create_account("lost")
    proxy = LossyProxy(server.port, one_in_five())
    (tmp_path / "publish.mjs").write_text(
        "const [, , client, url, key] = process.argv\n"
        "const { Pressroom } = await import(client)\n"
        "const press = new Pressroom(url, key)\n"
        "const publish = async (sender) => {\n"
        f"  for (let n = 0; n < {POSTS // SENDERS}; n += 1) await press.createPost(`${{sender}} ${{n}}`)\n"
        "}\n"
        f"await Promise.all(Array.from({{ length: {SENDERS} }}, (_, sender) => publish(sender)))\n"
    )

    npm.run(tmp_path, "node", "publish.mjs", str(typescript), proxy.base_url, server.create_key("lost"))
    proxy.close()

    assert posts_of(server, "lost") == POSTS
    assert proxy.lost > POSTS / 10


@pytest.fixture
def answering() -> "Iterator[Answering]":
    """Makes a client whose tries get these answers, and the list of its requests."""
    made: list[Pressroom] = []

    def make(answers: list[httpx.Response | Exception]) -> tuple[Pressroom, list[httpx.Request]]:
        requests: list[httpx.Request] = []

        def answer(request: httpx.Request) -> httpx.Response:
            requests.append(request)
            found = answers.pop(0)
            if isinstance(found, Exception):
                raise found
            return found

        made.append(Pressroom("http://press.test", "svc_live_" + "x" * 38, transport=httpx.MockTransport(answer)))
        return made[-1], requests

    yield make
    for client in made:
        client.close()


Answering = Callable[[list[httpx.Response | Exception]], tuple[Pressroom, list[httpx.Request]]]


def test_one_key_is_sent_on_all_tries(answering: Answering) -> None:
    created = httpx.Response(201, json={"id": "1"})
    client, requests = answering([httpx.ConnectError("refused"), httpx.Response(503, text="<html>"), created])

    client.create_post("x")

    keys = [request.headers["idempotency-key"] for request in requests]
    assert len(keys) == 3
    assert len(set(keys)) == 1


def test_given_key_is_never_replaced(answering: Answering) -> None:
    client, requests = answering([httpx.ReadError("lost"), httpx.Response(200, json={"id": "1"})])

    client.create_post("x", idempotency_key="mine")

    assert [request.headers["idempotency-key"] for request in requests] == ["mine", "mine"]


def test_quota_is_raised_at_once(answering: Answering) -> None:
    body = {"error": "Daily content quota exceeded", "retryAfter": 1, "limit": "content_per_day", "later": "kept"}
    client, requests = answering([httpx.Response(429, json=body, headers={"Retry-After": "1"})])

    with pytest.raises(errors.DailyContentQuotaExceeded) as refused:
        client.create_post("x")

    assert len(requests) == 1
    assert (refused.value.retry_after, refused.value.limit) == (1.0, "content_per_day")
    assert refused.value.body["later"] == "kept"


def test_wait_beyond_the_deadline_is_raised(answering: Answering) -> None:
    body = {"error": "Rate limit exceeded", "retryAfter": 5_000}
    client, _ = answering([httpx.Response(429, json=body, headers={"Retry-After": "5000", "X-Request-Id": "r7"})])

    with pytest.raises(errors.RateLimitExceeded) as refused:
        client.me()

    assert refused.value.request_id == "r7"


def test_unknown_label_is_kept(answering: Answering) -> None:
    client, _ = answering([httpx.Response(418, json={"error": "Teapot", "message": "Short and stout"})])

    with pytest.raises(errors.ApiError) as refused:
        client.me()

    assert type(refused.value) is errors.ApiError
    assert (refused.value.label, refused.value.message) == ("Teapot", "Short and stout")


@pytest.mark.parametrize("form", ["sdist", "wheel"])
def test_built_package_works_in_an_empty_environment(
    server: ServerProcess, key: str, tmp_path: Path, form: str
) -> None:
    hatch = Path(sys.executable).with_name("hatchling")
    npm.run(CLIENTS / "python", str(hatch), "build", "-t", form, "-d", str(tmp_path / "dist"))
    (built,) = (tmp_path / "dist").iterdir()
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "empty"], check=True)
    python = tmp_path / "empty" / "bin" / "python"
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--disable-pip-version-check", built],
        check=True,
    )

    program = "import sys, pressroom_client as p; print(p.Pressroom(*sys.argv[1:]).create_post('Installed')['content'])"
    said = subprocess.run([python, "-c", program, server.base_url, key], capture_output=True, text=True, check=True)

    assert said.stdout == "Installed\n"
