"""Two-factor sign-in: set up, used, taken off; and its silence."""

from pathlib import Path
from typing import Any

import httpx
import pyotp
import pytest
from pyotp.totp import TOTP

from pressroom.clock import MINUTE
from pressroom.db import Query
from pressroom.domains.moderation.actions import delete_account, suspend_account
from pressroom.domains.sign_in.two_factor import STEP
from tests.api.actors import nobody
from tests.api.people import PASSWORD, Person, next_number, token_of
from tests.harness.local import LocalServer

SETTINGS = {
    "TRUSTED_PROXIES": "127.0.0.1/32",
    "SIGN_IN_FAILURES_PER_ACCOUNT": 4,
    "SIGN_IN_FAILURES_PER_ADDRESS": 50,
    "SESSION_WRITES_PER_MINUTE": 1_000,
}

ROWS = Query(int, "SELECT count(*) FROM two_factor WHERE account_id = :account_id")
CODES = Query(str, "SELECT code_hash FROM recovery_codes WHERE account_id = :account_id")
ROUTE = "/api/auth/two-factor"


class Guarded(Person):
    """Somebody who turned two-factor sign-in on."""

    def __init__(self, server: LocalServer) -> None:
        super().__init__(server)
        self.id = self.signed_up.json()["id"]
        self.begun = self.do("POST", ROUTE)
        self.totp = TOTP(self.begun.json()["secret"])
        self.confirmed = self.do("POST", f"{ROUTE}/confirm", json={"code": self.code()})
        self.recovery: list[str] = self.confirmed.json()["recoveryCodes"]
        server.clock.advance(STEP)

    def do(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Sends a request in the session of the sign-up."""
        return self.request(method, path, token=self.token, **more)

    def code(self, steps: int = 0) -> str:
        """The code of the authenticator so many steps from now."""
        return self.totp.generate_otp(self.server.clock.now() // STEP + steps)

    def wrong(self) -> str:
        """Six digits that are the code of no step near."""
        near = {self.code(steps) for steps in range(-1, 2)}
        return next(code for code in map("{:06}".format, range(9)) if code not in near)

    def sign_in_with(self, code: object, password: str = PASSWORD, **more: Any) -> httpx.Response:
        """Tries to sign in with a code."""
        body = {"login": self.name, "password": password, "code": code}
        return self.request("POST", "/api/auth/login", json=body, **more)


@pytest.fixture
def mira(server: LocalServer) -> Guarded:
    return Guarded(server)


def label(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]


INVALID = (401, "Invalid credentials")


def test_setting_it_up(server: LocalServer) -> None:
    person = Person(server)

    def do(method: str, path: str, **more: Any) -> httpx.Response:
        return person.request(method, path, token=person.token, **more)

    off = {"enabled": False, "enabledAt": None, "recoveryCodesLeft": 0}
    assert do("GET", ROUTE).json() == off
    assert label(do("POST", f"{ROUTE}/confirm", json={"code": "123456"})) == (404, "Not found")

    first, second = do("POST", ROUTE).json(), do("POST", ROUTE).json()
    assert first["secret"] != second["secret"]
    assert pyotp.parse_uri(second["otpauthUri"]).secret == second["secret"]
    assert do("GET", ROUTE).json() == off
    assert person.sign_in().status_code == 200, "nothing is asked before it is confirmed"

    step = server.clock.now() // STEP
    old, new = (TOTP(each["secret"]).generate_otp(step) for each in (first, second))
    wrong = do("POST", f"{ROUTE}/confirm", json={"code": old})
    assert label(wrong) == (422, "Unprocessable")
    assert wrong.json()["details"][0]["field"] == "code"
    confirmed = do("POST", f"{ROUTE}/confirm", json={"code": new})
    assert len(set(confirmed.json()["recoveryCodes"])) == 10
    state = do("GET", ROUTE).json()
    assert (state["enabled"], state["recoveryCodesLeft"]) == (True, 10)
    assert state["enabledAt"].endswith("Z")

    for path in (ROUTE, f"{ROUTE}/confirm"):
        assert label(do("POST", path, json={"code": new} if "confirm" in path else None)) == (409, "Conflict")
    used = {"login": person.name, "password": PASSWORD, "code": new}
    assert label(person.request("POST", "/api/auth/login", json=used)) == INVALID, "the code of the set-up is used up"


def test_secrets_are_shown_once(server: LocalServer) -> None:
    person = Person(server)

    def do(path: str, key: str, **more: Any) -> dict[str, Any]:
        headers = {"Idempotency-Key": key}
        answer = person.request("POST", path, token=person.token, headers=headers, **more)
        assert answer.headers["cache-control"] == "no-store"
        body: dict[str, Any] = answer.json()
        return body

    begun = do(ROUTE, "a")
    assert do(ROUTE, "a") == {"secret": None, "otpauthUri": None}
    code = {"code": TOTP(begun["secret"]).generate_otp(server.clock.now() // STEP)}
    assert len(do(f"{ROUTE}/confirm", "b", json=code)["recoveryCodes"]) == 10
    assert do(f"{ROUTE}/confirm", "b", json=code) == {"recoveryCodes": None}
    assert len(do(f"{ROUTE}/recovery-codes", "c")["recoveryCodes"]) == 10
    assert do(f"{ROUTE}/recovery-codes", "c") == {"recoveryCodes": None}


def test_signing_in_takes_a_code(mira: Guarded) -> None:
    assert label(mira.sign_in()) == INVALID
    assert label(mira.sign_in_with(mira.wrong())) == INVALID
    answer = mira.sign_in_with(mira.code())
    assert answer.status_code == 200
    assert answer.json() == mira.signed_up.json()
    assert mira.me(token_of(answer)).status_code == 200

    assert label(mira.sign_in_with(mira.code())) == INVALID, "a code passes once"
    assert mira.sign_in_with(f"{mira.code(1)[:3]} {mira.code(1)[3:]}").status_code == 200
    assert label(mira.sign_in_with(mira.code())) == INVALID, "nor one before one that passed"
    mira.server.clock.advance(3 * STEP)
    assert label(mira.sign_in_with(mira.code(-2))) == INVALID
    assert label(mira.sign_in_with(mira.code(2))) == INVALID
    assert mira.sign_in_with(mira.code(-1)).status_code == 200


def test_reason_of_a_refusal_is_not_revealed(mira: Guarded) -> None:
    answers = [
        mira.sign_in("wrong"),
        mira.sign_in_with(mira.code(), "wrong"),
        mira.sign_in(),
        mira.request("POST", "/api/auth/login", json={"login": "nobody_at_all", "password": PASSWORD, "code": "1"}),
    ]
    mira.server.clock.advance(15 * MINUTE)
    answers += [mira.sign_in_with(mira.wrong()), mira.sign_in_with(""), mira.sign_in_with(None)]

    assert len({answer.text for answer in answers}) == 1
    assert {label(answer) for answer in answers} == {INVALID}
    assert not any("set-cookie" in answer.headers for answer in answers)


def test_a_wrong_password_uses_no_code_up(mira: Guarded) -> None:
    code = mira.code()

    assert label(mira.sign_in_with(code, "wrong")) == INVALID
    assert label(mira.sign_in_with(mira.recovery[0], "wrong")) == INVALID
    assert mira.sign_in_with(code).status_code == 200
    assert mira.sign_in_with(mira.recovery[0]).status_code == 200


def test_a_recovery_code_signs_in_once(mira: Guarded) -> None:
    assert mira.sign_in_with(mira.recovery[3]).status_code == 200
    assert label(mira.sign_in_with(mira.recovery[3])) == INVALID
    assert mira.sign_in_with(mira.recovery[4].replace("-", "").upper()).status_code == 200
    assert mira.do("GET", ROUTE).json()["recoveryCodesLeft"] == 8

    renewed = mira.do("POST", f"{ROUTE}/recovery-codes").json()["recoveryCodes"]
    assert label(mira.sign_in_with(mira.recovery[5])) == INVALID
    assert mira.sign_in_with(renewed[0]).status_code == 200
    assert mira.do("GET", ROUTE).json()["recoveryCodesLeft"] == 9


def test_guesses_are_counted_like_passwords(mira: Guarded) -> None:
    assert [label(mira.sign_in_with(mira.wrong())) for _ in range(2)] == [INVALID] * 2
    assert [label(mira.sign_in("wrong")) for _ in range(2)] == [INVALID] * 2
    refused = mira.sign_in_with(mira.code())
    assert label(refused) == (429, "Too many attempts")
    assert refused.json()["retryAfter"] <= 900

    mira.server.clock.advance(15 * MINUTE)
    assert mira.sign_in_with(mira.code()).status_code == 200
    assert label(mira.sign_in_with(mira.wrong())) == INVALID, "a right one forgives those before it"


def test_guesses_to_take_it_off_are_counted_too(mira: Guarded) -> None:
    guesses = [{"code": mira.wrong()}, {"password": "wrong"}, {"password": PASSWORD, "code": mira.wrong()}]
    assert [label(mira.do("DELETE", ROUTE, json=guess)) for guess in guesses] == [INVALID] * 3
    assert label(mira.request("POST", "/api/auth/confirm", token=mira.token, json={"password": "wrong"})) == INVALID

    assert label(mira.do("DELETE", ROUTE, json={"code": mira.code()})) == (429, "Too many attempts")
    assert label(mira.do("POST", "/api/auth/confirm", json={"password": PASSWORD})) == (429, "Too many attempts")
    assert label(mira.sign_in_with(mira.code())) == INVALID, "in the same count, which sign-ins do not show"
    assert mira.do("GET", ROUTE).json()["enabled"]


@pytest.mark.parametrize("by", ["password", "code", "recovery code", "both"])
def test_taking_it_off(mira: Guarded, by: str) -> None:
    proofs = {
        "password": {"password": PASSWORD},
        "code": {"code": mira.code()},
        "recovery code": {"code": mira.recovery[0]},
        "both": {"password": PASSWORD, "code": mira.code()},
    }
    removed = mira.do("DELETE", ROUTE, json=proofs[by], headers={"Idempotency-Key": "once"})

    assert removed.status_code == 200
    assert set(removed.json()) == {"message"}
    again = mira.do("DELETE", ROUTE, json=proofs[by], headers={"Idempotency-Key": "once"})
    assert (again.status_code, again.headers["Idempotent-Replayed"]) == (200, "true")
    assert label(mira.do("DELETE", ROUTE, json=proofs[by])) == (404, "Not found")
    assert label(mira.do("POST", f"{ROUTE}/recovery-codes")) == (404, "Not found")
    assert mira.sign_in().status_code == 200
    assert left(mira) == (0, [])


def left(person: Guarded) -> tuple[int | None, list[str]]:
    """The remaining rows: secrets, and hashes of recovery codes."""
    db = person.server.runtime.db
    rows = person.server.run(db.one(ROWS, account_id=person.id))
    return rows, person.server.run(db.read(lambda tx: tx.all(CODES, account_id=person.id)))


BAD: dict[str, tuple[str, str, Any]] = {
    "nothing to confirm with": ("POST", "/confirm", {}),
    "an empty code": ("POST", "/confirm", {"code": ""}),
    "a long code": ("POST", "/confirm", {"code": "1" * 41}),
    "a number": ("POST", "/confirm", {"code": 123456}),
    "nothing to take it off with": ("DELETE", "", {}),
    "nulls": ("DELETE", "", {"password": None, "code": None}),
    "unknown": ("DELETE", "", {"password": "x", "otp": "1"}),
    "a NUL": ("DELETE", "", {"code": "1\0"}),
}


@pytest.mark.parametrize(("method", "path", "body"), BAD.values(), ids=BAD)
def test_bodies_that_cannot_be(mira: Guarded, method: str, path: str, body: Any) -> None:
    assert label(mira.do(method, ROUTE + path, json=body)) == (400, "Validation failed")


@pytest.mark.parametrize("code", ["\uff11" * 6, "\u202e123456", "' OR 1=1", "0x1e240"])
def test_odd_codes_are_wrong_ones(mira: Guarded, code: str) -> None:
    assert label(mira.sign_in_with(code)) == INVALID
    assert label(mira.do("DELETE", ROUTE, json={"code": code})) == INVALID


def test_an_account_without_it_ignores_a_code(server: LocalServer) -> None:
    person = Person(server)
    body = {"login": person.name, "password": PASSWORD, "code": "123456"}

    assert person.request("POST", "/api/auth/login", json=body).status_code == 200


def test_suspended_account_is_informed_after_the_code(mira: Guarded) -> None:
    mira.server.run(mira.server.runtime.db.transact(suspend_account, mira.name))

    assert label(mira.sign_in()) == INVALID
    assert label(mira.sign_in_with(mira.wrong())) == INVALID
    assert label(mira.sign_in_with(mira.code())) == (403, "Account suspended")


def test_a_deleted_account_leaves_no_secret(mira: Guarded) -> None:
    assert left(mira)[0] == 1
    mira.server.run(mira.server.runtime.db.transact(delete_account, mira.name))

    assert left(mira) == (0, [])


def test_no_code_and_no_secret_gets_into_a_log(mira: Guarded) -> None:
    mira.sign_in_with(mira.recovery[0])
    mira.do("DELETE", ROUTE, json={"code": mira.recovery[1]})
    log = mira.server.stream.getvalue()

    assert mira.name not in log
    assert not any(secret in log for secret in (*mira.recovery, mira.begun.json()["secret"]))


def test_recovery_codes_are_stored_hashed(mira: Guarded) -> None:
    db = mira.server.runtime.db
    assert len(left(mira)[1]) == 10
    assert not set(mira.recovery) & set(left(mira)[1])
    if db.engine == "sqlite":
        folder = Path(mira.server.settings.data_dir)
        files = [file.read_bytes() for file in folder.iterdir() if file.name.startswith("pressroom.db")]
        assert not any(code.encode() in content for content in files for code in mira.recovery)


def test_a_key_and_nobody_get_nothing(server: LocalServer) -> None:
    _, key = server.key(server.account(f"keyed{next_number()}"))
    for method in ("GET", "POST", "DELETE"):
        by_key = nobody.request(method, server.base_url + ROUTE, headers={"Authorization": f"Bearer {key}"})
        assert label(by_key) == (403, "Session required")
        assert label(nobody.request(method, server.base_url + ROUTE)) == (401, "Not signed in")
