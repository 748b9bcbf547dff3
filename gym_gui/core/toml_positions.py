"""Finds the line of a TOML file to which an error message refers."""

from __future__ import annotations

import re
from typing import Final

from gym_gui.core.errors import FilePosition

_AT: Final = re.compile(r"\(at line (\d+), column (\d+)\)")
_END: Final = re.compile(r"\(at end of document\)")
_KEY: Final = re.compile(r"""^\s*(?:\[+\s*(?P<table>[^\]]+?)\s*\]+|(?P<key>"[^"]*"|'[^']*'|[\w.-]+)\s*=)""")


def place_in_toml(file: str, source: str, sentence: str) -> FilePosition:
    """Return the position of an error: the parser's, or the line of the key or table that the message names.

    Args:
        file: The file.
        source: Its text.
        sentence: The error message.

    Returns:
        The place. If the message fits several lines, the line whose key is named together with its table,
            or the longest key; line 0 if the message names no key.
    """
    if (said := _AT.search(sentence)) is not None:
        return FilePosition(file, int(said[1]), int(said[2]))
    lines = source.splitlines()
    if _END.search(sentence):
        return FilePosition(file, max(len(lines), 1))
    words = sentence.removeprefix(file)
    best, table = (0, 0), ""
    for number, line in enumerate(lines, 1):
        match = _KEY.match(line)
        if match is None:
            continue
        table = match["table"] or table
        name = (match["table"] or match["key"]).strip("\"'")
        parts = [part.strip("\"'") for part in table.split(".")] if match["key"] else []
        weight = _weight(name, words) * 4 + sum(1 for part in parts if _weight(part, words))
        if _weight(name, words) and weight > best[0]:
            best = (weight, number)
    return FilePosition(file, best[1])


def _weight(name: str, words: str) -> int:
    last = name.rpartition(".")[2] if name not in words else name
    return len(last) if re.search(rf"(?<![\w-]){re.escape(last)}(?![\w-])", words) else 0
