"""Every form: errors stand beside their fields, and forged forms do nothing."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any, Final

import httpx
import pytest
from msgspec import inspect
from pyotp.totp import TOTP
from selectolax.lexbor import LexborNode

from pressroom.db import Command
from pressroom.domains.accounts.models import folded
from pressroom.domains.audit.models import UNKNOWN
from pressroom.domains.notifications.unsubscribing import make_token
from pressroom.domains.shared_state.models import SecretName
from pressroom.domains.sign_in import two_factor
from pressroom.domains.sign_in.authenticators import NewCredential
from pressroom.domains.sign_in.cookies import CODE_COOKIE
from pressroom.domains.sign_in.passkeys import add_passkey
from pressroom.domains.sign_in.passwords import ARGON2
from pressroom.domains.sign_in.tokens import Purpose, issue_token
from pressroom.web.page_forms import base_name
from tests.api.actors import Actor, body_of, new_client, nobody, publish
from tests.api.conftest import one_engine
from tests.api.tables import Held
from tests.api.tables import held as everything_held
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.harness.writes import CLIP
from tests.pages.forms import FORMS, HOOK, LINES, OWNED, PASSWORD, Texts, bad_cases, spec, texts_of
from tests.pages.hostile import HOSTILE, RUNS
from tests.pages.reader import Page
from tests.webhooks.endpoints import CHOOSABLE

SETTINGS = {
    **ROOMY,
    "SMTP_URL": "smtp://localhost:25?tls=off",
    "MAIL_FROM": "press@news.example",
    "SIGN_IN_FAILURES_PER_ACCOUNT": 10_000,
    "SIGN_IN_FAILURES_PER_ADDRESS": 100_000,
}

HASH: Final = ARGON2.hash(PASSWORD)
SET_PASSWORD: Final = Command("UPDATE accounts SET password_hash = :hash WHERE id = :id")
TRIED: Final = [path for path, line in LINES.items() if not line.elsewhere]
COUNTED: Final = {"sign_in_attempts"}
"""Tables that a refused form may write to."""

POLL: Final = {"options": ["21:40", "23:15"]}

HTML: Final = "text/html; charset=utf-8"
LARGE: Final = "x" * 1_100_000
"""More than any form without files may have, as urlencoded or as multipart, and more than a field may have."""
PROGRAMS: Final = re.compile(
    r"/api/|\bPOST\b|Idempotency-Key|header\.|ISO 8601|\b[a-z]+[A-Z]\w*|\b30d\b|\b\w+:write\b|misspelt"
)
"""What messages to programs say and messages to people do not."""

WORDS: Final = {"value", "title", "content", "aria-label", "data-copy"}
"""Attributes that may hold what people typed."""


class Stage:
    """Somebody who fills in forms, and a form as it was last sent."""

    def __init__(self, server: LocalServer) -> None:
        self.server = server
        self.owner = Actor(server).become_admin()
        self.stranger = Actor(server)
        self.guarded = Actor(server)
        issue, account_id = server.runtime.db.transact, self.owner.account.id
        purposes = {
            "/reset/{token}": Purpose.RESET,
            "/verify/{token}": Purpose.VERIFY,
            "/login/link/{token}": Purpose.SIGN_IN,
        }
        self.tokens = {path: server.run(issue(issue_token, account_id, each)) for path, each in purposes.items()}
        account, secret = self.owner.account, server.secret(SecretName.UNSUBSCRIBING)
        self.tokens["/unsubscribe/{token}"] = make_token(account.id, folded(account.email), secret)
        self.ids = {"keyId": self.owner.record.id, "label": self.owner.record.label}
        self.ids |= self._endpoint(f"/api/auth/api-keys/{self.owner.record.id}/webhooks")
        self.ids |= {"username": self.owner.account.username, "other": self.stranger.account.username}
        self.things = {"post": publish(self.owner, visibility="PRIVATE", poll=POLL)["id"]}
        comment = self.owner.web.post(f"/api/posts/{self.things['post']}/comments", json={"content": "Which boat?"})
        self.things["comment"] = body_of(comment, 201)["id"]
        hub = {"name": "The waterfront", "slug": self.owner.account.username.replace("_", "-").lower()}
        self.ids["slug"] = body_of(self.owner.web.post("/api/hubs", json=hub), 201)["slug"]
        clip = {"video": ("clip.mp4", CLIP, "video/mp4")}
        self.things["clip"] = body_of(self.owner.web.post("/api/clips", files=clip), 201)["id"]
        draft = self.owner.web.post("/api/drafts", json={"content": "Not yet"})
        self.things["drafts"] = body_of(draft, 201)["id"]
        self.ids["notificationId"] = self._notification()
        self.ids["name"] = "about"
        body_of(self.owner.web.put("/api/admin/texts/about", json={"text": ""}))
        self.ids["sessionId"] = body_of(self.owner.web.get("/api/auth/sessions"))["sessions"][0]["id"]
        reported = {"type": "account", "id": self.stranger.account.id, "reason": "Look at it."}
        body_of(self.owner.web.post("/api/reports", json=reported), 202)
        self.case = body_of(self.owner.web.get("/api/admin/reports"))["reports"][0]["id"]
        self.ids["strangerId"] = self.stranger.account.id
        made = NewCredential(f"of {account_id}", "AAAA", 0)
        added = issue(add_passkey, account_id, account_id.encode(), made, "Laptop", UNKNOWN)
        self.ids["passkeyId"] = server.run(added).id
        for who in (self.owner, self.guarded):
            own = {"id": who.account.id, "hash": HASH}
            server.run(issue(lambda tx, own=own: tx.run(SET_PASSWORD, **own)))
        self.ids["code"] = self._begin_two_factor(self.owner)
        code = self._begin_two_factor(self.guarded)
        server.run(issue(two_factor.confirm, self.guarded.account.id, code))
        waiting = server.run(issue(issue_token, self.guarded.account.id, Purpose.SIGN_IN_CODE))
        self.waiting = {"Cookie": f"{CODE_COOKIE}={waiting}"}

    def _begin_two_factor(self, who: Actor) -> str:
        """Begins to set two-factor sign-in up; the code that turns it on."""
        secret = two_factor.new_secret()
        self.server.run(self.server.runtime.db.transact(two_factor.begin, who.account.id, secret))
        return TOTP(secret).generate_otp(self.server.clock.now() // two_factor.STEP)

    def _endpoint(self, path: str) -> dict[str, str]:
        body = {"url": HOOK, "events": list(CHOOSABLE)}
        webhook_id = body_of(self.owner.web.post(path, json=body), 201)["id"]
        delivery_id = body_of(self.owner.web.post(f"{path}/{webhook_id}/test"), 202)["id"]
        return {"webhookId": webhook_id, "deliveryId": delivery_id}

    def _notification(self) -> str:
        publish(self.stranger, f"@{self.owner.account.username}")
        return str(body_of(self.owner.web.get("/api/notifications"))["notifications"][0]["id"])

    def address(self, path: str) -> str:
        """Where the form of a path is sent."""
        thing = self.things.get(path.split("/")[1], "none")
        thing = self.case if path.startswith("/admin/reports/") else thing
        ids = {**self.ids, "id": thing, "token": self.tokens.get(path, "")}
        return path.format_map({**ids, "username": self.ids["other"]} if path.startswith("/admin/") else ids)

    def good(self, path: str) -> Texts:
        """The form's valid input."""
        return texts_of(LINES[path].good, self.ids)

    def close(self) -> None:
        """Hangs up."""
        for who in (self.owner, self.stranger, self.guarded):
            for client in who.clients():
                client.close()

    def sender(self, path: str) -> Actor:
        """Whose form it is."""
        return self.guarded if LINES[path].guarded else self.owner

    def send(self, path: str, texts: Texts, who: Actor | None = None, **headers: str) -> httpx.Response:
        """Sends a form, as its owner unless somebody else is named."""
        sender = (who or self.sender(path)).web if path in OWNED else nobody
        headers |= self.waiting if path == "/login/code" else {}
        return sender.post(f"{self.server.base_url}{self.address(path)}", data=texts, headers=headers)


