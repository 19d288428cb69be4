"""Named parameters become numbered ones."""

import pytest

from pressroom.db.params import numbered


@pytest.mark.parametrize(
    ("sql", "expected", "names"),
    [
        ("SELECT 1", "SELECT 1", ()),
        ("a = :a AND b = :b", "a = $1 AND b = $2", ("a", "b")),
        ("a = :a OR b = :a", "a = $1 OR b = $1", ("a",)),
        ("a = ':a' AND b = :b", "a = ':a' AND b = $1", ("b",)),
        ("a = 'it''s :a' AND b = :b", "a = 'it''s :a' AND b = $1", ("b",)),
        ("a::text = :a_1", "a::text = $1", ("a_1",)),
        ("(:a,:b)", "($1,$2)", ("a", "b")),
    ],
)
def test_named_parameters_are_numbered(sql: str, expected: str, names: tuple[str, ...]) -> None:
    assert numbered(sql) == (expected, names)
