"""The mailer: sends messages by SMTP, or shows them on the developer's page."""

import contextlib
from collections import deque
from collections.abc import Callable
from email.errors import MessageError
from functools import partial
from typing import Final

import msgspec

from pressroom.clock import Clock
from pressroom.domains.mail.messages import Mail, compose
from pressroom.domains.mail.smtp import hand_in
from pressroom.jobs.worker import GiveUp
from pressroom.settings import Settings

KEPT: Final = 50
"""Messages that development mode shows at /dev/mail, the latest."""


class Sent(msgspec.Struct, frozen=True):
    """A message, and when it was sent (milliseconds)."""

    at: int
    mail: Mail


def test_mail(to: str) -> Mail:
    """Returns the message of `pressroom mail test`."""
    text = "This message shows that the mail server of this Pressroom server is set up.\n"
    return Mail(to, "A test message from Pressroom", text)


class Mailer:
    """Sends mail by the settings.

    `kept` are the latest messages in development mode, newest first; None otherwise.
    """

    def __init__(self, settings: Settings, clock: Clock, show: Callable[[str], None] | None = None) -> None:
        self._server = settings.smtp_url
        self._sender = settings.mail_from
        self._clock = clock
        self._show = show or partial(print, flush=True)
        self.kept: deque[Sent] | None = deque(maxlen=KEPT) if settings.dev else None

    @property
    def is_available(self) -> bool:
        """Whether mail reaches anybody at all."""
        return self._server is not None or self.kept is not None

    async def send(self, mail: Mail) -> None:
        """Sends a message. Raises Unavailable, TryAgain or GiveUp, as a job does that cannot be done.

        In development mode it is printed and kept as well, even if nothing is set to send it.
        """
        if self._server is None and self.kept is None:
            raise GiveUp("No mail server is set: PRESSROOM_SMTP_URL.")
        now = self._clock.now()
        try:
            message = compose(mail, self._sender, now)
        except (ValueError, MessageError) as error:
            raise GiveUp(f"The message cannot be sent to its address ({type(error).__name__}).") from None
        if self._server is not None:
            sender, recipient = message["From"].addresses[0], message["To"].addresses[0]
            await hand_in(self._server, message, sender.addr_spec, recipient.addr_spec, sender.domain)
        if self.kept is not None:
            self.kept.appendleft(Sent(now, mail))
            with contextlib.suppress(OSError, ValueError):  # the reader has gone
                self._show(f"\nMail to {mail.to}: {mail.subject}\n\n{mail.text}")
