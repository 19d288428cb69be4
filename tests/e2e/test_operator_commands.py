"""The operator's commands on the installation, beside servers that run: what there is, jobs, endpoints, keys."""

import json
import os
import pwd
import re
import subprocess
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from pressroom import __version__
from pressroom.db import Command, Tx
from pressroom.jobs import queue
from tests.harness.databases import in_database, settings_of
from tests.harness.owners import Owner, publish, who_am_i
from tests.harness.process import PRESSROOM, ServerProcess
from tests.harness.records import rows
from tests.harness.roomy import ROOMY
from tests.harness.wire import Request, ask
from tests.services.process import wait_until

MakeProcess = Callable[..., ServerProcess]

RELABEL = Command("UPDATE api_keys SET label = :label WHERE id = :id")
"""Gives a key a label that it could be given before names were held to one line."""


@pytest.fixture
def server(
    process_server: MakeProcess, engine_settings: dict[str, object], request: pytest.FixtureRequest
) -> ServerProcess:
    """A server on each engine."""
    shared: dict[str, object] = {**ROOMY, "DEV": 1, **engine_settings}
    if engine_settings:
        shared["REDIS_URL"] = request.getfixturevalue("redis_server").url
    return process_server(**shared).migrate().start()


def shown(server: ServerProcess, *command: str) -> dict[str, Any]:
    """The JSON output of a command."""
    return dict(json.loads(server.command(*command, "--json").stdout))


def make_dead_job(server: ServerProcess, kind: str, subject: str) -> str:
    """A job after its last try, of a kind that no worker knows; its id."""

    async def give_up(tx: Tx) -> str:
        await queue.enqueue(tx, kind, subject, due_at=0)
        (job,) = await queue.claim(tx, kind, token="t", until=2**50, limit=1)
        await queue.fail(tx, job, token="t", error="[red]gone\x1b[2J", due_at=None)
        return job.id

    return in_database(settings_of(server.settings), lambda db: db.transact(give_up))


