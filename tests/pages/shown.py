"""Every page in the states that it is looked at in. A page without its line here fails test_every_page.py."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tests.pages.scenes import Person, Scenes


@dataclass(frozen=True, slots=True)
class Shown:
    """A page as somebody sees it.

    Attributes:
        path: Where it is; `{post}` stands for the id of that name in the reader's `ids`.
        reader: Who looks: a name of `Scenes`; "nobody" is not signed in.
        status: The status of the page.
        submitted: The page's own form is submitted first, as it stands, so that its errors are shown.
    """

    path: str
    reader: str
    status: int = 200
    submitted: bool = False

    def __str__(self) -> str:
        return f"{self.path} {'submitted ' if self.submitted else ''}{self.reader}"

    def address(self, scenes: Scenes) -> str:
        """The path, with the ids of the scenes: the reader's own, else those of `full`."""
        reader = scenes.reader(self.reader) or scenes.full
        return self.path.format_map({**scenes.full.ids, **reader.ids})

    def person(self, scenes: Scenes) -> Person | None:
        """Who looks; None: somebody who is not signed in."""
        return scenes.reader(self.reader)


def _shown() -> Iterator[Shown]:
    for path, *readers in (
        ("/", "nobody", "empty", "full"),
        ("/compose", "full"),
        ("/compose?draft={draft}", "full"),
        ("/compose?draft={scheduled}", "full"),
        ("/compose?draft={refused}", "full"),
        ("/drafts", "empty", "full"),
        ("/drafts/{scheduled}/delete", "full"),
        ("/notifications", "empty", "full", "failing"),
        ("/post/{post}", "nobody", "full"),
        ("/post/{poll}", "nobody", "full"),
        ("/post/{photo}", "nobody"),
        ("/post/{poll}", "failing"),
        ("/post/{post}?reply={comment}", "full"),
        ("/post/{post}/quote", "full"),
        ("/comment/{comment}/delete", "full"),
        ("/explore", "empty", "full", "admin"),
        ("/search", "empty"),
        ("/search?q=breakwater", "full"),
        ("/search?q=sail&kind=people", "full"),
        ("/search?q=berth&kind=hubs", "full"),
        ("/search?q=har&kind=tags", "full"),
        ("/search?q=zyzzyva", "empty"),
        ("/search?q=%3F", "empty"),
        ("/saved", "empty", "full"),
        ("/hubs", "empty", "full"),
        ("/hubs/new", "full"),
        ("/follows", "empty", "full"),
        ("/follows?list=followers", "full"),
        ("/follows?list=requests", "marta"),
        ("/follows?list=sent", "full"),
        ("/comment/{said}/edit", "full"),
        ("/@harbour_news", "failing"),
        ("/@{username}", "nobody", "empty", "full"),
        ("/@{username}/clips", "nobody", "empty", "full"),
        ("/@{username}/media", "nobody", "empty", "full"),
        ("/@{username}/followers", "empty", "full"),
        ("/@{username}/following", "full"),
        ("/@marta", "nobody"),
        ("/@night_desk/block", "full"),
        ("/hub/{hub}", "nobody", "full"),
        ("/tag/harbour", "nobody", "full"),
        ("/clip/{clip}", "nobody"),
        ("/clips", "empty", "full"),
        ("/post/{post}/edit", "full"),
        ("/post/{post}/delete", "full"),
        ("/post/{post}/audience", "full"),
        ("/clip/{clip}/edit", "full"),
        ("/clip/{clip}/delete", "full"),
        ("/settings/keys", "empty", "failing", "full"),
        ("/settings/keys/new", "empty", "failing"),
        ("/settings/keys/new?replace={key}", "full"),
        ("/settings/keys/{key}", "failing", "full"),
        ("/settings/keys/{revoked}", "full"),
        ("/settings/keys/{key}/revoke", "full"),
        ("/settings/keys/new", "idle"),
        ("/settings/keys/{key}/webhooks/new", "full"),
        ("/settings/keys/{key}/webhooks/{hook}", "failing", "full"),
        ("/settings/keys/{key}/webhooks/{shaky}", "full"),
        ("/settings/keys/{key}/webhooks/{hook}?state=failed", "failing", "full"),
        ("/settings/keys/{key}/webhooks/{hook}/edit", "full"),
        ("/settings/keys/{key}/webhooks/{hook}/samples", "full"),
        ("/settings/security/passkeys/new", "full"),
        ("/settings/webhooks", "full", "failing", "empty"),
        ("/settings/webhooks?edit={hook}", "full"),
        ("/settings/keys/{key}/webhooks/{hook}/rotate", "full"),
        ("/settings/keys/{key}/webhooks/{hook}/replace", "failing"),
        ("/settings/keys/{key}/webhooks/{hook}/remove", "failing"),
        ("/settings/keys/{revoked}/webhooks/new", "full"),
        ("/settings/keys/{revoked}/webhooks/{silent}", "full"),
        ("/settings/keys/{revoked}/webhooks/{silent}/rotate", "full"),
        ("/settings/keys/{revoked}/webhooks/{silent}/redeliver", "full"),
        ("/settings/keys/{revoked}/webhooks/{silent}/deliveries/{unsendable}", "full"),
        ("/admin", "admin"),
        ("/admin/accounts", "admin"),
        ("/admin/accounts?search=ni", "admin"),
        ("/admin/accounts/{other}", "admin"),
        ("/admin/accounts/{other}/verify", "admin"),
        ("/admin/accounts/{other}/limits", "admin"),
        ("/admin/accounts/{other}/suspend", "admin"),
        ("/admin/accounts/{banned}/restore", "admin"),
        ("/admin/accounts/{other}/delete", "admin"),
        ("/admin/accounts/{other}/keys/{othersKey}/revoke", "admin"),
        ("/admin/accounts/{other}/keys/{othersKey}/webhooks/{othersHook}/disable", "admin"),
        ("/admin/invitations", "admin"),
        ("/admin/reports", "admin"),
        ("/admin/reports?state=decided", "admin"),
        ("/admin/reports/{case}", "admin"),
        ("/admin/blocks", "admin"),
        ("/admin/texts", "admin"),
        ("/admin/texts/rules", "admin"),
        ("/admin/explore", "admin"),
        ("/admin/jobs", "admin"),
        ("/admin/settings", "admin"),
        ("/admin/log", "admin"),
        ("/login", "nobody"),
        ("/login/confirm?next=/settings/keys", "idle"),
        ("/report?type=post&id={post}", "empty"),
        ("/decisions", "empty", "full"),
        ("/settings/profile/picture", "empty"),
        ("/settings/profile/cover", "empty"),
        ("/settings/security", "empty", "full"),
        ("/settings/security/password", "full"),
        ("/settings/security/email", "full"),
        ("/settings/log", "empty", "full"),
        ("/settings/privacy", "empty", "full"),
        ("/settings/privacy?list=filters", "empty"),
        ("/settings/notifications", "empty", "admin"),
        ("/settings/profile", "empty", "full"),
        ("/settings/appearance", "full"),
        ("/dev/design", "full"),
        ("/settings/security/two-factor", "failing"),
        ("/settings/security/two-factor/remove", "full"),
        ("/settings/security/recovery-codes", "full"),
        ("/settings/data", "empty", "failing", "full"),
        ("/settings/data/delete", "full"),
    ):
        for reader in readers:
            yield Shown(path, reader)
    for path, reader in (
        ("/settings/keys/new", "empty"),
        ("/settings/keys/{key}/revoke", "full"),
        ("/settings/keys/{key}/webhooks/new", "full"),
        ("/admin/accounts/{other}/suspend", "admin"),
        ("/admin/accounts/{other}/delete", "admin"),
        ("/login", "nobody"),
        ("/login/confirm", "idle"),
        ("/settings/security/two-factor", "failing"),
        ("/settings/security/two-factor/remove", "full"),
        ("/post/{post}/quote", "full"),
        ("/settings/data/delete", "full"),
        ("/settings/security/password", "full"),
        ("/settings/security/email", "full"),
        ("/hubs/new", "full"),
        ("/admin/explore", "admin"),
    ):
        yield Shown(path, reader, 400, submitted=True)
    for path in ("/about", "/terms", "/privacy"):
        yield Shown(path, "nobody")
    for path in ("/signup", "/forgot", "/reset/{reset}"):
        yield Shown(path, "nobody")
        yield Shown(path, "nobody", 400, submitted=True)
    for path in ("/verify/{verify}", "/login/link/{link}", "/unsubscribe/{unsubscribe}", "/dev/mail"):
        yield Shown(path, "nobody")
    yield Shown("/offline", "nobody")
    for path in ("/reset/spent", "/verify/spent", "/login/link/spent", "/unsubscribe/spent"):
        yield Shown(path, "nobody", 404)
    endpoint = "/settings/keys/{key}/webhooks/{hook}"
    for reader in ("full", "failing"):
        yield Shown(f"{endpoint}/deliveries/{{delivery}}", reader)
        yield Shown(f"{endpoint}/redeliver", reader)
    yield Shown("/post/{gone}", "nobody", 410)
    yield Shown("/setup", "nobody", 404)
    yield Shown("/tag/nothing", "nobody", 404)
    yield Shown("/nowhere", "nobody", 404)


