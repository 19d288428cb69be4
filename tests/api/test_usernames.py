"""User names that were given up stay reserved for 90 days, for their former owner."""

from pressroom.clock import DAY
from pressroom.domains.accounts.reserved_usernames import RESERVATIONS
from tests.api.actors import Actor, nobody, refusal
from tests.api.conftest import MakeActor
from tests.harness.roomy import ROOMY

SETTINGS = {**ROOMY, "SIGNUP": "open", "SIGNUPS_PER_HOUR": 1_000}
TAKEN = (409, "Conflict")


def rename(who: Actor, name: str) -> tuple[int, str]:
    answer = who.web.patch("/api/auth/me", json={"username": name})
    return (200, answer.json()["username"]) if answer.is_success else refusal(answer)


def sign_up(server_url: str, name: str) -> tuple[int, str]:
    new = {"username": name, "email": f"{name}@new.example", "password": "nine plums and a kettle"}
    answer = nobody.post(f"{server_url}/api/auth/signup", json=new)
    return (201, answer.json()["username"]) if answer.is_success else refusal(answer)


def test_former_username_stays_reserved_for_its_account(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    old = alice.account.username
    assert rename(alice, f"{old}_new") == (200, f"{old}_new")

    for name in (old, old.upper()):
        assert rename(bob, name) == TAKEN
        assert sign_up(alice.server.base_url, name) == TAKEN
    assert rename(alice, old.upper()) == (200, old.upper())
    assert rename(bob, f"{old}_new") == TAKEN, "now that one is kept"
    assert rename(alice, old) == (200, old), "another case is the same name"


def test_a_freed_name_is_free_after_90_days(actor: MakeActor) -> None:
    alice = actor()
    old = alice.account.username
    rename(alice, f"{old}_new")
    alice.server.clock.advance(90 * DAY - 1)
    assert sign_up(alice.server.base_url, old) == TAKEN
    alice.server.clock.advance(1)
    assert sign_up(alice.server.base_url, old) == (201, old)


def test_username_reservations_of_an_account_are_bounded(actor: MakeActor) -> None:
    alice = actor()
    names = [alice.account.username, *(f"{alice.account.username}_{number}" for number in range(RESERVATIONS + 1))]

    outcomes = [rename(alice, name) for name in names[1:]]

    assert outcomes == [*((200, name) for name in names[1 : RESERVATIONS + 1]), TAKEN]
    assert rename(alice, names[3]) == (200, names[3]), "one of the account's own is always to be had"
