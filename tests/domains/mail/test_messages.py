"""Messages: their form, and that nobody writes headers into them."""

import pytest

from pressroom.domains.mail.messages import Mail, compose, write_mail
from pressroom.settings.addresses import Mailbox

SENDER = Mailbox("press@news.example", "The Press")
NOW = 1_800_000_000_000
VALUES = {"username": "mira", "site": "press.example", "link": f"https://press.example/reset/{'A' * 43}"}


@pytest.mark.parametrize("template", ["reset.txt", "verify.txt"])
def test_a_template_is_a_subject_and_a_text_that_holds_the_link(template: str) -> None:
    mail = write_mail(template, "mira@example.org", VALUES)
    message = compose(mail, SENDER, NOW)

    assert 10 < len(mail.subject) < 60
    assert mail.text.startswith("Hello mira,\n")
    assert f"\n{VALUES['link']}\n" in message.get_content()
    assert set(message.keys()) == {
        *("From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted"),
        *("Content-Type", "Content-Transfer-Encoding", "MIME-Version"),
    }
    assert message["Date"] == "Fri, 15 Jan 2027 08:00:00 +0000"


def test_address_to_unsubscribe_is_on_one_line() -> None:
    address = f"https://press.a-name-that-is-rather-long.example.org/unsubscribe/{'A' * 59}"
    message = compose(Mail("mir\u00e9@example.org", "Hello", "text", address), SENDER, NOW)

    assert f"\r\nList-Unsubscribe: <{address}>\r\n".encode() in message.as_bytes()
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"


def test_each_message_has_an_id_of_its_own() -> None:
    mail = Mail("mira@example.org", "Hello", "text")
    assert compose(mail, SENDER, NOW)["Message-ID"] != compose(mail, SENDER, NOW)["Message-ID"]


@pytest.mark.parametrize("ending", ["\r\nBcc: b@example.org", "\nBcc: b@example.org", "\rX: y", "\r\n\r\nbody"])
def test_no_header_can_be_injected(ending: str) -> None:
    attempts = [
        Mail(f"mira@example.org{ending}", "Hello", "text"),
        Mail(f"mira{ending}@example.org", "Hello", "text"),
        Mail("mira@example.org", f"Hello{ending}", "text"),
        Mail(f"mir\u00e9{ending}@example.org", "Hello", "text"),
    ]
    for mail in attempts:
        with pytest.raises(ValueError, match=r"."):
            compose(mail, SENDER, NOW).as_bytes()
    text = compose(Mail("mira@example.org", "Hello", f"text{ending}\n.\nMAIL FROM:<a@b>"), SENDER, NOW)
    assert text["Bcc"] is None


def test_display_name_with_special_characters_is_quoted() -> None:
    message = compose(
        Mail("mira@example.org", "Hello", "text"), Mailbox("a@b.example", "Press, the (big) one; \u00e4"), NOW
    )
    (sender,) = message["From"].addresses
    assert (sender.display_name, sender.addr_spec) == ("Press, the (big) one; \u00e4", "a@b.example")
