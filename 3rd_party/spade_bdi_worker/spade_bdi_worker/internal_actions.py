"""Internal actions of AgentSpeak (names with a leading dot): those of the interpreter and additional ones."""

# The interpreter has no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUntypedBaseClass=false

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import agentspeak
import agentspeak.stdlib
from agentspeak import Actions, AslError, BinaryOp, Literal, UnaryOp
from agentspeak.runtime import ActionQuery, AndQuery, NotQuery, OrQuery, TermQuery, UnifyQuery

from spade_bdi_worker.agentspeak_agent import AgentSpeakAgent, AnswerWaiter
from spade_bdi_worker.grammar import PlanTerm, order_of
from spade_bdi_worker.literals import ASKS, FORCES, as_text, shown

_STANDARD = agentspeak.stdlib.actions
_LEFT_OUT = (".control_flow", ".dump", ".inf_", ".unbind_all")
"""Omitted actions: they write files, print beyond the record, mark code to optimize, or unbind variables."""


def standard_actions() -> Actions:
    """Return the actions that every program may call besides those of the environment."""
    allowed = Actions()
    standard, variadic = _STANDARD.actions.items(), _STANDARD.variadic_actions.items()
    allowed.actions = {key: act for key, act in standard if not key[0].startswith(_LEFT_OUT)}
    allowed.variadic_actions = {name: act for name, act in variadic if not name.startswith(_LEFT_OUT)}
    for name, arity, implementation in _OURS:
        if arity is None:
            allowed.variadic_actions[name] = implementation
        else:
            allowed.actions[name, arity] = implementation
    return allowed


def query_of(term: Any, mind: AgentSpeakAgent, intention: Any) -> Any:
    """Build the query for a condition that is an argument of an action."""
    asked: Any = agentspeak.evaluate(term, intention.scope) if isinstance(term, agentspeak.Var) else term
    if isinstance(asked, agentspeak.BinaryExpr):
        made = {BinaryOp.op_and.value: AndQuery, BinaryOp.op_or.value: OrQuery}.get(asked.binary_op)
        if made is not None:
            return made(query_of(asked.left, mind, intention), query_of(asked.right, mind, intention))
        if asked.binary_op is BinaryOp.op_unify.value:
            return UnifyQuery(asked.left, asked.right)
    if isinstance(asked, agentspeak.UnaryExpr) and asked.unary_op is UnaryOp.op_not.value:
        return NotQuery(query_of(asked.operand, mind, intention))
    if agentspeak.is_literal(asked):
        return _asks(asked, mind)
    return TermQuery(asked)


def _asks(literal: Any, mind: AgentSpeakAgent) -> Any:
    """Build the query for a literal: an internal action or a belief."""
    try:
        return ActionQuery(literal, mind.actions.lookup(literal.functor, len(literal.args)))
    except KeyError:
        if literal.functor.startswith("."):
            raise AslError(f"there is no {literal.functor} with {len(literal.args)} arguments") from None
    return TermQuery(literal)


def _solutions(mind: AgentSpeakAgent, pattern: Any, condition: Any, intention: Any) -> list[Any]:
    """Return the pattern's value for each way in which a condition holds."""
    choicepoint, found = object(), list[Any]()
    intention.stack.append(choicepoint)
    for _ in query_of(condition, mind, intention).execute(mind, intention):
        found.append(agentspeak.freeze(pattern, intention.scope, {}))
    agentspeak.reroll(intention.scope, intention.stack, choicepoint)
    return found


def _gives(term: Any, value: Any, intention: Any) -> bool:
    """Unify the last argument with a value; return whether they unify."""
    return bool(agentspeak.unify(term.args[-1], value, intention.scope, intention.stack))


def _value(term: Any, intention: Any) -> Any:
    """Return an argument without variables; a list becomes a tuple."""
    value = agentspeak.grounded(term, intention.scope)
    return tuple(value) if agentspeak.is_list(value) else value


def _findall(mind: AgentSpeakAgent, term: Any, intention: Any) -> Iterator[None]:
    if _gives(term, tuple(_solutions(mind, term.args[0], term.args[1], intention)), intention):
        yield


def _setof(mind: AgentSpeakAgent, term: Any, intention: Any) -> Iterator[None]:
    found = {as_text(each): each for each in _solutions(mind, term.args[0], term.args[1], intention)}
    if _gives(term, in_order(found.values()), intention):
        yield


def _count(mind: AgentSpeakAgent, term: Any, intention: Any) -> Iterator[None]:
    if _gives(term, float(len(_solutions(mind, True, term.args[0], intention))), intention):
        yield


