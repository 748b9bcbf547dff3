"""The words of a program as the interpreter's parser is to have them, files that it includes among them."""

# The interpreter has no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUntypedBaseClass=false

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import agentspeak
import agentspeak.lexer
from agentspeak.lexer import TokenType

MAX_BYTES = 1_000_000
"""Of a program, with all that it includes."""
MOST_DEEP = 8
"""Files within files."""
_NAMES = frozenset({"begin", "end", "include"})
"""Words of directives; anywhere else they are names like any other."""


class IncludeError(Exception):
    """A file is not included; the message says why."""


class Tokens:
    """The tokens of a program, one after the other.

    Args:
        name: Of its file, for errors.
        text: Its text.
        log: Where the interpreter says what is wrong.
        folder: Where the program is: files there, and in folders of it, may be included; ``None``: none may.
    """

    def __init__(self, name: str, text: str, log: Any, folder: Path | None = None) -> None:
        self._log, self._folder = log, folder
        self._room = MAX_BYTES - len(text.encode())
        self._tokens = _mended(self._read(name, text, (name,)))
        self._last: Any = None

    def peek(self) -> Any:
        """The last token that was given."""
        return self._last

    def __next__(self) -> Any:
        self._last = next(self._tokens)
        return self._last

    next = __next__

    def __iter__(self) -> Iterator[Any]:
        return self

    def _read(self, name: str, text: str, within: tuple[str, ...]) -> Iterator[Any]:
        tokens = agentspeak.lexer.tokenize(agentspeak.StringSource(name, text), self._log)
        for token in tokens:
            while token is not None and token.lexeme == "{":
                begun, token = token, next(tokens, None)
                if token is None or token.lexeme not in _NAMES:
                    yield begun
                    continue
                yield from self._directive(token, tokens, name, within)
                token = None
            if token is not None:
                yield token

    def _directive(
        self, word: Any, tokens: Iterator[Any], name: str, within: tuple[str, ...]
    ) -> Iterator[Any]:
        """What stands in the place of ``{ include("other.asl") }``."""
        place = f"{name}, line {word.loc.lineno}"
        if word.lexeme != "include":
            raise IncludeError(
                f"{place}: the only directive here is include, so there is no {{ {word.lexeme} … }}"
            )
        file = _named(tokens, place)
        try:
            text = self._included(file, within)
        except IncludeError as error:
            raise IncludeError(f"{place}: {file} is not included: {error}") from None
        yield from self._read(file, text, (*within, file))

    def _included(self, file: str, within: tuple[str, ...]) -> str:
        """The text of a file of the program's own folder."""
        if self._folder is None:
            raise IncludeError("where the program's own file is, is not known here")
        if file in within:
            raise IncludeError("it is part of itself")
        if len(within) > MOST_DEEP:
            raise IncludeError(f"files are included {MOST_DEEP} deep at most")
        content = read_within(self._folder, file, self._room)
        self._room -= len(content)
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise IncludeError("it is not UTF-8") from None


def read_within(folder: Path, file: str, most: int) -> bytes:
    """A file below a folder, by a path without links: what lies outside is not read.

    Args:
        folder: Where it must lie.
        file: Its path from there.
        most: Bytes that it may have.

    Raises:
        IncludeError: It is not there, is reached by a link, or is too long.
    """
    parts = PurePosixPath(file).parts
    if not parts or file.startswith("/") or ".." in parts or "\\" in file or ":" in file or "\0" in file:
        raise IncludeError("name a file in the program's own folder, or below it")
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for number, part in enumerate(parts):
            kind = os.O_DIRECTORY if number < len(parts) - 1 else os.O_NONBLOCK
            inner = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | kind, dir_fd=opened)
            os.close(opened)
            opened = inner
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise IncludeError("it is no file")
        with os.fdopen(os.dup(opened), "rb") as stream:
            content = stream.read(most + 1)
    except OSError as error:
        link = (folder / file).is_symlink()
        raise IncludeError("links are not followed" if link else error.strerror or str(error)) from None
    finally:
        os.close(opened)
    if len(content) > most:
        raise IncludeError(f"a program has {MAX_BYTES:,} bytes at most, with all that it includes")
    return content


def _named(tokens: Iterator[Any], place: str) -> str:
    """The file that ``include("…") }`` names."""
    words: list[Any] = [next(tokens, None) for _ in range(4)]
    lexemes = [word and word.lexeme for word in words]
    if lexemes[0] != "(" or lexemes[2:] != [")", "}"] or not words[1].token.string:
        raise IncludeError(f'{place}: a file is included by {{ include("name.asl") }}')
    return agentspeak.parse_string(lexemes[1])


def _mended(tokens: Iterator[Any]) -> Iterator[Any]:
    """Names that are words of directives are names, and a step may be ended where the plan ends."""
    waits: Any = None
    before = ""
    for token in tokens:
        if token.lexeme in _NAMES:
            if before == "{":  # across the end of an included file: the interpreter would open what is named
                raise IncludeError(
                    f"{token.loc.filename}, line {token.loc.lineno}: no file ends within a directive"
                )
            token = token._replace(token=TokenType.functor.value)
        before = token.lexeme
        if waits is not None and token.lexeme != ".":
            yield waits
        waits = token if token.lexeme == ";" else None
        if waits is None:
            yield token
    if waits is not None:
        yield waits
