"""Extends the interpreter's parser by constructs of AgentSpeak that it lacks.

The parser's functions call each other as globals of their module, so a replacement there is called instead.
The extensions are conditions as arguments (``.findall(X, p(X) & X > 1, L)``), plans as terms (``{+!go}``),
parallel branches (``!a |&| !b``), ``elif``, and lists that begin with several values (``[A, B | Rest]``).
Extensions that only need other tokens are in :mod:`spade_bdi_worker.tokens`.
"""

# The interpreter has no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUntypedBaseClass=false

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import agentspeak
import agentspeak.lexer
import agentspeak.parser
import agentspeak.runtime

from spade_bdi_worker.parallel_branches import fork

_JOINS = {"|&|": all, "|||": any}
"""Function that decides, from the branches that ended, whether the plan continues."""


class PlanTerm:
    """A plan as a value, ``{+!go}``, for which ``.wait`` can wait.

    Attributes:
        event: The plan's event, as the parser returns it.
    """

    def __init__(self, event: Any) -> None:
        self.event = event

    def asl_repr(self) -> str:
        return f"{{{self.event}}}"

    __str__ = asl_repr


class _PlanTermTree(agentspeak.parser.AstNode):  # type: ignore[misc]
    def __init__(self, event: Any, loc: Any) -> None:
        super().__init__()
        self.event, self.loc = event, loc

    def accept(self, visitor: Any) -> Any:
        if isinstance(visitor, agentspeak.runtime.BuildTermVisitor):
            return PlanTerm(self.event)
        looks = (agentspeak.parser.FindVariablesVisitor, agentspeak.parser.FindOpVisitor)
        return iter(()) if isinstance(visitor, looks) else self

    def __str__(self) -> str:
        return f"{{{self.event}}}"


class _ForkTree(agentspeak.parser.AstNode):  # type: ignore[misc]
    """Syntax tree of parallel steps; each branch has its own body."""

    def __init__(self, between: str, branches: list[Any], loc: Any) -> None:
        super().__init__()
        self.operator, self.branches, self.loc = between, branches, loc

    def accept(self, visitor: Any) -> Any:
        if not isinstance(visitor, agentspeak.runtime.BuildInstructionsVisitor):
            self.branches = [branch.accept(visitor) for branch in self.branches]
            return self
        heads: list[Any] = []
        for branch in self.branches:
            head = agentspeak.runtime.Instruction(agentspeak.runtime.noop)
            branch.accept(type(visitor)(visitor.variables, visitor.actions, head, visitor.log))
            heads.append(head)
        return visitor.add_instr(partial(fork, heads, _JOINS[self.operator]), loc=self.loc)

    def __str__(self) -> str:
        return f" {self.operator} ".join(map(str, self.branches))


def _parse_atom(before: Callable[..., Any], tok: Any, tokens: Any, log: Any) -> Any:
    """Parse a plan as a term, or an atom that the interpreter knows."""
    if tok.lexeme != "{":
        return before(tok, tokens, log)
    begun = tok.loc
    tok, event = agentspeak.parser.parse_event(next(tokens), tokens, log)
    if tok.lexeme != "}":
        raise log.error("expected '}' after the event of a plan as a term, got '%s'", tok.lexeme, loc=tok.loc)
    return next(tokens), _PlanTermTree(event, begun)


def _parse_body_formula(before: Callable[..., Any], tok: Any, tokens: Any, log: Any) -> Any:
    """Parse a step of a plan, or several with ``|&|`` or ``|||`` between them."""
    begun = tok.loc
    tok, step = before(tok, tokens, log)
    between, branches = tok.lexeme, [_branch(step, begun)]
    while tok.lexeme in _JOINS:
        if tok.lexeme != between:
            raise log.error("do not mix '|&|' and '|||'; put one of them into a goal of its own", loc=tok.loc)
        place = next(tokens)
        tok, step = before(place, tokens, log)
        branches.append(_branch(step, place.loc))
    return (tok, step) if len(branches) == 1 else (tok, _ForkTree(between, branches, begun))


def _branch(step: Any, loc: Any) -> Any:
    body = agentspeak.parser.AstBody()
    body.loc, body.formulas = loc, [step]
    return body


