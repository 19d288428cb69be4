"""A reader in the browser: asks to follow a private account, joins its thread, acts on its posts, and leaves again.

With script every act changes the page in place; without it each leads back to where it was done.
"""

from collections.abc import Generator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Locator, expect

from tests.api.actors import Actor, body_of, publish, read
from tests.api.conftest import MakeActor, one_engine
from tests.harness.browser import OpenTab, Tab, needs_chromium
from tests.harness.roomy import ROOMY

SETTINGS = ROOMY
POLL = {"question": "For the cover", "options": ["The fox", "The heron"]}

pytestmark = [needs_chromium, one_engine]


class Reader:
    """Somebody with a tab of their own, and their acts in it."""

    def __init__(self, who: Actor, tab: Tab, *, script: bool) -> None:
        self.who = who
        self.name = who.account.username
        self.tab = tab
        self.page = tab.page
        self.script = script

    @contextmanager
    def acting(self) -> Generator[None]:
        """Something that with script loads no page, and without it loads one."""
        before = self._loaded()
        yield
        assert (self._loaded() == before) is self.script

    def toggle(self, post_id: str, key: str) -> Locator:
        """A button below a post."""
        return self.page.locator(f"#post-{post_id} button[data-key={key}]")

    def presses(self, post_id: str, key: str, *, on: bool = True) -> None:
        """Presses a button below a post, which then says that it is on, or off again, and keeps the focus."""
        with self.acting():
            self.toggle(post_id, key).click()
            expect(self.toggle(post_id, key)).to_have_attribute("aria-pressed", "true" if on else "false")
        if self.script:
            expect(self.toggle(post_id, key)).to_be_focused()

    def follows(self, button: str, then: str) -> None:
        """Presses the button of a profile, which then says something else."""
        with self.acting():
            self.page.get_by_role("button", name=button, exact=True).click()
            expect(self.page.locator("button[data-key=follow]")).to_have_text(then)

    def comments(self, text: str, answers: Actor | None = None) -> str:
        """Comments on the open post, or replies to the last comment of somebody. Returns the comment's id."""
        if answers is not None:
            name = f"Reply to {answers.account.display_name}"
            with self.acting():
                self.page.get_by_role("link", name=name, exact=True).last.click()
                expect(self.page.get_by_role("textbox", name=name)).to_be_visible()
        field = self.page.locator("#write textarea")
        field.fill(text)
        with self.acting():
            self.page.get_by_role("button", name="Reply" if answers else "Comment", exact=True).click()
            expect(self.comment(text)).to_be_visible()
        shown = self.comment(text)
        if self.script:
            expect(shown).to_be_focused()
        return (shown.get_attribute("id") or "").removeprefix("comment-")

    def comment(self, text: str) -> Locator:
        """A comment of the thread."""
        return self.page.locator("li.comment", has_text=text)

    def _loaded(self) -> int:
        return sum(each.is_navigation_request() for each in self.tab.requests)


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_a_reader_of_a_private_account(actor: MakeActor, open_tab: OpenTab, script: bool) -> None:
    alice, bob = (
        Reader(who, open_tab(who.server, who, java_script_enabled=script), script=script) for who in (actor(), actor())
    )
    body_of(alice.who.web.patch("/api/auth/me", json={"isPrivate": True}))
    post = publish(alice.who, "Which one?", visibility="FOLLOWERS", poll=POLL)["id"]
    public = publish(alice.who, "The harbour")["id"]

    is_accepted(bob, alice)
    likes_and_saves(bob, alice, post)
    votes(bob, post)
    edited, deleted = talk(bob, alice, post)
    corrects(bob, edited, deleted)
    quotes(bob, public)

    bob.tab.open("/saved")
    expect(bob.page.locator("main article")).to_have_count(1)
    expect(bob.page.locator(f"#post-{post}")).to_contain_text("Which one?")

    bob.tab.open(f"/@{alice.name}")
    bob.follows("Unfollow", "Ask to follow")
    expect(bob.page.locator(f"#post-{post}")).to_have_count(0)
    bob.tab.open("/saved")
    expect(bob.page.get_by_text("Nothing saved yet.")).to_be_visible()
    assert bob.who.web.get(f"/api/posts/{post}").status_code == 404


