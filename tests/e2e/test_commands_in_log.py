"""The operator's commands stand in the log of the account and in that of admin acts, as the operator's."""

import os
import re
from collections.abc import Callable
from typing import Final

import httpx
import pytest
from click.testing import CliRunner
from pyotp.totp import TOTP
from selectolax.lexbor import LexborHTMLParser

from pressroom.cli import main
from tests.harness.process import ServerProcess
from tests.harness.records import rows
from tests.harness.roomy import ROOMY

PASSWORD = "correct horse"
BY_ALICE: Final = {
    ("account", "create"): ("account.created", "Account made", "Made an account"),
    ("account", "two-factor-off"): ("two-factor.off", "Two-factor sign-in taken off", "Took two-factor sign-in off"),
    ("account", "admin"): ("admin.given", "Made an admin", "Made an admin"),
    ("account", "admin", "--revoke"): ("admin.taken", "Admin no more", "Took the rights of an admin"),
    ("account", "reset"): ("reset-link.made", "Link for a new password made", "Made a link for a new password"),
    ("account", "password"): ("password.reset", "Password set anew", "Set a password"),
    ("key", "create"): ("key.made", "API key made", "Made a key"),
    ("key", "revoke"): ("key.revoked", "API key revoked", "Revoked a key"),
    ("account", "suspend"): ("account.suspended", "Account suspended", "Suspended"),
    ("account", "restore"): ("account.restored", "Account restored", "Restored"),
}
"""By command: the kind of its entry, and its words for the account and for admins."""


class Operator:
    """The operator on the machine of a server."""

    def __init__(self, server: ServerProcess, monkeypatch: pytest.MonkeyPatch) -> None:
        self._environment = server.environment
        # A run of tests may have variables of its own, which no command knows.
        for name in [name for name in os.environ if name.startswith("PRESSROOM_")]:
            monkeypatch.delenv(name)
        monkeypatch.chdir(server.folder)

    def run(self, *arguments: str) -> str:
        """Runs a command as Ada, who is not the system user; returns its output."""
        before = os.umask(0o022)
        try:
            done = CliRunner().invoke(main, [*arguments, "--as", "Ada"], env=self._environment)
        finally:
            os.umask(before)  # the command's is its own process's
        assert done.exit_code == 0, done.output
        return done.output.strip()


def sign_in(server: ServerProcess, username: str) -> httpx.Client:
    """Somebody's client."""
    body = {"login": username, "password": PASSWORD}
    answer = httpx.post(f"{server.base_url}/api/auth/login", json=body, timeout=20)
    assert answer.status_code == 200, answer.text
    return httpx.Client(base_url=server.base_url, timeout=20, cookies={"session": answer.cookies["session"]})


def said(web: httpx.Client, path: str) -> list[str]:
    """The entries of a log as its page shows them, newest first, each on one line."""
    answer = web.get(path)
    assert answer.status_code == 200, answer.text
    lines = LexborHTMLParser(answer.text).css("tbody tr")
    return [re.sub(r"\s+", " ", line.text(separator=" ")) for line in lines]


def test_commands_are_logged(
    process_server: Callable[..., ServerProcess],
    engine_settings: dict[str, object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = process_server(**{**ROOMY, **engine_settings}).migrate().start()
    operator = Operator(server, monkeypatch)
    for name in ("alice", "bob"):
        operator.run("account", "create", name, "--email", f"{name}@example.org", "--password", PASSWORD)
    operator.run("account", "create", "root", "--email", "r@example.org", "--password", PASSWORD, "--admin")
    with sign_in(server, "alice") as web:
        secret = web.post("/api/auth/two-factor").json()["secret"]
        assert web.post("/api/auth/two-factor/confirm", json={"code": TOTP(secret).now()}).status_code == 200
    operator.run("account", "two-factor-off", "alice")
    operator.run("account", "admin", "alice")
    operator.run("account", "admin", "alice", "--revoke")
    operator.run("account", "reset", "alice")
    operator.run("account", "password", "alice", "--password", PASSWORD)
    operator.run("key", "create", "alice", "--label", "x", "--scope", "posts:write")
    ((key_id,),) = rows(server, "SELECT id FROM api_keys")
    operator.run("key", "revoke", key_id, "--reason", "leaked")
    operator.run("account", "suspend", "alice", "--reason", "Spam")
    operator.run("account", "restore", "alice")
    operator.run("account", "delete", "bob", "--yes")

    named = "account_id = (SELECT id FROM accounts WHERE username_key = 'alice') AND actor = 'operator'"
    kinds = rows(server, f"SELECT kind FROM audit_entries WHERE {named} ORDER BY id")  # noqa: S608  # the test's own
    assert [kind for (kind,) in kinds] == [kind for kind, _, _ in BY_ALICE.values()]
    with sign_in(server, "alice") as alice:
        own = [line for line in said(alice, "/settings/log") if "The operator of this server" in line]
        assert "Ada" not in alice.get("/settings/log").text, "the owner is not told who works for the operator"
    for line, (_, words, _) in zip(reversed(own), BY_ALICE.values(), strict=True):
        assert words in line
    with sign_in(server, "root") as root:
        acts = said(root, "/admin/log")
        listed = root.get("/api/admin/log").json()["entries"]
    assert {(act["actor"], act["operator"], act["admin"]) for act in listed} == {("operator", "Ada", None)}
    assert all("Ada" in act and "the command line" in act for act in acts), acts
    assert "Deleted" in acts[0]
    of_alice = [act for act in reversed(acts) if "@alice" in act]
    for line, (_, _, words) in zip(of_alice, BY_ALICE.values(), strict=True):
        assert words in line
