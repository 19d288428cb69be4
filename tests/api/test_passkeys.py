"""Passkeys: added, used to sign in and to confirm a session, removed; and everything that is refused."""

from http.cookies import SimpleCookie
from typing import Any

import httpx
import pytest
from pyotp.totp import TOTP

from pressroom.clock import MINUTE
from pressroom.db import Query
from pressroom.domains.moderation.actions import delete_account, suspend_account
from pressroom.domains.sign_in.authenticators import decode, encode, site_of
from pressroom.domains.sign_in.passkeys import MOST
from pressroom.domains.sign_in.two_factor import STEP
from tests.api.people import PASSWORD, Person, new_address, token_of
from tests.harness.authenticator import PRESENT, Authenticator
from tests.harness.local import LocalServer

SETTINGS = {
    "BASE_URL": "http://localhost:8000",
    "TRUSTED_PROXIES": "127.0.0.1/32",
    "SIGN_IN_FAILURES_PER_ADDRESS": 5,
    "SESSION_WRITES_PER_MINUTE": 1_000,
}

ROWS = Query(int, "SELECT count(*) FROM passkeys WHERE account_id = :account_id")
ROUTE = "/api/auth/passkeys"
LOGIN = "/api/auth/login/passkey"
CONFIRM = "/api/auth/confirm/passkey"


@pytest.fixture
def mira(server: LocalServer) -> Person:
    """Somebody with an account."""
    return Person(server)


def label(answer: httpx.Response) -> tuple[int, str]:
    """Status and label of a refusal."""
    return answer.status_code, answer.json()["error"]


def options_of(person: Person, path: str = ROUTE) -> Any:
    """The options that a session gets."""
    return person.request("POST", f"{path}/options", token=person.token).json()


def add(person: Person, name: str = "Laptop") -> Authenticator:
    """Adds a passkey."""
    made = Authenticator()
    answer = person.request("POST", ROUTE, token=person.token, json=made.make(options_of(person), name))
    assert answer.status_code == 201, answer.text
    return made


def begin(person: Person) -> tuple[Any, str]:
    """The options of a sign-in, and the cookie that they come with."""
    answer = person.request("POST", f"{LOGIN}/options")
    return answer.json(), SimpleCookie(answer.headers["set-cookie"])["passkey"].value


def send(person: Person, body: dict[str, Any], cookie: str) -> httpx.Response:
    """Sends the answer of an authenticator to the sign-in."""
    return person.request("POST", LOGIN, json=body, headers={"Cookie": f"passkey={cookie}"})


def sign_in(person: Person, made: Authenticator) -> httpx.Response:
    """Signs in with a passkey."""
    options, cookie = begin(person)
    return send(person, made.use(options), cookie)


def test_a_passkey_is_added_listed_used_and_removed(mira: Person) -> None:
    assert mira.request("GET", ROUTE, token=mira.token).json() == {"passkeys": []}
    made = add(mira, "Phone")
    (listed,) = mira.request("GET", ROUTE, token=mira.token).json()["passkeys"]
    assert (listed["name"], listed["lastUsedAt"]) == ("Phone", None)

    answer = sign_in(mira, made)
    assert (answer.status_code, answer.json()["username"]) == (200, mira.name)
    assert mira.me(token_of(answer)).json()["username"] == mira.name
    assert sign_in(mira, made).status_code == 200
    assert mira.request("GET", ROUTE, token=mira.token).json()["passkeys"][0]["lastUsedAt"] is not None

    removed = mira.request("DELETE", f"{ROUTE}/{listed['id']}", token=mira.token)
    assert (removed.status_code, removed.json()["id"]) == (200, listed["id"])
    assert label(sign_in(mira, made)) == (401, "Invalid credentials")
    assert label(mira.request("DELETE", f"{ROUTE}/{listed['id']}", token=mira.token)) == (404, "Not found")
    log = mira.request("GET", "/api/auth/log", token=mira.token).json()["entries"]
    entries = [(each["kind"], each["detail"]) for each in log if each["kind"].startswith("passkey")]
    assert entries == [("passkey.removed", {"passkey": "Phone"}), ("passkey.added", {"passkey": "Phone"})]


def test_rename_changes_the_listed_name_and_is_logged(mira: Person, server: LocalServer) -> None:
    made, otto = add(mira, "Phone"), Person(server)
    (listed,) = mira.request("GET", ROUTE, token=mira.token).json()["passkeys"]
    path = f"{ROUTE}/{listed['id']}"
    # The name decides nothing, so a password of long ago is enough.
    mira.server.clock.advance(31 * MINUTE)

    def rename(key: str) -> httpx.Response:
        body, headers = {"name": "Old phone"}, {"Idempotency-Key": key}
        return mira.request("PATCH", path, token=mira.token, json=body, headers=headers)

    renamed = rename("k")
    assert (renamed.status_code, renamed.json()) == (200, {**listed, "name": "Old phone"})
    assert rename("k").json() == rename("another").json() == renamed.json()

    assert mira.request("GET", ROUTE, token=mira.token).json() == {"passkeys": [renamed.json()]}
    assert label(mira.request("PATCH", path, token=otto.token, json={"name": "Mine"})) == (404, "Not found")
    assert label(mira.request("PATCH", path, json={"name": "Mine"})) == (401, "Not signed in")
    assert sign_in(mira, made).status_code == 200
    log = mira.request("GET", "/api/auth/log", token=mira.token).json()["entries"]
    details = [each["detail"] for each in log if each["kind"] == "passkey.renamed"]
    assert details == [{"passkey": "Phone", "name": "Old phone"}]


