"""An agent of the interpreter, made to act in steps, to repeat, and to tell what it thought."""

# The interpreter has no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUntypedBaseClass=false

from __future__ import annotations

import collections
import random
import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import agentspeak
import agentspeak.runtime
import agentspeak.stdlib
from agentspeak import Actions, AslError, GoalType, Literal, Trigger
from agentspeak.runtime import BuildTermVisitor, Environment, Intention

from spade_bdi_worker.literals import as_text, literal, message
from spade_bdi_worker.program import Program, ProgramError, said

_ENDLESS = "the program's rules call each other without end"
LONGEST_SAID = 1000
"""Characters that an agent may say to its team with one action."""


class Undecided(Exception):
    """An agent has not chosen an action; the message says why."""


@dataclass
class Thought:
    """What happened in an agent for one decision; recorded beside the action.

    Attributes:
        added: Beliefs that it has got: by seeing, by being told, or of its own.
        removed: Beliefs that it has lost.
        goals: The goals of the intention that acted, the outermost first; those of a loop once.
        plan: The plan that acted: its trigger and context.
        failed: Goals that failed, with the reason; recovered ones too.
        printed: What its program prints.
    """

    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    goals: list[str] = field(default_factory=list)
    plan: str = ""
    failed: list[str] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)

    def believes(self, belief: str) -> None:
        """It has got a belief; one that it lost for this decision was not lost."""
        if belief in self.removed:
            self.removed.remove(belief)
        else:
            self.added.append(belief)

    def believes_no_longer(self, belief: str) -> None:
        """It has lost a belief; one that it got for this decision is not told."""
        if belief in self.added:
            self.added.remove(belief)
        else:
            self.removed.append(belief)

    def to_record(self) -> dict[str, Any]:
        """Plain data; what is empty is left out."""
        return {name: value for name, value in vars(self).items() if value}


class _Beliefs(dict[Any, None]):
    """A set in the order of entry: the interpreter's own is in the order of the process's hashes."""

    def add(self, belief: Any) -> None:
        self[belief] = None

    def remove(self, belief: Any) -> None:
        del self[belief]

    def __iter__(self) -> Iterator[Any]:
        # The interpreter changes them while it looks through them.
        return iter(list(super().__iter__()))


class _Base(collections.defaultdict[Any, Any]):
    def __init__(self) -> None:
        super().__init__(_Beliefs)


