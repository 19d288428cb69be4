"""Permalinks: where people find a post, a clip and a comment (docs/posts.md#permalinks)."""

import re
from urllib.parse import urlencode

from tests.api.actors import Actor, Json, body_of, nobody, publish
from tests.api.conftest import MakeActor
from tests.harness.roomy import ROOMY
from tests.pages.files import video

BASE = "https://p.example/press"
SETTINGS = {**ROOMY, "PERMALINK_BASE": BASE}


def page_at(who: Actor, permalink: str) -> str:
    """Returns the HTML of the page that a permalink leads to, on this server."""
    answer = who.web.get(permalink.removeprefix(BASE).partition("#")[0])
    assert answer.status_code == 200
    return answer.text


def comment_on(who: Actor, post: Json, **fields: object) -> Json:
    """Returns a new comment on a post, made with the key."""
    return body_of(who.api.post(f"/api/posts/{post['id']}/comments", json=fields), 201)


def test_post_in_every_answer_has_its_permalink(actor: MakeActor) -> None:
    alice, bob = actor(), actor()

    post = publish(alice, "Hello")
    permalink = f"{BASE}/post/{post['id']}"
    edited = body_of(alice.api.patch(f"/api/posts/{post['id']}", json={"content": "Hello again"}))
    bounce = body_of(bob.api.post(f"/api/posts/{post['id']}/bounce"), 201)

    assert [each["permalink"] for each in (post, edited, bounce["originalPost"])] == [permalink] * 3
    assert bounce["permalink"] == f"{BASE}/post/{bounce['id']}"
    assert body_of(bob.web.get(f"/api/posts/{post['id']}"))["permalink"] == permalink
    assert body_of(alice.web.get("/api/posts"))["posts"][0]["permalink"] == permalink
    assert "Hello again" in page_at(bob, permalink)


def test_clip_has_its_permalink(alice: Actor) -> None:
    clip = body_of(alice.api.post("/api/clips", files={"video": video()}, data={"caption": "Inking"}), 201)

    assert clip["permalink"] == f"{BASE}/clip/{clip['id']}"
    assert body_of(alice.web.get(f"/api/clips/{clip['id']}")) == clip
    assert "Inking" in page_at(alice, clip["permalink"])


def test_comment_has_a_permalink_that_shows_it_however_many_come_before(alice: Actor) -> None:
    post = publish(alice)
    for number in range(101):
        comment_on(alice, post, content=f"Before {number}")
    last = comment_on(alice, post, content="The last of all")
    reply = comment_on(alice, post, content="A reply to it", parentId=last["id"])

    for comment in (last, reply):
        assert comment["permalink"].startswith(f"{BASE}/post/{post['id']}?after=")
        assert comment["permalink"].endswith(f"#comment-{comment['id']}")
        shown = page_at(alice, comment["permalink"])
        assert re.search(rf'id="comment-{comment["id"]}"', shown)
        assert comment["content"] in shown
    edited = body_of(alice.web.patch(f"/api/comments/{reply['id']}", json={"content": "Changed"}))
    assert edited["permalink"] == reply["permalink"]
    listed = body_of(alice.web.get(f"/api/posts/{post['id']}/comments?limit=1"))["comments"][0]
    assert listed["permalink"].startswith(f"{BASE}/post/{post['id']}?after={listed['id']}-")


def test_pages_feeds_and_oembed_name_the_same_permalink(alice: Actor) -> None:
    post = publish(alice, "Hello #permalinks")
    base, name = alice.server.base_url, alice.account.username

    assert f'href="{post["permalink"]}"' in nobody.get(f"{base}/@{name}").text
    assert f'<link rel="canonical" href="{post["permalink"]}">' in page_at(alice, post["permalink"])
    assert f"<id>{post['permalink']}</id>" in nobody.get(f"{base}/@{name}/feed.atom").text
    assert body_of(nobody.get(f"{base}/oembed?{urlencode({'url': post['permalink']})}"))["type"] == "link"
