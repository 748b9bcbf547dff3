"""Reads AgentSpeak programs and reports their errors."""

# The interpreter has no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUntypedBaseClass=false

from __future__ import annotations

import copy
import logging
import re
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import agentspeak
import agentspeak.parser

from mosaic_worker.plain_files import read_file
from spade_bdi_worker.grammar import extend_interpreter
from spade_bdi_worker.tokens import MAX_BYTES, IncludeError, Tokens

_INTERPRETER = logging.getLogger("agentspeak")
_INTERPRETER.propagate = False
"""Messages of this logger are converted to sentences, see :func:`collected_warnings`."""


class ProgramError(Exception):
    """A program is invalid.

    Args:
        problems: Errors with file and line, for example ``solve.asl, line 3: expected '.' …``.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("; ".join(problems[:3]) + (f"; {len(problems) - 3} more" if problems[3:] else ""))
        self.problems = tuple(problems)


@dataclass(frozen=True)
class Program:
    """A parsed program.

    Attributes:
        name: Name of the file.
        tree: Result of the interpreter's parser; the agent gets the initial goals with its first percepts.
    """

    name: str
    tree: Any


def read_program(path: str) -> Program:
    """Read a program from a file.

    Raises:
        ProgramError: The file cannot be read, or the program is wrong.
    """
    try:
        content = read_file(path, links=True, limit=MAX_BYTES)
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise ProgramError([f"{path} cannot be read: {error.strerror or error}"]) from None
    except UnicodeDecodeError:
        raise ProgramError([f"{path} cannot be read: it is not UTF-8"]) from None
    return parse_program(path.rsplit("/", 1)[-1], text, Path(path).parent)


def parse_program(name: str, text: str, folder: Path | None = None) -> Program:
    """Parse a program.

    Args:
        name: Name for error messages.
        text: AgentSpeak source text.
        folder: Folder of the file, for includes; ``None`` allows no includes.

    Raises:
        ProgramError: The program is wrong; the message names every error that the parser reaches.
    """
    extend_interpreter()
    with collected_warnings() as problems:
        log = agentspeak.Log(_INTERPRETER, 3)
        try:
            tree = agentspeak.parser.parse(name, Tokens(name, text, log, folder), log)
            log.throw()
        except IncludeError as error:
            raise ProgramError([*problems, str(error)]) from None
        except agentspeak.AggregatedError:
            raise ProgramError(problems or [f"{name} is not a program"]) from None
        except RecursionError:
            raise ProgramError([f"{name}: it is nested too deeply"]) from None
    for body in [plan.body for plan in tree.plans]:
        _replace_whole(body)
    return Program(name, tree)


def _replace_whole(body: Any) -> None:
    """Make ``-+state(idle)`` replace any belief ``state(_)``, as in Jason.

    The interpreter would replace only ``state(idle)``, and only if a value is computed or a variable has
    another value. Therefore this function splits the step into a removal and an addition.
    """
    formulas: list[Any] = []
    for formula in getattr(body, "formulas", None) or ():
        for inner in _inner(formula):
            _replace_whole(inner)
        replaces = getattr(formula, "formula_type", None) == agentspeak.FormulaType.replace
        if replaces and isinstance(formula.term, agentspeak.parser.AstLiteral):
            formulas.append(_removal(formula))
            formula.formula_type = agentspeak.FormulaType.add
        formulas.append(formula)
    if formulas:
        body.formulas = formulas


def _removal(formula: Any) -> Any:
    """Return the removal step: it removes beliefs with the same name and number of arguments."""
    removal = copy.copy(formula)
    removal.formula_type = agentspeak.FormulaType.remove
    removal.term = copy.copy(formula.term)
    removal.term.terms = [_anything(term) for term in formula.term.terms]
    return removal


def _anything(term: Any) -> Any:
    variable: Any = agentspeak.parser.AstVariable()
    variable.name, variable.loc = "_", term.loc
    return variable


def _inner(formula: Any) -> list[Any]:
    """Return the bodies inside a loop, a branch or parallel steps."""
    inner = [getattr(formula, name, None) for name in ("body", "if_body", "else_body")]
    return [each for each in (*inner, *getattr(formula, "branches", ())) if each is not None]


def unknown_actions(program: Program, words: Collection[str], skills: Collection[str] = ()) -> list[str]:
    """Return an error for each step of a plan that is not an action of the environment.

    The interpreter would look such a step up as a belief, and the plan would fail there.

    Args:
        program: Program to check.
        words: Actions of the environment, by the atoms that programs use.
        skills: Names of those actions that have parameters.

    Returns:
        A sentence for each error, with its place.
    """
    found: list[str] = []
    for literal in _steps([plan.body for plan in program.tree.plans]):
        name, arity = literal.functor, len(literal.terms)
        if (
            name in skills
            or name.startswith(".")
            or (name == "act" and arity == 1)
            or (name in words and not arity)
        ):
            continue
        near = get_close_matches(name, words, 1)
        fix = f"did you mean {near[0]}?" if near else f"the actions are {', '.join(list(words)[:12])}"
        place = f"{literal.loc.filename}, line {literal.loc.lineno}"
        found.append(f"{place}: there is no action {name!r} ({fix}); write ?{name} to query a belief")
    return found


def _steps(bodies: Sequence[Any]) -> Iterator[Any]:
    """Yield the literals that are steps in bodies of plans, loops and branches."""
    for body in bodies:
        for formula in getattr(body, "formulas", None) or ():
            yield from _steps(_inner(formula))
            step = getattr(formula, "term", None)
            done = getattr(formula, "formula_type", None) == agentspeak.FormulaType.term
            if done and isinstance(step, agentspeak.parser.AstLiteral):
                yield step


@contextmanager
def collected_warnings() -> Generator[list[str]]:
    """Collect the interpreter's warnings inside the ``with`` statement, each a sentence with file and
    line.
    """
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
        # An unexpected error of the interpreter, whose own message would be Python's.
        failure = record.exc_info[1] if record.exc_info else None
        told = record.getMessage() if failure is None else str(failure)
        self.problems.append(where + _NO_ACTION.sub(_missing, told))


_NO_ACTION = re.compile(r"no such action '(\.[\w.]+)/(\d+)'")


def _missing(found: re.Match[str]) -> str:
    """Return a sentence about an internal action that does not exist."""
    return (
        f"no such action '{found[1]}' with {found[2]} argument{'s' * (found[2] != '1')} in this interpreter "
        "(docs/bdi/interpreters.md lists the available ones; jason_worker has Jason's)"
    )
