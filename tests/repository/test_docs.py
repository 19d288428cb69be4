"""The docs are complete: settings, commands and events of the code that they lack fail here."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner

from pressroom.cli import main
from pressroom.domains.events.models import EventType
from pressroom.domains.keys.models import Scope
from pressroom.errors import Code
from pressroom.settings import all_settings
from pressroom.web.error_responses import INTERNAL, LABELS

DOCS = Path(__file__).parents[2] / "docs"
OPERATORS = re.compile(
    r"\bpressroom (account|key|job|webhook|stats|doctor|config|backup|restore|migrate|transfer|mail|media|secrets)\b"
)


def load_generator() -> ModuleType:
    """docs/generate.py, which is no package."""
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["settings.md", "commands.md", "routes.md"])
def test_pages_made_from_the_code_are_up_to_date(page: str) -> None:
    assert (DOCS / page).read_text("utf-8") == load_generator().PAGES[page](), "run `make docs`"


def test_page_of_commands_after_a_command_was_used_is_the_same() -> None:
    CliRunner().invoke(main, ["migrate", "--help"])
    assert (DOCS / "commands.md").read_text("utf-8") == load_generator().PAGES["commands.md"]()


@pytest.mark.parametrize(("status", "label"), [*LABELS.values(), INTERNAL])
def test_every_error_label_is_explained(status: int, label: str) -> None:
    assert f"| {status} | `{label}` |" in (DOCS / "errors.md").read_text("utf-8")


@pytest.mark.parametrize("code", list(Code))
def test_every_code_is_explained(code: Code) -> None:
    assert f"| `{code}` |" in (DOCS / "errors.md").read_text("utf-8")


@pytest.mark.parametrize("scope", list(Scope))
def test_every_scope_is_named(scope: Scope) -> None:
    assert f"| `{scope}` |" in (DOCS / "keys.md").read_text("utf-8")


@pytest.mark.parametrize("event", list(EventType))
def test_every_event_is_named(event: EventType) -> None:
    assert f"`{event}`" in (DOCS / "webhooks.md").read_text("utf-8")


def test_every_setting_has_its_line() -> None:
    page = (DOCS / "settings.md").read_text("utf-8")
    assert all(f"`{setting.variable}`" in page for setting in all_settings())


def test_pages_that_name_a_command_show_the_line_to_type_beside_the_unit() -> None:
    # The pages for people who clone the project, and those made from the code, are for other readers.
    others = {"commands.md", "settings.md", "development.md", "releasing.md", "reliability.md", "glossary.md"}
    pages = {path.name: path.read_text("utf-8") for path in DOCS.glob("*.md") if path.name not in others}
    named = {name: text for name, text in pages.items() if OPERATORS.search(text)}
    assert len(named) > 6
    assert [name for name, text in named.items() if "sudo -u pressroom pressroom " not in text] == []


def test_the_glossary_has_each_term_once_in_order() -> None:
    rows = [line.split("|") for line in (DOCS / "glossary.md").read_text("utf-8").splitlines() if line.startswith("| ")]
    terms = [row[1].strip().lower() for row in rows[2:]]

    assert terms == sorted(set(terms))
