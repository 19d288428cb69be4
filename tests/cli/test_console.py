"""People's texts in the output of the command line."""

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
def test_control_characters_are_escaped(text: str, shown: str) -> None:
    assert plain(text) == shown
