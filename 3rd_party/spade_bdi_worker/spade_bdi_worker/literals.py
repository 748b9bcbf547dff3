"""Facts and messages as the interpreter's literals, and back."""

# The interpreter has no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUntypedBaseClass=false

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

import agentspeak
import agentspeak.lexer
import agentspeak.parser
from agentspeak import AslError, Literal
from agentspeak.runtime import BuildTermVisitor

from spade_bdi_worker.program import ProgramError, said

_MESSAGE = re.compile(
    r"\.(send|broadcast)\((?:(?P<to>\w+), )?(?P<force>\w+)"
    r"(?:\[(?P<tag>id|re)\((?P<number>\w+)\)\])?, (?P<content>.*)\)",
    re.DOTALL,
)
_VARIABLE = re.compile(r"_X_[0-9a-f]{3}_[0-9a-f]+")
"""How the interpreter writes one: by its place in memory."""
_FLAT = re.compile(r"([a-z]\w*)\(([^()\[\]\"\\]*)\)")
_ARGUMENT = re.compile(r"(?P<number>-?[0-9]+(?:\.[0-9]+(?:e-?[0-9]+)?)?)|[a-z][A-Za-z0-9_]*")
_OWN_WORDS = frozenset({"true", "false", "not", "div", "mod"})
"""Atoms that are more than their name."""
FORCES = ("tell", "untell", "achieve", "unachieve")
"""What a message may do to who gets it."""
ASKS = ("askOne", "askAll")
"""What it may ask of that agent, which answers by itself."""


@lru_cache(maxsize=20_000)
def literal(text: str, source: str) -> Any:
    """A ground literal with where it is from, as in ``door(yellow, locked, 2, -1)[source(percept)]``.

    Args:
        text: As AgentSpeak writes it.
        source: An atom.

    Raises:
        ProgramError: It is none.
    """
    term = _flat(text)
    if term is None:
        term = parsed(text)
        if not term.is_ground({}):
            return term.with_annotation(Literal("source", (Literal(source),)))
        term = term.grounded({})
    annots = term.annots | _from(source) if term.annots else _from(source)
    return Ground(term.functor, term.args, annots)


@lru_cache(maxsize=1_000)
def _from(source: str) -> frozenset[Any]:
    """One set for all that is from there: its hash is computed once."""
    return frozenset({Literal("source", (Literal(source),))})


class Ground(Literal):  # type: ignore[misc]
    """A literal without variables: the interpreter would copy it, and go through it, at each touch.

    Attributes:
        text: As a program writes it, without where it is from.
    """

    def __init__(self, functor: str, args: Any, annots: Any) -> None:
        super().__init__(functor, args, annots)
        written = ", ".join(map(agentspeak.asl_repr, args))
        self.text: str = f"{functor}({written})" if args else functor
        self._hash = super().__hash__()

    def __hash__(self) -> int:
        return self._hash

    def is_ground(self, scope: Any) -> bool:
        return True

    def grounded(self, scope: Any) -> Ground:
        return self

    def freeze(self, scope: Any, memo: Any) -> Ground:
        return self


def sourced(term: Any) -> Any:
    """A literal that says where it is from: from the agent itself, where nothing else is said.

    Raises:
        AslError: The term is no literal.
    """
    if not agentspeak.is_literal(term):
        raise AslError("expected literal")
    if any(agentspeak.is_literal(each) and each.functor == "source" for each in term.annots):
        return term
    return type(term)(term.functor, term.args, term.annots | _from("self"))


def _flat(text: str) -> Any:
    """A literal of numbers and atoms alone, fifty times as fast as the parser; ``None`` for all others."""
    found = _FLAT.fullmatch(text)
    if found is None or found[1] in _OWN_WORDS:
        return None
    arguments: list[Any] = []
    for written in found[2].split(", "):
        argument = _ARGUMENT.fullmatch(written)
        if argument is None or written in _OWN_WORDS:
            return None
        arguments.append(float(written) if argument["number"] else Literal(written))
    return Literal(found[1], tuple(arguments))