@pytest.fixture(scope="module")
def stage(server: LocalServer) -> Iterator[Stage]:
    """The same for all tests that change nothing."""
    stage = Stage(server)
    # The clean-up of each minute enqueues mail, which a test that takes longer would find in the database.
    server.keep_still()
    yield stage
    stage.close()


def test_every_form_has_its_line() -> None:
    assert LINES.keys() == FORMS.keys()


@one_engine
def test_every_fault_is_shown(stage: Stage, subtests: pytest.Subtests) -> None:
    for path in TRIED:
        with subtests.test(path):
            before = held(stage.server)

            for case, texts in bad_cases(path):
                page = refused(stage.send(path, texts), 400, str(case))
                fields = {base_name(field) for field, _ in case.field_errors}
                assert len(page.tree.css("#errors li")) == len(case.field_errors), str(case)
                assert PROGRAMS.findall(" ".join(page.lines("#errors"))) == [], str(case)
                shown = {name for name in fields if page.has(f"[name='{name}']:not([type='hidden'])")}
                assert shown <= invalid(page), str(case)
                assert list(lost(page, texts, spec(path).fields.secrets)) == [], str(case)
            for wrong in LINES[path].wrong:
                texts = stage.good(path) | texts_of(wrong, stage.ids)
                page = refused(stage.send(path, texts), 400)
                assert wrong.keys() <= invalid(page), wrong
                assert PROGRAMS.findall(" ".join(page.lines("#errors"))) == [], wrong

            assert held(stage.server) == before


