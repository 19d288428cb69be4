"""A deleted account: erased rows, rows that stay without a name, and counts taken back."""

from collections.abc import Iterator
from functools import partial

import pytest

from pressroom.clock import DAY, HOUR, MINUTE
from pressroom.db import Query, Tx
from pressroom.domains.audit.actions import record
from pressroom.domains.audit.models import SERVICE, Kind, Source
from pressroom.domains.audit.models import Actor as By
from pressroom.domains.moderation.actions import delete_account, set_admin, suspend_account
from pressroom.domains.posts.queries.reactions import count_like, insert_like
from pressroom.domains.sign_in.links import request_reset
from pressroom.domains.sign_in.sessions import begin_session
from pressroom.domains.sign_up import invitations
from tests.api.actors import Actor, body_of, nobody, objections, publish, read, refusal, rows
from tests.api.belongings import COUNTED, NEEDED, PASSWORD, STAYS, Rich, found
from tests.api.conftest import MakeActor
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY

SETTINGS = {**ROOMY, **NEEDED}

EMAIL = Query(str, "SELECT email FROM accounts WHERE id = :account_id")
RESET_MAILS = Query(int, "SELECT count(*) FROM jobs WHERE kind = 'reset mail' AND subject = :email")
JOBS = Query(int, "SELECT count(*) FROM jobs WHERE kind = 'account deletion'")
MENTIONED = Query(str, "SELECT account_id FROM post_mentions WHERE post_id = :id")
LISTED = Query(str, "SELECT post_id FROM post_audiences WHERE account_id = :id")
CASE = Query(str, "SELECT id FROM report_cases WHERE subject_id = :id")
DECIDED = Query(int, "SELECT count(*) FROM report_cases WHERE id = :id AND decision = 'deleted' AND reason IS NULL")
TOLD = Query(int, "SELECT count(*) FROM notifications WHERE account_id = :id")
MAILS = Query(int, "SELECT count(*) FROM jobs WHERE kind = 'decision mail' AND account_id = :id")
NAMELESS = COUNTED | {
    ("accounts", "id"),
    ("accounts", "username_key"),
    ("accounts", "email_key"),
    ("api_keys", "account_id"),
    ("audit_entries", "account_id"),
    ("clips", "account_id"),
    ("comments", "account_id"),
    ("content_quotas", "account_id"),
    ("job_queues", "account_id"),
    ("posts", "account_id"),
    ("rate_windows", "key_id"),
    ("audit_entries", "admin_id"),
    ("report_cases", "owner_id"),
    ("report_cases", "subject_id"),
    ("reserved_usernames", "account_id"),
}
"""Where the id of a deleted account stays, which says nothing of anybody."""


@pytest.fixture
def rich(server: LocalServer, actor: MakeActor) -> Iterator[Rich]:
    made = Rich(server, actor())
    made.fill()
    yield made
    made.close()


@pytest.fixture
def wordy(server: LocalServer, actor: MakeActor) -> Iterator[Rich]:
    """The same without files, for tests that look at none."""
    made = Rich(server, actor())
    made.fill(files=False)
    yield made
    made.close()


def finish(server: LocalServer) -> None:
    """Lets the jobs be done, and done again after an hour."""
    server.do_jobs()
    server.clock.advance(DAY)
    server.do_jobs()
    server.index()
    assert server.run(server.runtime.db.one(JOBS)) == 0


def delete(who: Rich) -> None:
    """Deletes the account as the operator's command does, and lets the job be done."""
    who.server.run(who.server.runtime.db.transact(delete_account, who.word))
    finish(who.server)


def test_no_table_holds_a_personal_field_of_it(rich: Rich) -> None:
    server = rich.server
    before = found(server, rich.word)
    assert len(before) >= 15, before
    assert found(server, rich.address) - COUNTED

    delete(rich)

    assert found(server, rich.word, but=rich.friend.account.id) == STAYS
    assert found(server, rich.address) <= COUNTED
    assert found(server, rich.id, but=rich.friend.account.id) <= NAMELESS


