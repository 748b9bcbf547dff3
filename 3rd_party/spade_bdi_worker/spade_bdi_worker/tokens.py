"""Prepares the tokens of a program and of its included files for the interpreter's parser."""

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
"""Largest size of a program, in bytes, with all included files."""
MOST_DEEP = 8
"""Largest depth of files that include each other."""
_NAMES = frozenset({"begin", "end", "include"})
"""Words of directives; elsewhere they are ordinary names."""


class IncludeError(Exception):
    """A file cannot be included; the message says why."""


class Tokens:
    """Iterator over the tokens of a program.

    Args:
        name: Name of the file, for errors.
        text: Text of the program.
        log: The interpreter's log for errors.
        folder: Folder of the program; files below it may be included. ``None`` allows no includes.
    """

    def __init__(self, name: str, text: str, log: Any, folder: Path | None = None) -> None:
        self._log, self._folder = log, folder
        self._room = MAX_BYTES - len(text.encode())
        self._tokens = _mended(self._read(name, text, (name,)))
        self._last: Any = None

    def peek(self) -> Any:
        """Return the last token that was returned."""
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
        """Return the tokens that replace ``{ include("other.asl") }``."""
        place = f"{name}, line {word.loc.lineno}"
        if word.lexeme != "include":
            raise IncludeError(f"{place}: the only directive is include; there is no {{ {word.lexeme} … }}")
        file = _named(tokens, place)
        try:
            text = self._included(file, within)
        except IncludeError as error:
            raise IncludeError(f"{place}: {file} is not included: {error}") from None
        yield from self._read(file, text, (*within, file))

    def _included(self, file: str, within: tuple[str, ...]) -> str:
        """Return the text of a file in the program's own folder."""
        if self._folder is None:
            raise IncludeError("the folder of the program's own file is not known")
        if file in within:
            raise IncludeError("it is part of itself")
        if len(within) > MOST_DEEP:
            raise IncludeError(f"includes can be at most {MOST_DEEP} levels deep")
        content = read_within(self._folder, file, self._room)
        self._room -= len(content)
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise IncludeError("it is not UTF-8") from None


def read_within(folder: Path, file: str, most: int) -> bytes:
    """Read a file below a folder, without following links; files outside are not read.

    Args:
        folder: Folder in which the file must be.
        file: Path relative to the folder.
        most: Largest size in bytes.

    Raises:
        IncludeError: The file does not exist, is reached by a link, or is too long.
    """
    parts = PurePosixPath(file).parts
    if not parts or file.startswith("/") or ".." in parts or "\\" in file or ":" in file or "\0" in file:
        raise IncludeError("name a file in the program's own folder or its subfolders")
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for number, part in enumerate(parts):
            kind = os.O_DIRECTORY if number < len(parts) - 1 else os.O_NONBLOCK
            inner = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | kind, dir_fd=opened)
            os.close(opened)
            opened = inner
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise IncludeError("it is not a file")
        with os.fdopen(os.dup(opened), "rb") as stream:
            content = stream.read(most + 1)
    except OSError as error:
        link = (folder / file).is_symlink()
        raise IncludeError("links are not followed" if link else error.strerror or str(error)) from None
    finally:
        os.close(opened)
    if len(content) > most:
        raise IncludeError(f"a program may have at most {MAX_BYTES:,} bytes, including all included files")
    return content


def _named(tokens: Iterator[Any], place: str) -> str:
    """Return the file that ``include("…") }`` names."""
    words: list[Any] = [next(tokens, None) for _ in range(4)]
    lexemes = [word and word.lexeme for word in words]
    if lexemes[0] != "(" or lexemes[2:] != [")", "}"] or not words[1].token.string:
        raise IncludeError(f'{place}: include a file by {{ include("name.asl") }}')
    return agentspeak.parse_string(lexemes[1])


def _mended(tokens: Iterator[Any]) -> Iterator[Any]:
    """Convert directive words outside directives to names, and drop a ``;`` before the end of a plan."""
    waits: Any = None
    before = ""
    for token in tokens:
        if token.lexeme in _NAMES:
            if (
                before == "{"
            ):  # across the end of an included file, where the interpreter would open the named file
                raise IncludeError(
                    f"{token.loc.filename}, line {token.loc.lineno}: a file must not end within a directive"
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
