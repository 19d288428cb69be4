"""Secrets are replaced and the service is closed for maintenance, by commands, under servers that go on."""

import json
import os
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import httpx
import pytest

from tests.harness.deliveries import Endpoint
from tests.harness.forks import fork
from tests.harness.owners import Owner, publish, who_am_i
from tests.harness.process import ServerProcess
from tests.harness.receiver import Receiver
from tests.harness.records import rows
from tests.harness.roomy import ROOMY
from tests.harness.wire import Request, ask
from tests.media.uploads import upload
from tests.services.process import wait_until

MakeProcess = Callable[..., ServerProcess]

KILLS = 12


@pytest.fixture
def servers(
    process_server: MakeProcess, engine_settings: dict[str, object], request: pytest.FixtureRequest
) -> list[ServerProcess]:
    """All servers of one database: one on SQLite, two processes on PostgreSQL."""
    shared: dict[str, object] = {**ROOMY, "DEV": 1, **engine_settings}
    if engine_settings:
        shared["REDIS_URL"] = request.getfixturevalue("redis_server").url
    first = process_server(**shared).migrate().start()
    if not engine_settings:
        return [first]
    return [first, process_server(**{**shared, "DATA_DIR": first.folder / "data"}).start()]


def private_picture(server: ServerProcess, owner: Owner) -> tuple[str, str]:
    """The id of a new PRIVATE post, and the path of its picture for its author, once that is READY."""
    key = owner.key("media", ("posts:write", "media:write"))
    with httpx.Client(base_url=server.base_url, headers={"Authorization": f"Bearer {key}"}, timeout=20) as client:
        post = upload(client, visibility="PRIVATE").json()
    assert wait_until(lambda: rows(server, "SELECT status FROM media") == [("READY",)])
    return post["id"], httpx.URL(post["media"][0]["url"]).raw_path.decode()


def address_now(server: ServerProcess, owner: Owner, post_id: str) -> str:
    """The path of the picture as the server signs it now."""
    answer = ask(Request(server.port, "GET", f"/api/posts/{post_id}", {"Cookie": owner.cookie}))
    return httpx.URL(answer.json()["media"][0]["url"]).raw_path.decode()


def statuses(servers: list[ServerProcess], path: str) -> set[int]:
    return {httpx.get(f"{server.base_url}{path}", timeout=20).status_code for server in servers}


def listed(server: ServerProcess) -> list[dict[str, Any]]:
    """The secrets as the command shows them."""
    return list(json.loads(server.command("secrets", "list", "--json").stdout)["secrets"])


def test_every_process_signs_with_the_new_secret_and_none_refuses_a_valid_address(
    servers: list[ServerProcess],
) -> None:
    first = servers[0]
    owner = Owner(first, "signer")
    post_id, before = private_picture(first, owner)

    told = first.command("secrets", "rotate", "--days", "7", "--reason", "Routine", "--as", "Ada").stdout
    seen: set[str] = set()

    def all_changed() -> bool:
        now = [address_now(server, owner, post_id) for server in servers]
        seen.update(now)
        for path in now:
            assert statuses(servers, path) == {200}, "an address that one process signed opens at every other one"
        return before not in now

    assert wait_until(all_changed, 30)
    assert len(seen) == 2
    assert statuses(servers, before) == {200}
    assert told.startswith("Replaced: media, unsubscribing, passkey challenges.")
    assert "valid for 7 days" in told
    states = Counter((each["name"], each["expiresAt"] is None) for each in listed(first))
    names = ("media", "unsubscribing", "passkey challenges")
    assert states == {**dict.fromkeys([(name, kept) for name in names for kept in (True, False)], 1)} | {
        ("body hashes", True): 1
    }
    shown = first.command("secrets", "list").stdout
    for (secret,) in rows(first, "SELECT secret FROM server_secrets"):
        assert secret not in shown
    logged = "SELECT operator FROM audit_entries WHERE kind = 'server-secret.rotated'"
    assert rows(first, logged) == [("Ada",)] * 3
    refused = first.command("secrets", "rotate", "tokens", check=False)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "tokens is none of media, unsubscribing, passkey challenges" in refused.stderr