def test_its_reset_mail_is_not_sent_any_more(wordy: Rich) -> None:
    server = wordy.server
    email = server.run(server.runtime.db.one(EMAIL, account_id=wordy.id)) or ""
    server.run(server.runtime.db.transact(request_reset, email, "198.51.100.7", 10))
    assert server.run(server.runtime.db.one(RESET_MAILS, email=email)) == 1

    server.run(server.runtime.db.transact(delete_account, wordy.word))

    assert server.run(server.runtime.db.one(RESET_MAILS, email=email)) == 0
    finish(server)


def test_reactions_of_a_deleted_account_are_taken_back(wordy: Rich) -> None:
    friend, post = wordy.friend, wordy.post
    before = body_of(friend.web.get("/api/auth/me"))
    assert read(friend, post["id"])["stats"] == {"likes": 1, "comments": 1, "shares": 1, "shareCount": 2, "views": 0}

    delete(wordy)
    friend = signed_in(friend)

    assert read(friend, post["id"])["stats"] == {"likes": 0, "comments": 1, "shares": 0, "shareCount": 0, "views": 0}
    assert read(friend, wordy.polled["id"])["poll"]["totalVotes"] == 0
    assert [option["votes"] for option in read(friend, wordy.polled["id"])["poll"]["options"]] == [0, 0, 0]
    after = body_of(friend.web.get("/api/auth/me"))
    assert (before["totalFollowers"], before["totalFollowing"]) == (1, 1)
    assert (after["totalFollowers"], after["totalFollowing"]) == (0, 0)
    members = Query(int, "SELECT members FROM hubs WHERE id = :id")
    assert wordy.server.run(wordy.server.runtime.db.one(members, id=wordy.hub)) == 1


def signed_in(friend: Actor) -> Actor:
    """The same with a session of now: time has passed."""
    token = friend.server.run(friend.server.runtime.db.transact(begin_session, friend.account.id))
    friend.web.headers["Cookie"] = f"session={token}"
    return friend


def test_its_comments_stay_without_a_name(wordy: Rich) -> None:
    base, path = wordy.server.base_url, f"/api/posts/{wordy.post['id']}/comments"

    delete(wordy)

    (comment,) = body_of(nobody.get(base + path))["comments"]
    assert comment["content"] == "A comment that stays"
    assert (comment["author"]["username"], comment["author"]["displayName"]) == ("[deleted]", "Deleted account")
    assert comment["sourceApiKey"] is None
    page = nobody.get(f"{base}/post/{wordy.post['id']}").text
    assert "A comment that stays" in page
    assert "Deleted account" in page
    assert "/@[deleted]" not in page
    reply = {"content": "Who was that?", "parentId": comment["id"]}
    body_of(signed_in(wordy.friend).web.post(path, json=reply), 201)


def test_comments_of_an_account_that_was_suspended_before_stay_hidden(wordy: Rich) -> None:
    base, path = wordy.server.base_url, f"/api/posts/{wordy.post['id']}/comments"
    wordy.server.run(wordy.server.runtime.db.transact(suspend_account, wordy.word))
    wordy.server.clock.advance(1)

    delete(wordy)

    assert body_of(nobody.get(base + path))["comments"] == []


@pytest.mark.parametrize("job_is_done", [False, True])
def test_its_pages_are_gone_at_once(rich: Rich, job_is_done: bool) -> None:
    base = rich.server.base_url
    profile = f"{base}/@{rich.word.upper()}"
    pages = [f"{base}/post/{rich.first['id']}", profile, f"{profile}/clips", f"{base}/clip/{rich.clip}"]
    assert [nobody.get(page).status_code for page in pages] == [200] * 4

    rich.server.run(rich.server.runtime.db.transact(delete_account, rich.word))
    if job_is_done:
        finish(rich.server)

    assert [nobody.get(page).status_code for page in pages] == [410] * 4
    assert rich.word not in nobody.get(pages[0]).text
    assert nobody.get(f"{base}/@nobody_was_called_so").status_code == 404
    assert refusal(nobody.get(f"{base}/api/posts/{rich.first['id']}")) == (404, "Not found")
    assert rich.web.get("/api/auth/me").status_code == 401
    assert refusal(rich.api.get("/api/auth/me")) == (401, "API key revoked")


