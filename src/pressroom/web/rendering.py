"""Responses of page routes: pages of the web app, redirections to them, and errors as pages (docs/web-app.md)."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final
from urllib.parse import quote, urlencode

from pressroom.errors import Invalid, Maintenance, NotFound, PressroomError, TooMany, Unavailable, Unprocessable
from pressroom.web.asgi import HeaderList
from pressroom.web.client_address import is_local
from pressroom.web.error_responses import error_response, label_of
from pressroom.web.headers import cookie_value, session_token
from pressroom.web.origin import names_own_host
from pressroom.web.page_forms import FormState, field_errors_for_people, message_for_people
from pressroom.web.query import parse_query
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.templating import APP_POLICY, HTML, POLICY, page, page_headers, page_in_slices

NO_STORE: Final[HeaderList] = [(b"cache-control", b"no-store")]
LONGEST_CODE: Final = 40


async def render(
    request: Request[Any],
    template: str,
    values: Mapping[str, object],
    *,
    form: FormState | None = None,
    status: int = 200,
    secret: bool = False,
    version: str | None = None,
    script: bool = True,
    policy: str | None = None,
) -> Response:
    """Returns a page of the web app, or a part of one, which nobody may store.

    Args:
        request: The request that it answers.
        template: The template, which extends `app.html` or `base.html`.
        values: The template's variables. It also has those of `frame_of`, `query`, `done`, `now` and `form`.
        form: The form on the page. A refused form determines the status, otherwise `status` does.
        secret: The page shows a secret: it is never compressed.
        version: Of a part that is polled: the name of its state. See `unchanged`.
        script: False for a page that people only read: it may load no script.
        policy: Another Content-Security-Policy than theirs.
    """
    frame = await frame_of(request, is_part=version is not None)
    common = {"query": request.query, "done": done_of(request.query), "now": request.clock.now(), "form": form}
    code = form.status if form is not None and form.was_refused else status
    response = await page_in_slices(
        request.services.slices,
        template,
        {**frame, **common, **values},
        code=code,
        media_from=request.services.blobs.origin,
        policy=policy or (APP_POLICY if script else POLICY),
    )
    response.headers += NO_STORE
    response.holds_secret = secret
    if version is not None:
        response.headers.append((b"etag", f'W/"{version}"'.encode()))
    return response


async def frame_of(request: Request[Any], *, is_part: bool = False) -> dict[str, object]:
    """Returns the variables of `base.html`; of a part of a page, those of parts. One indexed read, of at most
    100 rows, when somebody is signed in, and another one on the pages of admins."""
    viewer, account_id = request.viewer, request.account_id
    is_counted = viewer is not None and account_id is not None and not is_part
    is_admin = viewer is not None and viewer.is_admin
    moderates = viewer is not None and (viewer.is_admin or viewer.is_moderator)
    is_for_admins = is_counted and moderates and request.path.startswith("/admin")
    return {
        "base_url": request.settings.base_url,
        "request_path": request.path,
        "theme": theme_of(request.headers.cookie),
        "viewer": viewer.username if viewer else None,
        "viewer_avatar": viewer.avatar if viewer else None,
        "viewer_name": viewer.display_name if viewer else None,
        "announcement": None if is_part else request.services.announcement(),
        "viewer_is_admin": is_admin,
        "viewer_moderates": moderates,
        "unread": await request.services.count_unread(request.db, account_id or "") if is_counted else 0,
        "open_reports": await request.services.count_reports(request.db) if is_for_admins else 0,
    }


class Theme(StrEnum):
    """Colours that a reader may choose (docs/design.md#colours)."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


def theme_of(cookie: str) -> str:
    """Returns the colours that the cookie `theme` chooses; "" for those of the system."""
    theme = cookie_value(cookie, "theme") or ""
    return theme if theme in {Theme.LIGHT, Theme.DARK} else ""


def unchanged(request: Request[Any], version: str) -> Response | None:
    """Returns the answer to a part that asks for itself again and shows this version already; otherwise None."""
    known = (request.headers.if_none_match or "").split(",")
    if any(tag.strip().removeprefix("W/") == f'"{version}"' for tag in known):
        return Response(204, b"", HTML, [*page_headers(), *NO_STORE])
    return None


def hide_address(response: Response) -> None:
    """Has browsers send the address of a page to nobody as a referrer: it holds a token, and proxies log referrers.

    The origin stays: without it forms could not be distinguished from those of other sites.
    """
    response.headers = [(name, b"origin" if name == b"referrer-policy" else value) for name, value in response.headers]


def redirect(path: str, *, done: str | None = None, **query: str) -> Response:
    """Returns the redirection to a page of our own after something was done.

    Args:
        path: The path, which may have a query and a fragment.
        done: The code of the line that the page then shows; `notices.html` has its words.
        query: Parameters to add.
    """
    added = urlencode({**query, **({"done": done} if done else {})})
    path, mark, place = path.partition("#")
    target = (f"{path}{'&' if '?' in path else '?'}{added}" if added else path) + mark + place
    location = quote(target, safe="/?&=%@:+,;~!$'()*#")
    return Response(303, b"", HTML, [(b"location", location.encode()), *page_headers(), *NO_STORE])


def sign_in_first(request: Request[Any]) -> Response:
    """Returns the redirection to the sign-in, which leads back to the page that was asked for, or to where a form leads
    or stands."""
    here = f"{request.path}?{request.query}" if request.query else request.path
    if not request.is_safe:
        here = own_path(parse_query(request.query).get("next"), _page_of_form(request, here))
    ended = "session-over" if session_token(request.headers.cookie) else None
    return redirect("/login", done=ended, **({"next": here} if here != "/" else {}))


def _page_of_form(request: Request[Any], target: str) -> str:
    """Returns the page on which a form stands: its own target, or the nearest page above it."""
    path = request.path
    if request.services.has_page(path):
        return target
    while path and not request.services.has_page(path):
        path = path.rpartition("/")[0]
    return path or "/"


def own_path(given: str | None, default: str = "/") -> str:
    """Returns where a parameter `next` leads, if that is a path of our own; otherwise `default`.

    Browsers read `//host`, `/\\host` and such texts behind tabs or line breaks as another site.
    """
    if not given or not given.startswith("/") or given.startswith("//") or "\\" in given or not given.isprintable():
        return default
    return given


def check_developer(request: Request[Any], *, is_on: bool) -> None:
    """Raises NotFound unless development mode is on and the request comes from the server's own machine, under its own
    name (docs/web-app.md#sign-up-and-links)."""
    is_here = is_local(request.peer, request.headers.forwarded_for)
    if not is_on or not is_here or not names_own_host(request.headers, request.settings.base_url):
        raise NotFound("There is nothing at this address. The API reference is at /docs.")


def error_page(error: BaseException, theme: str = "") -> Response:
    """Returns the response to an error as a page, in the colours of `theme_of`."""
    status, label = label_of(error)
    as_json = error_response(error)
    known = isinstance(error, PressroomError) and status != 500
    values = {
        "theme": theme,
        "status": status,
        "heading": "Closed for maintenance" if isinstance(error, Maintenance) else label,
        "is_maintenance": isinstance(error, Maintenance),
        "message": message_for_people(error) if known and isinstance(error, PressroomError) else UNEXPECTED,
        "field_errors": field_errors_for_people(error.field_errors)
        if isinstance(error, Invalid | Unprocessable)
        else (),
        "retry_after": error.retry_after if isinstance(error, TooMany | Unavailable) else None,
    }
    response = page("error.html", values, code=status)
    response.label = label
    # Somebody else may see a page at this address, or this one later.
    response.headers += [*as_json.headers, *NO_STORE]
    return response


UNEXPECTED: Final = (
    "Something failed on this server. What you sent may not have been done: look before you send it again."
)


def done_of(query: str) -> str | None:
    """Returns the code of the change that was just made, from the query."""
    given = parse_query(query).get("done", "") if "done=" in query else ""
    return given if given and len(given) <= LONGEST_CODE else None
