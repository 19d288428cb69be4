"""Every write that a signed-in owner can send, each prepared so that it succeeds and changes something."""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import httpx

SETTINGS: Final[dict[str, object]] = {"DEV": 1}
"""Of a server that takes the addresses of the endpoints made here."""

_numbers = itertools.count()


@dataclass(frozen=True)
class Write:
    """A request; `status` is that of its first answer."""

    method: str
    path: str
    body: Mapping[str, object] | None = None
    status: int = 200


@dataclass(frozen=True)
class People:
    """The writer, signed in, and another account."""

    web: httpx.Client
    other: httpx.Client

    def post(self, **more: object) -> str:
        """A new post's path."""
        return f"/api/posts/{self.made('/api/posts', content='Hello', **more)}"

    def key(self) -> str:
        """A new key's path."""
        return f"/api/auth/api-keys/{self.made('/api/auth/api-keys', label='test', scopes=['posts:write'])}"

    def webhook(self) -> str:
        """A new endpoint's path, of a new key."""
        key = self.key()
        return f"{key}/webhooks/{self.made(f'{key}/webhooks', **ENDPOINT)}"

    def clip(self) -> str:
        """A new clip's path."""
        answer = self.web.post("/api/clips", files={"video": ("clip.mp4", CLIP, "video/mp4")})
        assert answer.status_code == 201, answer.text
        return f"/api/clips/{answer.json()['id']}"

    def comment(self) -> str:
        """A new comment's path."""
        return f"/api/comments/{self.made(f'{self.post()}/comments', content='One')}"

    def draft(self) -> str:
        """A new draft's path."""
        return f"/api/drafts/{self.made('/api/drafts', content='Not yet')}"

    def hub(self, maker: httpx.Client) -> str:
        """A new hub's path."""
        answer = maker.post("/api/hubs", json=new_hub())
        assert answer.status_code == 201, answer.text
        return f"/api/hubs/{answer.json()['id']}"

    def name(self) -> str:
        """The other account's user name."""
        return str(self.other.get("/api/auth/me").json()["username"])

    def account_id(self) -> str:
        """The other account's id."""
        return str(self.other.get("/api/auth/me").json()["id"])

    def asked(self) -> str:
        """The path of the other account's request to follow the writer, who is private from now on."""
        answer = self.web.patch("/api/auth/me", json={"isPrivate": True})
        assert answer.status_code == 200, answer.text
        return f"/api/follow-requests/{self.followed()}"

    def waited(self) -> str:
        """The path of all requests to follow the writer, of which there is one."""
        self.asked()
        return "/api/follow-requests/accept"

    def followed(self) -> str:
        """The other account's user name, once it followed the writer or asked to."""
        answer = self.other.post(f"/api/accounts/{self.web.get('/api/auth/me').json()['username']}/follow")
        assert answer.status_code == 200, answer.text
        return self.name()

    def made(self, path: str, **body: object) -> str:
        """The id of something new."""
        answer = self.web.post(path, json=body)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def after(self, path: str) -> str:
        """The same path, once something was posted to it."""
        answer = self.web.post(path)
        assert answer.status_code == 200, answer.text
        return path


ENDPOINT: Final = {"url": "http://127.0.0.1:9/hook", "events": ["post.created"]}
CLIP: Final = b"\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"
"""As much of a clip as its publication looks at."""

LONG_AGO: Final = "2000-01-01T00:00:00Z"


def new_hub() -> dict[str, Any]:
    """The body that makes a hub."""
    return {"name": "Club", "slug": f"club-{next(_numbers)}"}


def _redelivery(people: People) -> Write:
    endpoint = people.webhook()
    people.post()
    return Write("POST", f"{endpoint}/redeliver", {"since": LONG_AGO})


def _reading_one(people: People) -> Write:
    people.followed()
    newest = people.web.get("/api/notifications").json()["notifications"][0]["id"]
    return Write("POST", f"/api/notifications/{newest}/read")


def _reading_all(people: People) -> Write:
    return Write("POST", "/api/notifications/read", {"upTo": _reading_one(people).path.split("/")[-2]})


def _resending(people: People) -> Write:
    endpoint = people.webhook()
    people.post()
    sent = people.web.get(f"{endpoint}/deliveries").json()["deliveries"][0]["id"]
    return Write("POST", f"{endpoint}/deliveries/{sent}/resend", None, 202)


