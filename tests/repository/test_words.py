"""The source speaks the field's language (docs/glossary.md): no metaphor of an earlier vocabulary comes back."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "pressroom"

_OF = r"(?:a|an|the|its|their|his|our|one|each|every|this|that|these|those|another|any|no|same|new|whose|\w+'s)"
OLD: dict[str, str] = {
    r"\brooms?\b": "package; space, capacity",
    r"\bhouse(?:'s)?\b": "project",
    r"\bdoors?\b|\bway out\b": "outbound client",
    r"\bshel(?:f|ves)\b": "page, list",
    r"\bties\b": "relationship",
    r"\btall(?:y|ies)\b": "count",
    r"\bfore(?:see|sees|seen|saw)\b": "check",
    r"\blanes?\b": "slot, slot pool",
    r"\bfloors?\b": "layer; baseline",
    rf"\b{_OF} turn\b|\btak(?:e|es|ing) turns\b|\bturns? (?:of|ends?|begins?|starts?)\b": "batch; round; alternate",
    r"\b(?:kept|keeps?) and t(?:old|ells?)\b|\b(?:told|tells?) and k(?:ept|eeps?)\b": "saved and emitted",
    rf"\b(?!no\b|any\b){_OF} means\b(?! of\b)|\b[Mm]eans of (?:a|the) route": "services",
    rf"\b{_OF} standing\b": "status, health",
}
"""Words of an earlier vocabulary, and the present ones."""


def spoken(path: Path) -> Iterator[tuple[int, str]]:
    """The comments and texts of a Python file, docstrings and messages among them, each with its line."""
    code = path.read_text("utf-8")
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            for offset, line in enumerate(node.value.splitlines()):
                yield node.lineno + offset, line


def old_words(path: Path) -> Iterator[str]:
    """Each word of the old vocabulary in a file, with its place and what to write instead."""
    for line, text in spoken(path):
        for word, instead in OLD.items():
            if (found := re.search(word, text)) is not None:
                yield f"{path.relative_to(SOURCE)}:{line}: “{found[0]}” ({instead}): {text.strip()[:100]}"


def test_no_text_of_the_source_uses_a_word_of_the_old_vocabulary() -> None:
    assert [word for path in sorted(SOURCE.rglob("*.py")) for word in old_words(path)] == []
