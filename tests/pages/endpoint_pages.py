"""The pages of an owner's endpoints, as somebody without JavaScript uses them."""

from collections.abc import Mapping, Sequence

import httpx
from selectolax.lexbor import LexborHTMLParser, LexborNode

from tests.api.actors import Actor

Typed = Mapping[str, str | Sequence[str]]


def path_of(key_id: str, webhook_id: str = "", act: str = "") -> str:
    """The path of an endpoint's page, or of the page of a key."""
    return f"/settings/keys/{key_id}" + (f"/webhooks/{webhook_id}" if webhook_id else "") + (f"/{act}" if act else "")


def read(who: Actor, path: str, status: int = 200) -> LexborHTMLParser:
    """A page, which must have this status."""
    return page_of(who.web.get(path), status)


def page_of(answer: httpx.Response, status: int = 200) -> LexborHTMLParser:
    """The page in a response, which must have this status and may be kept by nobody."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    return LexborHTMLParser(answer.text)


def text_of(page: LexborHTMLParser, selector: str = "main") -> str:
    """The text of a part of a page, in one line."""
    node = node_of(page, selector)
    return " ".join(node.text(separator=" ").split())


def fields_of(page: LexborHTMLParser, action: str = "") -> dict[str, list[str]]:
    """The fields of a form as it stands: the one whose action ends so, by default the first."""
    form = next(each for each in page.css("main form") if (each.attributes.get("action") or "").endswith(action))
    fields: dict[str, list[str]] = {}
    for field in form.css("input[name]"):
        attributes = field.attributes
        if attributes.get("type") not in ("checkbox", "radio") or "checked" in attributes:
            fields.setdefault(attributes["name"] or "", []).append(attributes.get("value") or "")
    return fields


def send(who: Actor, path: str, typed: Typed | None = None, action: str = "", at: str = "") -> httpx.Response:
    """Opens a page, fills in its form and sends it. `at`: where the form is, if its page is another."""
    fields: dict[str, str | Sequence[str]] = {**fields_of(read(who, at or path), action), **(typed or {})}
    return who.web.post(path, data=fields)  # type: ignore[arg-type]  # httpx takes lists of texts


def attributes_of(page: LexborHTMLParser, selector: str) -> Mapping[str, str | None]:
    """The attributes of the first element that fits."""
    return node_of(page, selector).attributes


def node_of(part: LexborHTMLParser | LexborNode, selector: str) -> LexborNode:
    """The first element that fits, which must be there."""
    node = part.css_first(selector)
    assert node is not None, f"There is no {selector}: {part.html}"
    return node