def parsed(text: str, *, lists: bool = False) -> Any:
    """A literal, or where ``lists`` says so a list.

    Raises:
        ProgramError: The text is none.
    """
    with said() as problems:
        log = agentspeak.Log(agentspeak.get_logger("agentspeak.facts"), 1)
        try:
            tokens = agentspeak.lexer.TokenStream(agentspeak.StringSource("message", f"{text}."), log)
            first = next(tokens)
            rest, tree = agentspeak.parser.parse_term(first, tokens, log)
            if rest.lexeme != ".":
                raise ProgramError([f"{text!r} is no literal"])
            term = tree.accept(agentspeak.parser.ConstFoldVisitor(log)).accept(BuildTermVisitor({}))
        except (agentspeak.AggregatedError, StopIteration, RecursionError):
            raise ProgramError(problems or [f"{text!r} is no literal"]) from None
    if not agentspeak.is_literal(term) and not (lists and agentspeak.is_list(term)):
        raise ProgramError([f"{text!r} is no literal"])
    return term


class Addressed(NamedTuple):
    """A message as a program writes it.

    Attributes:
        to: To whom; ``None``: to the team.
        force: What it does.
        content: The literal's text.
        id: Of a question, for its answer.
        re: Of the question that it answers.
    """

    to: str | None
    force: str
    content: str
    id: str = ""
    re: str = ""

    @property
    def written(self) -> str:
        """What it does, as it is written, with its question."""
        tag = f"[id({self.id})]" if self.id else f"[re({self.re})]" if self.re else ""
        return f"{self.force}{tag}"


def addressed(line: str) -> Addressed | None:
    """What ``.send(green_0, tell, ball(2, 3))`` says; ``None`` for other words."""
    found = _MESSAGE.fullmatch(line.strip())
    if found is None or found["force"] not in (*FORCES, *ASKS):
        return None
    asks, number = found["force"] in ASKS, found["number"] or ""
    if asks is not (found["tag"] == "id"):
        return None  # a question has a number, and nothing else has one of its own
    return Addressed(found["to"], found["force"], found["content"], *((number, "") if asks else ("", number)))


class Heard(NamedTuple):
    """A message of a team-mate.

    Attributes:
        sender: Who sent it.
        force: What it does.
        id: Of a question, for its answer.
        re: Of the question that it answers.
        content: The term, with where it is from.
    """

    sender: str
    force: str
    id: str
    re: str
    content: Any


def message(text: str, own: str) -> Heard | None:
    """A message of a team-mate, who wrote it as its program does.

    Args:
        text: ``"green_1: .send(green_0, tell, ball(2, 3))"``.
        own: The agent's own name.

    Returns:
        It; ``None`` where it is for another agent.

    Raises:
        ProgramError: It is said in other words.
    """
    sender, _, content = text.partition(": ")
    sent = addressed(content)
    if sent is None:
        raise ProgramError([f"{content!r} is no message of a program"])
    if sent.to not in (None, own):
        return None
    if sent.re and sent.content.startswith("["):  # of askAll
        return Heard(sender, sent.force, sent.id, sent.re, parsed(sent.content, lists=True))
    return Heard(sender, sent.force, sent.id, sent.re, literal(sent.content, sender))


def as_text(term: Any) -> str:
    """A literal as a program writes it, without where it is from; variables without a value are ``_``."""
    if isinstance(term, Ground):
        return term.text
    if agentspeak.is_literal(term):
        term = Literal(term.functor, term.args)
    return _VARIABLE.sub("_", agentspeak.asl_repr(term))


def shown(term: Any, *, inner: bool = False) -> str:
    """A term as programs print it and make texts of it: texts as they are, no blanks behind commas."""
    if isinstance(term, str):
        return agentspeak.asl_repr(term) if inner else term
    if agentspeak.is_literal(term):
        arguments = ",".join(shown(each, inner=True) for each in term.args)
        annotations = ",".join(sorted(shown(each, inner=True) for each in term.annots))
        return (
            term.functor
            + (f"({arguments})" if term.args else "")
            + (f"[{annotations}]" if annotations else "")
        )
    if agentspeak.is_list(term):
        return f"[{','.join(shown(each, inner=True) for each in term)}]"
    return "_" if isinstance(term, agentspeak.Var) else agentspeak.asl_str(term)
