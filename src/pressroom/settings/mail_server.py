"""The mail server and the sender's address that the settings name (docs/mail.md#settings)."""

import re
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

PORTS: Final = {"smtp": 587, "smtps": 465}

_ADDRESS: Final = r"[^\s@<>\"(),:;\\\[\]\x00-\x1f\x7f]+@[^\s@<>\"(),:;\\\[\]\x00-\x1f\x7f]+"
_MAILBOX: Final = re.compile(rf"(?:([^<>\"\x00-\x1f\x7f]*)<({_ADDRESS})>|({_ADDRESS}))")


@dataclass(frozen=True, slots=True)
class MailServer:
    """Where mail is handed in.

    `tls`: `implicit` from the first byte, `starttls` demanded before anything is said, `off` never.
    """

    host: str
    port: int
    tls: str
    username: str | None = None
    password: str | None = field(default=None, repr=False)

    @property
    def place(self) -> str:
        """Returns host and port, as a message shows them."""
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Mailbox:
    """An e-mail address, with the name that is shown with it."""

    address: str
    name: str = ""


def read_mail_server(value: str) -> MailServer | None:
    """Returns the server of an address such as smtp://USER:PASSWORD@HOST:587; None for an empty one.

    Raises ValueError, whose message never quotes the address.
    """
    if not value:
        return None
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        raise ValueError("is not smtp://HOST:PORT") from None  # The message of urlsplit may quote a password.
    if parts.scheme not in PORTS or not parts.hostname or parts.path.strip("/") or parts.fragment:
        raise ValueError("is neither smtp://HOST:PORT nor smtps://HOST:PORT")
    options = parse_qsl(parts.query, keep_blank_values=True)
    if options not in ([], [("tls", "off")]) or (options and parts.scheme == "smtps"):
        raise ValueError("may end in ?tls=off alone, and smtps:// in nothing")
    tls = "implicit" if parts.scheme == "smtps" else "off" if options else "starttls"
    username, password = (unquote(part) if part else None for part in (parts.username, parts.password))
    if (username is None) != (password is None):
        raise ValueError("has a user without a password, or the other way round")
    if username is not None and tls == "off":
        raise ValueError("would send its password unencrypted; leave ?tls=off away")
    return MailServer(parts.hostname, port or PORTS[parts.scheme], tls, username, password)


def read_mailbox(value: str) -> Mailbox:
    """Returns the mailbox of `Name <name@example.org>` or an address alone. Raises ValueError."""
    found = _MAILBOX.fullmatch(value)
    if found is None:
        raise ValueError("is neither name@example.org nor Name <name@example.org>")
    name, named, bare = found.groups()
    return Mailbox(named or bare, (name or "").strip())
