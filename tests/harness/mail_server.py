"""A mail server of the test's own: real SMTP, which takes messages or refuses them as the test says."""

import email
import email.policy
import re
import ssl
import threading
from collections import deque
from dataclasses import dataclass
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope, Session

from tests.services.ports import free_port

ACCEPTED = "250 Accepted"


@dataclass(frozen=True)
class ReceivedMail:
    """A message as it came in, with its envelope."""

    message: EmailMessage
    sender: str
    recipients: list[str]
    encrypted: bool

    def __getitem__(self, header: str) -> str:
        return str(self.message[header])

    @property
    def text(self) -> str:
        """Its text."""
        return str(self.message.get_content()).replace("\r\n", "\n")

    def link(self, page: str) -> str:
        """The path of the link to a page, with its token: `/reset/…`."""
        found = re.search(rf"/{page}/[\w-]{{43}}\b", self.text)
        assert found, self.text
        return found[0]

    def token(self, page: str) -> str:
        """The token of that link."""
        return self.link(page).rpartition("/")[2]


class MailServer:
    """Takes mail on a port of its own.

    `replies` are the next answers to the end of a message (`data`) or to a recipient (`rcpt`); after them all is taken.
    While `holds` is set, no message is answered.
    """

    def __init__(self, *, tls: ssl.SSLContext | None = None, credentials: tuple[str, str] | None = None) -> None:
        self.port = free_port()
        self.received: list[ReceivedMail] = []
        self.tried: list[str] = []
        self.data: deque[str] = deque()
        self.rcpt: deque[str] = deque()
        self.begun = threading.Event()
        self._credentials = credentials
        options: dict[str, Any] = {}
        if tls is not None:
            options = {"tls_context": tls, "require_starttls": True}
        if credentials is not None:
            options |= {"authenticator": self._authenticate, "auth_required": True}
        self._options = options
        self._controller: Controller | None = None

    @property
    def url(self) -> str:
        """Its address, for a server without encryption."""
        return f"smtp://127.0.0.1:{self.port}?tls=off"

    def start(self) -> "MailServer":
        """Listens."""
        self._controller = Controller(
            self, "127.0.0.1", self.port, enable_SMTPUTF8=True, decode_data=False, ready_timeout=20, **self._options
        )
        self._controller.start()
        return self

    def stop(self) -> None:
        """Listens no more."""
        if self._controller is not None:
            self._controller.stop()
            self._controller = None

    async def handle_RCPT(  # noqa: N802  # aiosmtpd's name
        self, _server: object, _session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        """Answers to a recipient."""
        self.tried.append(address)
        self.begun.set()
        if self.rcpt:
            return self.rcpt.popleft()
        envelope.rcpt_tos.append(address)
        return ACCEPTED

    async def handle_DATA(self, _server: object, session: Session, envelope: Envelope) -> str:  # noqa: N802  # the same
        """Answers to a message."""
        if self.data:
            return self.data.popleft()
        content = envelope.content
        assert isinstance(content, bytes)
        message = email.message_from_bytes(content, policy=email.policy.SMTPUTF8)
        recipients = [str(each) for each in envelope.rcpt_tos]
        encrypted = session.ssl is not None
        self.received.append(ReceivedMail(message, str(envelope.mail_from), recipients, encrypted))
        return ACCEPTED

    def _authenticate(self, _server: object, _session: object, _envelope: object, _how: str, data: Any) -> AuthResult:
        given = (data.login.decode(), data.password.decode())
        return AuthResult(success=given == self._credentials, handled=False)
