"""Secrets of the server are replaced: signatures of the one before are valid for a named time, and no longer."""

import json
from collections.abc import Collection
from itertools import permutations

import pytest

from pressroom.clock import DAY, MINUTE, SECOND
from pressroom.db import Query
from pressroom.domains.audit.models import OPERATOR
from pressroom.domains.notifications.unsubscribing import make_token
from pressroom.domains.shared_state.actions import rotate_secrets
from pressroom.domains.shared_state.models import CHALLENGES, ROTATED, STARTS, SecretName
from pressroom.domains.shared_state.queries import purge_secrets
from pressroom.domains.sign_in.authenticators import Ceremony, is_valid, new_challenge
from pressroom.signing_secrets import SecretVersion, SigningSecret
from tests.api.actors import Actor, nobody, read, rows
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.media.uploads import fetch, media_of, path_of, ready

SETTINGS = ROOMY

NEWEST = Query(str, "SELECT name FROM server_secrets WHERE expires_at IS NULL ORDER BY name")
EARLIER = Query(str, "SELECT name FROM server_secrets WHERE expires_at IS NOT NULL")
LOGGED = Query(str, "SELECT detail FROM audit_entries WHERE kind = 'server-secret.rotated' ORDER BY id DESC LIMIT 3")


def rotate(server: LocalServer, days: int, names: Collection[SecretName] = ROTATED) -> None:
    """Replaces secrets as the command does; every process looks."""
    server.run(server.runtime.db.transact(rotate_secrets, names, days, "It leaked", OPERATOR))
    server.run(server.runtime.state.look())


def purge(server: LocalServer) -> None:
    """Removes the versions that have expired, as a server does every minute."""
    while server.run(server.runtime.db.transact(purge_secrets, 1)):
        pass


def status(server: LocalServer, path: str) -> int:
    """How a file, or a page, answers."""
    return fetch(server, path).status_code


def test_address_of_a_file_outlives_its_secret_by_the_named_time(alice: Actor) -> None:
    server, post = alice.server, ready(alice, visibility="PRIVATE")
    before = path_of(media_of(post)["url"])

    rotate(server, days=30)
    at_once = path_of(media_of(read(alice, post["id"]))["url"])
    server.clock.advance(STARTS)
    after = path_of(media_of(read(alice, post["id"]))["url"])

    assert at_once == before != after, "no process signs before all know the secret"
    assert [status(server, path) for path in (before, after)] == [200, 200]
    server.clock.advance(30 * DAY - SECOND)
    assert [status(server, path) for path in (before, after)] == [200, 200]
    server.clock.advance(SECOND)
    assert [status(server, path) for path in (before, after)] == [404, 200]


def test_rotation_after_a_leak_ends_addresses_at_once(alice: Actor) -> None:
    server, post = alice.server, ready(alice, visibility="PRIVATE")
    before = path_of(media_of(post)["url"])

    rotate(server, days=0)
    server.clock.advance(STARTS)

    assert status(server, before) == 404
    assert status(server, path_of(media_of(read(alice, post["id"]))["url"])) == 200


def test_link_that_stops_mail_outlives_its_secret_by_the_named_time(alice: Actor) -> None:
    server, account = alice.server, alice.account

    def link() -> str:
        token = make_token(account.id, account.email.lower(), server.secret(SecretName.UNSUBSCRIBING))
        return f"{server.base_url}/unsubscribe/{token}"

    before = link()
    rotate(server, days=90)
    server.clock.advance(STARTS)
    after = link()

    assert before != after
    assert [nobody.get(each).status_code for each in (before, after)] == [200, 200]
    server.clock.advance(90 * DAY)
    assert [nobody.get(each).status_code for each in (before, after)] == [404, 200]


def test_challenge_of_a_passkey_outlives_its_secret(server: LocalServer) -> None:
    rotate(server, days=0)
    server.clock.advance(STARTS)
    secret, clock = server.runtime.state.secret(SecretName.PASSKEYS), server.clock
    challenge = new_challenge(secret.signing(clock.now()), Ceremony.SIGN_IN, "holder", clock.now())

    rotate(server, days=30)
    clock.advance(STARTS)

    def holds(made: bytes) -> bool:
        return is_valid(made, secret.verifying(clock.now()), Ceremony.SIGN_IN, "holder", clock.now())

    assert holds(challenge)
    assert holds(new_challenge(secret.signing(clock.now()), Ceremony.SIGN_IN, "holder", clock.now()))
    clock.advance(CHALLENGES)
    assert len(secret.verifying(clock.now())) == 1, "thirty days would be too long for what lives five minutes"


def test_replay_after_a_rotation_knows_its_body(alice: Actor) -> None:
    headers = {"Idempotency-Key": "once"}
    sent = {"content": "Once."}
    assert alice.api.post("/api/posts", json=sent, headers=headers).status_code == 201

    rotate(alice.server, days=0)
    alice.server.clock.advance(MINUTE)
    replay = alice.api.post("/api/posts", json=sent, headers=headers)
    other = alice.api.post("/api/posts", json={"content": "Twice."}, headers=headers)

    assert "idempotent-body-differs" not in replay.headers
    assert other.headers["idempotent-body-differs"] == "true"


def test_rotation_keeps_one_version_that_does_not_expire(server: LocalServer) -> None:
    names = sorted(SecretName)
    server.clock.advance(400 * DAY)
    purge(server)
    rotate(server, days=1)
    rotate(server, days=30, names=[SecretName.MEDIA])
    newest = rows(server, NEWEST)
    server.clock.advance(2 * DAY)
    purge(server)

    assert newest == rows(server, NEWEST) == names
    assert rows(server, EARLIER) == [SecretName.MEDIA], "the one of 30 days is still there"
    assert json.loads(rows(server, LOGGED)[0]) == {"secret": "media", "days": 30, "reason": "It leaked"}


def test_secrets_are_made_once(server: LocalServer) -> None:
    before = server.runtime.state.secret(SecretName.MEDIA).verifying(server.clock.now())
    server.run(server.runtime.state.look())
    assert server.runtime.state.secret(SecretName.MEDIA).verifying(server.clock.now()) == before


@pytest.mark.parametrize(
    ("now", "signs", "verify"),
    [(5, "old", ["new", "old"]), (10, "new", ["new", "old"]), (19, "new", ["new", "old"]), (20, "new", ["new"])],
)
def test_newest_version_that_has_begun_signs(now: int, signs: str, verify: list[str]) -> None:
    secret = SigningSecret([SecretVersion("x", "new", 10, None), SecretVersion("x", "old", 0, 20)])
    assert (secret.signing(now), secret.verifying(now)) == (signs, verify)


def test_second_of_two_rotations_at_one_moment_signs() -> None:
    versions = [SecretVersion("x", name, 10, until) for name, until in (("third", None), ("second", 30), ("first", 20))]
    for order in permutations(versions):
        secret = SigningSecret(order)
        assert (secret.signing(10), secret.verifying(10)) == ("third", ["third", "second", "first"])


def test_version_that_has_not_begun_signs_while_there_is_no_other() -> None:
    assert SigningSecret([SecretVersion("x", "first", 10, None)]).signing(5) == "first"
