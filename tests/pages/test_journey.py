"""From the first visit to a revoked key, as somebody goes it: with script, without, and with the keyboard alone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import httpx
import pytest
from playwright.sync_api import Locator, Page

from pressroom.clock import MINUTE, SECOND
from pressroom.receivers.verification import verify
from tests.api.actors import body_of, new_client
from tests.harness.browser import Chromium, Tab, needs_chromium
from tests.harness.local import LocalServer
from tests.harness.mail_server import MailServer
from tests.harness.receiver import Received, Receiver, answer
from tests.pages.hands import Keyboard, Mouse, Scriptless
from tests.pages.secrets import found

pytestmark = needs_chromium

PASSWORD: Final = "seven boats by the pier"
LABEL: Final = "Ferry bot"
HOOK: Final = "/hooks/ferry"
HANDS: Final = {"script": Mouse, "no script": Scriptless, "keyboard": Keyboard}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """The one that somebody has running at home."""
    with Receiver() as receiver:
        yield receiver


@pytest.fixture
def mails() -> Iterator[MailServer]:
    """Takes the server's mails."""
    mails = MailServer().start()
    yield mails
    mails.stop()


class Traveller:
    """Somebody who comes for the first time, and a program that publishes for them.

    Attributes:
        secrets: All that was shown to them once or typed by them: nobody else may come to know it.
    """

    def __init__(self, tab: Tab, hand: Mouse, server: LocalServer, receiver: Receiver, mails: MailServer) -> None:
        self.tab = tab
        self.page: Page = tab.page
        self.hand = hand
        self.server = server
        self.receiver = receiver
        self.mails = mails
        self.secrets: dict[str, str] = {"password": PASSWORD}
        self.key = ""

    def link(self, name: str) -> Locator:
        """The first link of this name."""
        return self.page.get_by_role("link", name=name).first

    def button(self, name: str) -> Locator:
        """The button of this name."""
        return self.page.get_by_role("button", name=name, exact=True)

    def field(self, label: str) -> Locator:
        """The field of this label."""
        return self.page.get_by_label(label, exact=True).first

    def reads(self, text: str) -> None:
        """Waits until the page says this."""
        self.hand.await_sight(lambda: self.page.get_by_text(text).first)

    def copied(self) -> str:
        """The secret that the page shows, which no cache may keep and no compression give away."""
        shown = next(each for each in reversed(self.tab.requests) if each.is_navigation_request())
        answer = shown.response()
        assert answer is not None
        assert answer.headers["cache-control"] == "no-store"
        assert "content-encoding" not in answer.headers
        return self.page.locator(".copyable code").first.inner_text()

    def publish(self, content: str) -> httpx.Response:
        """The program publishes."""
        with new_client(base_url=self.server.base_url, headers={"Authorization": f"Bearer {self.key}"}) as program:
            return program.post("/api/posts", json={"content": content})

    def sign_up(self) -> None:
        self.tab.open("/")
        self.hand.press(self.link("Make an account"))
        self.hand.write(self.field("User name"), "skipper")
        self.hand.write(self.field("E-mail address"), "skipper@example.org")
        self.hand.write(self.field("Password"), PASSWORD)
        self.hand.press(self.button("Make the account"))
        self.reads("Your account is made")
        self.secrets["session"] = self.tab.session

    def verify_by_mail(self) -> None:
        self.server.do_jobs()
        link = self.mails.received[-1].link("verify")
        self.secrets["link"] = link.rpartition("/")[2]
        self.tab.open(link)
        self.hand.press(self.button("Confirm it"))
        self.reads("is confirmed")

    def make_a_key(self) -> None:
        self.tab.open("/")
        self.hand.press(self.link("Make a key"))
        self.hand.write(self.field("Label"), LABEL)
        self.hand.tick(self.page.get_by_label("Publish and edit posts", exact=True))
        self.hand.press(self.button("Create the key"))
        self.reads("Store it now.")
        self.key = self.secrets["key"] = self.copied()

    def publish_first(self) -> None:
        self.reads("Waiting for the first request")
        body_of(self.publish("The 21:40 leaves on time."), 201)
        if isinstance(self.hand, Scriptless):
            self.hand.press(self.link("the key's page"))
            self.reads("Accepted")
        else:
            self.reads("Your key works")
            self.hand.press(self.link("I have stored it"))

    def add_an_endpoint(self) -> None:
        self.hand.press(self.link("Add an endpoint"))
        self.hand.write(self.field("Address"), self.receiver.url(HOOK))
        self.hand.tick(self.page.get_by_label("A post is published", exact=True))
        self.hand.press(self.button("Add the endpoint"))
        self.store_the_secret()

    def store_the_secret(self) -> None:
        self.reads("Store the secret now.")
        self.secrets["signing secret"] = self.copied()
        assert self.secrets["signing secret"].startswith("whsec_")

    def send_a_test(self) -> None:
        self.hand.press(self.link("I have stored it"))
        self.hand.press(self.button("Send test"))
        self.reads("On its way")
        self.server.deliver()
        self.reads("answered 200")
        assert [each.event for each in self.verified()] == ["webhook.test"]

    def break_the_receiver(self) -> None:
        self.server.clock.advance(MINUTE)
        self.receiver.behave(HOOK, answer(500))
        for content in ("The 23:15 is late.", "The 23:15 is cancelled.", "The 21:40 is full."):
            body_of(self.publish(content), 201)
        self.server.deliver()
        for minutes in (1, 2, 4, 8):
            self.server.clock.advance(minutes * 67 * SECOND)
            self.server.deliver()
        self.reads("Disabled")
        self.reads("2 deliveries are held")

    def replace_the_endpoint(self) -> None:
        self.receiver.behave(HOOK, answer(200))
        self.hand.press(self.link("replace the endpoint"))
        self.hand.press(self.button("Replace the endpoint"))
        self.store_the_secret()

    def redeliver(self) -> None:
        before = len(self.receiver.received)
        self.hand.press(self.link("Redeliver missed events"))
        self.hand.press(self.button("Preview"))
        self.reads("3")
        self.hand.press(self.button("Redeliver"))
        self.reads("queued")
        self.server.deliver()
        assert len(self.verified(before)) == 3

    def rotate(self) -> None:
        """So late that the password is asked for again."""
        self.server.clock.advance(31 * MINUTE)
        self.tab.open(self.page.url.partition("?")[0].removesuffix("/redeliver"))
        self.hand.press(self.link("Rotate secret"))
        self.hand.write(self.field("Password of skipper"), PASSWORD)
        self.hand.press(self.button("Confirm"))
        self.hand.press(self.button("Rotate the secret"))
        self.store_the_secret()
        before = len(self.receiver.received)
        body_of(self.publish("Both boats are back."), 201)
        self.server.deliver()
        assert len(self.verified(before)) == 1

    def revoke(self) -> None:
        self.tab.open("/settings/keys")
        self.hand.press(self.link(LABEL))
        self.hand.press(self.link("Revoke"))
        self.hand.write(self.field("Label"), LABEL)
        self.hand.press(self.button("Revoke this key"))
        self.reads("Revoked")
        assert body_of(self.publish("Is anybody there?"), 401)["error"] == "API key revoked"

    def verified(self, since: int = 0) -> list[Received]:
        """The receiver's requests, all of them signed with the secret that is shown last."""
        received = self.receiver.received[since:]
        for each in received:
            verify(each.body, each.signature, self.secrets["signing secret"], now=self.server.clock.now() / SECOND)
        return received


