"""A notice of the last change stands above the content: for its reader, and for no signed-out visitor."""

import pytest

from tests.api.actors import Actor, body_of, publish
from tests.api.conftest import MakeActor, one_engine
from tests.harness.roomy import ROOMY
from tests.pages.files import broken_video, filmed
from tests.pages.reader import fetch, told, visit

SETTINGS = ROOMY
THANKS = "Thank you. The admins of this server will look at it."


def sent(who: Actor, path: str, **texts: str) -> str:
    """Sends a form; returns where it leads."""
    answer = who.web.post(path, data=texts)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def test_edit_shows_on_the_permalink(actor: MakeActor) -> None:
    alice = actor()
    post = publish(alice, "The ferry leaves")

    path = sent(alice, f"/post/{post['id']}/edit", content="The ferry stays", visibility="PUBLIC")

    assert visit(alice.server, path, alice).line("main > #done[role=status]") == "The post is changed."
    assert not visit(alice.server, f"/post/{post['id']}", alice).has("#done")


def test_report_confirms_on_its_page(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    comment = body_of(alice.web.post(f"/api/posts/{post['id']}/comments", json={"content": "Oh"}), 201)
    subjects = {"post": post["id"], "comment": comment["id"], "account": alice.account.id}

    for kind, subject in subjects.items():
        path = sent(bob, "/report", type=kind, id=subject, reason="Look at it.")
        assert visit(bob.server, path, bob).line("main > #done") == THANKS, kind


def test_every_page_shows_it_to_signed_in_readers_alone(actor: MakeActor) -> None:
    alice = actor()
    slug = alice.account.username
    hub = body_of(alice.web.post("/api/hubs", json={"name": "Hub", "slug": slug}), 201)
    post = publish(alice, f"#{slug}", hubId=hub["id"])
    clip = filmed(alice, broken_video())
    paths = [
        *(f"/post/{post['id']}", f"/clip/{clip['id']}", f"/hub/{slug}", f"/tag/{slug}"),
        *(f"/@{slug}", f"/@{slug}/clips"),
    ]

    for path in paths:
        signed_out = fetch(alice.server, path)
        assert told(fetch(alice.server, f"{path}?done=reported")) == told(signed_out), path
        assert signed_out.headers["cache-control"] == "no-cache"
    for path in (*paths, "/saved"):
        assert visit(alice.server, f"{path}?done=reported", alice).line("main > #done") == THANKS, path


@one_engine
@pytest.mark.parametrize("code", ["", "nothing", "<script>alert(1)</script>", "%00", "reported" * 9, "reported&done=x"])
def test_unknown_done_code_shows_no_notice(actor: MakeActor, code: str) -> None:
    alice = actor()
    post = publish(alice)

    answer = fetch(alice.server, f"/post/{post['id']}?done={code}", alice)

    assert answer.status_code in (200, 400)
    assert 'id="done"' not in answer.text
    assert "alert(1)" not in answer.text