def in_order(values: Any) -> tuple[Any, ...]:
    """Return the values sorted by :func:`order_of`, which orders terms of any type."""
    return tuple(sorted(values, key=order_of))


def _sort(_: AgentSpeakAgent, term: Any, intention: Any) -> Iterator[None]:
    if _gives(term, in_order(_value(term.args[0], intention)), intention):
        yield


def _reverse(_: AgentSpeakAgent, term: Any, intention: Any) -> Iterator[None]:
    if _gives(term, _sequence(term.args[0], intention)[::-1], intention):
        yield


def _delete(_: AgentSpeakAgent, term: Any, intention: Any) -> Iterator[None]:
    """Delete elements equal to the first argument or at that index; with four arguments, an index range."""
    whole = _sequence(term.args[-2], intention)
    first = _value(term.args[0], intention) if len(term.args) == 4 else term.args[0]
    first = agentspeak.evaluate(first, intention.scope)
    if len(term.args) == 4:
        end = int(_number(term.args[1], intention))
        left = whole[: int(first)] + whole[end:]
    elif agentspeak.is_number(first):
        left = whole[: int(first)] + whole[int(first) + 1 :]
    elif isinstance(whole, str):
        left = whole.replace(agentspeak.asl_str(first), "")
    else:
        sought = agentspeak.freeze(first, intention.scope, {})
        left = tuple(each for each in whole if not agentspeak.unifies(sought, each))
    if _gives(term, left, intention):
        yield


def _sequence(term: Any, intention: Any) -> Any:
    value = _value(term, intention)
    if not isinstance(value, (str, tuple)):
        raise AslError(f"expected a list or a text, got: {agentspeak.asl_repr(value)}")
    return value


def _number(term: Any, intention: Any) -> float:
    value: Any = agentspeak.grounded(term, intention.scope)
    if not agentspeak.is_number(value):
        raise AslError(f"expected a number, got: {agentspeak.asl_repr(value)}")
    return value


def _range(mind: AgentSpeakAgent, term: Any, intention: Any) -> Iterator[None]:
    """Yield for each number of ``.range(N, First, Last)``; a fourth argument sets a step other than 1."""
    first, last, *step = (_number(each, intention) for each in term.args[1:])
    by = step[0] if step else 1.0
    if not by:
        raise AslError("the step of .range must not be 0")
    return _each(mind, term.args[0], _counted(first, last, by), intention)


def _range_to(mind: AgentSpeakAgent, term: Any, intention: Any) -> Iterator[None]:
    """Yield for each number of ``.range(Count, N)``, the interpreter's own form, which starts at 0."""
    return _each(mind, term.args[1], _counted(0.0, _number(term.args[0], intention) - 1, 1.0), intention)


def _counted(first: float, last: float, by: float) -> Iterator[float]:
    while first <= last if by > 0 else first >= last:
        yield first
        first += by


def _each(mind: AgentSpeakAgent, term: Any, values: Iterator[float], intention: Any) -> Iterator[None]:
    choicepoint = object()
    for value in values:
        mind.base.look()
        intention.stack.append(choicepoint)
        if agentspeak.unify(term, value, intention.scope, intention.stack):
            yield
        agentspeak.reroll(intention.scope, intention.stack, choicepoint)


def _concat(_: AgentSpeakAgent, term: Any, intention: Any) -> Iterator[None]:
    parts = [_value(each, intention) for each in term.args[:-1]]
    if parts and all(isinstance(part, tuple) for part in parts):
        whole: Any = tuple(each for part in parts for each in part)
    else:
        whole = "".join(map(shown, parts))
    if _gives(term, whole, intention):
        yield


def _random(mind: AgentSpeakAgent, term: Any, intention: Any) -> Iterator[None]:
    if _gives(term, mind.chance.random(), intention):
        yield


def _print(mind: AgentSpeakAgent, term: Any, intention: Any) -> Iterator[None]:
    memo: dict[Any, Any] = {}
    mind.thought.printed.append(
        "".join(shown(agentspeak.freeze(each, intention.scope, memo)) for each in term.args)
    )
    yield


def _abolish(mind: AgentSpeakAgent, term: Any, intention: Any) -> Iterator[None]:
    pattern = agentspeak.freeze(term.args[0], intention.scope, {})
    if not agentspeak.is_literal(pattern):
        raise AslError(".abolish takes a literal")
    mind.abolish(pattern)
    yield


# -- goals and intentions --------------------------------------------------------------------------


def _intend(mind: AgentSpeakAgent, term: Any, intention: Any) -> Iterator[None]:
    for _ in mind.intends(_goal(term, intention), intention.scope, intention.stack):
        yield