def test_options_demand_a_discoverable_verified_credential(mira: Person) -> None:
    made = add(mira)
    options = options_of(mira)
    assert options["rp"] == {"id": "localhost", "name": "Pressroom"}
    assert decode(options["user"]["id"]).decode() == mira.signed_up.json()["id"]
    wanted = {"residentKey": "required", "requireResidentKey": True, "userVerification": "required"}
    assert options["authenticatorSelection"] == wanted
    own = [{"type": "public-key", "id": encode(made.credential_id)}]
    assert options["excludeCredentials"] == own
    assert options_of(mira, CONFIRM)["allowCredentials"] == own
    begun, _ = begin(mira)
    assert (begun["rpId"], begun["userVerification"], begun["allowCredentials"]) == ("localhost", "required", [])


def test_a_passkey_stands_for_both_factors(mira: Person) -> None:
    made = add(mira)
    secret = mira.request("POST", "/api/auth/two-factor", token=mira.token).json()["secret"]
    code = TOTP(secret).generate_otp(mira.server.clock.now() // STEP)
    mira.request("POST", "/api/auth/two-factor/confirm", token=mira.token, json={"code": code})
    assert label(mira.sign_in()) == (401, "Invalid credentials")

    assert sign_in(mira, made).status_code == 200


FORGED: dict[str, dict[str, object]] = {
    "origin": {"origin": "http://localhost:8001"},
    "https origin": {"origin": "https://localhost:8000"},
    "other host": {"origin": "http://evil.example"},
    "type": {"type": "webauthn.create"},
    "challenge": {"challenge": encode(b"x" * 56)},
    "no challenge": {"challenge": ""},
    "number as challenge": {"challenge": 7},
}


@pytest.mark.parametrize("case", FORGED)
def test_forged_client_data_is_refused(mira: Person, case: str) -> None:
    made = add(mira)
    options, cookie = begin(mira)

    assert label(send(mira, made.use(options, FORGED[case]), cookie)) == (401, "Invalid credentials")

    said = {**FORGED[case], **({"type": "webauthn.get"} if case == "type" else {})}
    new = Authenticator().make(options_of(mira), "Laptop", said)
    answer = mira.request("POST", ROUTE, token=mira.token, json=new)
    assert (answer.status_code, answer.json()["details"][0]["code"]) == (422, "not_allowed")


def test_an_answer_is_good_once(mira: Person) -> None:
    made = Authenticator(counts=False)
    answer = made.make(options_of(mira))
    assert mira.request("POST", ROUTE, token=mira.token, json=answer).status_code == 201
    assert mira.request("POST", ROUTE, token=mira.token, json=answer).status_code == 422
    options, cookie = begin(mira)
    used = made.use(options)

    assert send(mira, used, cookie).status_code == 200
    assert label(send(mira, used, cookie)) == (401, "Invalid credentials")
    mira.request("POST", "/api/auth/password", token=mira.token, json={"password": f"{PASSWORD} and tea"})
    assert label(send(mira, used, cookie)) == (401, "Invalid credentials"), "also after all links have ended"


def test_a_challenge_is_of_one_browser_for_five_minutes(mira: Person) -> None:
    made = add(mira)
    options, cookie = begin(mira)
    _, other = begin(mira)

    assert label(send(mira, made.use(options), other)) == (401, "Invalid credentials")
    assert label(send(mira, made.use(options), "")) == (401, "Invalid credentials")
    mira.server.clock.advance(5 * MINUTE)
    assert label(send(mira, made.use(options), cookie)) == (401, "Invalid credentials")
    confirming = options_of(mira, CONFIRM)
    assert label(send(mira, made.use(confirming), mira.token)) == (401, "Invalid credentials"), "made for another act"


def test_an_unverified_user_or_another_site_is_refused(mira: Person) -> None:
    made = add(mira)
    made.flags = PRESENT
    assert label(sign_in(mira, made)) == (401, "Invalid credentials")
    new = Authenticator()
    new.flags = PRESENT
    assert mira.request("POST", ROUTE, token=mira.token, json=new.make(options_of(mira))).status_code == 422
    elsewhere = Authenticator(host="evil.example")
    assert mira.request("POST", ROUTE, token=mira.token, json=elsewhere.make(options_of(mira))).status_code == 422


def test_a_count_that_does_not_grow_is_refused(mira: Person) -> None:
    made = add(mira)
    assert sign_in(mira, made).status_code == 200
    made.count -= 1
    assert label(sign_in(mira, made)) == (401, "Invalid credentials"), "a copy of the authenticator is in use"
    assert sign_in(mira, made).status_code == 200


def test_a_passkey_opens_its_own_account_alone(mira: Person, server: LocalServer) -> None:
    otto = Person(server)
    made, others = add(mira), add(otto)
    options, cookie = begin(mira)
    claimed = {**others.use(options), "userHandle": encode(made.user_handle)}
    assert label(send(mira, claimed, cookie)) == (401, "Invalid credentials")
    wrong_key = {**others.use(options), "credentialId": encode(made.credential_id)}
    wrong_key["userHandle"] = encode(made.user_handle)
    assert label(send(mira, wrong_key, cookie)) == (401, "Invalid credentials")

    body = others.use(options_of(mira, CONFIRM))
    assert label(mira.request("POST", CONFIRM, token=mira.token, json=body)) == (401, "Invalid credentials")
    others.user_handle = b""
    taken = mira.request("POST", ROUTE, token=mira.token, json=others.make(options_of(mira)))
    assert label(taken) == (409, "Conflict"), "a credential belongs to one account"


def test_a_passkey_confirms_the_session(mira: Person) -> None:
    made = add(mira)
    mira.server.clock.advance(31 * MINUTE)
    assert label(mira.request("POST", f"{ROUTE}/options", token=mira.token)) == (403, "Password required")
    (listed,) = mira.request("GET", ROUTE, token=mira.token).json()["passkeys"]
    refused = mira.request("DELETE", f"{ROUTE}/{listed['id']}", token=mira.token)
    assert label(refused) == (403, "Password required")

    body = made.use(options_of(mira, CONFIRM))
    assert mira.request("POST", CONFIRM, token=mira.token, json=body).status_code == 200
    assert mira.request("POST", f"{ROUTE}/options", token=mira.token).status_code == 200
    assert label(mira.request("POST", CONFIRM, token=mira.token, json=body)) == (401, "Invalid credentials")


def test_failures_count_at_the_address_and_lock_no_account(mira: Person) -> None:
    made = add(mira)
    stranger = new_address()
    options, cookie = begin(mira)
    body = {**made.use(options), "signature": encode(b"forged")}
    for _ in range(5):
        answer = mira.request("POST", LOGIN, json=body, address=stranger, headers={"Cookie": f"passkey={cookie}"})
        assert label(answer) == (401, "Invalid credentials")
    more = mira.request("POST", LOGIN, json=body, address=stranger, headers={"Cookie": f"passkey={cookie}"})
    assert label(more) == (429, "Too many attempts")
    assert label(mira.request("POST", f"{LOGIN}/options", address=stranger)) == (429, "Too many attempts")

    assert sign_in(mira, made).status_code == 200
    assert mira.sign_in().status_code == 200


def test_a_suspended_account_is_named_after_the_right_passkey(mira: Person) -> None:
    made = add(mira)
    server = mira.server
    server.run(server.runtime.db.transact(suspend_account, mira.name, "test"))

    assert label(sign_in(mira, made)) == (403, "Account suspended")


def test_a_deleted_account_keeps_no_passkey(mira: Person) -> None:
    made = add(mira)
    account_id, server = mira.signed_up.json()["id"], mira.server
    server.run(server.runtime.db.transact(delete_account, mira.name))
    server.do_jobs()

    assert server.run(server.runtime.db.one(ROWS, account_id=account_id)) == 0
    assert label(sign_in(mira, made)) == (401, "Invalid credentials")


def test_an_account_has_at_most_twenty_passkeys(mira: Person) -> None:
    for number in range(MOST):
        add(mira, f"Key {number}")

    refused = mira.request("POST", ROUTE, token=mira.token, json=Authenticator().make(options_of(mira)))
    assert label(refused) == (409, "Conflict")


@pytest.mark.parametrize("text", ["", "A", "!!!!", "oA", "pGNmbXQ", "x" * 15_000, encode(b"\x9f" * 5_000)])
def test_invalid_answers_of_authenticators_are_refused(mira: Person, text: str) -> None:
    made = add(mira)
    options, cookie = begin(mira)
    for field in ("clientDataJSON", "authenticatorData", "signature", "userHandle", "credentialId"):
        body = {**made.use(options), field: text}
        assert mira.request(
            "POST", LOGIN, json=body, address=new_address(), headers={"Cookie": f"passkey={cookie}"}
        ).status_code in (400, 401)
    for field in ("clientDataJSON", "attestationObject"):
        body = {**Authenticator().make(options_of(mira)), field: text}
        assert mira.request("POST", ROUTE, token=mira.token, json=body).status_code in (400, 422)


def test_which_addresses_offer_passkeys() -> None:
    for base_url, host in {
        "https://news.example": "news.example",
        "https://news.example:8443": "news.example",
        "http://localhost:8000": "localhost",
        "http://127.0.0.1:8000": None,
        "https://[2001:db8::1]": None,
        "http://news.example": None,
    }.items():
        site = site_of(base_url)
        assert (site and site.host) == host
        assert site is None or site.origin == base_url
