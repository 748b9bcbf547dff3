"""The interpreter's agent, made to act in steps, to repeat, to recover, and to tell what it thought."""

# The interpreter has no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUntypedBaseClass=false

from __future__ import annotations

import collections
import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import agentspeak
import agentspeak.runtime
from agentspeak import AslError, GoalType, Trigger
from agentspeak.runtime import Environment, Intention

from spade_bdi_worker.chance import Chance
from spade_bdi_worker.literals import as_text, literal
from spade_bdi_worker.program import said

LONGEST_SAID = 1000
"""Characters that an agent may say to its team with one action."""
LONGEST_TOLD = 4000
"""Characters that a decision's record keeps of what a program prints, and of goals that failed."""
_ENDLESS = "the program's rules call each other without end"
_LOOKS = 256
"""Looks into the belief base after which the clock is read."""


class Undecided(Exception):
    """An agent has not chosen an action; the message says why."""


class Overdue(BaseException):
    """The time for a decision is over. No error: the interpreter goes on after those."""


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
        """Plain data; what is empty is left out, and what is long is cut."""
        row = {**vars(self), "failed": bounded(self.failed), "printed": bounded(self.printed)}
        return {name: value for name, value in row.items() if value}


def bounded(lines: Sequence[str]) -> list[str]:
    """Lines up to :data:`LONGEST_TOLD` characters; then one that says how much is not kept."""
    room = LONGEST_TOLD
    for number, line in enumerate(lines):
        if len(line) > room:
            begun = [line[:room]] if room > 0 else []
            cut = sum(map(len, lines[number:])) - sum(map(len, begun))
            return [*lines[:number], *begun, f"(cut here: {cut:,} more characters are not kept)"]
        room -= len(line) + 1
    return list(lines)


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
    """A belief base that is not asked for ever: one step of the interpreter may look there without end."""

    def __init__(self) -> None:
        super().__init__(_Beliefs)
        self.until = math.inf
        self._looks = 0

    def __getitem__(self, group: Any) -> Any:
        self.look()
        return super().__getitem__(group)

    def look(self) -> None:
        self._looks += 1
        if not self._looks % _LOOKS and time.monotonic() > self.until:
            raise Overdue


class Mind(agentspeak.runtime.Agent):  # type: ignore[misc]
    """The interpreter's agent, with recovery plans (``-!goal``): it reads them and leaves them out."""

    def __init__(self, env: Environment, name: str, *_: object) -> None:
        self.base = _Base()
        super().__init__(env, name, self.base)
        self.thought = Thought()
        self.acted: Any = None
        """The literal of the action that has been chosen."""
        self.said: list[str] = []
        self.chance = Chance()
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
                self._enter(stack, goal_type == GoalType.achievement)
        return result

    def _enter(self, stack: Any, is_goal: bool) -> None:
        """Note which plan is on top, and below which goal: a loop is a goal that leads to itself."""
        frame, below = stack[-1], stack[-2] if len(stack) > 1 else None
        frame.plan, frame.is_goal = self._fired.get(id(frame.instr), ""), is_goal
        frame.goal = as_text(frame.head_term)
        frame.outer = below.outer if below is not None and below.goal == frame.goal else below

    def pursue(self, goal: Any) -> None:
        """Take up a goal of its own; one without a plan fails."""
        self._begin(Trigger.addition, GoalType.achievement, goal)

    def perceive(self, gone: Iterable[str], new: Iterable[str]) -> None:
        """What it saw and sees no more, and what it sees now, as facts; both are events."""
        self._revise(Trigger.removal, gone)
        self._revise(Trigger.addition, new)

    def _revise(self, trigger: Any, facts: Iterable[str]) -> None:
        waits = any(waiter.event for waiter in self.waiters())
        heard = {
            key[2:] for key, plans in self.plans.items() if plans and key[:2] == (trigger, GoalType.belief)
        }
        nothing = Intention()
        for fact in facts:
            belief = literal(fact, "percept")
            if waits or belief.literal_group() in heard:
                self._begin(trigger, GoalType.belief, belief)
            # Nothing follows such an event: what comes of it is the belief alone.
            elif trigger is Trigger.addition:
                self.add_belief(belief, nothing.scope)
            else:
                self.remove_belief(belief, nothing)

    def add_belief(self, term: Any, scope: Any) -> None:
        belief = term.grounded(scope)
        held = self.beliefs[belief.literal_group()]
        if belief not in held:
            held.add(belief)
            self.thought.believes(as_text(belief))

    def remove_belief(self, term: Any, intention: Any) -> bool:
        sought = agentspeak.evaluate(term, intention.scope)
        if not agentspeak.is_literal(sought):
            return bool(super().remove_belief(term, intention))  # which says that it is none
        held = self.beliefs[sought.literal_group()]
        if sought in held:
            # This very belief: the interpreter would hold it against all others of its kind.
            held.remove(sought)
            self.thought.believes_no_longer(as_text(sought))
            return True
        before = list(held)
        found: bool = super().remove_belief(term, intention)
        if found:
            self.thought.believes_no_longer(as_text(next(each for each in before if each not in held)))
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

    def deliberate(self, cycles: int) -> Any:
        """Go on with what is intended until there is an action.

        Args:
            cycles: Steps of the interpreter at most.

        Returns:
            The action's literal.

        Raises:
            Undecided: There is none.
            Overdue: Its time is over.
        """
        self.acted = None
        with said() as problems:
            for cycle in range(cycles):
                busy = self._think(problems)
                if self.acted is not None:
                    self._take_turns()
                    return self.acted
                if not busy:
                    raise Undecided(self._idle())
                if not cycle % 64 and time.monotonic() > self.base.until:
                    raise Overdue
        raise Undecided(f"the program has not come to an action within {cycles} steps of the interpreter")

    def _think(self, problems: list[str]) -> bool:
        """One step of the interpreter; whether there is more to do."""
        try:
            return bool(self.step())
        except (agentspeak.AggregatedError, RecursionError) as error:
            endless = RecursionError in (type(error), type(error.__context__))
            self._fail(_ENDLESS if endless else problems[-1] if problems else "it failed")
            return True
        finally:
            problems.clear()

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
        self.thought.goals, frame = [], intention
        while frame is not None:
            self.thought.goals.insert(0, frame.goal)
            frame = frame.outer
        self.thought.plan = intention.plan

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
                    stack.append(intention)
                    self._enter(stack, False)
                    return True
        return False