def _parse_list(before: Callable[..., Any], tok: Any, tokens: Any, log: Any) -> Any:
    """Parse a list; ``[a, b | Rest]`` becomes ``[a | [b | Rest]]``."""
    values: list[Any] = []
    begun, tok = tok.loc, next(tokens)
    while tok.lexeme != "]":
        tok, value = agentspeak.parser.parse_and_expr(tok, tokens, log)
        values.append(value)
        if tok.lexeme == "|":
            tok, rest = agentspeak.parser.parse_linked_list_tail(tok, tokens, log)
            for each in reversed(values):
                cell: Any = agentspeak.parser.AstLinkedList()
                cell.loc, cell.head, cell.tail = begun, each, rest
                rest = cell
            return tok, rest
        if tok.lexeme == ",":
            tok = next(tokens)
        elif tok.lexeme != "]":
            raise log.error("expected ']' or another term for list, got '%s'", tok.lexeme, loc=tok.loc)
    made = agentspeak.parser.AstList()
    made.loc, made.terms = begun, values
    return next(tokens), made


def _parse_if_then_else(before: Callable[..., Any], tok: Any, tokens: Any, log: Any) -> Any:
    """Parse a branch; ``elif (…) {…}`` becomes a branch inside the ``else``."""
    tok, branch = before(tok, tokens, log)
    if tok.lexeme == "elif":
        begun = tok.loc
        again = tok._replace(lexeme="if", token=agentspeak.lexer.TokenType.tok_if.value)
        tok, other = _parse_if_then_else(before, again, tokens, log)
        branch.else_body = _branch(other, begun)
    return tok, branch


def _variables_of_a_linked_list(self: Any, tree: Any) -> Iterator[Any]:
    yield from tree.head.accept(self)
    yield from tree.tail.accept(self)


def extend_interpreter() -> None:
    """Extend the interpreter's parser and unification; later calls in a process do nothing."""
    parser: Any = agentspeak.parser
    if getattr(parser, "extended", False):
        return
    parser.extended = True
    for name, ours in (
        ("parse_atom", _parse_atom),
        ("parse_body_formula", _parse_body_formula),
        ("parse_if_then_else", _parse_if_then_else),
        ("parse_list", _parse_list),
    ):
        setattr(parser, name, partial(ours, getattr(parser, name)))
    # Arguments may be conditions, also those that query beliefs instead of comparing numbers.
    parser.BooleanFoldVisitor = parser.LogicalFoldVisitor
    parser.FindVariablesVisitor.visit_linked_list = _variables_of_a_linked_list
    literals: Any = agentspeak.Literal
    literals.unify_annotated = _unify_annotated
    operators: Any = agentspeak.BinaryOp
    operators.op_mod.value.func, operators.op_floordiv.value.func = _modulo, _whole_part
    for name, holds in (("lt", operator.lt), ("le", operator.le), ("ge", operator.ge), ("gt", operator.gt)):
        operators[f"op_{name}"].value.func = partial(_compared, holds)


def order_of(value: Any) -> Any:
    """Return a key to sort terms: numbers, texts, lists, then atoms and structures, shorter ones first."""
    if isinstance(value, bool) or agentspeak.is_number(value):
        return (0, float(value))
    if agentspeak.is_literal(value):
        return (3, len(value.args), value.functor, tuple(map(order_of, value.args)))
    if agentspeak.is_list(value):
        return (2, len(tuple(value)), tuple(map(order_of, value)))
    return (1, str(value))


def _compared(holds: Callable[[Any, Any], bool], left: Any, right: Any) -> bool:
    return holds(order_of(left), order_of(right))


def _modulo(left: float, right: float) -> float:
    """Compute a remainder with the sign of ``left``, as in Java; in Python it has the sign of ``right``."""
    if not right:
        raise ZeroDivisionError("modulo by zero")
    return math.fmod(left, right)


def _whole_part(left: float, right: float) -> float:
    return float(math.trunc(left / right))


def _unify_annotated(self: Any, right: Any, scope: Any, bound: Any) -> Iterator[None]:
    """Yield for each way in which a literal with annotations unifies: ``b[source(S)]`` fits every source.

    The interpreter takes only the first annotation that fits, in the order of the process's hashes.
    """
    right = agentspeak.evaluate(right, scope)
    choicepoint = object()
    bound.append(choicepoint)
    if agentspeak.unify(self, right, scope, bound):
        yield from _annotated(sorted(self.annots, key=str), getattr(right, "annots", ()), scope, bound)
    agentspeak.reroll(scope, bound, choicepoint)


def _annotated(sought: list[Any], held: Any, scope: Any, bound: Any) -> Iterator[None]:
    if not sought:
        yield
        return
    for annot in sorted(held, key=str) if len(held) > 1 else held:
        for _ in agentspeak.unify_annotated(sought[0], annot, scope, bound):
            yield from _annotated(sought[1:], held, scope, bound)
