"""Material that pages are looked at with: people of whom one has nothing yet, one has trouble, one has plenty."""

from collections.abc import Sequence
from typing import Any, Final

import httpx
from pyotp.totp import TOTP

from pressroom.clock import DAY, HOUR, MINUTE, SECOND, iso
from pressroom.db import Command, Tx
from pressroom.domains.explore.picking import Picker
from pressroom.domains.moderation.actions import set_admin
from pressroom.domains.notifications.unsubscribing import make_token
from pressroom.domains.shared_state.models import SecretName
from pressroom.domains.sign_in.links import request_reset
from pressroom.domains.sign_in.sessions import begin_session
from pressroom.domains.sign_in.tokens import Purpose, issue_token
from pressroom.domains.sign_in.two_factor import STEP
from pressroom.ids import LATEST
from pressroom.jobs import queue
from tests.api.actors import Json, body_of, new_client
from tests.harness.local import LocalServer
from tests.harness.receiver import Receiver, answer
from tests.harness.roomy import ROOMY
from tests.pages.files import picture, video

SETTINGS: Final[dict[str, object]] = {
    **ROOMY,
    "DEV": 1,
    "REQUESTS_PER_MINUTE": 60,
    "REQUESTS_PER_DAY": 10_000,
    "POSTS_PER_MINUTE": 10,
    "DAILY_CONTENT_QUOTA": 1_000,
}

MORNING: Final = """The night ferry is back on its timetable from Monday.

Crossings leave at 21:40 and 23:15, and the ticket office at the north quay opens an hour before. Bicycles travel \
free until the end of March. #harbour #timetable"""
POSTS: Final = (
    "Low water at 14:20 today. The slipway by the sailing club is closed until the crane has been checked.",
    "Thank you, @marta, for the pictures of the fog over the east pier. They are in this week's letter. #harbour",
    "The council votes on the new breakwater tonight at seven. We report from the room: https://council.example/agenda",
    MORNING,
)
COMMENTS: Final = (
    "Does the 23:15 still stop at the island?",
    "It does, but only on Fridays and Saturdays.",
    "Good news. I have missed that boat since October.",
)
DISPATCHES: Final = (
    "Ferry 3 leaves the north quay ten minutes late.",
    "High water at 20:05, 1.9 m over chart datum.",
    "The swing bridge opens at noon for the lightship.",
    "Wind north-west 6, gusts 8. The small ferry stays in port.",
)

DRAFTED: Final = (
    "Tomorrow: the first ferry of the winter timetable, and who it is for. #harbour",
    "The man who keeps the light on the island pier retires this spring. We talked with him about forty winters,",
    "The council has voted: the new breakwater is built.\n\nWhat that means for the sailing club and the moorings.",
)
REFUSE = Command("UPDATE drafts SET state = 'refused', refusal = :why, publish_at = NULL WHERE id = :id")
WHY_REFUSED: Final = "The account is no member of the hub The waterfront."

MOVE = Command("UPDATE webhooks SET url = replace(url, :old, :new)")
ELSEWHERE: Final = "https://newsroom.example"
"""Where the endpoints seem to be once everything was delivered."""


TEXTS = {
    "about": "News of the harbour, **run by the ferry cooperative**.\n\n## Who answers\n\nWrite to the night desk.",
    "rules": "1. Name your sources.\n2. Do not publish the addresses of others.\n3. No advertisements.",
    "privacy": "We keep what you publish until you delete it, and addresses of requests for 30 days.",
}
"""Texts of the server; there are no terms."""

REGATTA = (
    "The #regatta starts at noon, off the north quay. #sailing",
    "Wind from the west, five, gusts of seven. #regatta #weather",
    "Three boats did not finish. Everybody is ashore and dry. #regatta #sailing",
    "Who took pictures at the second buoy? #regatta #weather #photography",
)

GIVE_UP = Command("UPDATE jobs SET due_at = NULL, tries = 6, error = :error WHERE subject = :subject")


async def _give_up(tx: Tx) -> None:
    """Enqueues a letter and gives it up."""
    address = "old@harbour.example"
    await queue.enqueue(tx, "verification mail", address, due_at=LATEST)
    await tx.run(GIVE_UP, subject=address, error="550 5.1.1 The mail server knows no such mailbox.")