@one_engine
def test_unknown_form_field_is_refused_in_plain_words(stage: Stage, subtests: pytest.Subtests) -> None:
    for path in (path for path in TRIED if path not in ("/logout", "/setup")):
        with subtests.test(path):
            for more in ({"unknownField": ["1"]}, {"idempotency_key": ["é"]}):
                answer = stage.send(path, stage.good(path) | more)
                if answer.status_code != 303:
                    page = refused(answer, 400)
                    assert PROGRAMS.findall(" ".join(page.lines("#errors"))) == []


@one_engine
def test_hostile_words_stay_words(stage: Stage, subtests: pytest.Subtests) -> None:
    # A text of the server may hold any words: tests/pages/test_site_texts.py looks at its page.
    for path in [path for path in TRIED if path != "/admin/texts/{name}"]:
        with subtests.test(path):
            before = held(stage.server)
            takes = FORMS[path].takes
            assert takes is not None
            names = [each.encode_name for each in struct_of(takes).fields]

            hostile: list[Texts] = [
                {name: ["\n".join(HOSTILE)] for name in names},
                {name: list(HOSTILE[:20]) for name in names},
            ]
            for texts in (
                *(hostile if names else ()),
                *({HOSTILE[at]: [HOSTILE[at]]} for at in range(0, len(HOSTILE), 7)),
            ):
                if not texts:
                    continue
                answer = stage.send(path, stage.good(path) | texts)
                refusals = (303,) if path == "/logout" else (400, 401, 422)  # it has no page of its own to come back to
                assert answer.status_code in refusals, (texts, answer.status_code)
                assert "done=" not in answer.headers.get("location", "")
                assert list(harmful(Page(answer.text))) == []

            assert held(stage.server) == before


@one_engine
def test_a_field_too_large_is_refused(stage: Stage, subtests: pytest.Subtests) -> None:
    for path, kind in product(LINES, ("urlencoded", "multipart")):
        with subtests.test(f"{path} {kind}"):
            before, name = held(stage.server), next(iter(LINES[path].good), "idempotency_key")
            url = f"{stage.server.base_url}{stage.address(path)}"
            sender = stage.owner.web if path in OWNED else nobody
            body: dict[str, Any] = {"data": {name: LARGE}} if kind == "urlencoded" else {"files": {name: (None, LARGE)}}

            answer = sender.post(url, **body)

            refused(answer, 400 if kind == "multipart" and spec(path).files else 413)
            assert held(stage.server) == before


@one_engine
def test_another_site_cannot_send_it(stage: Stage, subtests: pytest.Subtests) -> None:
    for path in LINES:
        with subtests.test(path):
            before = held(stage.server)

            for header in (
                {"Sec-Fetch-Site": "cross-site"},
                {"Sec-Fetch-Site": "same-site"},
                {"Origin": "https://a.example"},
            ):
                refused(stage.send(path, stage.good(path), None, **header), 403)

            assert held(stage.server) == before