SHOWN: Final = tuple(_shown())

ELSEWHERE: Final = {
    "/docs": "somebody else's program draws it; tests/web/test_compression.py counts what it sends",
    "/oembed": "JSON",
    "/@{username}/feed.atom": "a feed",
    "/hub/{slug}/feed.atom": "a feed",
    "/tag/{name}/feed.atom": "a feed",
    "/@{username}/feed.json": "a feed",
    "/hub/{slug}/feed.json": "a feed",
    "/tag/{name}/feed.json": "a feed",
    "/sitemap.xml": "for search engines",
    "/sitemap/{page}": "for search engines",
    "/login/code": "test_sign_in.py looks at it: it takes a right password first",
    "/settings/security/two-factor/code": "leads to the page of the set-up",
    "/settings/keys/{keyId}/webhooks/{webhookId}/deliveries": "a part of the endpoint's page",
    "/settings/keys/{keyId}/webhooks/{webhookId}/deliveries/{deliveryId}/state": "a part of the delivery's page",
    "/settings/security/passkeys/{passkeyId}/rename": "test_passkeys.py looks at it: it takes a passkey first",
    "/settings/security/passkeys/{passkeyId}/remove": "test_passkeys.py looks at it: it takes a passkey first",
    "/settings/data/export": "a file; without one it leads to the page of the data",
    "/avatars/{name}": "a picture",
    "/admin/reports/{id}/files/{mediaId}": "a file",
    "/media/{token}": "a file",
    "/media/{token}/thumbnail": "a file",
    "/media/{token}/medium": "a file",
    "/media/{token}/poster": "a file",
    "/post/{id}/files": "a part of pages with the post",
    "/clip/{id}/files": "a part of the clip's page",
    "/clip/{id}/poster": "a part of pages with the clip",
    "/cards/{token}": "a file",
    "/settings/keys/{keyId}/first-use": "a part of the page of a new key",
    "/settings/keys/{keyId}/webhooks/{webhookId}/head": "a part of the page of an endpoint",
    "/settings/webhooks/list": "a part of the page of all endpoints",
}
"""Paths that no line above shows, and why."""