STEPS: Final = (
    Traveller.sign_up,
    Traveller.verify_by_mail,
    Traveller.make_a_key,
    Traveller.publish_first,
    Traveller.add_an_endpoint,
    Traveller.send_a_test,
    Traveller.break_the_receiver,
    Traveller.replace_the_endpoint,
    Traveller.redeliver,
    Traveller.rotate,
    Traveller.revoke,
)


@pytest.mark.parametrize("way", HANDS)
def test_the_whole_way(tmp_path: Path, chromium: Chromium, receiver: Receiver, mails: MailServer, way: str) -> None:
    """Each step works, the browser complains of nothing, and secrets shown once stand nowhere afterwards."""
    server = LocalServer(tmp_path, DEV=1, SMTP_URL=mails.url, MAIL_FROM="press@example.org").start()
    try:
        with chromium.tab(server.base_url, java_script_enabled=way != "no script") as tab:
            traveller = Traveller(tab, HANDS[way](tab.page), server, receiver, mails)
            for step in STEPS:
                step(traveller)
            assert tab.reports == []
            urls = [request.url for request in tab.requests]
        shown = {what: secret for what, secret in traveller.secrets.items() if what != "link"}
        assert found(server, shown, [mail.text for mail in mails.received], urls) == []
        assert found(server, {"what is kept": LABEL}, [], []) != [], "it would be found"
        assert found(server, {"link": traveller.secrets["link"]}, [], []) == []
    finally:
        server.stop()
