"""Converts facts and messages to the interpreter's literals and back."""

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

from spade_bdi_worker.program import ProgramError, collected_warnings

_MESSAGE = re.compile(
    r"\.(send|broadcast)\((?:(?P<to>\w+), )?(?P<force>\w+)"
    r"(?:\[(?P<tag>id|re)\((?P<number>\w+)\)\])?, (?P<content>.*)\)",
    re.DOTALL,
)
_VARIABLE = re.compile(r"_X_[0-9a-f]{3}_[0-9a-f]+")
"""Pattern of a variable as the interpreter writes it, with its memory address."""
_FLAT = re.compile(r"([a-z]\w*)\(([^()\[\]\"\\]*)\)")
_ARGUMENT = re.compile(r"(?P<number>-?[0-9]+(?:\.[0-9]+(?:e-?[0-9]+)?)?)|[a-z][A-Za-z0-9_]*")
_OWN_WORDS = frozenset({"true", "false", "not", "div", "mod"})
"""Atoms with a special meaning in the language."""
FORCES = ("tell", "untell", "achieve", "unachieve")
"""Performatives of messages: how a message changes the receiver's beliefs or goals."""
ASKS = ("askOne", "askAll")
"""Performatives of questions, which the receiver answers automatically."""


@lru_cache(maxsize=20_000)
def literal(text: str, source: str) -> Any:
    """Parse a literal and add its source, as in ``door(yellow, locked, 2, -1)[source(percept)]``.

    Args:
        text: Literal in AgentSpeak.
        source: Source, an atom.

    Raises:
        ProgramError: The text is no literal.
    """
    term = _flat(text)
    if term is None:
        term = parsed(text)
        if not term.is_ground({}):
            return term.with_annotation(Literal("source", (Literal(source),)))
        term = term.grounded({})
    annots = term.annots | _from(source) if term.annots else _from(source)
    return GroundLiteral(term.functor, term.args, annots)


@lru_cache(maxsize=1_000)
def _from(source: str) -> frozenset[Any]:
    """Return one shared annotation set for each source, so that its hash is computed once."""
    return frozenset({Literal("source", (Literal(source),))})


class GroundLiteral(Literal):  # type: ignore[misc]
    """A literal without variables; unlike the interpreter's, it is not copied and traversed at every use.

    Attributes:
        text: Literal as a program writes it, without its source.
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

    def grounded(self, scope: Any) -> GroundLiteral:
        return self

    def freeze(self, scope: Any, memo: Any) -> GroundLiteral:
        return self


def sourced(term: Any) -> Any:
    """Return a literal with a source, which is ``self`` if the literal has none.

    Raises:
        AslError: The term is no literal.
    """
    if not agentspeak.is_literal(term):
        raise AslError("expected literal")
    if any(agentspeak.is_literal(each) and each.functor == "source" for each in term.annots):
        return term
    return type(term)(term.functor, term.args, term.annots | _from("self"))


def _flat(text: str) -> Any:
    """Parse a literal of numbers and atoms only, fifty times as fast as the parser; return ``None`` for
    others.
    """
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
    """Parse a literal, or with ``lists`` also a list.

    Raises:
        ProgramError: The text is neither.
    """
    with collected_warnings() as problems:
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


class OutgoingMessage(NamedTuple):
    """A message as a program writes it.

    Attributes:
        to: Receiver; ``None`` for the whole team.
        force: Performative.
        content: Text of the literal.
        id: Number of a question, to which its answer refers.
        re: Number of the question that the message answers.
    """

    to: str | None
    force: str
    content: str
    id: str = ""
    re: str = ""

    @property
    def written(self) -> str:
        """The performative as written, with the number of its question."""
        tag = f"[id({self.id})]" if self.id else f"[re({self.re})]" if self.re else ""
        return f"{self.force}{tag}"


def addressed(line: str) -> OutgoingMessage | None:
    """Parse a message such as ``.send(green_0, tell, ball(2, 3))``; return ``None`` for other text."""
    found = _MESSAGE.fullmatch(line.strip())
    if found is None or found["force"] not in (*FORCES, *ASKS):
        return None
    asks, number = found["force"] in ASKS, found["number"] or ""
    if asks is not (found["tag"] == "id"):
        return None  # only a question has a number of its own
    return OutgoingMessage(
        found["to"], found["force"], found["content"], *((number, "") if asks else ("", number))
    )


class ReceivedMessage(NamedTuple):
    """A message from a team-mate.

    Attributes:
        sender: Name of the sender.
        force: Performative.
        id: Number of a question, to which its answer refers.
        re: Number of the question that the message answers.
        content: Term with its source.
    """

    sender: str
    force: str
    id: str
    re: str
    content: Any


def message(text: str, own: str) -> ReceivedMessage | None:
    """Parse a message from a team-mate whose program wrote it.

    Args:
        text: ``"green_1: .send(green_0, tell, ball(2, 3))"``.
        own: The agent's own name.

    Returns:
        The message; ``None`` if it is for another agent.

    Raises:
        ProgramError: The text is no message of a program.
    """
    sender, _, content = text.partition(": ")
    sent = addressed(content)
    if sent is None:
        raise ProgramError([f"{content!r} is no message of a program"])
    if sent.to not in (None, own):
        return None
    if sent.re and sent.content.startswith("["):  # an answer to askAll
        return ReceivedMessage(sender, sent.force, sent.id, sent.re, parsed(sent.content, lists=True))
    return ReceivedMessage(sender, sent.force, sent.id, sent.re, literal(sent.content, sender))


def as_text(term: Any) -> str:
    """Return a literal as a program writes it, without its source; unbound variables become ``_``."""
    if isinstance(term, GroundLiteral):
        return term.text
    if agentspeak.is_literal(term):
        term = Literal(term.functor, term.args)
    return _VARIABLE.sub("_", agentspeak.asl_repr(term))


def shown(term: Any, *, inner: bool = False) -> str:
    """Return a term as programs print it: texts at the top level without quotes, no spaces after commas."""
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