class Person:
    """Somebody with an account and a session, whose pages are looked at.

    Attributes:
        ids: What stands in the paths of the person's pages, by name: `{"post": "01J…"}`.
    """

    def __init__(self, server: LocalServer, username: str, name: str, bio: str) -> None:
        self.server = server
        self.account = server.account(username)
        self.ids: dict[str, str] = {"username": username}
        self.token = ""
        self.sign_in()
        with self.web as web:
            body_of(web.patch("/api/auth/me", json={"displayName": name, "bio": bio}))

    def sign_in(self) -> None:
        """Begins a session by the server's clock."""
        self.token = self.server.run(self.server.runtime.db.transact(begin_session, self.account.id))

    @property
    def web(self) -> httpx.Client:
        """A client with the person's session."""
        return new_client(base_url=self.server.base_url, headers={"Cookie": f"session={self.token}"})

    def ask(self, path: str, status: int = 200, /, **body: Any) -> Json:
        """The answer to a POST of JSON, which must have this status."""
        with self.web as web:
            return body_of(web.post(path, json=body), status)

    def post(self, content: str, **more: Any) -> str:
        """Publishes; the post's id."""
        return str(self.ask("/api/posts", 201, content=content, **more)["id"])

    def key(self, label: str, *scopes: str, **more: Any) -> Json:
        """Makes a key: its record, and the key itself."""
        return self.ask("/api/auth/api-keys", 201, label=label, scopes=scopes or ["posts:write"], **more)

    def endpoint(self, key: Json, url: str, *events: str) -> Json:
        """Adds an endpoint to a key: its record, and its secret."""
        return self.ask(f"/api/auth/api-keys/{key['id']}/webhooks", 201, url=url, events=events or ["post.created"])