def _desire(mind: AgentSpeakAgent, term: Any, intention: Any) -> Iterator[None]:
    for _ in mind.desires(_goal(term, intention), intention.scope, intention.stack):
        yield


def _drop_intention(mind: AgentSpeakAgent, term: Any, intention: Any) -> Iterator[None]:
    if term.args:
        mind.drop(_goal(term, intention), intention.scope, intention.stack)
    elif (stack := mind.stack_of(intention)) is not None:
        mind.remove(stack)
    yield


def _drop_all(mind: AgentSpeakAgent, _: Any, intention: Any) -> Iterator[None]:
    """Drop all intentions except the one that calls this action."""
    own = mind.stack_of(intention)
    for stack in list(mind.intentions):
        if stack is not own:
            mind.remove(stack)
    yield


def _succeed_goal(mind: AgentSpeakAgent, term: Any, intention: Any) -> Iterator[None]:
    mind.end_goal(_goal(term, intention), intention.scope, intention.stack, failed=False)
    yield


def _fail_goal(mind: AgentSpeakAgent, term: Any, intention: Any) -> Iterator[None]:
    mind.end_goal(_goal(term, intention), intention.scope, intention.stack, failed=True)
    yield


def _goal(term: Any, intention: Any) -> Any:
    goal = agentspeak.evaluate(term.args[0], intention.scope)
    if not agentspeak.is_literal(goal):
        raise AslError(f"{term.functor} takes a goal, as in {term.functor}(go(1))")
    return goal


def _wait(mind: AgentSpeakAgent, term: Any, intention: Any) -> Iterator[None]:
    """Wait for an event, written as a plan, ``.wait({+key(_)})``, or in the interpreter's form."""
    given = term.args[0]
    if isinstance(given, PlanTerm):
        text = str(given.event)
        term = Literal(term.functor, (text, *term.args[1:]))
    return _STANDARD.lookup(".wait", len(term.args))(mind, term, intention)


# -- messages --------------------------------------------------------------------------------------


def _send(mind: AgentSpeakAgent, term: Any, intention: Any) -> Iterator[None]:
    to: Any = agentspeak.grounded(term.args[0], intention.scope)
    receivers = [_name(each) for each in (to if agentspeak.is_list(to) else (to,))]
    force = _force(term.args[1], intention, *(ASKS if len(receivers) == 1 else ()))
    content = as_text(agentspeak.freeze(term.args[2], intention.scope, {}))
    if force in ASKS:
        number = mind.new_question_number()
        mind.queue_message(f".send({receivers[0]}, {force}[id({number})], {content})")
        if len(term.args) == 4:
            intention.waiter = AnswerWaiter(number, term.args[3])
    elif len(term.args) == 4:
        raise AslError(f"only askOne and askAll have an answer, not {force}")
    else:
        for name in receivers:
            mind.queue_message(f".send({name}, {force}, {content})")
    yield


def _broadcast(mind: AgentSpeakAgent, term: Any, intention: Any) -> Iterator[None]:
    force = _force(term.args[0], intention)
    mind.queue_message(
        f".broadcast({force}, {as_text(agentspeak.freeze(term.args[1], intention.scope, {}))})"
    )
    yield


def _name(receiver: Any) -> str:
    return receiver.functor if agentspeak.is_atom(receiver) else str(receiver)


def _force(term: Any, intention: Any, *more: str) -> str:
    force = as_text(agentspeak.grounded(term, intention.scope))
    known = (*FORCES, *more)
    if force not in known:
        raise AslError(f"messages to teammates are {', '.join(known)}, not {force}")
    return force


_OURS: Sequence[tuple[str, int | None, Callable[..., Iterator[None]]]] = (
    (".abolish", 1, _abolish),
    (".broadcast", 2, _broadcast),
    (".concat", None, _concat),
    (".count", 2, _count),
    (".delete", 3, _delete),
    (".delete", 4, _delete),
    (".desire", 1, _desire),
    (".drop_all_desires", 0, _drop_all),
    (".drop_all_intentions", 0, _drop_all),
    (".drop_desire", 1, _drop_intention),
    (".drop_intention", 0, _drop_intention),
    (".drop_intention", 1, _drop_intention),
    (".fail_goal", 1, _fail_goal),
    (".findall", 3, _findall),
    (".intend", 1, _intend),
    (".print", None, _print),
    (".random", 1, _random),
    (".range", 2, _range_to),
    (".range", 3, _range),
    (".range", 4, _range),
    (".reverse", 2, _reverse),
    (".send", 3, _send),
    (".send", 4, _send),
    (".setof", 3, _setof),
    (".sort", 2, _sort),
    (".succeed_goal", 1, _succeed_goal),
    (".wait", 1, _wait),
    (".wait", 2, _wait),
)