def test_pages_of_an_account_that_was_suspended_before_stay_away(rich: Rich) -> None:
    base = rich.server.base_url
    pages = [f"{base}/post/{rich.first['id']}", f"{base}/@{rich.word}", f"{base}/clip/{rich.clip}"]
    rich.server.run(rich.server.runtime.db.transact(suspend_account, rich.word))
    assert [nobody.get(page).status_code for page in pages] == [404] * 3
    rich.server.clock.advance(1)

    rich.server.run(rich.server.runtime.db.transact(delete_account, rich.word))
    assert [nobody.get(page).status_code for page in pages] == [404] * 3
    finish(rich.server)
    assert [nobody.get(page).status_code for page in pages] == [404] * 3


def test_a_page_of_a_name_is_gone_for_as_long_as_it_is_reserved(wordy: Rich) -> None:
    delete(wordy)
    wordy.server.clock.advance(91 * DAY)
    assert nobody.get(f"{wordy.server.base_url}/@{wordy.word}").status_code == 404


def test_requests_with_its_keys_leave_no_address_afterwards(wordy: Rich) -> None:
    delete(wordy)
    for _ in range(3):
        assert wordy.api.post("/api/posts", json={"content": "x"}).status_code == 401
    wordy.server.run(wordy.server.runtime.usage.flush())
    assert found(wordy.server, wordy.address) <= COUNTED


def test_files_of_a_request_under_way_are_removed_an_hour_later(wordy: Rich) -> None:
    server = wordy.server
    server.run(server.runtime.db.transact(delete_account, wordy.word))
    server.do_jobs()
    late = publish(wordy.friend)

    async def like(tx: Tx, post_id: str) -> None:
        await insert_like(tx, post_id, wordy.id)
        await count_like(tx, post_id, 1)

    server.run(server.runtime.db.transact(like, late["id"]))

    server.clock.advance(HOUR)
    server.do_jobs()

    assert read(signed_in(wordy.friend), late["id"])["stats"]["likes"] == 0


def test_deletion_removes_references_elsewhere(rich: Rich, actor: MakeActor) -> None:
    server, friend, admin = rich.server, rich.friend, actor().become_admin()
    transact = server.runtime.db.transact
    source = Source(rich.address, actor=By.ADMIN, admin_id=rich.id)
    server.run(transact(partial(record, reason="Known."), admin.account.id, Kind.ACCOUNT_VERIFIED, source))
    made, token = server.run(transact(invitations.make, SERVICE, admin.account.id, f"For {rich.word}"))
    server.run(transact(invitations.use, token, rich.id))
    mention = rich.do("POST", "/api/posts", 201, json={"content": f"Hello @{friend.account.username}"})
    listed = publish(friend, "For few at first", visibility="CUSTOM")
    body_of(friend.web.put(f"/api/posts/{listed['id']}/audience", json={"usernames": [rich.word]}))
    body_of(friend.web.patch(f"/api/posts/{listed['id']}", json={"visibility": "PUBLIC"}))
    assert rows(server, MENTIONED, id=mention["id"]) == [friend.account.id]
    assert rows(server, LISTED, id=rich.id)

    delete(rich)

    assert rows(server, MENTIONED, id=mention["id"]) == []
    assert rows(server, LISTED, id=rich.id) == []
    assert found(server, rich.address) <= COUNTED
    assert found(server, rich.word, but=friend.account.id) == STAYS
    assert found(server, rich.id, but=friend.account.id) <= NAMELESS
    again = server.run(server.runtime.db.read(invitations.get, made.id))
    assert (again.status(server.clock.now()), again.used_by, again.note) == ("used", None, None)


