"""Somebody who has done everything that an account can do, and whose personal fields all bear one word."""

from typing import Any

import httpx
from pyotp.totp import TOTP

from pressroom.db import Query
from pressroom.domains.audit.models import UNKNOWN
from pressroom.domains.sign_in.authenticators import NewCredential
from pressroom.domains.sign_in.passkeys import add_passkey
from tests.api.actors import Actor, Json, body_of, new_client, nobody, publish
from tests.api.people import new_address, next_number, token_of
from tests.api.tables import columns
from tests.harness.local import LocalServer
from tests.media.uploads import file
from tests.pages.files import picture, video

NEEDED: dict[str, object] = {"DEV": 1, "TRUSTED_PROXIES": "127.0.0.1/32"}
"""The settings of a server for it: mail, and addresses of clients' own."""

PASSWORD = "zaphod plums and a kettle"

STAYS = {("reserved_usernames", "username_key")}
"""Where a name of a deleted account is to be found: it stays reserved."""

COUNTED = {("sign_in_attempts", "subject"), ("sign_up_attempts", "subject")}
"""Where addresses are counted whoever came from there; the rows go within the hour."""


class Rich:
    """An account with everything: `web` is signed in, `api` bears a key; `friend` is somebody it has to do with."""

    def __init__(self, server: LocalServer, friend: Actor) -> None:
        self.server, self.friend = server, friend
        self.word = f"zaphod{next_number()}x"
        self.email, self.address = f"{self.word}@example.org", new_address()
        self.clients = [new_client(base_url=server.base_url, headers={"X-Forwarded-For": self.address})]
        body = {"username": self.word, "email": self.email, "password": PASSWORD, "displayName": self.say("Name")}
        signed_up = nobody.post(
            f"{server.base_url}/api/auth/signup", json=body, headers={"X-Forwarded-For": self.address}
        )
        self.id: str = body_of(signed_up, 201)["id"]
        self.web = self.client({"Cookie": f"session={token_of(signed_up)}"})
        self.key = self.make_key()
        self.api = self.client({"Authorization": f"Bearer {self.key['key']}"})

    def say(self, text: str) -> str:
        """A text that bears the word."""
        return f"{text} of {self.word}"

    def client(self, headers: dict[str, str]) -> httpx.Client:
        """A client that comes from the account's address."""
        made = new_client(base_url=self.server.base_url, headers={"X-Forwarded-For": self.address, **headers})
        self.clients.append(made)
        return made

    def make_key(self) -> Json:
        """A new key with every scope, usable from the account's network alone."""
        scopes = ["posts:write", "posts:delete", "media:write", "bounces:write", "comments:write", "clips:write"]
        scopes.append("drafts:write")
        body = {"label": self.say("Laptop"), "scopes": scopes, "ipAllowlist": [f"{self.address}/32"]}
        return body_of(self.web.post("/api/auth/api-keys", json=body), 201)

    def close(self) -> None:
        """Closes its clients."""
        for client in self.clients:
            client.close()

    def do(self, method: str, path: str, status: int = 200, **more: Any) -> Json:
        """Sends a request in the session; its answer."""
        return body_of(self.web.request(method, path, **more), status)

    def fill(self, *, endpoints: bool = True, files: bool = True) -> None:
        """Does everything once. Files take the most time: jobs process a clip and four pictures."""
        self.do("PATCH", "/api/auth/me", json={"bio": self.say("Bio")})
        self.do("PATCH", "/api/notifications/settings", json={"like": "mail"})
        self.publish_all()
        if files:
            self.upload()
        self.react_to(publish(self.friend, f"Hello @{self.word}"))
        self.meet()
        self.report()
        if endpoints:
            hook = {"url": f"https://8.8.8.8/{self.word}", "events": ["post.created"]}
            self.do("POST", f"/api/auth/api-keys/{self.key['id']}/webhooks", 201, json=hook)
        self.api.post("/api/posts", json={"content": self.say("Event")}, headers={"Idempotency-Key": self.word})
        self.api.post("/api/posts", json={"contents": "refused"})
        self.sign_in_badly()
        made = NewCredential(f"passkey-{self.word}", "AAAA", 0)
        added = (self.id, self.word.encode(), made, self.say("Passkey"), UNKNOWN)
        self.server.run(self.server.runtime.db.transact(add_passkey, *added))
        secret = self.do("POST", "/api/auth/two-factor")["secret"]
        code = TOTP(secret).generate_otp(self.server.clock.now() // 30_000)
        self.do("POST", "/api/auth/two-factor/confirm", json={"code": code})
        body_of(nobody.post(f"{self.server.base_url}/api/auth/forgot", json={"email": self.email.upper()}))
        self.server.run(self.server.runtime.usage.flush())

    def publish_all(self) -> None:
        """Publishes posts of each kind, and drafts one."""
        place = {"name": self.say("Home"), "latitude": 1.5, "longitude": 2.5}
        body = {"content": self.say("Post #zaphod"), "location": place}
        first = body_of(self.api.post("/api/posts", json=body), 201)
        self.do("PATCH", f"/api/posts/{first['id']}", json={"content": self.say("Edited #zaphod")})
        poll = {"question": self.say("Question"), "options": [self.say("One"), self.say("Two")]}
        polled = self.do("POST", "/api/posts", 201, json={"content": self.say("Poll"), "poll": poll})
        body_of(self.friend.web.post(f"/api/posts/{polled['id']}/poll/votes", json={"choices": [1]}))
        custom = self.do("POST", "/api/posts", 201, json={"content": self.say("Custom"), "visibility": "CUSTOM"})
        self.do("PUT", f"/api/posts/{custom['id']}/audience", json={"usernames": [self.friend.account.username]})
        gone = self.do("POST", "/api/posts", 201, json={"content": self.say("Deleted")})
        self.do("DELETE", f"/api/posts/{gone['id']}")
        self.draft = self.do("POST", "/api/drafts", 201, json={"content": self.say("Draft")})
        body_of(self.friend.web.post(f"/api/posts/{first['id']}/bounce", json={"content": "Look"}), 201)
        self.first = first

    def upload(self) -> None:
        """Uploads pictures to a post, a draft and the profile, and a clip."""
        named = {"altText": self.say("Alt")}
        body_of(self.api.post("/api/posts/upload", files=[file()], data={**named, "content": ""}), 201)
        self.do("POST", f"/api/drafts/{self.draft['id']}/media", 201, files=[file()], data=named)
        self.do("PUT", "/api/auth/me/avatar", 202, files=[("avatar", picture())])
        self.do("PUT", "/api/auth/me/cover", 202, files=[("cover", picture())])
        clip = body_of(self.api.post("/api/clips", files=[("video", video())], data={"caption": self.say("Clip")}), 201)
        self.clip: str = clip["id"]

    def react_to(self, post: Json) -> None:
        """Likes, saves, bounces and comments on somebody else's post, and votes."""
        path = f"/api/posts/{post['id']}"
        self.do("POST", f"{path}/like")
        self.do("POST", f"{path}/save")
        self.do("POST", f"{path}/bounce", 201)
        self.do("POST", f"{path}/bounce", 201, json={"content": self.say("Quote")})
        self.comment = body_of(self.api.post(f"{path}/comments", json={"content": "A comment that stays"}), 201)
        poll = {"options": ["a", "b", "c"], "multiple": True}
        self.polled = publish(self.friend, "A poll", poll=poll)
        self.do("POST", f"/api/posts/{self.polled['id']}/poll/votes", json={"choices": [0, 2]})
        self.post = post
        listed = publish(self.friend, "For few", visibility="CUSTOM")
        names = {"usernames": [self.word]}
        body_of(self.friend.web.put(f"/api/posts/{listed['id']}/audience", json=names))

    def meet(self) -> None:
        """Follows and is followed, asks, joins a hub, blocks, mutes and filters."""
        body_of(self.friend.web.post(f"/api/accounts/{self.word}/follow"))
        self.do("POST", f"/api/accounts/{self.friend.account.username}/follow")
        shy = Actor(self.server)
        body_of(shy.web.patch("/api/auth/me", json={"isPrivate": True}))
        self.do("POST", f"/api/accounts/{shy.account.username}/follow")
        hub = body_of(shy.web.post("/api/hubs", json={"name": "Hub", "slug": f"hub{next_number()}"}), 201)
        self.do("POST", f"/api/hubs/{hub['id']}/membership")
        self.hub = hub["id"]
        foe = Actor(self.server)
        self.do("PUT", f"/api/blocks/{foe.account.username}")
        self.do("PUT", f"/api/mutes/{shy.account.username}")
        self.do("PUT", "/api/filters", json={"filters": [{"text": self.say("Filter")}]})
        for client in (*shy.clients(), *foe.clients()):
            client.close()

    def report(self) -> None:
        """Reports somebody else's post, and is reported with a post."""
        theirs = {"type": "post", "id": self.polled["id"], "reason": self.say("Report")}
        self.do("POST", "/api/reports", 202, json=theirs)
        for subject, subject_id in (("post", self.first["id"]), ("account", self.id)):
            body = {"type": subject, "id": subject_id, "reason": "Look at it."}
            body_of(self.friend.web.post("/api/reports", json=body), 202)

    def sign_in_badly(self) -> None:
        """Fails to sign in, from a known address and from another."""
        for address in (self.address, new_address()):
            body = {"login": self.word, "password": "a wrong password"}
            headers = {"X-Forwarded-For": address}
            nobody.post(f"{self.server.base_url}/api/auth/login", json=body, headers=headers)


def found(server: LocalServer, word: str, *, but: str = "") -> set[tuple[str, str]]:
    """The columns, as (table, column), in which a word is to be found anywhere in the database.

    Rows that the account `but` wrote are left out: it may name other accounts.
    """
    places: set[tuple[str, str]] = set()
    for table, kinds in columns().items():
        others = "account_id <> :but" if "account_id" in kinds else ":but = :but"
        for column in (column for column, kind in kinds.items() if kind == "TEXT"):
            has = f"lower({column}) LIKE :word AND {others}"
            query = Query(int, f"SELECT count(*) FROM {table} WHERE {has}")  # noqa: S608  # names of our own schema
            if server.run(server.runtime.db.one(query, word=f"%{word.lower()}%", but=but)):
                places.add((table, column))
    return places
