"""Pages that show all that is hostile at once."""

from tests.api.actors import Actor, body_of, publish
from tests.pages.hostile import HOSTILE, as_name

WORST = HOSTILE[0]
A_POLL = 9
"""Hostile options of a poll, which has ten at the most."""


def hang_comments(author: Actor) -> str:
    """Writes each as a comment below one post; the post's path."""
    body_of(author.web.patch("/api/auth/me", json={"displayName": WORST, "bio": "\n".join(HOSTILE)[:500]}))
    post = publish(author, WORST, location={"name": WORST})["id"]
    for words in HOSTILE:
        body_of(author.web.post(f"/api/posts/{post}/comments", json={"content": words[:500]}), 201)
    return f"/post/{post}"


def hang_posts(author: Actor) -> str:
    """Writes all of them in posts and in polls; the path of the author's page, which shows every post."""
    for start in range(0, len(HOSTILE), A_POLL):
        some = HOSTILE[start : start + A_POLL]
        options = [as_name(words, 100) for words in some]
        poll = {"question": some[0][:300], "options": [*options, "Neither"]}
        publish(author, "\n".join(words[:500] for words in some), poll=poll, location={"name": as_name(some[-1], 255)})
    return f"/@{author.account.username}"
