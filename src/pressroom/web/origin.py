"""The same-origin rule for unsafe requests that a browser sends with a session."""

from urllib.parse import urlsplit

from pressroom.errors import CrossOrigin
from pressroom.web.routing import Headers


def check_same_origin(headers: Headers, base_url: str) -> None:
    """Raises CrossOrigin when the browser says that another site made the request.

    `Sec-Fetch-Site` decides where it is sent, `Origin` elsewhere. A client that sends neither is no browser.
    """
    if headers.fetch_site is not None:
        if headers.fetch_site in ("same-origin", "none"):
            return
    elif headers.origin is None or _is_ours(headers, base_url):
        return
    raise CrossOrigin("A signed-in request must come from this site itself.")


def _is_ours(headers: Headers, base_url: str) -> bool:
    # Compared as text: a client may send anything here, and a parser would choke on some of it.
    scheme, _, host = (headers.origin or "").lower().partition("://")
    base = urlsplit(base_url.lower())
    return scheme == base.scheme and host in (headers.host.lower(), base.netloc) and host != ""
