"""Function that splits a program text into colored spans with a Pygments lexer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple


class Span(NamedTuple):
    """Part of a line with its kind of text: ``comment``, ``text``, ``number``, ``keyword`` or
    ``variable``.
    """

    start: int
    length: int
    role: str


LEXERS: Final = {".py": "python", ".yaml": "yaml", ".yml": "yaml", ".json": "json", ".toml": "toml"}
"""Name of the Pygments lexer for each file suffix."""
MOST: Final = 400_000
"""Longest text, in characters, that is colored."""
_ROLES: Final = (
    ("Comment", "comment"),
    ("Literal.String", "text"),
    ("Literal.Number", "number"),
    ("Keyword.Constant", "number"),
    ("Keyword", "keyword"),
    ("Operator.Word", "keyword"),
    ("Name.Tag", "keyword"),
    ("Name.Decorator", "variable"),
    ("Name.Function", "variable"),
    ("Name.Class", "variable"),
)


def spans_of(suffix: str, text: str) -> Sequence[Sequence[Span]]:
    """Return the colored spans of a text, by line.

    It imports the lexer and takes a second per megabyte: call it in a thread.

    Args:
        suffix: Suffix of the file.
        text: Text of the file, with lines that end in ``\\n``.
    """
    name = LEXERS.get(suffix)
    lines: list[list[Span]] = [[]]
    if name is None or len(text) > MOST:
        return lines
    from pygments import lex
    from pygments.lexers import get_lexer_by_name

    # Keep leading and trailing newlines: lines are counted.
    lexer = get_lexer_by_name(name, stripnl=False, ensurenl=False)
    column = 0
    for kind, words in lex(text, lexer):
        path = str(kind).removeprefix("Token.")
        role = next((role for start, role in _ROLES if path == start or path.startswith(f"{start}.")), "")
        for i, part in enumerate(words.split("\n")):
            if i:
                lines.append([])
                column = 0
            if part and role:
                lines[-1].append(Span(column, len(part), role))
            column += len(part)
    return lines