def is_accepted(bob: Reader, alice: Reader) -> None:
    """Bob asks, takes it back, asks again, and Alice accepts him."""
    bob.tab.open(f"/@{alice.name}")
    expect(bob.page.get_by_text("This account is private")).to_be_visible()
    bob.follows("Ask to follow", "Withdraw the request")
    bob.follows("Withdraw the request", "Ask to follow")
    bob.follows("Ask to follow", "Withdraw the request")
    expect(bob.page.get_by_text("You have asked to follow this account.")).to_be_visible()

    alice.tab.open("/follows?list=requests")
    alice.page.get_by_role("button", name=f"Accept @{bob.name}", exact=True).click()
    expect(alice.page.get_by_text("No follow requests")).to_be_visible()
    alice.page.get_by_role("link", name="Follow you").click()
    expect(alice.page.locator(".people")).to_contain_text(f"@{bob.name}")


def likes_and_saves(bob: Reader, alice: Reader, post: str) -> None:
    """In the list of her posts, where each can be taken back."""
    bob.tab.open(f"/@{alice.name}")
    bob.presses(post, "like")
    expect(bob.toggle(post, "like")).to_have_text("Liked 1")
    bob.presses(post, "like", on=False)
    expect(bob.toggle(post, "like")).to_have_text("Like")
    bob.presses(post, "like")
    bob.presses(post, "save")

    done = read(bob.who, post)["userInteractions"]
    assert (done["liked"], done["saved"]) == (True, True)


def votes(bob: Reader, post: str) -> None:
    """On the post's own page; without a choice he is told what is missing, and may choose."""
    bob.tab.open(f"/post/{post}")
    with bob.acting():
        bob.page.get_by_role("button", name="Vote").click()
        expect(bob.page.locator(".act-error" if bob.script else "#errors")).to_be_visible()
    bob.tab.forgive_status(400)

    bob.page.get_by_label("The heron").check()
    with bob.acting():
        bob.page.get_by_role("button", name="Vote").click()
        expect(bob.page.locator(".poll .own")).to_contain_text("The heron")
    assert read(bob.who, post)["poll"]["ownVotes"] == [1]


def talk(bob: Reader, alice: Reader, post: str) -> tuple[str, str]:
    """Bob comments, Alice replies, Bob replies to her. Returns the ids of Bob's two."""
    first = bob.comments("The heron stands well")
    alice.tab.open(f"/post/{post}")
    alice.comments("It flew away", bob.who)
    bob.tab.open(f"/post/{post}")
    second = bob.comments("What a pity", alice.who)

    expect(bob.page.locator("li.comment")).to_have_count(3)
    expect(bob.comment("It flew away")).to_have_class("comment depth-1 has-replies")
    expect(bob.comment("What a pity")).to_have_class("comment depth-2")
    expect(bob.page.locator("#comments-heading")).to_have_text("3 comments")
    return first, second


def corrects(bob: Reader, edited: str, deleted: str) -> None:
    """Bob changes his comment and deletes his reply."""
    bob.page.locator(f"#comment-{edited}").get_by_role("link", name="Edit your comment").click()
    bob.page.get_by_label("Your comment").fill("The fox stands well")
    bob.page.get_by_role("button", name="Save").click()
    expect(bob.page.locator(f"#comment-{edited}")).to_contain_text("The fox stands well")
    expect(bob.page.locator(f"#comment-{edited}")).to_contain_text("edited")

    bob.page.locator(f"#comment-{deleted}").get_by_role("link", name="Delete the comment").click()
    bob.page.get_by_role("button", name="Delete the comment").click()
    expect(bob.page.locator("#comments-heading")).to_have_text("2 comments")
    expect(bob.comment("What a pity")).to_have_count(0)


def quotes(bob: Reader, public: str) -> None:
    """Bob quotes the post that everybody may see."""
    bob.tab.open(f"/post/{public}")
    bob.page.get_by_role("link", name="Quote").click()
    bob.page.get_by_label("Your comment").fill("How true")
    bob.page.get_by_role("button", name="Publish the quote").click()
    expect(bob.page.locator("article.post .text").first).to_have_text("How true")
    expect(bob.page.locator(".nested")).to_contain_text("The harbour")