WRITES: Final[dict[str, Callable[[People], Write]]] = {
    "create_post": lambda _: Write("POST", "/api/posts", {"content": "One"}, 201),
    "edit_post": lambda people: Write("PATCH", people.post(), {"content": "Two"}),
    "delete_post": lambda people: Write("DELETE", people.post()),
    "bounce_post": lambda people: Write("POST", f"{people.post()}/bounce", None, 201),
    "create_comment": lambda people: Write("POST", f"{people.post()}/comments", {"content": "One"}, 201),
    "edit_comment": lambda people: Write("PATCH", people.comment(), {"content": "Two"}),
    "delete_comment": lambda people: Write("DELETE", people.comment()),
    "like_post": lambda people: Write("POST", f"{people.post()}/like"),
    "unlike_post": lambda people: Write("DELETE", people.after(f"{people.post()}/like")),
    "save_post": lambda people: Write("POST", f"{people.post()}/save"),
    "unsave_post": lambda people: Write("DELETE", people.after(f"{people.post()}/save")),
    "vote": lambda people: Write("POST", f"{people.post(poll={'options': ['a', 'b']})}/poll/votes", {"choices": [0]}),
    "set_audience": lambda people: Write("PUT", f"{people.post()}/audience", {"usernames": [people.name()]}),
    "create_draft": lambda _: Write("POST", "/api/drafts", {"content": "One"}, 201),
    "edit_draft": lambda people: Write("PATCH", people.draft(), {"version": 1, "content": "Two"}),
    "delete_draft": lambda people: Write("DELETE", people.draft()),
    "publish_draft": lambda people: Write("POST", f"{people.draft()}/publish"),
    "edit_clip": lambda people: Write("PATCH", people.clip(), {"caption": "Two"}),
    "delete_clip": lambda people: Write("DELETE", people.clip()),
    "edit_me": lambda _: Write("PATCH", "/api/auth/me", {"bio": "One"}),
    "change_password": lambda _: Write("POST", "/api/auth/password", {"password": "nine plums and a kettle"}),
    "change_email": lambda _: Write("POST", "/api/auth/email", {"email": f"writer{next(_numbers)}@example.org"}),
    "send_verification": lambda _: Write("POST", "/api/auth/verify/send"),
    "create_key": lambda _: Write("POST", "/api/auth/api-keys", {"label": "One", "scopes": ["posts:write"]}, 201),
    "revoke_key": lambda people: Write("DELETE", people.key()),
    "create_webhook": lambda people: Write("POST", f"{people.key()}/webhooks", ENDPOINT, 201),
    "remove_webhook": lambda people: Write("DELETE", people.webhook()),
    "edit_key": lambda people: Write("PATCH", people.key(), {"note": "On the desk"}),
    "edit_webhook": lambda people: Write("PATCH", people.webhook(), {"events": ["comment.created"]}),
    "pause_webhook": lambda people: Write("POST", f"{people.webhook()}/pause"),
    "resume_webhook": lambda people: Write("POST", f"{people.webhook()}/resume"),
    "send_test": lambda people: Write("POST", f"{people.webhook()}/test", None, 202),
    "replace_webhook": lambda people: Write("POST", f"{people.webhook()}/replace", ENDPOINT, 201),
    "rotate_webhook": lambda people: Write("POST", f"{people.webhook()}/rotate"),
    "resend_delivery": _resending,
    "redeliver_events": _redelivery,
    "create_hub": lambda _: Write("POST", "/api/hubs", new_hub(), 201),
    "join_hub": lambda people: Write("POST", f"{people.hub(people.other)}/membership"),
    "leave_hub": lambda people: Write("DELETE", f"{people.hub(people.web)}/membership"),
    "create_report": lambda people: Write(
        "POST", "/api/reports", {"type": "account", "id": people.account_id(), "reason": "Spam."}, 202
    ),
    "follow": lambda people: Write("POST", f"/api/accounts/{people.name()}/follow"),
    "read_notification": _reading_one,
    "read_notifications": _reading_all,
    "edit_notification_settings": lambda _: Write("PATCH", "/api/notifications/settings", {"like": "off"}),
    "accept_follow_requests": lambda people: Write("POST", people.waited()),
    "accept_follow_request": lambda people: Write("POST", f"{people.asked()}/accept"),
    "reject_follow_request": lambda people: Write("POST", f"{people.asked()}/reject"),
    "remove_follower": lambda people: Write("DELETE", f"/api/followers/{people.followed()}"),
    "block_account": lambda people: Write("PUT", f"/api/blocks/{people.name()}"),
    "unblock_account": lambda people: Write("DELETE", f"/api/blocks/{people.name()}"),
    "mute_account": lambda people: Write("PUT", f"/api/mutes/{people.name()}"),
    "unmute_account": lambda people: Write("DELETE", f"/api/mutes/{people.name()}"),
    "set_filters": lambda people: Write("PUT", "/api/filters", {"filters": [{"text": "ferry"}]}),
    "unfollow": lambda people: Write("DELETE", people.after(f"/api/accounts/{people.name()}/follow")),
}
"""By the name of the route. Uploads and signing out have tests of their own."""

ONCE: Final = frozenset({"key"})
"""Fields that a replay shows as null."""


def replay_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """The expected replay of the write that was answered with `body`."""
    return {**body, **dict.fromkeys(ONCE & body.keys())}
