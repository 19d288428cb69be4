"""One request, one effect: the scope of an Idempotency-Key, its life, and its cost."""

from pathlib import Path

from pressroom.clock import DAY, MINUTE
from pressroom.domains.idempotency.once import purge_answers
from pressroom.domains.keys.models import Scope
from tests.api.actors import Actor, nobody
from tests.api.conftest import MakeActor
from tests.api.sockets import exchange
from tests.harness.local import LocalServer

SETTINGS = {"DAILY_CONTENT_QUOTA": 3, "POSTS_PER_MINUTE": 40}


def test_a_replay_is_the_first_answer_word_for_word(alice: Actor) -> None:
    first = alice.api.post(
        "/api/posts",
        json={"content": 'é 😀 \\ " </script> \u2028', "location": {"name": "Köln", "latitude": 1e-7}},
        headers={"Idempotency-Key": "k"},
    )
    alice.server.clock.advance(MINUTE)
    alice.web.patch("/api/auth/me", json={"displayName": "Renamed since"})
    again = alice.post("another body", "k")

    assert (first.status_code, again.status_code) == (201, 200)
    assert again.content == first.content
    assert again.headers["Content-Type"] == first.headers["Content-Type"] == "application/json"
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.headers["X-Request-Id"] != first.headers["X-Request-Id"]
    assert again.headers["X-RateLimit-Remaining"] == "59"
    assert alice.written() == (1, 1, 1, 1)


def test_an_answer_is_kept_for_24_hours(alice: Actor) -> None:
    first = alice.post("first", "k")

    alice.server.clock.advance(DAY - 1)
    assert alice.post("first", "k").content == first.content
    alice.server.clock.advance(1)
    second = alice.post("second", "k")
    assert second.status_code == 201
    assert second.json()["id"] != first.json()["id"]
    alice.server.clock.advance(DAY - 1)
    assert alice.post("second", "k").content == second.content
    assert alice.written()[0] == 2


def test_swept_rows_had_expired(alice: Actor) -> None:
    def sweep() -> None:
        alice.server.run(alice.server.runtime.db.transact(purge_answers, 500))

    alice.post("first", "k")
    alice.server.clock.advance(DAY - 1)
    sweep()
    assert alice.post("first", "k").status_code == 200
    alice.server.clock.advance(1)
    sweep()
    assert alice.written() == (1, 1, 1, 0)
    assert alice.post("second", "k").status_code == 201


def test_another_key_of_the_account_replays(alice: Actor) -> None:
    _, other = alice.server.key(alice.account)
    first = alice.post("first", "k")

    headers = {"Authorization": f"Bearer {other}", "Idempotency-Key": "k"}
    again = nobody.post(f"{alice.server.base_url}/api/posts", json={"content": "x"}, headers=headers)

    assert (again.status_code, again.content) == (200, first.content)
    assert alice.written() == (1, 1, 1, 1)


def test_another_account_or_key_or_case_is_another_request(actor: MakeActor) -> None:
    alice, bob = actor(), actor()

    answers = [alice.post("a", "k"), alice.post("b", "K"), alice.post("c", "k2"), bob.post("d", "k")]

    assert [answer.status_code for answer in answers] == [201] * 4
    assert [alice.written()[0], bob.written()[0]] == [3, 1]


def test_key_on_another_path_is_another_request(alice: Actor) -> None:
    bodies = {
        "/api/posts": {"content": "x"},
        "/api/hubs": {"name": "A hub", "slug": f"of-{alice.account.username}"},
    }

    first, again = (
        {path: alice.web.post(path, json=body, headers={"Idempotency-Key": "k"}) for path, body in bodies.items()}
        for _ in range(2)
    )

    assert [answer.status_code for answer in first.values()] == [201, 201]
    assert [answer.status_code for answer in again.values()] == [200, 200]
    assert [again[path].content for path in bodies] == [first[path].content for path in bodies]


def test_the_query_is_no_part_of_the_path(alice: Actor) -> None:
    targets = ("/api/posts", "/api/posts?", "/api/%70osts", "http://other.example/api/posts")
    lines = (alice.bearer, "Idempotency-Key: k", "Content-Length: 15")

    replies = [exchange(alice.server, "POST", target, *lines, body=b'{"content":"x"}') for target in targets]

    assert [reply.status for reply in replies] == [201, 200, 200, 200]
    assert len({reply.body for reply in replies}) == 1


def test_write_without_a_key_is_not_stored(alice: Actor) -> None:
    assert [alice.post("same").status_code for _ in range(2)] == [201, 201]
    assert alice.written() == (2, 2, 2, 0)


def test_refused_write_can_be_retried(actor: MakeActor) -> None:
    alice = actor(ips=("127.0.0.1/32",))
    key = {"Idempotency-Key": "k"}
    for _ in range(2):
        assert alice.api.post("/api/posts", json={"content": ""}, headers=key).status_code == 400
        assert alice.api.post("/api/posts", content=b"a", headers={**key, "Content-Type": "a/b"}).status_code == 415
        assert alice.api.post("/api/posts", content=b" " * 300_000, headers=key).status_code == 413
    assert nobody.post(f"{alice.server.base_url}/api/posts", json={"content": "a"}, headers=key).status_code == 401
    for number in range(3):
        assert alice.post(f"number {number}").status_code == 201
    assert alice.post("one too many", "k").status_code == 429
    assert alice.written() == (3, 3, 3, 0)

    alice.server.clock.advance(DAY)
    answer = alice.post("at last", "k")
    assert answer.status_code == 201
    assert "Idempotent-Replayed" not in answer.headers
    assert alice.post("at last", "k").content == answer.content


def test_a_replay_needs_the_scope_still(actor: MakeActor) -> None:
    alice = actor()
    assert alice.post("first", "k").status_code == 201
    _, weak = alice.server.key(alice.account, Scope.CLIPS_WRITE)

    headers = {"Authorization": f"Bearer {weak}", "Idempotency-Key": "k"}
    answer = nobody.post(f"{alice.server.base_url}/api/posts", json={"content": "x"}, headers=headers)

    assert answer.status_code == 403


def test_replays_cost_requests_and_no_quota(alice: Actor) -> None:
    first = alice.post("first", "k")
    replays = [alice.post("first", "k") for _ in range(9)]

    assert {replay.content for replay in replays} == {first.content}
    assert [replay.headers["X-RateLimit-Remaining"] for replay in replays] == [str(58 - n) for n in range(9)]
    assert alice.written() == (1, 1, 1, 1)
    assert [alice.post(f"{n}").status_code for n in range(3)] == [201, 201, 429]
    assert alice.post("first", "k").status_code == 200, "a spent quota is no obstacle"


def test_a_replay_outlives_the_server(tmp_path: Path, engine_settings: dict[str, object]) -> None:
    server = LocalServer(tmp_path, **engine_settings).start()
    try:
        _, key = server.key(server.account())
        headers = {"Authorization": f"Bearer {key}", "Idempotency-Key": "k"}
        first = nobody.post(f"{server.base_url}/api/posts", json={"content": "once"}, headers=headers)
    finally:
        server.stop()

    server = LocalServer(tmp_path, **engine_settings).start()
    try:
        again = nobody.post(f"{server.base_url}/api/posts", json={"content": "once"}, headers=headers)
        me = nobody.get(f"{server.base_url}/api/auth/me", headers=headers)
    finally:
        server.stop()

    assert (first.status_code, again.status_code) == (201, 200)
    assert again.content == first.content
    assert me.json()["totalPosts"] == 1
