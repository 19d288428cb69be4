"""Messages: a template and its values become a subject and a text, and these the message that is handed in."""

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8
from email.utils import format_datetime
from functools import cache

import jinja2
import msgspec

from pressroom.clock import SECOND
from pressroom.settings.addresses import Mailbox


class Mail(msgspec.Struct, frozen=True):
    """A message to one address. `unsubscribe`: the address of the page that stops messages of its kind, if one does."""

    to: str
    subject: str
    text: str
    unsubscribe: str | None = None


def write_mail(template: str, to: str, values: Mapping[str, object], unsubscribe: str | None = None) -> Mail:
    """Returns the message that a template of `web/templates/mail` makes of `values`: its first line is the subject."""
    text = _templates().get_template(template).render(values)
    subject, _, body = text.partition("\n\n")
    return Mail(to, subject, body, unsubscribe)


def compose(mail: Mail, sender: Mailbox, now: int) -> EmailMessage:
    """Returns the message as it is sent at `now` (milliseconds).

    Raises ValueError when an address or the subject would break a header.
    """
    local, _, domain = mail.to.rpartition("@")
    host = _ascii_domain(domain)
    message = EmailMessage(policy=(SMTP if local.isascii() else SMTPUTF8).clone(refold_source="none"))
    sent_from, _, sent_by = sender.address.rpartition("@")
    message["From"] = Address(sender.name, sent_from, _ascii_domain(sent_by))
    message["To"] = Address("", local, host) if local.isascii() else f"{local}@{host}"
    message["Subject"] = mail.subject
    message["Date"] = format_datetime(datetime.fromtimestamp(now // SECOND, UTC))
    message["Message-ID"] = f"<{secrets.token_hex(16)}@{_ascii_domain(sent_by)}>"
    message["Auto-Submitted"] = "auto-generated"  # nobody's holiday answers it
    if mail.unsubscribe is not None:  # by one click in the mail program (RFC 8058)
        # Raw, for otherwise the library cuts a long address into encoded pieces, in which no mail program finds it.
        message.set_raw("List-Unsubscribe", f"<{mail.unsubscribe}>")
        message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    message.set_content(mail.text)
    return message


def _ascii_domain(domain: str) -> str:
    """Returns a domain in its ASCII form. Raises ValueError for an invalid one."""
    if domain.isascii():
        return domain
    import idna

    return idna.encode(domain, uts46=True).decode()


@cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("pressroom.web", "templates/mail"),
        autoescape=False,  # noqa: S701  # plain text
        undefined=jinja2.StrictUndefined,
    )
