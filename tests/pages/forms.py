"""Every form of the pages and its valid input. A form without its line fails test_every_form.py."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeGuard

from pressroom.domains.accounts.models import Caller
from pressroom.server.routes import API_ROUTES, ROUTES
from pressroom.web.access import Page
from pressroom.web.multipart_rules import MOST_PARTS
from pressroom.web.routing import PageForm, Route
from tests.api.bad_bodies import Case, cases_of
from tests.api.bad_values import Raw

Texts = dict[str, list[str]]
"""The fields of a form: the texts of each."""


@dataclass(frozen=True, slots=True)
class Line:
    """A form as its reader fills it in.

    Attributes:
        good: Fields that are taken; `{key}` stands for what `Stage.ids` names so.
        wrong: Fields that are refused, for forms whose struct no JSON route has: each with the error beside it.
        acts_once: Sent twice with one idempotency key it does one thing. A sign-in does not: it makes two sessions.
        guarded: It is sent by somebody with two-factor sign-in.
        elsewhere: The tests that bring the form about; here it is only sent by those who may not.
        anybodys: It is about what anybody may find, such as an account: nobody gets a 404.
    """

    good: Mapping[str, str | Sequence[str]] = field(default_factory=dict[str, str | Sequence[str]])
    wrong: Sequence[Mapping[str, str | Sequence[str]]] = ()
    acts_once: bool = True
    guarded: bool = False
    elsewhere: str = ""
    anybodys: bool = False


PASSWORD: Final = "seven boats by the pier"
HOOK: Final = "https://8.8.8.8/hook"
DRAFTS: Final = "tests/pages/test_drafts.py"
ACTS: Final = "tests/pages/test_acts.py"
PEOPLE: Final = "tests/pages/test_people.py"
ONE: Final = "/settings/keys/{keyId}/webhooks/{webhookId}"

LINES: Final[dict[str, Line]] = {
    "/signup": Line({"username": "ferry_news", "email": "ferry@news.example", "password": "nine plums and a kettle"}),
    "/setup": Line(elsewhere="tests/pages/test_setup.py"),
    "/forgot": Line({"email": "ferry@news.example"}),
    "/reset/{token}": Line({"password": "nine plums and a kettle"}, wrong=({"password": "nine"},)),
    "/verify/{token}": Line(),
    "/unsubscribe/{token}": Line(elsewhere="tests/api/test_notification_mail.py"),
    "/login/link/{token}": Line(),
    "/verify/send": Line(),
    "/": Line(
        {"content": "The ferry leaves at ten.", "visibility": "PUBLIC"},
        wrong=({"content": " "}, {"visibility": "ALL"}, {"location.latitude": "91"}, {"poll.options": "one"}),
    ),
    "/preview": Line({"content": "The ferry leaves at ten."}, wrong=({"content": ""}, {"linkPreviewUrl": "nowhere"})),
    "/post/{id}/edit": Line(
        {"content": "The ferry leaves at eleven.", "visibility": "PUBLIC"}, wrong=({"content": ""},)
    ),
    "/post/{id}/delete": Line(),
    "/post/{id}/audience": Line({"usernames": ""}),
    "/clips": Line({"caption": "The pilot boat"}, elsewhere="tests/pages/test_own_clips.py"),
    "/clip/{id}/edit": Line({"caption": "The pilot boat", "visibility": "PRIVATE"}),
    "/clip/{id}/delete": Line(),
    "/login": Line({"login": "{username}", "password": PASSWORD}, acts_once=False),
    "/login/code": Line({"code": "123456"}, wrong=({"code": ""}, {"code": "1" * 100}), acts_once=False),
    "/login/confirm": Line({"password": PASSWORD}, acts_once=False),
    "/logout": Line(acts_once=False),
    "/settings/appearance": Line({"theme": "dark"}),
    "/settings/profile": Line({"displayName": "Ferry News", "username": "{username}", "bio": "Boats."}),
    "/settings/profile/picture": Line(elsewhere="tests/pages/test_avatar.py"),
    "/settings/profile/picture/remove": Line(),
    "/settings/profile/cover": Line(elsewhere="tests/pages/test_avatar.py"),
    "/settings/profile/cover/remove": Line(),
    "/settings/security/password": Line({"password": "nine plums and a kettle"}),
    "/settings/security/email": Line({"email": "{username}@other.example"}),
    "/settings/security/sessions/end-others": Line(),
    "/settings/security/sessions/{sessionId}/end": Line(elsewhere="tests/pages/test_account.py"),
    "/settings/security/two-factor": Line(acts_once=False),
    "/settings/security/two-factor/code": Line({"code": "{code}"}),
    "/settings/security/two-factor/remove": Line({"password": PASSWORD}, guarded=True),
    "/settings/security/recovery-codes": Line(guarded=True),
    "/settings/security/passkeys/{passkeyId}/rename": Line({"name": "Phone"}, wrong=({"name": ""}, {"name": "x" * 61})),
    "/settings/security/passkeys/{passkeyId}/remove": Line(),
    "/settings/data/export": Line(),
    "/settings/data/delete": Line({"username": "{username}", "password": PASSWORD}, acts_once=False),
    "/settings/keys/{keyId}/webhooks/new": Line({"url": HOOK, "events": ["post.created", "apikey.revoked"]}),
    "/settings/notifications": Line({"like": "off", "follow.requested": "mail"}),
    "/notifications/read": Line({"upTo": "{notificationId}"}),
    "/notifications/{notificationId}/read": Line(),
    f"{ONE}/test": Line(),
    f"{ONE}/pause": Line(),
    f"{ONE}/resume": Line(),
    f"{ONE}/edit": Line(
        {"label": "Newsroom chat", "events": ["post.created", "comment.created"]},
        wrong=({"label": "x" * 61},),
    ),
    "/settings/keys/{keyId}/note": Line({"note": "Runs on the desk's machine."}, wrong=({"note": "x" * 501},)),
    f"{ONE}/rotate": Line(),
    f"{ONE}/replace": Line({"url": f"{HOOK}/again", "events": ["post.created"]}),
    f"{ONE}/remove": Line(),
    "/admin/reports/{id}": Line(
        {"decision": "dismissed", "reason": "Nothing is wrong with it."}, elsewhere="tests/pages/test_reports.py"
    ),
    "/admin/blocks": Line({"pattern": "{username}.example", "reason": "Forty accounts in one night."}),
    "/admin/blocks/{id}/remove": Line(elsewhere="tests/pages/test_reports.py"),
    "/admin/texts/{name}": Line({"text": "# Harbour\n\nRun by the ferry cooperative."}),
    "/admin/explore": Line({"type": "account", "subject": "{other}", "reason": "Nothing but advertisements."}),
    "/admin/explore/{id}/remove": Line(elsewhere="tests/pages/test_explore.py"),
    "/report": Line({"type": "account", "id": "{strangerId}", "reason": "It sells what nobody asked for."}),
    "/settings/keys/new": Line({"label": "Ferry bot", "scopes": ["posts:write", "media:write"], "expiry": "90d"}),
    "/admin/accounts/{username}/verify": Line({"verified": "true", "reason": "Rang the newsroom."}),
    "/admin/accounts/{username}/limits": Line({"contentPerDay": "5000", "reason": "Moves its archive here."}),
    "/admin/accounts/{username}/suspend": Line({"reason": "Advertises pills."}),
    "/admin/accounts/{username}/restore": Line(
        {"reason": "It was a mistake."}, elsewhere="tests/pages/test_admin_journey.py"
    ),
    "/admin/accounts/{username}/delete": Line({"username": "{other}", "reason": "Asked for it by letter."}),
    "/admin/accounts/{username}/keys/{keyId}/revoke": Line(elsewhere="tests/api/test_admin_belongings.py"),
    "/admin/accounts/{username}/keys/{keyId}/webhooks/{webhookId}/disable": Line(
        elsewhere="tests/api/test_admin_belongings.py"
    ),
    "/admin/invitations": Line({"note": "For Otto"}),
    "/admin/invitations/{id}/revoke": Line(elsewhere="tests/pages/test_admin_journey.py"),
    "/admin/jobs/{id}/retry": Line(elsewhere="tests/pages/test_admin_journey.py"),
    "/settings/keys/{keyId}/revoke": Line({"label": "{label}"}, wrong=({"label": "Another"}, {"label": ""})),
    "/settings/keys/{keyId}/webhooks/{webhookId}/deliveries/{deliveryId}/resend": Line(),
    "/settings/keys/{keyId}/webhooks/{webhookId}/redeliver/preview": Line(
        {"since": "2027-01-14T10:30", "until": "", "eventTypes": ["post.created", "comment.created"]}
    ),
    "/settings/keys/{keyId}/webhooks/{webhookId}/redeliver": Line(
        {"since": "2027-01-14T10:30:00.000Z", "until": "2027-01-15T08:00:00.000Z"}
    ),
    "/post/{id}/like": Line(),
    "/post/{id}/unlike": Line(),
    "/post/{id}/save": Line(),
    "/post/{id}/unsave": Line(),
    "/post/{id}/bounce": Line(elsewhere=ACTS),
    "/post/{id}/unbounce": Line(),
    "/post/{id}/vote": Line({"choices": ["1"]}),
    "/post/{id}/comment": Line({"content": "Which boat?"}),
    "/post/{id}/quote": Line({"content": "How true"}, elsewhere=ACTS),
    "/follows/accept": Line({"upTo": "01" + "0" * 24}),
    "/follows/{username}/accept": Line(elsewhere=PEOPLE),
    "/follows/{username}/reject": Line(elsewhere=PEOPLE),
    "/follows/{username}/remove": Line(elsewhere=PEOPLE, anybodys=True),
    "/hubs/new": Line({"name": "The north quay", "slug": "north-quay-{slug}"}),
    **{path: Line(elsewhere=DRAFTS) for path in ("/compose", "/compose/save", "/compose/schedule")},
    **{f"/drafts/{{id}}/{act}": Line({"version": "1"}, elsewhere=DRAFTS) for act in ("publish", "unschedule")},
    "/drafts/{id}/delete": Line(elsewhere=DRAFTS),
    "/comment/{id}/edit": Line({"content": "Which boat, then?"}),
    "/comment/{id}/delete": Line(),
    "/@{username}/follow": Line(elsewhere=ACTS, anybodys=True),
    "/@{username}/unfollow": Line(elsewhere=ACTS, anybodys=True),
    "/@{username}/block": Line(elsewhere=ACTS, anybodys=True),
    "/@{username}/unblock": Line(elsewhere=ACTS, anybodys=True),
    "/@{username}/mute": Line(elsewhere=ACTS, anybodys=True),
    "/@{username}/unmute": Line(elsewhere=ACTS, anybodys=True),
    "/settings/privacy/filters": Line({"text": "ferry", "places": ["timeline"]}, wrong=({"text": ""}, {"text": "?!"})),
    "/settings/privacy/filters/remove": Line({"text": "ferry"}),
    "/hub/{slug}/join": Line(anybodys=True),
    "/hub/{slug}/leave": Line(anybodys=True),
}
"""By the path as declared."""

FORMS: Final[dict[str, Route[Caller]]] = {route.path: route for route in ROUTES if route.page_form is not None}
OWNED: Final = [path for path, route in FORMS.items() if isinstance(route.access, Page)]
SHARED: Final = {route.takes: route.name for route in API_ROUTES if route.takes is not None and route.form is None}
"""The operation of the API that takes the same struct."""

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_LOCAL_TIME: Final = re.compile(r"[0-9-]+T[0-9:.]+")


def spec(path: str) -> PageForm[Caller]:
    """How the form of a path is read."""
    form = FORMS[path].page_form
    assert form is not None
    return form


def texts_of(fields: Mapping[str, str | Sequence[str]], ids: Mapping[str, str]) -> Texts:
    """The submitted texts, with the ids in their places."""
    return {
        name: [text.format_map(ids) for text in ([given] if isinstance(given, str) else given)]
        for name, given in fields.items()
    }


def bad_cases(path: str) -> Iterator[tuple[Case, Texts]]:
    """Every body that the JSON route of the same struct refuses, as far as a form can say it."""
    takes = FORMS[path].takes
    operation = SHARED.get(takes) if takes else None
    for case in cases_of(operation) if operation else ():
        if case.said.status == 400 and not isinstance(case.body, Raw):
            if spec(path).fields.empty_clears and ("body", "required") in case.field_errors:
                continue  # Such a form always gives the fields that it could clear.
            typed = _typed(case.body, spec(path))
            if typed is not None:
                yield case, typed


def _typed(body: Mapping[str, Any], form: PageForm[Caller]) -> Texts | None:
    """A body as the fields of a form; None when a form cannot say the same."""
    texts: Texts = {}
    for name, value in body.items():
        sent = _items(name, value, form) if isinstance(value, list) else _text(name, value, form)
        if sent is None:
            return None
        texts[name] = sent
    return texts


def _items(name: str, value: list[object], form: PageForm[Caller]) -> list[str] | None:
    texts = [item for item in value if _can_be_typed(item)]
    if len(texts) < len(value) or not 0 < len(value) < MOST_PARTS - 20:
        return None
    if name in form.fields.lines:
        return ["\n".join(texts)] if all(text == text.strip() and "\n" not in text for text in texts) else None
    return texts if name in form.fields.lists else None


def _text(name: str, value: object, form: PageForm[Caller]) -> list[str] | None:
    if not _can_be_typed(value) or name in form.fields.lists | form.fields.lines:
        return None
    if name in form.fields.times and _LOCAL_TIME.fullmatch(value):
        return None
    return [value]


def _can_be_typed(value: object) -> TypeGuard[str]:
    """Whether somebody can type a value, and says the same by it in a form."""
    return isinstance(value, str) and value != "" and "\r" not in value and not _SURROGATE.search(value)
