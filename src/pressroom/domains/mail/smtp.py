"""Hands a message in to the mail server by SMTP, within a bounded time (docs/mail.md#sending)."""

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator
from email.errors import MessageError
from email.message import EmailMessage
from typing import TYPE_CHECKING, Final

from pressroom.errors import Unavailable
from pressroom.jobs.worker import GiveUp, TryAgain
from pressroom.settings.addresses import MailServer

if TYPE_CHECKING:
    import aiosmtplib

STEP_SECONDS: Final = 10.0
WHOLE_SECONDS: Final = 30.0
"""How long one reply of the server, and all that is said to it, may take."""

_ENHANCED: Final = re.compile(r"[245]\.\d{1,3}\.\d{1,3}\b")


async def hand_in(server: MailServer, message: EmailMessage, sender: str, recipient: str, greeting: str) -> None:
    """Hands a message in; returns once the server has taken it. `greeting` is the name that we greet with.

    Raises Unavailable when the server is away or refuses us as a whole, TryAgain when it wants the message later, and
    GiveUp when it never will. None of them quotes the server beyond its codes: its words may repeat the message.
    """
    import aiosmtplib  # most of the time no mail is sent

    try:
        async with asyncio.timeout(WHOLE_SECONDS), _connected(server, greeting) as connection:
            await connection.send_message(message, sender=sender, recipients=[recipient])
    except aiosmtplib.SMTPRecipientsRefused as refused:
        raise _refusal(server, refused.recipients[0]) from None
    except (aiosmtplib.SMTPSenderRefused, aiosmtplib.SMTPDataError) as refused:
        raise _refusal(server, refused) from None
    except aiosmtplib.SMTPNotSupported:
        raise GiveUp(f"The mail server {server.place} does not take addresses with other letters than ASCII.") from None
    except (ValueError, MessageError) as error:
        raise GiveUp(f"The message cannot be sent to its address ({type(error).__name__}).") from None
    except aiosmtplib.SMTPResponseException as refused:
        raise _refusal(server, refused) from None
    except (aiosmtplib.SMTPException, OSError) as away:
        raise _away(server, _named(away)) from None


async def check_server(server: MailServer, greeting: str) -> None:
    """Connects, greets and signs in. Raises Unavailable, with advice."""
    try:
        async with asyncio.timeout(WHOLE_SECONDS), _connected(server, greeting):
            pass
    except TimeoutError as late:
        raise _away(server, _named(late)) from None


@contextlib.asynccontextmanager
async def _connected(server: MailServer, greeting: str) -> "AsyncGenerator[aiosmtplib.SMTP]":
    """Yields a connection, encrypted and signed in by the settings. Raises Unavailable."""
    import aiosmtplib

    connection = aiosmtplib.SMTP(
        hostname=server.host,
        port=server.port,
        username=server.username,
        password=server.password,
        local_hostname=greeting,
        timeout=STEP_SECONDS,
        use_tls=server.tls == "implicit",
        start_tls=server.tls == "starttls",
    )
    try:
        await connection.connect()
    except aiosmtplib.SMTPAuthenticationError as refused:
        raise _away(server, f"{_codes(refused)}: the user name or password in PRESSROOM_SMTP_URL is wrong") from None
    except aiosmtplib.SMTPResponseException as refused:
        raise _away(server, _codes(refused)) from None
    except (aiosmtplib.SMTPException, OSError, ValueError) as away:
        raise _away(server, _named(away)) from None
    try:
        yield connection
        with contextlib.suppress(aiosmtplib.SMTPException, OSError):
            await connection.quit()  # the message was accepted: a failure to say QUIT changes nothing
    finally:
        connection.close()


def _refusal(server: MailServer, refused: "aiosmtplib.SMTPResponseException") -> TryAgain | GiveUp | Unavailable:
    said = f"The mail server {server.place} answered {_codes(refused)}."
    if refused.code == 421:  # it is closing, for every sender
        return Unavailable(said)
    return GiveUp(said) if 500 <= refused.code < 600 else TryAgain(said)


def _codes(refused: "aiosmtplib.SMTPResponseException") -> str:
    """Returns the reply's code and enhanced code; the rest is the server's own words."""
    enhanced = _ENHANCED.match(refused.message)
    return f"{refused.code} {enhanced[0]}" if enhanced else str(refused.code)


def _named(away: Exception) -> str:
    """Returns the kind of an error of the connection, without the server's words."""
    import aiosmtplib

    if isinstance(away, TimeoutError):
        return "it takes too long"
    if type(away) in (aiosmtplib.SMTPException, aiosmtplib.SMTPNotSupported):
        return "it offers no STARTTLS, or no way to sign in"
    return type(away.__cause__ or away).__name__


def _away(server: MailServer, why: str) -> Unavailable:
    return Unavailable(f"The mail server {server.place} cannot be used: {why}.")