def test_later_decisions_notify_no_account(wordy: Rich, actor: MakeActor) -> None:
    server, admin = wordy.server, actor().become_admin()
    case_id = rows(server, CASE, id=wordy.first["id"])[0]
    delete(wordy)

    ruling = {"decision": "deleted", "reason": "They were rude."}
    signed_in(admin)
    body_of(admin.web.post(f"/api/admin/reports/{case_id}/decision", json=ruling))

    assert rows(server, DECIDED, id=case_id) == [1]
    assert rows(server, TOLD, id=wordy.id) == [0]
    assert rows(server, MAILS, id=wordy.id) == [0]


def test_its_files_leave_the_store(rich: Rich) -> None:
    blobs, db = rich.server.settings.data_dir / "blobs", rich.server.runtime.db
    rich.server.do_jobs()
    media = Query(str, "SELECT lower(id) FROM media WHERE account_id = :id")
    media_ids = rich.server.run(db.read(lambda tx: tx.all(media, id=rich.id)))

    def stored() -> set[str]:
        names = [path.name for path in blobs.rglob("*")]
        return {name.rpartition("=")[2] for name in names if any(each in name for each in media_ids)}

    assert stored() == {"large.webp", "thumbnail.webp", "video.mp4", "poster.webp"}
    delete(rich)
    assert stored() == set()


def test_the_owner_deletes_it_with_name_and_password(rich: Rich) -> None:
    def attempt(username: str, password: str = PASSWORD) -> tuple[int, str]:
        return refusal(rich.web.post("/api/auth/delete", json={"username": username, "password": password}))

    assert attempt("somebody_else") == (422, "Unprocessable")
    assert attempt(rich.word, "a wrong password") == (401, "Invalid credentials")
    with_key = rich.api.post("/api/auth/delete", json={"username": rich.word, "password": PASSWORD})
    assert refusal(with_key) == (403, "Session required")
    assert body_of(rich.web.get("/api/auth/me"))["id"] == rich.id

    body = {"username": rich.word.upper(), "password": PASSWORD}
    answer = rich.web.post("/api/auth/delete", json=body, headers={"Idempotency-Key": "once"})

    assert body_of(answer) == {"message": "Account deleted", "id": rich.id}
    assert "session=;" in answer.headers["set-cookie"]
    assert refusal(rich.web.post("/api/auth/delete", json=body)) == (401, "Not signed in")
    revoked = Query(str, "SELECT revoked_by FROM api_keys WHERE account_id = :id")
    assert rich.server.run(rich.server.runtime.db.one(revoked, id=rich.id)) == "self"
    finish(rich.server)
    assert found(rich.server, rich.word, but=rich.friend.account.id) == STAYS


def test_deletion_by_the_page_takes_the_cookie_away(wordy: Rich) -> None:
    answer = wordy.web.post("/settings/data/delete", data={"username": wordy.word, "password": PASSWORD})

    assert (answer.status_code, answer.headers["location"]) == (303, "/?done=own-account-deleted")
    assert "session=;" in answer.headers["set-cookie"]


@pytest.mark.parametrize("by_page", [False, True])
def test_an_admin_has_the_rights_taken_away_first(wordy: Rich, by_page: bool) -> None:
    body = {"username": wordy.word, "password": PASSWORD}
    db = wordy.server.runtime.db
    wordy.server.run(db.transact(set_admin, wordy.word, is_admin=True))

    if by_page:
        form = wordy.web.get("/settings/data/delete").text
        assert f"pressroom account admin {wordy.word} --revoke" in form
        refused = wordy.web.post("/settings/data/delete", data=body)
        assert (refused.status_code, "is an admin" in refused.text) == (422, True)
    else:
        assert objections(wordy.web.post("/api/auth/delete", json=body)) == [("username", "not_allowed")]
    assert wordy.web.get("/api/auth/me").status_code == 200

    wordy.server.run(db.transact(set_admin, wordy.word, is_admin=False))
    body_of(wordy.web.post("/api/auth/delete", json=body))


def test_an_old_session_confirms_the_password_first(wordy: Rich) -> None:
    wordy.server.clock.advance(31 * MINUTE)
    body = {"username": wordy.word, "password": PASSWORD}
    assert wordy.web.post("/api/auth/delete", json=body).status_code == 403
