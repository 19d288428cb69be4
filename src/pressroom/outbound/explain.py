"""Turns aiohttp's errors into sentences for the endpoint's owner. Pure."""

import errno
import ssl
from typing import Final

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError

from pressroom.outbound.response import Failure, OutboundFailed

_CERTIFICATE: Final = {
    9: "The certificate is not valid yet.",
    10: "The certificate has expired.",
    18: "The certificate is self-signed.",
    19: "The certificate comes from an authority that is not trusted.",
    20: "The certificate comes from an authority that is not trusted, or the server leaves out part of its chain.",
    21: "The certificate comes from an authority that is not trusted, or the server leaves out part of its chain.",
    23: "The certificate was revoked.",
    62: "The certificate is not for this host name.",
    64: "The certificate is not for this address.",
}
"""By OpenSSL's verify codes."""

_OURS: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.EAGAIN, errno.EADDRNOTAVAIL})

_CONNECT: Final = {
    errno.ECONNREFUSED: "The connection was refused.",
    errno.ECONNRESET: "The connection was closed while it was being set up.",
    errno.ETIMEDOUT: "The host does not answer.",
    errno.EHOSTUNREACH: "There is no route to the host.",
    errno.ENETUNREACH: "There is no route to the host.",
}


def explained(error: Exception, *, heard: bool) -> OutboundFailed | None:
    """Returns the fault in words, for the endpoint's owner; None when no peer can cause it.

    `heard`: whether any byte of a response had come.
    """
    match error:
        case OutboundFailed():
            return error
        case aiohttp.ClientConnectorCertificateError():
            return OutboundFailed(Failure.TLS, _certificate(error.certificate_error))
        case aiohttp.ClientConnectorSSLError():
            return OutboundFailed(Failure.TLS, _handshake(error))
        case aiohttp.ClientConnectorError():
            return _connecting(error.os_error)
        case HttpProcessingError():
            return OutboundFailed(Failure.PROTOCOL, "The answer is not HTTP, or its head is too long.")
        case aiohttp.ClientPayloadError():
            return OutboundFailed(Failure.CLOSED, "The connection was closed before the answer was complete.")
        case aiohttp.ServerDisconnectedError() if not heard:
            return OutboundFailed(Failure.CLOSED, "The connection was closed without an answer.")
        case aiohttp.ClientConnectionError() | OSError():
            return OutboundFailed(Failure.CLOSED, "The connection was closed before the answer was complete.")
        case _:
            return None


def is_ours(error: OSError) -> bool:
    """Returns whether this machine ran out of something."""
    return error.errno in _OURS


def _connecting(error: OSError) -> OutboundFailed:
    if is_ours(error):
        return OutboundFailed(Failure.OURS, "This server could not make a connection just then.")
    if error.errno is None and isinstance(error, ConnectionError):
        # No system call failed: the event loop raises this when a peer closes during the handshake.
        return OutboundFailed(Failure.TLS, "The connection was closed during the TLS handshake.")
    return OutboundFailed(Failure.CONNECT, _CONNECT.get(error.errno or 0, "The connection could not be made."))


def _certificate(error: Exception) -> str:
    code = error.verify_code if isinstance(error, ssl.SSLCertVerificationError) else 0
    return _CERTIFICATE.get(code, "The certificate cannot be verified.")


def _handshake(error: Exception) -> str:
    cause = error.__cause__
    reason = cause.reason if isinstance(cause, ssl.SSLError) else ""
    if reason in ("WRONG_VERSION_NUMBER", "PACKET_LENGTH_TOO_LONG", "RECORD_LAYER_FAILURE"):
        return "The host does not speak TLS on this port."
    if reason in ("UNSUPPORTED_PROTOCOL", "TLSV1_ALERT_PROTOCOL_VERSION"):
        return "The host offers no TLS from 1.2 on."
    return "The TLS handshake failed."