@one_engine
def test_somebody_else_finds_nothing_there(stage: Stage, subtests: pytest.Subtests) -> None:
    for path in [path for path in OWNED if "{" in path and not LINES[path].anybodys]:
        with subtests.test(path):
            before = held(stage.server)

            refused(stage.send(path, stage.good(path), stage.stranger), 404)

            assert held(stage.server) == before


@one_engine
def test_form_after_signing_out_leads_to_sign_in(stage: Stage, subtests: pytest.Subtests) -> None:
    for path in OWNED:
        with subtests.test(path):
            before = held(stage.server)

            answer = nobody.post(f"{stage.server.base_url}{stage.address(path)}", data=stage.good(path))

            assert answer.status_code == 303
            assert answer.headers["location"].startswith("/login")
            assert held(stage.server) == before


@pytest.mark.parametrize("path", [path for path in TRIED if path in OWNED and LINES[path].acts_once])
def test_sent_twice_at_once_it_acts_once(server: LocalServer, path: str) -> None:
    """As many rows come and go as when it is sent once, by somebody else."""
    changes: list[dict[str, int]] = []
    for times in (1, 2):
        stage = Stage(server)
        texts = {**stage.good(path), "idempotency_key": ["one-form"]}
        clients = [
            new_client(base_url=server.base_url, headers={"Cookie": stage.sender(path).cookie}) for _ in range(times)
        ]
        rows = {name: table.rows for name, table in held(server).items()}
        with ThreadPoolExecutor(times) as threads:
            answers = list(threads.map(lambda client: client.post(stage.address(path), data=texts), clients))  # noqa: B023
        assert all(answer.status_code in (200, 303) for answer in answers), [each.text[-2000:] for each in answers]
        stage.close()
        for client in clients:
            client.close()
        changes.append({name: table.rows - rows[name] for name, table in held(server).items()})

    assert changes[0] == changes[1]


def held(server: LocalServer) -> dict[str, Held]:
    """The whole database, but for counts of refusals."""
    return {name: table for name, table in everything_held(server).items() if name not in COUNTED}


def refused(answer: httpx.Response, status: int, case: str = "") -> Page:
    """The page that refuses a form."""
    assert (answer.status_code, answer.headers["content-type"]) == (status, HTML), case
    return Page(answer.text)


def invalid(page: Page) -> set[str]:
    """The fields that a page says are wrong."""
    return {
        node.attributes.get("name") or ""
        for node in page.tree.css("[aria-invalid='true'][name], fieldset:has(.error) [name]")
    }


def lost(page: Page, texts: Texts, secrets: Any) -> Iterator[str]:
    """The fields that do not show the typed value again, or show a secret."""
    for name, given in texts.items():
        for node in page.tree.css(f"[name='{name}']") if name.isidentifier() else ():
            shown = _shown(node)
            if name in secrets and shown:
                yield f"{name} is shown again"
            kept = name in secrets or node.attributes.get("type") in ("checkbox", "radio", "hidden")
            choices = [each.attributes.get("value") for each in node.css("option")]
            kept = kept or (node.tag == "select" and not set(choices) & set(given))  # Nobody can choose that.
            if not kept and shown not in [text.replace("\0", "\ufffd") for text in given]:
                yield f"{name} was {given}, is {shown}"


def _shown(node: LexborNode) -> str | None:
    if node.tag == "textarea":
        return node.text()
    if node.tag == "select":
        return next((each.attributes.get("value") for each in node.css("option[selected]")), None)
    return node.attributes.get("value")


def harmful(page: Page) -> Iterator[str]:
    """What would run, or lead where somebody wants it to."""
    root = page.tree.root
    assert root is not None
    for node in root.traverse():
        attributes = node.attributes
        if node.tag == "script" and not (attributes.get("src") or "").startswith("/static/"):
            yield node.html or ""
        for name, value in attributes.items():
            led = name in ("href", "src", "action", "formaction", "hx-get", "hx-post")
            if name.startswith("on") or (RUNS in (value or "") and name not in WORDS):
                yield f"<{node.tag} {name}={value!r}>"
            if led and not (value or "").startswith(("/", "#", "?", "https:", "http:", "data:image/")):
                yield f"<{node.tag} {name}={value!r}>"


def struct_of(takes: type[Any]) -> inspect.StructType:
    """The fields of a struct."""
    found = inspect.type_info(takes)
    assert isinstance(found, inspect.StructType)
    return found
