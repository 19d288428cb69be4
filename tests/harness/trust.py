"""What clients of tests trust, made once: to make it takes longer than most tests."""

import ssl
from typing import Any, Final

import httpx
from httpx._transports import default

TRUST: Final = ssl.create_default_context()


def _shared(verify: Any = True, **options: Any) -> ssl.SSLContext:
    """Returns the one context for every caller that asks for no other; httpx makes one for each client and request."""
    return TRUST if verify is True and not options.get("cert") else httpx.create_ssl_context(verify=verify, **options)


# httpx has no setting for it.
default.create_ssl_context = _shared  # pyright: ignore[reportPrivateImportUsage]
