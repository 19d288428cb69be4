"""What fuzzed requests name by its id, so that they get past the 404 of an id that was made up."""

from enum import Enum, auto

import httpx

from tests.api.actors import Actor
from tests.harness.documented import Json
from tests.harness.local import LocalServer

CLIP = b"\0\0\0\x18ftypisom\0\0\0\0isommp42"
"""What passes for a video until somebody decodes it."""

USES = 6
"""How often a post is named before a new one takes its place: by then most that can happen to it has happened."""


class Subject(Enum):
    """The things that the `{id}` of a path may name."""

    MADE_UP = auto()
    """Whatever was generated."""
    OWN = auto()
    OWN_PRIVATE = auto()
    FOREIGN = auto()
    FOREIGN_PRIVATE = auto()
    DELETED = auto()
    LAST_MADE = auto()
    """The latest things of fuzzed requests: a post, a bounce, a comment."""


class Subjects:
    """Posts of the fuzzed account and of a stranger, published over HTTP and renewed as they wear out."""

    def __init__(self, server: LocalServer, document: Json) -> None:
        self.author = Actor(server)
        self._stranger = Actor(server)
        self._paths = document["paths"]
        self._known: dict[Subject, tuple[str, int]] = {}
        self._made: dict[str, str] = {}
        self._draft = ""
        self._hub = self._make_hub()
        self._clip = self._make_clip()

    def find(self, subject: Subject, path: str) -> str | None:
        """The id of such a post, or of a clip where `path` is a clip's; none for what is made up."""
        if subject is Subject.MADE_UP:
            return None
        if path.startswith("/api/clips"):
            return self._clip
        if path.startswith("/api/drafts"):
            return self._make_draft()
        post_id, uses = self._known.get(subject, ("", USES))
        if uses >= USES:
            post_id, uses = self._make(subject), 0
        self._known[subject] = (post_id, uses + 1)
        return post_id

    def find_for(self, field: str, path: str) -> str | None:
        """An id for a field of a body sent to `path`: the author's hub, else what was made last at this very path,
        such as the comment that a comment may answer."""
        return self._hub if field == "hubId" else self._made.get(path)

    def learn(self, answer: httpx.Response) -> None:
        """Takes note of the things that a fuzzed request made or took away."""
        path = answer.request.url.path
        if answer.status_code == 201 and isinstance(made := answer.json().get("id"), str):
            self._made[path] = made
            self._known[Subject.LAST_MADE] = (made, 0)
        if answer.request.method == "DELETE" and answer.is_success:
            gone = [subject for subject, (post_id, _) in self._known.items() if path.endswith(f"/{post_id}")]
            for subject in gone:
                del self._known[subject]

    def close(self) -> None:
        """Hangs up."""
        for client in [*self.author.clients(), *self._stranger.clients()]:
            client.close()

    def _make(self, subject: Subject) -> str:
        actor = self._stranger if subject in (Subject.FOREIGN, Subject.FOREIGN_PRIVATE) else self.author
        private = subject in (Subject.OWN_PRIVATE, Subject.FOREIGN_PRIVATE)
        draft = {"content": "Something to try things on.", "visibility": "PRIVATE" if private else "PUBLIC"}
        post_id = str(actor.api.post("/api/posts", json=draft).raise_for_status().json()["id"])
        if subject is Subject.DELETED and "delete" in self._paths.get("/api/posts/{id}", {}):
            actor.api.delete(f"/api/posts/{post_id}").raise_for_status()
        return post_id

    def _make_clip(self) -> str | None:
        if "post" not in self._paths.get("/api/clips", {}):
            return None
        files = {"video": ("clip.mp4", CLIP, "video/mp4")}
        return str(self.author.web.post("/api/clips", files=files).raise_for_status().json()["id"])

    def _make_draft(self) -> str:
        """The id of a new draft in its first version; the one before goes, since an account has 100 at most."""
        if self._draft:
            self.author.api.delete(f"/api/drafts/{self._draft}")
        self._draft = str(
            self.author.api.post("/api/drafts", json={"content": "Not yet."}).raise_for_status().json()["id"]
        )
        return self._draft

    def _make_hub(self) -> str | None:
        if "post" not in self._paths.get("/api/hubs", {}):
            return None
        hub = {"name": "The fuzzed hub", "slug": "fuzzed"}
        return str(self.author.web.post("/api/hubs", json=hub).raise_for_status().json()["id"])
