"""A NUL in a query string: PostgreSQL has no text for it, so it is refused before a route sees it."""

import pytest

from tests.api.actors import Actor, field_errors
from tests.api.conftest import MakeActor
from tests.harness.roomy import ROOMY

SETTINGS = ROOMY

API = {
    "/api/admin/accounts?username=%00": "username",
    "/api/admin/accounts?username=a%00b": "username",
    "/api/admin/reports?state=%00": "state",
    "/api/follows/suggestions?prefix=%00": "prefix",
    "/api/posts?cursor=%00": "cursor",
    "/api/posts?%00=x": "query",
    "/api/posts?a%00": "query",
}
PAGES = (
    "/admin/accounts?search=%00",
    "/admin/accounts?search=x%00y",
    "/report?type=post&id=%00",
    "/report?type=comment&id=01K%00",
    "/report?type=account&id=%00",
    "/follows?list=%00",
    "/signup?invite=%00",
    "/login?next=%00",
    "/setup?token=%00",
    "/?before=%00",
    "/?%00",
)


@pytest.fixture
def admin(actor: MakeActor) -> Actor:
    """Somebody who finds the admins' addresses too."""
    return actor().become_admin()


@pytest.mark.parametrize(("path", "field"), API.items())
def test_the_api_names_the_parameter(admin: Actor, path: str, field: str) -> None:
    assert field_errors(admin.web.get(path)) == [(field, "invalid_format")]


@pytest.mark.parametrize("path", PAGES)
def test_a_page_says_so(admin: Actor, path: str) -> None:
    answer = admin.web.get(path)

    assert answer.status_code == 400, answer.text
    assert answer.headers["content-type"].startswith("text/html")


def test_a_query_that_nobody_reads_does_no_harm(admin: Actor) -> None:
    assert admin.web.get("/api/auth/me?x=%00").status_code == 200


@pytest.mark.parametrize("subject_id", ["\0", "01K\0", "x", ""])
@pytest.mark.parametrize("subject", ["post", "comment", "account"])
def test_what_is_reported_has_an_id(alice: Actor, subject: str, subject_id: str) -> None:
    answer = alice.web.post("/report", data={"type": subject, "id": subject_id, "reason": "It is an advertisement."})

    assert answer.status_code in (400, 404), answer.text
    assert answer.headers["content-type"].startswith("text/html")