def refusal(server: ServerProcess, *command: str) -> str:
    """The one line with which a command fails."""
    done = server.command(*command, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    return done.stderr


def test_stats_count_rows(server: ServerProcess) -> None:
    before = shown(server, "stats")
    alice = Owner(server, "alice2")
    assert ask(publish(server, alice.key(), "One post.")).status == 201
    make_dead_job(server, "letter", "somebody@example.org")

    after = shown(server, "stats")

    for name, more in (("accounts", 1), ("newAccounts", 1), ("posts", 1), ("newPosts", 1)):
        assert after[name] == {"count": before[name]["count"] + more, "more": False}
    assert after["jobs"]["dead"] == {"count": 1, "more": False}
    text = server.command("stats").stdout
    assert f"posts       {after['posts']['count']}, {after['newPosts']['count']} of them new" in text


def test_dead_jobs_are_listed_and_tried_again(server: ServerProcess) -> None:
    ids = [make_dead_job(server, "letter", f"somebody{n}@example.org") for n in range(3)]

    listed = shown(server, "job", "list", "--limit", "2")
    assert [job["id"] for job in listed["dead"]] == ids[:0:-1]
    assert [job["subject"] for job in listed["dead"]] == ["example.org"] * 2
    rest = shown(server, "job", "list", "--cursor", listed["nextCursor"])
    assert [job["id"] for job in rest["dead"]] == ids[:1]
    table = server.command("job", "list").stdout
    assert "[red]gone\\x1b[2J" in table
    assert "somebody" not in table

    assert shown(server, "job", "retry", ids[0]) == {"id": ids[0], "kind": "letter"}
    assert ids[1] in server.command("job", "retry", ids[1]).stdout

    listed = shown(server, "job", "list")
    assert [job["id"] for job in listed["dead"]] == ids[2:]
    assert listed["queues"][0]["waiting"]["count"] == 2
    assert "no such dead job" in refusal(server, "job", "retry", ids[0])
    assert "cursor: Use the nextCursor" in refusal(server, "job", "list", "--cursor", "nonsense")


def test_endpoints_and_keys_are_listed(server: ServerProcess) -> None:
    owner = Owner(server, "alice2")
    key = owner.new_key("a b [red]").json()
    older = {"id": key["id"], "label": "a\u202eb [red]"}
    in_database(settings_of(server.settings), lambda db: db.transact(lambda tx: tx.run(RELABEL, **older)))
    at = f"{server.base_url}/api/auth/api-keys/{key['id']}/webhooks"
    sent = {"url": "https://127.0.0.1:9/hook?token=sesame", "events": ["post.created"]}
    made = httpx.post(at, headers={"Cookie": owner.cookie}, json=sent, timeout=20)
    assert made.status_code == 201, made.text

    (endpoint,) = shown(server, "webhook", "list", "ALICE2")["webhooks"]
    assert (endpoint["id"], endpoint["keyId"], endpoint["status"]) == (made.json()["id"], key["id"], "enabled")
    assert (listed := shown(server, "key", "list", "alice2")["apiKeys"])[0]["id"] == key["id"]
    assert "key" not in listed[0]
    for command in (("webhook", "list", "alice2"), ("key", "list", "alice2")):
        table = server.command(*command).stdout
        assert key["id"] in table
        assert "sesame" not in table
        assert "\u202e" not in table
    assert "no account" in refusal(server, "webhook", "list", "nobody")
    assert "no account" in refusal(server, "key", "list", "nobody")


def test_revoked_key_is_refused_at_once_and_its_endpoint_gets_an_event(server: ServerProcess) -> None:
    owner = Owner(server, "alice2")
    key = owner.new_key().json()
    at = f"{server.base_url}/api/auth/api-keys/{key['id']}/webhooks"
    sent = {"url": "https://127.0.0.1:9/hook", "events": ["apikey.revoked"]}
    assert httpx.post(at, headers={"Cookie": owner.cookie}, json=sent, timeout=20).status_code == 201
    assert ask(who_am_i(server, key["key"])).status == 200
    assert "no such key" in refusal(server, "key", "revoke", key["id"][::-1], "--reason", "leaked")
    assert "reason" in refusal(server, "key", "revoke", key["id"], "--reason", " ")

    revoked = shown(server, "key", "revoke", key["id"], "--reason", "leaked")

    assert ask(who_am_i(server, key["key"])).json()["error"] == "API key revoked"
    assert [revoked[name] for name in ("id", "status", "revokedBy", "reason")] == [
        *(key["id"], "revoked", "admin", "leaked")
    ]
    assert "key" not in revoked
    (listed,) = shown(server, "key", "list", "alice2")["apiKeys"]
    assert {**listed, "lastUsedAt": None} == {**revoked, "lastUsedAt": None}, "the time of its use is written behind"
    assert rows(server, "SELECT event_type FROM deliveries") == [("apikey.revoked",)]
    audited = rows(server, "SELECT kind, actor FROM audit_entries WHERE kind = 'key.revoked'")
    assert audited == [("key.revoked", "operator")]


def given(server: ServerProcess, text: str, *command: str) -> subprocess.CompletedProcess[str]:
    """Runs a command with a text on standard input."""
    return subprocess.run(
        [*PRESSROOM, *command],
        cwd=server.folder,
        env=server.environment,
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_leaked_key_is_found_and_revoked_from_a_text(server: ServerProcess) -> None:
    owner = Owner(server, "leaky")
    made = owner.new_key("Nightly build").json()
    secret = made["key"]
    text = f"svc_live_{'x' * 38}\n+  token = '{secret}'  # oops\n"

    found = given(server, text, "key", "find", "--json")
    told = given(server, text, "key", "find", "-")
    unknown = given(server, f"svc_live_{'x' * 38}", "key", "find")
    both = given(server, text, "key", "revoke", made["id"], "--secret", "-", "--reason", "It leaked")
    revoked = given(server, text, "key", "revoke", "--secret", "-", "--reason", "It leaked")

    assert found.returncode == 0, found.stderr
    shown = json.loads(found.stdout)
    assert (shown["username"], shown["accountId"], shown["key"]["id"]) == ("leaky", owner.id, made["id"])
    assert "leaky <leaky@example.org>, active" in told.stdout
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert both.returncode == 2
    assert revoked.returncode == 0, revoked.stderr
    assert ask(who_am_i(server, secret)).json()["error"] == "API key revoked"
    assert json.loads(given(server, secret, "key", "find", "--json").stdout)["key"]["revokedBy"] == "admin"
    assert not [each for each in (found, told, unknown, both, revoked) if secret in each.stdout + each.stderr]


def test_everybody_is_signed_out_and_keys_stay(server: ServerProcess) -> None:
    owners = [Owner(server, f"signed_in_{number}") for number in range(3)]
    key = owners[0].key()

    def statuses() -> list[int]:
        return [ask(Request(server.port, "GET", "/api/posts", {"Cookie": owner.cookie})).status for owner in owners]

    one = server.command("account", "sign-out", "signed_in_0")
    after_one = statuses()
    everybody = server.command("account", "sign-out", "--all")
    nobody = server.command("account", "sign-out", "--all")

    assert (one.stdout, after_one) == ("1 sessions ended.\n", [401, 200, 200])
    assert int(everybody.stdout.split()[0]) >= 2
    assert statuses() == [401] * 3
    assert nobody.stdout == "0 sessions ended.\n"
    assert ask(who_am_i(server, key)).status == 200
    kinds = rows(server, f"SELECT kind FROM audit_entries WHERE account_id = '{owners[1].id}'")  # noqa: S608  # an id
    assert ("sessions.ended-by-operator",) in [tuple(row) for row in kinds]
    for wrong in (("account", "sign-out"), ("account", "sign-out", "signed_in_0", "--all")):
        assert server.command(*wrong, check=False).returncode == 2


def test_reason_of_a_deletion_is_kept(server: ServerProcess) -> None:
    owner = Owner(server, "spammer")

    blank = server.command("account", "delete", "spammer", "--yes", "--reason", " ", check=False)
    server.command("account", "delete", "spammer", "--yes", "--reason", "Sold pills")

    assert blank.returncode == 2
    kept = f"SELECT kind FROM audit_entries WHERE account_id = '{owner.id}' AND detail LIKE '%Sold pills%'"  # noqa: S608
    assert [tuple(row) for row in rows(server, kept)] == [("account.deleted",)]


def test_record_names_the_person_who_ran_the_command(server: ServerProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = Owner(server, "watched")
    monkeypatch.delenv("SUDO_USER", raising=False)
    server.command("account", "suspend", "watched")
    monkeypatch.setenv("SUDO_USER", "grace")
    server.command("account", "restore", "watched")
    server.command("account", "suspend", "watched", "--as", " Ada Lovelace ")
    refused = [server.command("account", "restore", "watched", "--as", name, check=False) for name in (" ", "a\x1b[2J")]

    kept = f"SELECT operator FROM audit_entries WHERE account_id = '{owner.id}' AND kind LIKE 'account.%ed'"  # noqa: S608
    names = [name for (name,) in rows(server, f"{kept} AND actor = 'operator' ORDER BY id")]
    assert names == [pwd.getpwuid(os.getuid()).pw_name, "grace", "Ada Lovelace"]
    assert [done.returncode for done in refused] == [2, 2]
    assert "1 to 60 printable characters" in refused[0].stderr


def test_revocation_stays_in_the_log_without_the_label_of_the_key(server: ServerProcess) -> None:
    owner = Owner(server, "forgotten")
    key = owner.new_key("Diary of Otto").json()
    server.command("key", "create", "forgotten", "--label", "Letters of Otto", "--scope", "posts:write")
    server.command("key", "revoke", key["id"], "--reason", 'It said "label": leaked', "--as", "Ada")
    server.command("account", "delete", "forgotten", "--yes", "--reason", "They asked", "--as", "Ada")

    kept = f"SELECT kind, detail FROM audit_entries WHERE account_id = '{owner.id}' ORDER BY id"  # noqa: S608  # an id
    assert wait_until(lambda: "Otto" not in str(rows(server, kept))), "the labels go with the account"
    log = [(kind, json.loads(detail)) for kind, detail in rows(server, kept)]
    told = {kind: [detail.get("reason") for each, detail in log if each == kind] for kind, _ in log}
    assert told["key.revoked"][0] == 'It said "label": leaked'
    assert told["key.made"] == [None]
    assert told["account.deleted"] == ["They asked"]


def test_version_names_the_schema_and_the_commit(server: ServerProcess) -> None:
    said = server.command("--version").stdout

    assert re.fullmatch(rf"pressroom {re.escape(__version__)}, schema \d+(, commit [0-9a-f]{{12}})?\n", said), said