class Scenes:
    """Everybody and everything on one server, as of the time that its clock then shows."""

    def __init__(self, server: LocalServer) -> None:
        self.server = server
        self.empty = Person(server, "newcomer", "Nora Newcomer", "")
        self.full = Person(server, "harbour_news", "Harbour News", "Tides, ferries and the council, every morning.")
        self.failing = Person(server, "night_desk", "Night Desk", "We write while you sleep.")
        self.marta = Person(server, "marta", "Marta Ilves", "Pictures of weather.")
        self._publish()
        with Receiver() as receiver:
            self._run_a_month(receiver)
            self._break(receiver)
            old = receiver.url("")
            server.run(server.runtime.db.transact(lambda tx: tx.run(MOVE, old=old, new=ELSEWHERE)))
        self.idle = Person(server, "idle_hands", "Idle Hands", "")
        server.clock.advance(31 * MINUTE)
        for person in (self.empty, self.full, self.failing, self.marta):
            person.sign_in()
        said = self.full.ask(f"/api/posts/{self.full.ids['post']}/comments", 201, content="The island pier is shut.")
        self.full.ids["said"] = str(said["id"])
        with self.marta.web as web:
            body_of(web.patch("/api/auth/me", json={"isPrivate": True}))
        for path in ("/api/accounts/marta/follow", "/api/accounts/night_desk/follow"):
            self.full.ask(path)
        self.failing.ask("/api/accounts/harbour_news/follow")
        self.full.ask(f"/api/posts/{self.full.ids['post']}/save")
        self._send_links()
        self._guard()
        self._take_copies()
        self._draft()
        self._administer()
        self._explore()

    def reader(self, name: str) -> Person | None:
        """The person of a name; None: somebody who is not signed in."""
        found: Person | None = getattr(self, name, None)
        return found

    def _send_links(self) -> None:
        """Links as mails hold them, and a mail."""
        db, person = self.server.runtime.db, self.full
        for name, purpose in (("reset", Purpose.RESET), ("verify", Purpose.VERIFY), ("link", Purpose.SIGN_IN)):
            person.ids[name] = self.server.run(db.transact(issue_token, person.account.id, purpose))
        secret = self.server.secret(SecretName.UNSUBSCRIBING)
        person.ids["unsubscribe"] = make_token(person.account.id, person.account.email, secret)
        self.server.run(db.transact(request_reset, person.account.email, "127.0.0.1", 100))
        self.server.do_jobs()

    def pass_time(self, milliseconds: int) -> None:
        """Moves the clock, and does due work."""
        self.server.clock.advance(milliseconds)
        self.server.deliver()

    def _run_a_month(self, receiver: Receiver) -> None:
        """Keys that are used, each in its way, and endpoints that hear of it."""
        full = self.full
        full.sign_in()
        soon = iso(self.server.clock.now() + 35 * DAY)
        newsroom = full.key("Newsroom CMS", "posts:write", "posts:delete", "media:write", expiry=soon)
        tides = full.key("Tide tables", "posts:write", ipAllowlist=["127.0.0.0/8", "2001:db8:40::/48"])
        laptop = full.key("Old laptop", "posts:write", "comments:write")
        full.key("Photo importer", "media:write")
        site = full.endpoint(newsroom, receiver.url("/hooks/site"), "post.created", "comment.created")
        archive = full.endpoint(newsroom, receiver.url("/hooks/archive"))
        silent = full.endpoint(laptop, receiver.url("/hooks/laptop"))
        receiver.behave(
            "/hooks/site",
            *(answer(status) for _ in range(12) for status in (200, 200, 503, 200)),
            answer(200),
        )
        receiver.behave("/hooks/archive", answer(200))
        for day in range(30):
            self._dispatch(newsroom, day, times=2 + day % 4)
            self._dispatch(tides, day, times=2)
            self.pass_time(DAY - 2 * MINUTE)
            self.pass_time(2 * MINUTE)
        full.sign_in()
        with full.web as web:
            body_of(web.delete(f"/api/auth/api-keys/{laptop['id']}"))
        for hour in range(24):
            self._dispatch(newsroom, hour, times=1 + hour % 3)
            self.pass_time(HOUR - 2 * MINUTE)
            self.pass_time(2 * MINUTE)
        receiver.behave("/hooks/archive", answer(502, body=b"upstream is restarting"))
        self._dispatch(newsroom, 0, times=2)
        self.server.deliver()
        self.pass_time(66 * SECOND)
        self._refused(newsroom)
        path = f"/api/auth/api-keys/{newsroom['id']}/webhooks/{site['id']}/deliveries"
        with full.web as web:
            (delivery, *_) = body_of(web.get(path))["deliveries"]
        full.ids |= {"key": newsroom["id"], "hook": site["id"], "shaky": archive["id"], "delivery": delivery["id"]}
        path = f"/api/auth/api-keys/{laptop['id']}/webhooks/{silent['id']}/deliveries"
        with full.web as web:
            (unsendable, *_) = body_of(web.get(path))["deliveries"]
        full.ids |= {"revoked": laptop["id"], "silent": silent["id"], "unsendable": unsendable["id"]}

    def _break(self, receiver: Receiver) -> None:
        """Five keys, and an endpoint that answers no more until it is disabled and holds what comes."""
        failing = self.failing
        failing.sign_in()
        keys = [failing.key(f"Desk {number}") for number in range(1, 6)]
        hook = failing.endpoint(keys[0], receiver.url("/hooks/desk"))
        self._dispatch(keys[0], 0, times=2)
        self.server.deliver()
        receiver.behave("/hooks/desk", answer(500, body=b"Traceback (most recent call last): no such table: inbox"))
        self._dispatch(keys[0], 2, times=1)
        self.server.deliver()
        for minutes in (1, 2, 4, 8):
            self.pass_time(minutes * 67 * SECOND)
        self._dispatch(keys[0], 3, times=2)
        self.server.deliver()
        path = f"/api/auth/api-keys/{keys[0]['id']}/webhooks/{hook['id']}"
        with failing.web as web:
            assert body_of(web.get(path))["status"] == "disabled"
            failed = [
                each for each in body_of(web.get(f"{path}/deliveries"))["deliveries"] if each["state"] == "failed"
            ]
        failing.ids |= {"key": keys[0]["id"], "hook": hook["id"], "delivery": failed[0]["id"]}

    def _take_copies(self) -> None:
        """A copy of everything that is ready, and one that is being made."""
        self.full.ask("/api/auth/export", 202)
        self.server.do_jobs()
        self.failing.ask("/api/auth/export", 202)

    def _draft(self) -> None:
        """Drafts in every state: open, scheduled, refused, and one of a key that waits for approval."""
        full = self.full
        later = iso(self.server.clock.now() + DAY)
        for name, words, more in zip(
            ("scheduled", "draft", "refused"), DRAFTED, ({"publishAt": later}, {}, {}), strict=True
        ):
            full.ids[name] = str(full.ask("/api/drafts", 201, content=words, **more)["id"])
        self.server.run(
            self.server.runtime.db.transact(lambda tx: tx.run(REFUSE, id=full.ids["refused"], why=WHY_REFUSED))
        )
        with self._bearing(full.key("Tide bot", "drafts:write")) as api:
            body_of(api.post("/api/drafts", json={"content": DISPATCHES[1], "needsApproval": True}), 201)

    def _guard(self) -> None:
        """Two-factor sign-in: one person's is on, another's is begun."""
        self.failing.ask("/api/auth/two-factor")
        totp = TOTP(self.full.ask("/api/auth/two-factor")["secret"])
        code = totp.generate_otp(self.server.clock.now() // STEP)
        self.full.ask("/api/auth/two-factor/confirm", code=code)

    def _administer(self) -> None:
        """An admin, somebody who was suspended, and a job that was given up."""
        self.admin = Person(self.server, "keeper", "Kim Keeper", "")
        banned = Person(self.server, "pill_shop", "Pill Shop", "")
        db = self.server.runtime.db
        self.server.run(db.transact(set_admin, self.admin.account.username, is_admin=True))
        self.admin.ids |= {"other": "night_desk", "banned": banned.account.username}
        self.admin.ids |= {"othersKey": self.failing.ids["key"], "othersHook": self.failing.ids["hook"]}
        self.admin.ask("/api/admin/accounts/pill_shop/suspend", reason="Advertises pills under every post.")
        self.server.run(db.transact(_give_up))
        self._moderate()

    def _moderate(self) -> None:
        """A post that waits for a decision, another that was decided about, and a block."""
        reported = self.full.post("Everything must go: cheap timetables at the north quay, cash only.")
        for post_id in (reported, self.full.ids["poll"]):
            self.failing.ask("/api/reports", 202, type="post", id=post_id, reason="It sells what is free.")
        with self.admin.web as web:
            cases = body_of(web.get("/api/admin/reports"))["reports"]
        decided, self.admin.ids["case"] = cases[0]["id"], cases[1]["id"]
        self.admin.ask(f"/api/admin/reports/{decided}/decision", decision="deleted", reason="This is not a market.")
        self.admin.ask("/api/admin/blocks", 201, pattern="spam.example", reason="Forty accounts in one night.")

    def _explore(self) -> None:
        """Hashtags that rise, posts that many like, and people and hubs, all picked; and something taken out."""
        names = (
            ("otto", "Otto Brandt"),
            ("ines", "Ines Duarte"),
            ("wei", "陈伟"),
            ("ruth", "Ruth Achterberg-van Leeuwen"),
        )
        people = [Person(self.server, f"{user}_sails", name, "Sails on Sundays.") for user, name in names]
        for number, person in enumerate(people):
            for words in REGATTA[number:]:
                post_id = person.post(words)
                for other in people[: number + 1] if number % 2 else ():
                    other.ask(f"/api/posts/{post_id}/like")
            self.failing.ask(f"/api/accounts/{person.account.username}/follow")
        for number in range(6):
            body = {"name": f"Berth {number + 1}", "slug": f"berth-{number + 1}", "description": "Neighbours."}
            people[0].ask("/api/hubs", 201, **body)
        for name, words in TEXTS.items():
            answer = self.admin.web.put(f"/api/admin/texts/{name}", json={"text": words})
            assert answer.status_code == 200, answer.text
        self.admin.ask("/api/admin/explore", 201, type="tag", subject="pills", reason="Nothing but advertisements.")
        self.admin.ask(
            "/api/admin/explore", 201, type="account", subject="otto_sails", reason="Asked for it by letter."
        )
        self.server.run(Picker(self.server.runtime.db, self.server.clock).run())
        self.server.index()

    def _dispatch(self, key: Json, first: int, *, times: int) -> None:
        with self._bearing(key) as api:
            for number in range(first, first + times):
                body_of(api.post("/api/posts", json={"content": DISPATCHES[number % len(DISPATCHES)]}), 201)

    def _refused(self, key: Json) -> None:
        """The refusals of a key in an hour: malformed requests, missing scopes, and too many requests."""
        with self._bearing(key) as api:
            wrong: Sequence[Json] = ({"content": ""}, {"contents": "Low water"}, {"content": "x", "visibility": "ALL"})
            for body in wrong:
                assert api.post("/api/posts", json=body).status_code == 400
            assert api.post("/api/clips").status_code == 403
            for number in range(12):
                api.post("/api/posts", json={"content": f"Berth {number} is free."})

    def _bearing(self, key: Json) -> httpx.Client:
        return new_client(base_url=self.server.base_url, headers={"Authorization": f"Bearer {key['key']}"})

    def _publish(self) -> None:
        full, clock = self.full, self.server.clock
        hub = full.ask("/api/hubs", 201, name="The waterfront", slug="waterfront", description="All that floats.")
        full.ids["hub"] = "waterfront"
        clock.advance(7 * HOUR)
        for content in POSTS:
            full.ids["post"] = full.post(content, hubId=hub["id"])
            clock.advance(3 * HOUR + 7 * MINUTE)
        poll = {"question": "Which crossing do you take?", "options": ["21:40", "23:15", "Neither"]}
        full.ids["poll"] = full.post("A question before the timetable goes to print.", poll=poll)
        full.ids["gone"] = full.post("A draft that went out too early.")
        with full.web as web:
            body_of(web.delete(f"/api/posts/{full.ids['gone']}"))
            files = [("media", picture(900, 600))]
            photo = body_of(web.post("/api/posts/upload", files=files, data={"altText": "Fog over the pier"}), 201)
            film = [("video", video(2.0))]
            clip = body_of(web.post("/api/clips", files=film, data={"caption": "The pilot boat leaves"}), 201)
        full.ids |= {"photo": photo["id"], "clip": clip["id"]}
        self.server.do_jobs()
        self._comment(f"/api/posts/{full.ids['post']}/comments")

    def _comment(self, path: str) -> None:
        parent = None
        for at, words in enumerate(COMMENTS):
            writer = self.full if at == 1 else self.marta
            self.server.clock.advance(11 * MINUTE)
            parent = writer.ask(path, 201, content=words, parentId=parent)["id"]
        self.full.ids["comment"] = str(parent)
