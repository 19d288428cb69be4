"""Readers of every kind, and which posts each of them may see."""

from tests.api.actors import Actor, Json, body_of, follow
from tests.api.conftest import MakeActor

SIGNED_OUT = "signed out"
READERS = (SIGNED_OUT, "stranger", "follower", "followed by the author", "mutual", "author", "listed")
SEEN_BY = {
    "PUBLIC": set(READERS),
    "FOLLOWERS": {"follower", "mutual", "author"},
    "CONNECTIONS": {"mutual", "author"},
    "PRIVATE": {"author"},
    "CUSTOM": {"listed", "author"},
}


def crowd(actor: MakeActor) -> dict[str, Actor]:
    """One reader of each kind, by kind; the signed-out one is not among them."""
    people = {kind: actor() for kind in READERS if kind != SIGNED_OUT}
    author = people["author"]
    for kind in ("follower", "mutual"):
        follow(people[kind], author)
    for kind in ("followed by the author", "mutual"):
        follow(author, people[kind])
    return people


def set_audience(author: Actor, post: Json, *readers: Actor) -> Json:
    usernames = [reader.account.username for reader in readers]
    return body_of(author.web.put(f"/api/posts/{post['id']}/audience", json={"usernames": usernames}))
