"""AgentSpeak programs: read, and said where they are wrong."""

# The interpreter has no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUntypedBaseClass=false

from __future__ import annotations

import logging
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import agentspeak
import agentspeak.lexer
import agentspeak.parser

from mosaic_worker.plain_files import read_file

_INTERPRETER = logging.getLogger("agentspeak")
_INTERPRETER.propagate = False
"""What it says of programs is said in our sentences."""
MAX_BYTES = 1_000_000


class ProgramError(Exception):
    """A program is wrong.

    Args:
        problems: Each with its place: ``solve.asl, line 3: expected '.' …``.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("; ".join(problems[:3]) + (f"; {len(problems) - 3} more" if problems[3:] else ""))
        self.problems = tuple(problems)


@dataclass(frozen=True)
class Program:
    """A program that can be parsed.

    Attributes:
        name: Of its file.
        tree: As the interpreter's parser has read it; its initial goals are given when the agent first sees.
    """

    name: str
    tree: Any


def read_program(path: str) -> Program:
    """Read a program from a file.

    Raises:
        ProgramError: It cannot be read, or is wrong.
    """
    try:
        content = read_file(path, links=True, limit=MAX_BYTES)
        text = content.decode()
    except (OSError, ValueError) as error:
        raise ProgramError([f"{path} cannot be read: {error}"]) from None
    return parse_program(path.rsplit("/", 1)[-1], text)


def parse_program(name: str, text: str) -> Program:
    """Parse a program.

    Args:
        name: Named in errors.
        text: AgentSpeak.

    Raises:
        ProgramError: It is wrong; every mistake is named that the parser gets to.
    """
    with said() as problems:
        log = agentspeak.Log(_INTERPRETER, 3)
        try:
            tokens = agentspeak.lexer.TokenStream(agentspeak.StringSource(name, text), log)
            _refuse_includes(name, text)
            tree = agentspeak.parser.parse(name, tokens, log)
            log.throw()
        except agentspeak.AggregatedError:
            raise ProgramError(problems or [f"{name} is no program"]) from None
    return Program(name, tree)


def _refuse_includes(name: str, text: str) -> None:
    """Another file is not read because one names it."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.partition("//")[0].replace(" ", "").startswith("{include("):
            raise ProgramError([f"{name}, line {number}: programs are one file, nothing is included"])


@contextmanager
def said() -> Generator[list[str]]:
    """What the interpreter says meanwhile, each a sentence with its place."""
    heard = _Ear()
    _INTERPRETER.addHandler(heard)
    try:
        yield heard.problems
    finally:
        _INTERPRETER.removeHandler(heard)


class _Ear(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.problems: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        place = getattr(record, "loc", None)
        where = f"{place.filename}, line {place.lineno}: " if place else ""
        self.problems.append(f"{where}{record.getMessage()}")
