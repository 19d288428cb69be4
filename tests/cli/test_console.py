"""What the command line prints of what people wrote."""

import pytest

from pressroom.cli.console import plain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Mira Vogt", "Mira Vogt"),
        ("\x1b]0;owned\x07", "\\x1b]0;owned\\x07"),
        ("a\u202eb", "a\\u202eb"),
        ("two\nlines", "two lines"),
        ("Zo\u00eb \U0001f600", "Zo\u00eb \U0001f600"),
    ],
)
def test_what_controls_a_terminal_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert plain(text) == shown
