"""A post with a picture, who may see it, and how their right to its files ends."""

from pressroom.domains.moderation.actions import suspend_account
from tests.api.actors import Actor, Json, body_of, follow, nobody
from tests.harness.local import LocalServer
from tests.media.uploads import addresses_in, fetch, path_of, ready


class Case:
    """A post with a picture, its author, somebody who may see it as long as the audience is wide, and a stranger."""

    def __init__(self, server: LocalServer, visibility: str) -> None:
        self.server = server
        self.author, self.reader = Actor(server), Actor(server)
        follow(self.reader, self.author)
        follow(self.author, self.reader)
        self.post = ready(self.author, visibility=visibility)
        self.allow(self.reader)

    def another_reader(self) -> Actor:
        """Somebody else who may see it, on the allowlist as well."""
        other = Actor(self.server)
        follow(other, self.author)
        follow(self.author, other)
        self.allow(self.reader, other)
        return other

    def allow(self, *readers: Actor) -> None:
        """Makes these the allowlist."""
        usernames = [each.account.username for each in readers]
        body_of(self.author.web.put(f"/api/posts/{self.post['id']}/audience", json={"usernames": usernames}))

    def edit(self, visibility: str) -> None:
        """Changes who may see it."""
        body_of(self.author.api.patch(f"/api/posts/{self.post['id']}", json={"visibility": visibility}))

    def shown(self, who: Actor | None) -> set[str]:
        """Every address of the post's picture that somebody is given, by the API and on pages."""
        found: set[str] = set()
        client = who.web if who else nobody
        base = self.server.base_url
        answer = client.get(f"{base}/api/posts/{self.post['id']}")
        if answer.status_code == 200:
            found |= addresses_of(answer.json())
        for page in (f"/post/{self.post['id']}", f"/@{self.author.account.username}"):
            found |= set(addresses_in(client.get(base + page).text))
        return found

    def statuses(self, addresses: set[str], **cookie: str) -> set[int]:
        """How the addresses answer, whole and in part: somebody without a cookie unless one is given."""
        asked: list[dict[str, str]] = [cookie, {**cookie, "Range": "bytes=0-3"}]
        answers = [fetch(self.server, each, **headers) for each in addresses for headers in asked]
        failures = [answer.text for answer in answers if answer.status_code >= 500]
        assert not failures, failures
        return {200 if answer.status_code == 206 else answer.status_code for answer in answers}


def addresses_of(post: Json) -> set[str]:
    """The paths of a post's picture, and of the posts that it shares, as the API gives them."""
    entries = [*(post["media"] or []), *((post.get("originalPost") or {}).get("media") or [])]
    paths = {path_of(each[name]) for each in entries for name in ("url", "thumbnailUrl")}
    return paths | {
        f"{path}/{name}" for path in paths if not path.endswith("thumbnail") for name in ("medium", "poster")
    }


def unfollow(who: Actor, whom: Actor) -> None:
    """From now on `who` does not follow `whom`."""
    body_of(who.web.delete(f"/api/accounts/{whom.account.username}/follow"))


def remove(who: Actor, follower: Actor) -> None:
    """From now on `follower` does not follow `who`."""
    body_of(who.web.delete(f"/api/followers/{follower.account.username}"))


def suspend(who: Actor) -> None:
    """From now on the account is suspended."""
    who.server.run(who.server.runtime.db.transact(suspend_account, who.account.username))
