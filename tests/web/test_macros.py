"""The parts that templates share: hostile text stays text, and each field says what belongs to it."""

from collections.abc import Callable

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from pressroom.errors import Code, FieldError
from pressroom.web.page_forms import FormState
from pressroom.web.template_filters import duration, field_id
from pressroom.web.templating import render_text

HOSTILE = """"'><script>alert(1)</script><img src=x onerror=alert(2)>&amp;{{ '%s:%s' % (7, 7) }}\u202e\x00"""
FORMS = "{% import 'macros/forms.html' as m %}"
PARTS = "{% import 'macros/ui.html' as m %}"

MACROS = {
    "summary": FORMS + "{{ m.summary_of_errors(form, {'x': t}) }}",
    "key": FORMS + "{{ m.hidden_key(form) }}",
    "field": FORMS + "{{ m.field(form, 'x', t, value=t, hint=t, placeholder=t, attributes={'data-x': t}) }}",
    "password": FORMS + "{{ m.field(form, 'x', t, type='password', value=t, hint=t) }}",
    "textarea": FORMS + "{{ m.textarea(form, 'x', t, value=t, hint=t, count=10) }}",
    "select": FORMS + "{{ m.select(form, 'x', t, [(t, t), ('a', 'b')], hint=t) }}",
    "checkboxes": FORMS + "{{ m.checkboxes(form, 'x', t, [(t, t, t), ('a', 'b')], hint=t) }}",
    "radios": FORMS + "{{ m.radios(form, 'x', t, [(t, t, t)], hint=t) }}",
    "checkbox": FORMS + "{{ m.checkbox(form, 'x', t, hint=t) }}",
    "time field": FORMS + "{{ m.local_time(form, 'x', t, hint=t) }}",
    "button": FORMS + "{{ m.button(t, busy=t) }}",
    "badge": PARTS + "{{ m.badge(t, t) }}",
    "copyable": PARTS + "{{ m.copyable(t, t) }}",
    "copyable block": PARTS + "{{ m.copyable(t, t, block=true) }}",
    "bars": PARTS + "{{ m.bars(t, [(t, t)], [(t, [1]), (t, [0])], unit=t) }}",
    "empty": PARTS + "{{ m.empty(t, t, t, t) }}",
    "pager": PARTS + "{{ m.pager(t, t) }}",
    "live": PARTS + "{% call m.live(t, t, t) %}{{ t }}{% endcall %}",
    "notice": "{% from 'notices.html' import notice %}{{ notice(t) }}x",
}
"""Each macro with hostile text in every place that takes text."""


def refused(**more: object) -> FormState:
    return FormState(
        status=400,
        typed={"x": [HOSTILE], HOSTILE: [HOSTILE]},
        field_errors=[FieldError("x", Code.TOO_LONG, HOSTILE), FieldError(HOSTILE, Code.UNKNOWN_FIELD, HOSTILE)],
        message=HOSTILE,
        idempotency_key=HOSTILE,
    )


def the(tree: LexborHTMLParser, selector: str) -> LexborNode:
    """The first element of this kind."""
    node = tree.css_first(selector)
    assert node is not None
    return node


@pytest.mark.parametrize("source", MACROS.values(), ids=MACROS)
@pytest.mark.parametrize("form", [FormState, refused], ids=["new", "again"])
def test_hostile_text_stays_text(source: str, form: Callable[[], FormState]) -> None:
    html = render_text(source, {"form": form(), "t": HOSTILE})
    tree = LexborHTMLParser(html)

    assert not tree.css("script, img")
    assert "7:7" not in html
    assert not [name for node in tree.css("*") for name in node.attributes if name.startswith("on")]


def test_typed_text_comes_back_unchanged() -> None:
    form = FormState(status=400, typed={"x": ["\n a\r\n<b>\n"]})
    html = render_text(MACROS["textarea"], {"form": form, "t": "T"})

    assert the(LexborHTMLParser(html), "textarea").text() == "\n a\n<b>\n"


def test_a_password_is_never_shown_again() -> None:
    html = render_text(MACROS["password"], {"form": FormState(status=400, typed={"x": ["s3cret"]}), "t": "Password"})

    assert "s3cret" not in html


@pytest.mark.parametrize("macro", ["field", "textarea", "select", "checkbox", "time field"])
def test_an_error_stands_beside_its_field_and_is_linked(macro: str) -> None:
    form = FormState(status=400, field_errors=[FieldError("x[2]", Code.TOO_LONG, "Too long.")])
    tree = LexborHTMLParser(render_text(MACROS["summary"] + MACROS[macro], {"form": form, "t": "Name"}))
    field = the(tree, "[aria-invalid=true]")
    described = (field.attributes["aria-describedby"] or "").split()

    assert the(tree, "label").attributes["for"] == field.id == field_id("x")
    assert "Too long." in [the(tree, f"[id='{each}']").text(strip=True) for each in described]
    assert the(tree, "#errors a").attributes["href"] == f"#{field.id}"
    assert the(tree, "#errors").attributes["tabindex"] == "-1"
    assert "autofocus" in the(tree, "#errors").attributes


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 seconds"),
        (1, "1 second"),
        (60, "60 seconds"),
        (61, "2 minutes"),
        (3_600, "60 minutes"),
        (3_601, "2 hours"),
        (86_401, "2 days"),
    ],
)
def test_a_wait_is_rounded_up(seconds: int, words: str) -> None:
    assert duration(seconds) == words
