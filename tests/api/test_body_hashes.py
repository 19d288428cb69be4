"""The stored hash of a body, for replays with another one: no password can be guessed from it."""

import json
from hashlib import sha256
from pathlib import Path

import httpx

from pressroom.db import Query
from tests.api.actors import Actor, rows
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY

HASHES = Query(str, "SELECT body_hash FROM idempotent_answers WHERE account_id = :account_id")
BODIES = tuple(
    json.dumps({"password": password}).encode() for password in ("nine plums and a kettle", "ten plums and a pan")
)


def change(server: LocalServer, who: Actor, body: bytes) -> httpx.Response:
    """Changes the password, always under the same Idempotency-Key."""
    headers = {"Idempotency-Key": "k", "Content-Type": "application/json", "Cookie": who.cookie}
    return httpx.post(f"{server.base_url}/api/auth/password", content=body, headers=headers, timeout=20)


def test_stored_body_hash_needs_the_secret(tmp_path: Path, engine_settings: dict[str, object]) -> None:
    settings = {**ROOMY, "DATA_DIR": tmp_path / "data", **engine_settings}
    first, second = (LocalServer(tmp_path / name, **settings).start() for name in ("first", "second"))
    alice = Actor(first)

    assert change(first, alice, BODIES[0]).status_code == 200

    (stored,) = rows(first, HASHES, account_id=alice.account.id)
    assert len(stored) == 64
    digest = sha256(BODIES[0])
    assert stored not in (digest.hexdigest(), sha256(digest.hexdigest().encode()).hexdigest())
    told(second, alice)
    first.stop()
    second.stop()
    again = LocalServer(tmp_path / "again", **settings).start()
    told(again, alice)
    again.stop()


def told(server: LocalServer, who: Actor) -> None:
    """A server that did not store the answer tells a body that differs from one that does not."""
    same, other = (change(server, who, body) for body in BODIES)
    assert (same.status_code, same.headers["Idempotent-Replayed"]) == (200, "true")
    assert "Idempotent-Body-Differs" not in same.headers
    assert (other.status_code, other.headers["Idempotent-Body-Differs"]) == (200, "true")
