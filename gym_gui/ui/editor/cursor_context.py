"""Parser that finds the key or value at the cursor of an unfinished Python, JSON, YAML or TOML text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

Path = tuple["str | int", ...]

_TOKEN: Final = re.compile(
    r"(?P<comment>\#[^\n]*)"
    r"|(?P<text>[rbuRBU]{0,2}(?:\"\"\"(?:[^\\]|\\.)*?(?:\"\"\"|\Z)|'''(?:[^\\]|\\.)*?(?:'''|\Z)"
    r"|\"(?:[^\"\\\n]|\\.)*\"?|'(?:[^'\\\n]|\\.)*'?))"
    r"|(?P<open>[\[{(])|(?P<close>[\]})])|(?P<comma>,)|(?P<colon>:)|(?P<equals>=)|(?P<line>\n)"
    r"|(?P<word>[^\s\[\]{}(),:=\#\"']+)",
    re.DOTALL,
)
_REST: Final = re.compile(r"[\w.-]*")
_SEPARATED: Final = re.compile(r"[ \t]*[:=]|\]")
_CLOSES: Final = {"]": "[", "}": "{", ")": "("}
_YAML_LINE: Final = re.compile(r"(?P<blank> *)(?P<dashes>(?:-(?: +|$))*)(?P<rest>[^\n]*)")
_YAML_KEY: Final = re.compile(r"(?P<key>\"[^\"\n]*\"|'[^'\n]*'|[^\s\"'#\[\]{},:-][^:#\n]*?) *:(?: +|$)")
_WORD: Final = re.compile(r"[\"']?[\w.-]*")
_TOML_TABLE: Final = re.compile(r"\s*(?P<open>\[\[?)\s*(?P<name>[\w.\"-]*)")
_TOML_KEY: Final = re.compile(r"\s*(?P<key>[\w\"-]+)\s*=[ \t]*")


class CursorContext(NamedTuple):
    """Position in a file at which the user types a key or a value.

    Attributes:
        path: Path of the surrounding mapping: keys, and list indices from 0.
        key: Key whose value is typed; ``""`` while a key is typed.
        start: Offset at which the word begins, with its quotation mark.
        end: Offset at which the word ends, at or after the cursor.
        typed: Part of the word before the cursor, without a quotation mark.
        quote: Quotation mark with which the word begins, or ``""``.
        written: Other keys of the mapping.
        separated: Whether a colon, an equals sign or a closing bracket already follows the word.
        flow: Whether the mapping is written in brackets.
        table: Whether the word is the name of a TOML table.
    """

    path: Path
    key: str
    start: int
    end: int
    typed: str
    quote: str
    written: frozenset[str]
    separated: bool
    flow: bool
    table: bool = False


@dataclass
class _Frame:
    """Open mapping or list during parsing: its path (``None`` if unknown) and the parsing state."""

    kind: str
    path: Path | None
    indent: int = -1
    keys: list[str] = field(default_factory=list[str])
    key: str | None = None
    pending: str | None = None
    index: int = 0

    @property
    def inner(self) -> Path | None:
        """Path of the value that is parsed now; ``None`` if unknown."""
        if self.path is None or self.kind == "(":
            return None
        if self.kind == "root":
            return self.path
        step = self.index if self.kind == "[" else self.key
        return None if step is None else (*self.path, step)


@dataclass
class _Found:
    """Mapping that contains the cursor, and the key and offset of the word at the cursor."""

    frame: _Frame
    key: str | None
    start: int
    flow: bool = True
    table: bool = False


def spot_in(suffix: str, text: str, at: int) -> CursorContext | None:
    """Return the key or value at the cursor of an unfinished text.

    Args:
        suffix: Suffix of the file: ``.py``, ``.json``, ``.yaml``, ``.yml`` or ``.toml``.
        text: Text of the file.
        at: Offset of the cursor.

    Returns:
        The position, or ``None`` if the cursor is at neither a key nor a value.
    """
    if suffix == ".py":
        found = _Brackets(text, at, python=True).read(_Frame("{", ()))
    elif suffix == ".json":
        found = _Brackets(text, at).read(_Frame("root", ()))
    else:
        found = _in_toml(text, at) if suffix == ".toml" else _in_yaml(text, at)
    if found is None or found.frame.path is None or found.frame.kind not in ("{", "map"):
        return None
    quote = text[found.start] if found.start < at and text[found.start] in "\"'" else ""
    end = _end_of_word(text, found.start, at)
    written = frozenset(found.frame.keys)
    separated = _SEPARATED.match(text, end) is not None
    typed = text[found.start + len(quote) : at]
    path, key = found.frame.path, found.key or ""
    return CursorContext(
        path, key, found.start, end, typed, quote, written, separated, found.flow, found.table
    )


def _unquoted(word: str) -> str:
    return word.lstrip("rbuRBU").strip("\"'") if word[-1:] in ("'", '"') else word


def _is_open(match: re.Match[str]) -> bool:
    """Return whether the token that ends at the cursor may continue, such as a word or an open string."""
    word = match[0]
    if match.lastgroup == "text":
        return len(word) == 1 or word[-1] != word[0]
    return match.lastgroup in ("word", "comment")


def _end_of_word(text: str, start: int, at: int) -> int:
    """Return the end offset of the word that starts at ``start`` and contains the cursor, with its closing
    quote.
    """
    rest = _REST.match(text, at)
    end = rest.end() if rest is not None else at
    quote = text[start:at][:1]
    return end + (quote in ("'", '"') and text.startswith(quote, end))


class _Brackets:
    """Parser of mappings and lists in brackets: Python, JSON, and bracketed parts of YAML and TOML.

    Args:
        text: The text.
        at: Offset of the cursor.
        python: Whether a key at the beginning of a line is a name that is assigned.
        separator: Token between a key and its value: ``colon`` or ``equals``.
    """

    def __init__(self, text: str, at: int, *, python: bool = False, separator: str = "colon") -> None:
        self._text, self._at, self._python, self._separator = text, at, python, separator
        self.found: _Found | None = None
        self.end = len(text)

    def read(self, root: _Frame, start: int = 0, *, one: bool = False) -> _Found | None:
        """Parse from an offset on and return the word at the cursor; with ``one``, stop after the first
        closed bracket.
        """
        stack = [root]
        if start <= self._at:
            typed = self._at
            for match in _TOKEN.finditer(self._text[: self._at], start):
                if match.end() == self._at and _is_open(match):
                    typed = match.start()
                    break
                self._take(stack, match)
                if one and len(stack) == 1:
                    self.end = match.end()
                    return None
            self._see(stack, typed)
            start = _end_of_word(self._text, typed, self._at)
        for match in _TOKEN.finditer(self._text, start):
            self._take(stack, match)
            if one and len(stack) == 1:
                self.end = match.end()
                break
        return self.found

    def _see(self, stack: list[_Frame], start: int) -> None:
        top = stack[-1]
        if top.kind == "{" and top.pending is None and _WORD.fullmatch(self._text, start, self._at):
            is_name = self._python and len(stack) == 1
            if is_name and top.key is None and self._text[:start].rpartition("\n")[2]:
                return  # within a statement other than an assignment
            self.found = _Found(top, top.key, start, flow=not is_name)

    def _take(self, stack: list[_Frame], match: re.Match[str]) -> None:
        top, kind, word = stack[-1], match.lastgroup, match[0]
        of_module = self._python and len(stack) == 1
        if kind == "open":
            stack.append(_Frame(word, top.inner))
            top.pending = word
        elif kind == "close":
            opened = [i for i, frame in enumerate(stack) if frame.kind == _CLOSES[word] and i]
            if opened:
                del stack[opened[-1] :]
        elif kind == "comma" and not of_module:
            top.key, top.pending, top.index = None, None, top.index + 1
        elif kind == ("equals" if of_module else self._separator):
            if top.pending is not None and top.key is None:
                top.key, top.pending = top.pending, None
                top.keys.append(top.key)
        elif kind == "line" and of_module:
            top.key = top.pending = None
        elif kind in ("word", "text") and (
            not of_module or self._text[match.start() - 1 : match.start()] in ("", "\n")
        ):
            top.pending = _unquoted(word) if kind == "text" else word


def _lines(text: str) -> Iterator[tuple[int, str]]:
    place = 0
    for line in text.split("\n"):
        yield place, line
        place += len(line) + 1


def _in_yaml(text: str, at: int) -> _Found | None:
    """Find the word at the cursor in YAML blocks by their indent; :class:`_Brackets` parses bracketed
    parts.
    """
    stack = [_Frame("root", ())]
    found: _Found | None = None
    read_to = 0
    deeper = -1
    for place, line in _lines(text):
        here = place <= at <= place + len(line)
        match = _YAML_LINE.match(line)
        if place < read_to or match is None:
            continue
        indent, rest = len(match["blank"]), match["rest"]
        if deeper >= 0 and (indent > deeper or not line.strip()):
            continue  # a line of a multi-line text
        deeper = -1
        empty = not rest.strip() or rest.lstrip().startswith("#")
        if empty and not match["dashes"] and not (here and not rest):
            continue
        indent = _enter(stack, indent, match["dashes"])
        start = place + match.start("rest")
        key = _YAML_KEY.match(rest)
        before = text[start:at] if here and at >= start else None
        if before is not None and _WORD.fullmatch(before):
            found = _Found(_mapping(stack, indent), None, start, flow=False)
        if key is None:
            if rest[:1] in ("{", "["):
                read_to, inner = _flow(text, at, start, stack[-1].inner)
                found = inner or found
            continue
        frame = _mapping(stack, indent)
        frame.key = _unquoted(key["key"])
        if found is None or found.frame is not frame or found.start != start or not here:
            frame.keys.append(frame.key)
        value = start + key.end()
        if text[value : value + 1] in ("{", "["):
            read_to, inner = _flow(text, at, value, frame.inner)
            found = inner or found
        elif text[value : value + 1] in ("|", ">"):
            deeper = indent
        elif here and at >= value and _WORD.fullmatch(text[value:at]):
            found = _Found(frame, frame.key, value, flow=False)
    return found


def _flow(
    text: str, at: int, start: int, path: Path | None, separator: str = "colon"
) -> tuple[int, _Found | None]:
    """Parse a bracketed part; return its end offset, and the mapping in it that contains the cursor or
    ``None``.
    """
    reader = _Brackets(text, at, separator=separator)
    found = reader.read(_Frame("root", path), start, one=True)
    return reader.end, found


def _enter(stack: list[_Frame], indent: int, dashes: str) -> int:
    """Close mappings and lists deeper than a line, open list items for its dashes, and return its text's
    indent.
    """
    while stack[-1].indent > indent or (
        stack[-1].indent == indent and stack[-1].kind == "[" and not dashes and len(stack) > 1
    ):
        stack.pop()
    for dash in re.finditer(r"-(?: +|$)", dashes):
        place = indent + dash.start()
        while stack[-1].indent > place:
            stack.pop()
        if stack[-1].kind == "[" and stack[-1].indent == place:
            stack[-1].index += 1
        else:
            stack.append(_Frame("[", stack[-1].inner, place))
    return indent + len(dashes)


def _mapping(stack: list[_Frame], indent: int) -> _Frame:
    """Return the mapping whose keys have an indent; open a new mapping if necessary."""
    if stack[-1].kind != "map" or stack[-1].indent != indent:
        stack.append(_Frame("map", stack[-1].inner, indent))
    return stack[-1]


def _in_toml(text: str, at: int) -> _Found | None:
    tables: dict[Path, _Frame] = {(): _Frame("map", ())}
    frame, found, read_to = tables[()], None, 0
    for place, line in _lines(text):
        if place < read_to:
            continue
        here = place <= at <= place + len(line)
        if (table := _TOML_TABLE.match(line)) is not None:
            names: list[str | int] = [part.strip('"') for part in table["name"].split(".") if part]
            if here and place + table.start("name") <= at <= place + table.end("name"):
                before, _, _ = text[place + table.start("name") : at].rpartition(".")
                parent: Path = tuple(before.split(".")) if before else ()
                start = at - len(text[place + table.start("name") : at].rpartition(".")[2])
                found = _Found(
                    _Frame("map", parent) if parent else tables[()], None, start, flow=False, table=True
                )
                continue
            path: Path = (*names, 0) if table["open"] == "[[" else tuple(names)
            frame = (
                tables.setdefault(path, _Frame("map", path)) if table["open"] == "[" else _Frame("map", path)
            )
            tables[()].keys += [str(name) for name in names[:1]]
            continue
        key = _TOML_KEY.match(line)
        stripped = line.lstrip()
        start = place + len(line) - len(stripped)
        if here and at >= start and _WORD.fullmatch(text[start:at]):
            found = _Found(frame, None, start, flow=False)
            continue
        if key is None:
            continue
        name = key["key"].strip('"')
        frame.key = name
        frame.keys.append(name)
        value = place + key.end()
        if text[value : value + 1] in ("{", "["):
            read_to, inner = _flow(text, at, value, frame.inner, "equals")
            found = inner or found
        elif here and at >= value and _WORD.fullmatch(text[value:at]):
            found = _Found(frame, frame.key, value, flow=False)
    return found
