"""Sessions: how they begin, how long they last, where they may be used from, and who is kept out."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from pressroom.clock import DAY, MINUTE
from pressroom.db import Query
from pressroom.domains.sign_in.attempts import purge_attempts
from tests.api.actors import Actor, nobody
from tests.api.conftest import one_engine
from tests.api.people import PASSWORD, Person, new_address, next_number, token_of
from tests.harness.local import LocalServer

SETTINGS = {
    "TRUSTED_PROXIES": "127.0.0.1/32",
    "SIGN_IN_FAILURES_PER_ACCOUNT": 3,
    "SIGN_IN_FAILURES_PER_ADDRESS": 6,
    "REQUESTS_PER_MINUTE": 2,
    "POSTS_PER_MINUTE": 1,
    "DAILY_CONTENT_QUOTA": 1,
}

KNOWN = Query(str, "SELECT address_hash FROM known_addresses WHERE account_id = :account_id")
SESSIONS = Query(str, "SELECT token_hash FROM sessions WHERE account_id = :account_id")


@pytest.fixture
def mira(server: LocalServer) -> Person:
    return Person(server)


def label(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]


def test_signing_in_and_out(mira: Person) -> None:
    answer = mira.sign_in()
    token = token_of(answer)

    assert answer.status_code == 200
    assert answer.json() == mira.signed_up.json() == mira.me(token).json()
    assert token != mira.token, "each sign-in is a session of its own"

    out = mira.request("POST", "/api/auth/logout", token=token)
    assert out.status_code == 200
    assert set(out.json()) == {"message"}
    assert "Max-Age=0" in out.headers["set-cookie"]
    assert label(mira.me(token)) == (401, "Missing API key")
    assert label(mira.request("POST", "/api/auth/logout", token=token)) == (401, "Not signed in")
    assert mira.me(mira.token).status_code == 200, "the other session goes on"


def test_the_cookie_is_for_this_site_alone(mira: Person) -> None:
    for answer in (mira.signed_up, mira.sign_in()):
        cookie = answer.headers["set-cookie"].split("; ")
        assert cookie[0].startswith("session=")
        assert set(cookie[1:]) == {"Path=/", "HttpOnly", "SameSite=Lax", f"Max-Age={30 * 24 * 3600}"}


def test_under_https_the_cookie_is_secure(local_server: Any) -> None:
    person = Person(local_server(BASE_URL="https://press.example", TRUSTED_PROXIES="127.0.0.1"))
    answers = [person.signed_up, person.sign_in(), person.request("POST", "/api/auth/logout", token=person.token)]

    assert all("Secure" in answer.headers["set-cookie"].split("; ") for answer in answers)


def test_the_database_keeps_only_a_hash(mira: Person) -> None:
    account_id = mira.signed_up.json()["id"]
    db = mira.server.runtime.db
    kept = mira.server.run(db.read(lambda tx: tx.all(SESSIONS, account_id=account_id)))

    assert len(kept) == 1
    assert len(kept[0]) == 64
    if db.engine == "sqlite":
        folder = Path(mira.server.settings.data_dir)
        files = [file.read_bytes() for file in folder.iterdir() if file.name.startswith("pressroom.db")]
        assert any(kept[0].encode() in content for content in files), "what is there is looked at"
        assert not any(mira.token.encode() in content for content in files)
        assert not any(PASSWORD.encode() in content for content in files)


def test_a_session_that_is_used_goes_on(mira: Person) -> None:
    for _ in range(3):
        mira.server.clock.advance(29 * DAY)
        answer = mira.me(mira.token)
        assert answer.status_code == 200
        assert token_of(answer) == mira.token
        assert f"Max-Age={30 * 24 * 3600}" in answer.headers["set-cookie"]
        assert "set-cookie" not in mira.me(mira.token).headers, "once a day is enough"
    mira.server.clock.advance(30 * DAY - 1)
    assert mira.me(mira.token).status_code == 200
    mira.server.clock.advance(30 * DAY)
    assert label(mira.me(mira.token)) == (401, "Missing API key")


def test_session_in_use_is_prolonged_after_a_day(mira: Person) -> None:
    mira.server.clock.advance(DAY - 1)
    assert "set-cookie" not in mira.me(mira.token).headers
    mira.server.clock.advance(1)
    assert token_of(mira.me(mira.token)) == mira.token


def test_signing_out_of_an_old_session_succeeds(mira: Person) -> None:
    mira.server.clock.advance(2 * DAY)
    out = mira.request("POST", "/api/auth/logout", token=mira.token)

    last = out.headers.get_list("set-cookie")[-1]
    assert last.startswith("session=;")
    assert "Max-Age=0" in last
    assert mira.me(mira.token).status_code == 401


@one_engine
@pytest.mark.parametrize("token", ["x", "x" * 43, "x" * 5000, "\xff", '"', "%00"], ids=ascii)
def test_a_token_that_we_never_gave_is_nobody(mira: Person, token: str) -> None:
    headers = {"Cookie": f"session={token}".encode("latin-1")}

    for path, expected in (("/api/auth/me", "Missing API key"), ("/api/auth/api-keys", "Not signed in")):
        answer = nobody.get(mira.server.base_url + path, headers=headers)  # type: ignore[arg-type]
        assert label(answer) == (401, expected)
        assert "set-cookie" not in answer.headers


ORIGINS: dict[str, tuple[dict[str, str], bool]] = {
    "neither": ({}, True),
    "our page": ({"Sec-Fetch-Site": "same-origin"}, True),
    "the address bar": ({"Sec-Fetch-Site": "none"}, True),
    "a sibling": ({"Sec-Fetch-Site": "same-site"}, False),
    "another site": ({"Sec-Fetch-Site": "cross-site"}, False),
    "nonsense": ({"Sec-Fetch-Site": "yes"}, False),
    "nothing": ({"Sec-Fetch-Site": ""}, False),
    "another case": ({"Sec-Fetch-Site": "Same-Origin"}, False),
    "the site decides, not the origin": ({"Sec-Fetch-Site": "cross-site", "Origin": "OURS"}, False),
    "whatever the origin": ({"Sec-Fetch-Site": "same-origin", "Origin": "https://elsewhere.example"}, True),
    "our origin": ({"Origin": "OURS"}, True),
    "another": ({"Origin": "https://elsewhere.example"}, False),
    "another port": ({"Origin": "http://127.0.0.1:1"}, False),
    "no port": ({"Origin": "http://127.0.0.1"}, False),
    "ours with a tail": ({"Origin": "OURS.elsewhere.example"}, False),
    "ours as a name": ({"Origin": "http://OURS@elsewhere.example"}, False),
    "a sandbox": ({"Origin": "null"}, False),
    "empty": ({"Origin": ""}, False),
    "half an address": ({"Origin": "http://["}, False),
    "a port that is none": ({"Origin": "http://x:y"}, False),
    "no host": ({"Origin": "file://"}, False),
}


@one_engine
@pytest.mark.parametrize(("headers", "ours"), ORIGINS.values(), ids=ORIGINS)
def test_session_writes_require_the_same_origin(mira: Person, headers: dict[str, str], *, ours: bool) -> None:
    headers = {name: value.replace("OURS", mira.server.base_url) for name, value in headers.items()}

    def ask(method: str, path: str, **more: Any) -> httpx.Response:
        return mira.request(method, path, token=mira.token, headers=headers, **more)

    writes = [
        ask("PATCH", "/api/auth/me", json={"bio": "x"}),
        ask("POST", "/api/posts", json={"content": "x"}),
        ask("POST", "/api/auth/api-keys", json={"label": "x", "scopes": ["posts:write"]}),
        mira.sign_in(headers=headers),
    ]
    assert [answer.is_success for answer in writes] == [ours] * 4
    if not ours:
        assert {label(answer) for answer in writes} == {(403, "Cross-origin request refused")}
    assert ask("GET", "/api/auth/me").status_code == 200, "to read is harmless"


@pytest.mark.parametrize("host", ["press.example", "PRESS.EXAMPLE"])
def test_behind_a_proxy_either_name_is_ours(local_server: Any, host: str) -> None:
    person = Person(local_server(BASE_URL="https://Press.example", TRUSTED_PROXIES="127.0.0.1"))

    for names in ({"Host": "10.0.0.9:8000"}, {"Host": host}):
        headers = {**names, "Origin": "https://press.example"}
        answer = person.request("PATCH", "/api/auth/me", token=person.token, json={"bio": "x"}, headers=headers)
        assert answer.status_code == 200


def test_wrong_password_and_unknown_name_get_the_same_answer(mira: Person) -> None:
    wrong, unknown = mira.sign_in("wrong"), mira.sign_in(login="nobody_at_all")

    assert label(wrong) == (401, "Invalid credentials")
    assert wrong.json() == unknown.json()
    assert wrong.headers["www-authenticate"] == unknown.headers["www-authenticate"]
    assert "set-cookie" not in wrong.headers


def test_after_too_many_failures_the_account_must_wait(mira: Person) -> None:
    for login in (mira.name, mira.name.upper(), mira.name.title()):
        assert label(mira.sign_in("wrong", login, address="198.51.100.1")) == (401, "Invalid credentials")

    mira.server.clock.advance(500)
    refused = mira.sign_in(address="198.51.100.4")
    assert label(refused) == (429, "Too many attempts")
    assert (refused.json()["retryAfter"], refused.json()["limit"]) == (900, "sign_ins")
    assert refused.headers["Retry-After"] == "900"
    assert "set-cookie" not in refused.headers

    mira.server.clock.advance(15 * MINUTE - 501)
    assert label(mira.sign_in(address="198.51.100.2")) == (429, "Too many attempts")
    mira.server.clock.advance(1)
    assert mira.sign_in(address="198.51.100.3").status_code == 200


def fail(person: Person, address: str) -> list[int]:
    """Three wrong passwords, and one more that nobody looks at."""
    return [person.sign_in("wrong", address=address).status_code for _ in range(4)]


def test_failures_elsewhere_do_not_lock_the_owner_out(mira: Person) -> None:
    first, second, stranger = (new_address() for _ in range(3))
    assert mira.sign_in(address=first).status_code == 200
    assert fail(mira, stranger) == [401, 401, 401, 429]

    assert label(mira.sign_in(address=second)) == (429, "Too many attempts"), "nobody knows them there"
    assert mira.sign_in(address=first).status_code == 200, "they have been here before"
    assert mira.sign_in().status_code == 200, "and they signed up here"
    assert label(mira.sign_in(address=stranger)) == (429, "Too many attempts"), "which opens nothing to others"


def test_failures_at_a_known_address_count_there(mira: Person) -> None:
    first = new_address()
    mira.sign_in(address=first)

    assert fail(mira, first) == [401, 401, 401, 429]
    assert mira.sign_in().status_code == 200
    assert mira.sign_in(address=new_address()).status_code == 200
    assert label(mira.sign_in(address=first)) == (429, "Too many attempts")
    mira.server.clock.advance(15 * MINUTE)
    assert mira.sign_in(address=first).status_code == 200


def test_the_latest_addresses_are_known_for_a_while(mira: Person) -> None:
    addresses = [new_address() for _ in range(21)]
    for address in addresses:
        mira.server.clock.advance(1)
        assert mira.sign_in(address=address).status_code == 200
    fail(mira, "198.51.100.77")

    assert [mira.sign_in(address=address).status_code for address in (addresses[0], *addresses[1:3])] == [429, 200, 200]
    account_id = mira.signed_up.json()["id"]
    db = mira.server.runtime.db
    kept = mira.server.run(db.read(lambda tx: tx.all(KNOWN, account_id=account_id)))
    assert len(kept) == 20
    assert not any(address in text for address in addresses for text in kept)

    mira.server.clock.advance(90 * DAY)
    fail(mira, "198.51.100.77")
    assert label(mira.sign_in(address=addresses[20])) == (429, "Too many attempts")
    mira.server.run(db.transact(purge_attempts, 1000))
    assert mira.server.run(db.read(lambda tx: tx.all(KNOWN, account_id=account_id))) == []


def test_a_success_forgives_the_failures_before_it(mira: Person) -> None:
    for _ in range(2):
        assert [mira.sign_in("wrong").status_code for _ in range(2)] == [401, 401]
        assert mira.sign_in().status_code == 200
    assert [mira.sign_in("wrong").status_code for _ in range(2)] == [401, 401]
    assert label(mira.sign_in("wrong")) == (429, "Too many attempts"), "six failures from one address"


def test_an_address_that_tries_many_accounts_must_wait(server: LocalServer) -> None:
    mira, olga = Person(server), Person(server)
    address = mira.address

    for number in range(6):
        assert mira.sign_in("wrong", f"{mira.name}_{number}").status_code == 401
    assert label(mira.sign_in()) == (429, "Too many attempts")
    assert label(olga.sign_in(address=f"198.51.100.9, {address}")) == (429, "Too many attempts")
    assert olga.sign_in(address=f"{address}, 198.51.100.9").status_code == 200, "from elsewhere they may"
    server.clock.advance(15 * MINUTE)
    assert mira.sign_in().status_code == 200


@one_engine
def test_failed_sign_ins_are_counted_by_ipv6_network(mira: Person) -> None:
    network = f"2001:db8:{next_number():x}:7"

    for number in range(6):
        assert mira.sign_in("wrong", f"{mira.name}_{number}", address=f"{network}:{number}::1").status_code == 401
    assert label(mira.sign_in(address=f"{network}:ffff::")) == (429, "Too many attempts")
    assert mira.sign_in(address=network.replace(":7", ":8::1")).status_code == 200


BAD_SIGN_INS: dict[str, tuple[Any, int]] = {
    "nothing": ({}, 400),
    "unknown": ({"login": "a", "password": "b", "remember": True}, 400),
    "no strings": ({"login": 1, "password": ["b"]}, 400),
    "long": ({"login": "a" * 255, "password": "b" * 201}, 400),
    "NUL": ({"login": "a\0", "password": "b"}, 400),
    "empty": ({"login": "", "password": ""}, 401),
    "odd": ({"login": "' OR 1=1 --", "password": "\u200d"}, 401),
    "ﬀ": ({"login": "ﬀİß", "password": "x"}, 401),
}


@pytest.mark.parametrize(("body", "status"), BAD_SIGN_INS.values(), ids=BAD_SIGN_INS)
def test_a_sign_in_that_cannot_be(mira: Person, body: Any, status: int) -> None:
    assert mira.request("POST", "/api/auth/login", json=body).status_code == status


def test_a_session_posts_without_the_limits_of_keys(alice: Actor) -> None:
    answers = [alice.web.post("/api/posts", json={"content": f"number {n}"}) for n in range(5)]

    assert [answer.status_code for answer in answers] == [201] * 5
    assert {answer.json()["sourceApiKey"] for answer in answers} == {None}
    assert not [name for name in answers[0].headers if name.startswith("x-ratelimit")]
    assert alice.written() == (5, 5, 0, 0)
    assert alice.post().status_code == 201, "what is posted signed in takes nothing from the keys"
    assert alice.web.get("/api/auth/me").json()["totalPosts"] == 6


def test_a_session_s_idempotency_key_is_honoured(alice: Actor) -> None:
    def post(content: str) -> httpx.Response:
        return alice.web.post("/api/posts", json={"content": content}, headers={"Idempotency-Key": "k"})

    first, again = post("once"), post("twice")

    assert (first.status_code, again.status_code) == (201, 200)
    assert again.content == first.content
    assert again.headers["Idempotent-Replayed"] == "true"
    by_key = alice.post("by key", "k")
    assert (by_key.status_code, by_key.content) == (200, first.content), "the account is the scope, not how it signs in"
    assert alice.written() == (1, 1, 0, 1)
