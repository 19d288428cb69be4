"""Where a page of a list begins: a bad place is a 400 that names the parameter, on every page as in the API."""

import re
from pathlib import Path

import pytest

import pressroom
from tests.api.actors import Actor, body_of, publish
from tests.api.conftest import MakeActor, one_engine
from tests.harness.roomy import ROOMY
from tests.pages.reader import Page, permalink
from tests.webhooks.endpoints import DELIVERING

SETTINGS = {**ROOMY, **DELIVERING}

BEFORE = (
    *("/", "/clips", "/hubs", "/follows", "/follows?list=followers", "/follows?list=requests", "/follows?list=sent"),
    *("/notifications", "/saved", "/settings/keys", "/settings/log", "/settings/security"),
    *("/settings/privacy", "/settings/privacy?list=mutes", "/settings/webhooks", "/settings/webhooks/list"),
    *("/@{name}", "/@{name}/clips", "/hub/{hub}", "/tag/heron"),
)
CURSOR = (
    *("/decisions", "/admin/accounts", "/admin/jobs", "/admin/log", "/admin/invitations", "/admin/reports"),
    *("/admin/blocks", "/admin/explore", "/search?q=word", "{endpoint}", "{endpoint}/deliveries"),
)
OTHER = {"/notifications": "read", "{post}": "after"}
PLACES = [*((path, "before") for path in BEFORE), *((path, "cursor") for path in CURSOR), *OTHER.items()]


PAGED = {
    "accounts/blocks.html",
    "accounts/log.html",
    "accounts/security.html",
    "administration/accounts.html",
    "administration/invitations.html",
    "administration/jobs.html",
    "administration/log.html",
    "clips/list.html",
    "explore/exclusions.html",
    "follows/follows.html",
    "home/_timeline.html",
    "hubs/list.html",
    "home/notifications.html",
    "keys/list.html",
    "macros/ui.html",
    "privacy/privacy.html",
    "reading/_page.html",
    "reports/decisions.html",
    "reports/list.html",
    "webhooks/_delivery_rows.html",
    "webhooks/all.html",
}
"""Templates that link to a further page."""


@pytest.fixture
def admin(actor: MakeActor) -> Actor:
    return actor().become_admin()


@pytest.mark.parametrize(("path", "parameter"), PLACES)
@one_engine
def test_invalid_place_is_refused(admin: Actor, path: str, parameter: str) -> None:
    here = path.format_map(named(admin))
    start = f"{here}{'&' if '?' in here else '?'}{parameter}="

    assert admin.web.get(here).status_code == 200
    for place in ("", "x", "'--", "0" * 25, "0" * 27, "%ff", "0" * 26 + "%0a", "é" * 26):
        answer = admin.web.get(f"{start}{place}")
        assert (answer.status_code, place) == (400, place)
        shown = Page(answer.text)
        assert shown.texts(".lead code") == [parameter]
    good = "0" * 26 if parameter != "after" else f"{'0' * 26}-{'0' * 26}"
    assert admin.web.get(f"{start}{good}").status_code == 200


def named(who: Actor) -> dict[str, str]:
    """What stands in the paths."""
    post = publish(who, "#heron")
    hub = {"name": "Heron", "slug": who.account.username.lower().replace("_", "-")}
    body_of(who.web.post("/api/hubs", json=hub), 201)
    key = body_of(who.web.post("/api/auth/api-keys", json={"label": "k", "scopes": ["posts:write"]}), 201)["id"]
    hook = {"url": "https://8.8.8.8/", "events": ["post.created"]}
    made = body_of(who.web.post(f"/api/auth/api-keys/{key}/webhooks", json=hook), 201)["id"]
    return {
        "name": who.account.username,
        "hub": hub["slug"],
        "post": permalink(post),
        "endpoint": f"/settings/keys/{key}/webhooks/{made}",
    }


def test_every_page_with_further_pages_is_tried() -> None:
    """Templates that link to a further page: a new one adds its line above."""
    templates = Path(pressroom.__file__).parent / "web/templates"
    paged = {
        str(path.relative_to(templates))
        for path in templates.rglob("*.html")
        if re.search(r"\bnext_page\b", path.read_text("utf-8"))
    }
    assert paged == PAGED