def test_rotations_killed_at_any_moment_leave_every_address_readable(servers: list[ServerProcess], seed: int) -> None:
    dice, first = Random(seed), servers[0]
    owner = Owner(first, "survivor")
    post_id, before = private_picture(first, owner)
    addresses = {before}
    began = time.monotonic()
    first.command("secrets", "rotate")
    longest = time.monotonic() - began
    environment = {**os.environ, **first.environment}

    for _ in range(KILLS):
        rotating = fork(["secrets", "rotate"], folder=first.folder, environment=environment, log=first.folder / "kill")
        try:
            rotating.wait(dice.uniform(0, longest))
        except subprocess.TimeoutExpired:
            rotating.kill()
            rotating.wait(60)
        versions = Counter(each["name"] for each in listed(first) if each["expiresAt"] is None)
        assert set(versions.values()) == {1}, "each secret has one version that does not expire"
        addresses |= {address_now(server, owner, post_id) for server in servers}

    assert all(statuses(servers, address) == {200} for address in addresses)
    for server in servers:
        server.stop()
        server.start()
    assert all(statuses(servers, address) == {200} for address in addresses)


def refusal(server: ServerProcess, path: str, **headers: str) -> httpx.Response:
    return httpx.get(f"{server.base_url}{path}", headers=headers, timeout=20)


def test_maintenance_mode_closes_every_process_to_all_but_admins(servers: list[ServerProcess]) -> None:
    first = servers[0]
    owner, admin = Owner(first, "visitor"), Owner(first, "warden")
    first.command("account", "admin", "warden")
    key = owner.new_key().json()
    message = "Back at ten, with more room."

    def closed() -> bool:
        return all(refusal(server, "/api/auth/me").status_code == 503 for server in servers)

    with Receiver() as receiver:
        Endpoint(first, owner, key["id"], receiver.url("/hook"), ["apikey.revoked"])
        told = first.command("maintenance", "on", "--message", message, "--as", "Ada").stdout
        assert wait_until(closed)
        first.command("key", "revoke", key["id"], "--reason", "Work goes on")
        receiver.wait(lambda _: receiver.count("/hook") == 1)

    assert "is on" in told
    for server in servers:
        for answer in (
            refusal(server, "/api/auth/me", Authorization=f"Bearer {key['key']}"),
            refusal(server, "/api/posts", Cookie=owner.cookie),
            httpx.post(f"{server.base_url}/api/posts", json={"content": "Hi"}, headers={"Cookie": owner.cookie}),
        ):
            assert (answer.status_code, answer.json()) == (503, {"error": "Unavailable", "message": message})
            assert answer.headers["retry-after"] == "60"
        for path in ("/", "/@visitor", "/docs", "/robots.txt"):
            page = refusal(server, path, Cookie=owner.cookie)
            assert page.status_code == 503
            assert message in page.text
            assert page.headers["retry-after"] == "60"
            assert "text/html" in page.headers["content-type"]
        assert refusal(server, "/no-such-page").status_code == 404
        assert refusal(server, "/healthz").json()["maintenance"] == message
        ready = refusal(server, "/readyz")
        assert ready.status_code == 200
        assert "Maintenance mode is on." in ready.json()["warning"]
        assert refusal(server, "/login").status_code == 200
        credentials = {"login": "warden", "password": "correct horse"}
        signed_in = httpx.post(f"{server.base_url}/api/auth/login", json=credentials, timeout=20)
        cookie = f"session={signed_in.cookies['session']}"
        assert refusal(server, "/admin", Cookie=cookie).status_code == 200
        assert refusal(server, "/api/admin/overview", Cookie=cookie).status_code == 200
        assert refusal(server, "/admin", Cookie=owner.cookie).status_code == 404
        assert '"level":"error"' not in server.log.read_text()
    assert "warden" in ask(Request(first.port, "GET", "/admin/accounts", {"Cookie": admin.cookie})).body.decode()

    first.command("maintenance", "off")
    assert wait_until(lambda: not any(refusal(server, "/").status_code == 503 for server in servers))
    assert all("maintenance" not in refusal(server, "/healthz").json() for server in servers)
    assert "was off already" in first.command("maintenance", "off").stdout
    again = owner.key()
    assert ask(who_am_i(first, again)).status == 200
    assert ask(publish(first, again, "Open again.")).status == 201
    kinds = "SELECT kind, operator FROM audit_entries WHERE kind LIKE 'maintenance.%' ORDER BY id"
    (began, by), (ended, _) = rows(first, kinds)
    assert (began, by, ended) == ("maintenance.on", "Ada", "maintenance.off")
    refused = first.command("maintenance", "on", "--message", " ", check=False)
    assert (refused.returncode, refused.stdout) == (2, "")


def test_server_that_starts_in_maintenance_mode_is_closed(process_server: MakeProcess) -> None:
    server = process_server(**ROOMY, DEV=1).start()
    server.command("maintenance", "on")
    server.stop()
    server.start()

    assert refusal(server, "/").status_code == 503
    assert "closed for maintenance" in refusal(server, "/api/auth/me").json()["message"]
