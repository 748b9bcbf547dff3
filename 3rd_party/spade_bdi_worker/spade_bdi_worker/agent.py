"""An agent of a program in one episode: what it sees, hears, may do and says."""

# The interpreter has no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUntypedBaseClass=false

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import agentspeak
import agentspeak.stdlib
from agentspeak import Actions, Literal
from agentspeak.runtime import BuildTermVisitor, Environment

from spade_bdi_worker.literals import as_text, message
from spade_bdi_worker.mind import Mind, Overdue, Thought, Undecided
from spade_bdi_worker.program import Program, ProgramError


class Episode:
    """An agent of a program in one episode.

    Args:
        program: What it does.
        words: Words of the environment's actions, as atoms.
        skills: What is called with parameters among them, likewise.
        name: Of the agent.
        seed: Of the episode; random numbers come from it and the step.
    """

    def __init__(
        self, program: Program, words: Sequence[str], skills: Collection[str], name: str, seed: int
    ) -> None:
        self._seed, self._name, self._sees = seed, name, dict[str, None]()
        environment = Environment()
        tree = program.tree
        goals, tree.goals = tree.goals, []
        try:
            _, self.mind = environment.build_agent_from_ast(
                agentspeak.StringSource(program.name, ""), tree, _actions(words, skills), Mind, name
            )
        finally:
            tree.goals = goals
        self.mind.name = name
        self.mind.name_plans(tree.plans)
        self._goals = [goal.atom.accept(BuildTermVisitor({})) for goal in goals]

    def decide(
        self, step: int, facts: Sequence[str], heard: Sequence[str], *, cycles: int, until: float
    ) -> tuple[Any, Thought, str]:
        """See, hear, think and act.

        Args:
            step: Of the environment.
            facts: All that the agent sees.
            heard: What team-mates have said since.
            cycles: Steps of the interpreter at most.
            until: Moment (of ``time.monotonic``) at which it has to be done.

        Returns:
            The action's literal, what was thought, and what is said to the team.

        Raises:
            Undecided: There is no action.
        """
        mind = self.mind
        mind.thought, mind.said, mind.base.until = Thought(), [], until
        mind.chance.seed(self._seed, step)
        try:
            self._attend(facts, heard)
            action = mind.deliberate(cycles)
        except Overdue:
            raise Undecided("the program has not come to an action within its deadline") from None
        return action, mind.thought, "\n".join(mind.said)

    def _attend(self, facts: Sequence[str], heard: Sequence[str]) -> None:
        """See and hear what is new, and take up what was to be begun with."""
        seen, self._sees = self._sees, dict.fromkeys(facts)
        self.mind.perceive(
            [fact for fact in seen if fact not in self._sees],
            [fact for fact in self._sees if fact not in seen],
        )
        for words in heard:
            self._hear(words)
        while self._goals:
            self.mind.pursue(self._goals.pop(0))

    def _hear(self, words: str) -> None:
        """Each line is a message of a program, or something that somebody has said in words."""
        sender, _, content = words.partition(": ")
        for line in content.splitlines():
            try:
                got = message(f"{sender}: {line}", self._name)
            except ProgramError:
                said_so = Literal("said", (Literal(sender), line)).with_annotation(
                    Literal("source", (Literal(sender),))
                )
                self.mind.hear("tell", said_so)
            else:
                if got is not None:
                    self.mind.hear(got[1], got[3])


def _actions(words: Sequence[str], skills: Collection[str]) -> Actions:
    """What a program may call: the environment's actions by their words, the interpreter's own, messages."""
    actions = Actions(_allowed())

    def act(agent: Mind, term: Any, intention: Any) -> Iterator[None]:
        agent.act(agentspeak.freeze(term, intention.scope, {}), intention)
        yield

    for word in words:
        actions.add(word, 0, act)
    for skill in skills:
        actions.add(skill, None, act)
    if "act" not in words:
        actions.add("act", 1, act)
    for name, arity, implementation in _OURS:
        actions.add(name, arity, implementation)
    return actions


def _allowed() -> Actions:
    """The interpreter's own, without the one that writes a file where we stand."""
    allowed = Actions()
    allowed.variadic_actions = _STANDARD.variadic_actions
    allowed.actions = {key: act for key, act in _STANDARD.actions.items() if key != (".control_flow", 0)}
    return allowed


def _send(agent: Mind, term: Any, intention: Any) -> Iterator[None]:
    to: Any = agentspeak.grounded(term.args[0], intention.scope)
    for each in to if agentspeak.is_list(to) else (to,):
        name = each.functor if agentspeak.is_atom(each) else str(each)
        agent.tell(f".send({name}, {_content(term.args[1:], intention)})")
    yield


def _broadcast(agent: Mind, term: Any, intention: Any) -> Iterator[None]:
    agent.tell(f".broadcast({_content(term.args, intention)})")
    yield


def _content(terms: Sequence[Any], intention: Any) -> str:
    force, content = (agentspeak.freeze(each, intention.scope, {}) for each in terms)
    return f"{as_text(force)}, {as_text(content)}"


def _print(agent: Mind, term: Any, intention: Any) -> Iterator[None]:
    memo: dict[Any, Any] = {}
    agent.thought.printed.append(
        " ".join(agentspeak.asl_str(agentspeak.freeze(each, intention.scope, memo)) for each in term.args)
    )
    yield


def _abolish(agent: Mind, term: Any, intention: Any) -> Iterator[None]:
    beliefs = agent.beliefs[agentspeak.evaluate(term.args[0], intention.scope).literal_group()]
    held = list(beliefs)
    for _ in _ABOLISH(agent, term, intention):
        for each in held:
            if each not in beliefs:
                agent.thought.believes_no_longer(as_text(each))
        yield


def _range(agent: Mind, term: Any, intention: Any) -> Iterator[None]:
    for _ in _RANGE(agent, term, intention):
        yield
        agent.base.look()


def _random(agent: Mind, term: Any, intention: Any) -> Iterator[None]:
    if agentspeak.unify(term.args[0], agent.chance.random(), intention.scope, intention.stack):
        yield


_STANDARD = agentspeak.stdlib.actions
_RANGE, _ABOLISH = _STANDARD.lookup(".range", 2), _STANDARD.lookup(".abolish", 1)
_OURS: Sequence[tuple[str, int | None, Callable[..., Iterator[None]]]] = (
    (".send", 3, _send),
    (".broadcast", 2, _broadcast),
    (".print", None, _print),
    (".random", 1, _random),
    (".range", 2, _range),
    (".abolish", 1, _abolish),
)
"""In the place of the interpreter's, which reach past the process, have no end, or record nothing."""


def words_of(meanings: Sequence[str]) -> Mapping[str, int]:
    """Actions by the atoms that programs call them by."""
    return {as_atom(word): number for number, word in enumerate(meanings)}


def skills_of(meanings: Sequence[str]) -> frozenset[str]:
    """The skills, as atoms, of actions that have parameters: ``go_to`` of ``"go to(yellow key)"``."""
    return frozenset(as_atom(word.partition("(")[0]) for word in meanings if "(" in word)


def as_atom(word: str) -> str:
    """``go_to_yellow_key`` of ``"go to(yellow key)"``."""
    plain = re.sub(r"\W+", "_", word.lower()).strip("_")
    return plain if plain[:1].isalpha() else f"n{plain}"