class Mind(agentspeak.runtime.Agent):  # type: ignore[misc]
    """The interpreter's agent, with recovery plans (``-!goal``): it reads them and leaves them out."""

    def __init__(self, env: Environment, name: str, *_: object) -> None:
        super().__init__(env, name, _Base())
        self.thought = Thought()
        self.acted: Any = None
        """The literal of the action that has been chosen."""
        self.said: list[str] = []
        self.rng = random.Random(0)
        self._bodies: list[Any] = []
        self._fired: dict[int, str] = {}

    def add_plan(self, plan: Any) -> None:
        super().add_plan(plan)
        self._bodies.append(plan.body)

    def name_plans(self, trees: Sequence[Any]) -> None:
        """Call plans as the program writes them, with their lines; ``trees`` come as the plans did."""
        for body, tree in zip(self._bodies, trees, strict=True):
            context = f" : {tree.context}" if tree.context else ""
            self._fired[id(body)] = f"line {tree.loc.lineno}: {tree.event}{context}"

    def call(
        self, trigger: Any, goal_type: Any, term: Any, calling_intention: Any, delayed: bool = False
    ) -> Any:
        result = super().call(trigger, goal_type, term, calling_intention, delayed)
        for stack in self.intentions:
            if stack and not hasattr(stack[-1], "plan"):
                stack[-1].plan = self._fired.get(id(stack[-1].instr), "")
                stack[-1].is_goal = goal_type == GoalType.achievement
        return result

    def pursue(self, goal: Any) -> None:
        """Take up a goal of its own; one without a plan fails."""
        self._begin(Trigger.addition, GoalType.achievement, goal)

    def perceive(self, gone: Sequence[Any], new: Sequence[Any]) -> None:
        """What it saw and sees no more, and what it sees now; both are events."""
        for belief in gone:
            self._begin(Trigger.removal, GoalType.belief, belief)
        for belief in new:
            self._begin(Trigger.addition, GoalType.belief, belief)

    def add_belief(self, term: Any, scope: Any) -> None:
        belief = term.grounded(scope)
        known = belief.functor is not None and belief in self.beliefs[belief.literal_group()]
        super().add_belief(term, scope)
        if not known:
            self.thought.believes(as_text(belief))

    def remove_belief(self, term: Any, intention: Any) -> bool:
        sought = agentspeak.evaluate(term, intention.scope)
        if agentspeak.is_literal(sought) and sought in self.beliefs[sought.literal_group()]:
            # This very belief: the interpreter would hold it against all others of its kind.
            self.beliefs[sought.literal_group()].remove(sought)
            self.thought.believes_no_longer(as_text(sought))
            return True
        held = list(self.beliefs[sought.literal_group()]) if agentspeak.is_literal(sought) else []
        found: bool = super().remove_belief(term, intention)
        if found:
            left = self.beliefs[sought.literal_group()]
            self.thought.believes_no_longer(as_text(next(each for each in held if each not in left)))
        return found

    def hear(self, force: str, content: Any) -> None:
        """A message of a team-mate."""
        goal_type = GoalType.achievement if force.endswith("achieve") else GoalType.belief
        trigger = Trigger.removal if force.startswith("un") else Trigger.addition
        self._begin(trigger, goal_type, content)

    def _begin(self, trigger: Any, goal_type: Any, term: Any) -> None:
        try:
            self.call(trigger, goal_type, term, Intention(), delayed=True)
        except (AslError, RecursionError) as error:
            reason = _ENDLESS if isinstance(error, RecursionError) else error
            self.thought.failed.append(f"{as_text(term)}: {reason}")

    def deliberate(self, cycles: int, until: float) -> Any:
        """Go on with what is intended until there is an action.

        Args:
            cycles: Steps of the interpreter at most.
            until: Moment (of ``time.monotonic``) at which it has to be done.

        Returns:
            The action's literal.

        Raises:
            Undecided: There is none.
        """
        self.acted = None
        for cycle in range(cycles):
            with said() as problems:
                try:
                    busy = self.step()
                except agentspeak.AggregatedError:
                    self._fail(_reason(problems))
                    busy = True
                except RecursionError:
                    self._fail(_ENDLESS)
                    busy = True
            if self.acted is not None:
                self._take_turns()
                return self.acted
            if not busy:
                raise Undecided(self._idle())
            if not cycle % 64 and time.monotonic() > until:
                raise Undecided("the program has not come to an action within its deadline")
        raise Undecided(f"the program has not come to an action within {cycles} steps of the interpreter")

    def _take_turns(self) -> None:
        """Its other intentions come before the one that has acted: one without an end leaves them none."""
        acting = next((stack for stack in self.intentions if stack and stack[-1].waiter is None), None)
        if acting is not None:
            self.intentions.remove(acting)
            self.intentions.append(acting)

    def _idle(self) -> str:
        if self.thought.failed:
            return f"the program has nothing left to do: {self.thought.failed[-1]}"
        if any(stack for stack in self.intentions):
            return "the program waits and chooses no action"
        return "the program has nothing left to do and chooses no action"

    def act(self, action: Any, intention: Any) -> None:
        """An action of the program: it is done with the environment's next step."""
        self.acted = action
        stack = next((stack for stack in self.intentions if stack and stack[-1] is intention), ())
        goals = [frame.head_term for frame in stack if frame.head_term is not None]
        # A loop is a goal that leads to itself: a row would grow with every step.
        self.thought.goals = [goal for goal, _ in groupby(map(as_text, goals))]
        self.thought.plan = getattr(intention, "plan", "")

    def tell(self, text: str) -> None:
        """Say something to the team with the next action."""
        if sum(map(len, self.said)) + len(self.said) + len(text) > LONGEST_SAID:
            raise AslError(f"more than {LONGEST_SAID} characters are said to the team with one action")
        self.said.append(text)

    def _fail(self, reason: str) -> None:
        """The plan that was at work has failed: the nearest of its goals that can recover does."""
        stack = next(stack for stack in self.intentions if stack and stack[-1].waiter is None)
        while stack:
            failed = stack.pop()
            goal = failed.head_term
            self.thought.failed.append(f"{as_text(goal)}: {reason}" if goal is not None else reason)
            if goal is not None and getattr(failed, "is_goal", False) and self._recover(stack, failed, goal):
                return
        self.intentions.remove(stack)

    def _recover(self, stack: Any, failed: Any, goal: Any) -> bool:
        """Put a plan for ``-!goal`` in the place of the plan that failed."""
        for plan in self.plans[Trigger.removal, GoalType.achievement, goal.functor, len(goal.args)]:
            intention: Any = Intention()
            for _ in agentspeak.unify_annotated(plan.head, goal, intention.scope, intention.stack):
                for _ in plan.context.execute(self, intention):
                    intention.head_term, intention.instr = goal, plan.body
                    intention.calling_term = failed.calling_term
                    intention.plan, intention.is_goal = self._fired.get(id(plan.body), ""), False
                    stack.append(intention)
                    return True
        return False


def _reason(problems: Sequence[str]) -> str:
    return problems[-1] if problems else "it failed"


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
            cycles: As :meth:`Mind.deliberate` takes it.
            until: The same.

        Returns:
            The action's literal, what was thought, and what is said to the team.

        Raises:
            Undecided: There is no action.
        """
        mind = self.mind
        mind.thought, mind.said = Thought(), []
        mind.rng.seed(f"{self._seed}:{step}")
        sees = dict.fromkeys(facts)
        gone = [literal(fact, "percept") for fact in self._sees if fact not in sees]
        new = [literal(fact, "percept") for fact in sees if fact not in self._sees]
        self._sees = sees
        mind.perceive(gone, new)
        for words in heard:
            self._hear(words)
        goals, self._goals = self._goals, []
        for goal in goals:
            mind.pursue(goal)
        action = mind.deliberate(cycles, until)
        return action, mind.thought, "\n".join(mind.said)

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
    actions = Actions(agentspeak.stdlib.actions)

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


def _random(agent: Mind, term: Any, intention: Any) -> Iterator[None]:
    if agentspeak.unify(term.args[0], agent.rng.random(), intention.scope, intention.stack):
        yield


_OURS: Sequence[tuple[str, int | None, Callable[..., Iterator[None]]]] = (
    (".send", 3, _send),
    (".broadcast", 2, _broadcast),
    (".print", None, _print),
    (".random", 1, _random),
)
"""Actions of the interpreter that would reach past the process, or draw their own random numbers."""


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
