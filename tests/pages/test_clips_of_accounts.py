"""Clips on an account's page: the newest beside its posts, all of them on a page of their own."""

from tests.api.actors import Actor, body_of, follow
from tests.api.conftest import MakeActor
from tests.harness.roomy import ROOMY
from tests.pages.files import broken_video, filmed, made_ready
from tests.pages.reader import visit

SETTINGS = ROOMY


def profile(who: Actor) -> str:
    return f"/@{who.account.username}"


def several(who: Actor, count: int, **texts: str) -> list[str]:
    """The paths of new clips, newest first."""
    made = [f"/clip/{filmed(who, broken_video(), **texts)['id']}" for _ in range(count)]
    return made[::-1]


def test_they_stand_on_a_tab_of_the_profile(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    clips = several(alice, 23)
    made_ready(alice)

    for reader in (None, bob, alice):
        page = visit(alice.server, profile(alice), reader)
        assert ("Clips", f"{profile(alice)}/clips") in page.links("nav.tabs")

        first = visit(alice.server, f"{profile(alice)}/clips", reader)
        assert first.values(".clip-tiles .poster", "href") == clips[:20]
        (following,) = first.values("a[rel=next]", "href")
        last = visit(alice.server, following, reader)
        assert last.values(".clip-tiles .poster", "href") == clips[20:]
        assert not last.has("a[rel=next]")
        assert ("Newest clips", f"{profile(alice)}/clips") in last.links("nav.pager")

    assert len(first.values(".poster img", "src")) == 20
    assert first.line("h1") == alice.account.display_name


def test_without_clips_there_is_no_part_of_them(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    several(alice, 1, visibility="PRIVATE")
    deleted = several(alice, 1)[0].rpartition("/")[2]
    body_of(alice.web.delete(f"/api/clips/{deleted}"))

    for reader in (None, bob):
        assert visit(alice.server, f"{profile(alice)}/clips", reader).line(".empty") == "No clips yet."


def test_a_private_account_shows_them_to_followers(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    follow(bob, alice)
    clips = several(alice, 2)
    body_of(alice.web.patch("/api/auth/me", json={"isPrivate": True}))

    path = f"{profile(alice)}/clips"
    assert visit(alice.server, path, bob).values(".clip-tiles .poster", "href") == clips
    for reader in (None, carol):
        page = visit(alice.server, path, reader)
        assert not page.has(".clip-tiles, nav.tabs")
        assert page.line(".notice").startswith("This account is private")
        assert page.meta["robots"] == "noindex"


def test_a_name_leads_there_in_any_case_and_no_other_does(actor: MakeActor) -> None:
    alice = actor()
    clips = several(alice, 1)

    page = visit(alice.server, f"/@{alice.account.username.upper()}/clips")
    assert page.values(".clip-tiles .poster", "href") == clips
    assert page.link("canonical") == f"{alice.server.base_url}{profile(alice)}/clips"
    assert visit(alice.server, "/@nobody_at_all/clips", status=404).line("h1")
