"""The interpreter's agent, extended to act in steps, recover from failures and record its reasoning."""

# The interpreter has no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUntypedBaseClass=false

from __future__ import annotations

import collections
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import agentspeak
import agentspeak.runtime
from agentspeak import AslError, GoalType, Literal, Trigger
from agentspeak.runtime import Environment, Intention, TermQuery

from spade_bdi_worker.literals import ASKS, GroundLiteral, ReceivedMessage, as_text, literal, sourced
from spade_bdi_worker.parallel_branches import Join
from spade_bdi_worker.program import collected_warnings
from spade_bdi_worker.program_random import ProgramRandom

LONGEST_SAID = 1000
"""Largest number of characters that an agent may send to its team with one action."""
LONGEST_TOLD = 4000
"""Largest number of characters of printed text, and of failed goals, in a decision's record."""
_ENDLESS = "the program's rules call each other without end"
_LOOKS = 256
"""Number of accesses to the belief base between two checks of the time."""


class NoActionChosen(Exception):
    """The agent chose no action; the message says why."""


class DeadlinePassed(BaseException):
    """The deadline of a decision has passed; this is no ``Exception``, because the interpreter catches
    those.
    """


@dataclass
class ReasoningRecord:
    """Record of an agent's reasoning for one decision, stored with the action.

    Attributes:
        added: Beliefs that the agent gained from percepts, messages or its own plans.
        removed: Beliefs that the agent lost.
        goals: Goals of the intention that acted, outermost first; a loop's goal appears once.
        plan: The plan that acted: its trigger and context.
        failed: Failed goals with the reason, also those that recovered.
        printed: Text that the program printed.
    """

    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    goals: list[str] = field(default_factory=list)
    plan: str = ""
    failed: list[str] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)

    def believes(self, belief: str) -> None:
        """Record a gained belief; if it was lost during this decision, delete that entry instead."""
        if belief in self.removed:
            self.removed.remove(belief)
        else:
            self.added.append(belief)

    def believes_no_longer(self, belief: str) -> None:
        """Record a lost belief; if it was gained during this decision, delete that entry instead."""
        if belief in self.added:
            self.added.remove(belief)
        else:
            self.removed.append(belief)

    def to_record(self) -> dict[str, Any]:
        """Return plain data, without empty entries; long ones are cut."""
        row = {**vars(self), "failed": bounded(self.failed), "printed": bounded(self.printed)}
        return {name: value for name, value in row.items() if value}


def bounded(lines: Sequence[str]) -> list[str]:
    """Return lines up to :data:`LONGEST_TOLD` characters; a last line says how many were cut."""
    room = LONGEST_TOLD
    for number, line in enumerate(lines):
        if len(line) > room:
            begun = [line[:room]] if room > 0 else []
            cut = sum(map(len, lines[number:])) - sum(map(len, begun))
            return [*lines[:number], *begun, f"(cut here: {cut:,} more characters are not kept)"]
        room -= len(line) + 1
    return list(lines)


class _Beliefs(dict[str, Any]):
    """Beliefs of one name, by text and in the order of entry, because the interpreter itself uses an
    unordered set.
    """

    def __iter__(self) -> Iterator[Any]:
        # The interpreter changes the beliefs while it iterates over them.
        return iter(list(self.values()))


class AnswerWaiter:
    """Waiter of a plan that asked a team-mate, with the interface of the interpreter's waiters.

    Args:
        number: Number of the question.
        wanted: Term that is unified with the answer.
    """

    event: Any = None
    until: Any = None

    def __init__(self, number: str, wanted: Any) -> None:
        self.number, self.wanted = number, wanted

    def poll(self, _: Any) -> bool:
        """Return ``False``: the wait ends when the answer arrives, see :meth:`AgentSpeakAgent.receive`."""
        return False


class _Base(collections.defaultdict[Any, Any]):
    """A belief base that checks the deadline, because one interpreter step may access it endlessly."""

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
            raise DeadlinePassed


def _fits(annot: Any, sought: Any, intention: Any) -> bool:
    """Return whether an annotation unifies with one of those of ``sought``."""
    return any(
        agentspeak.unifies(agentspeak.freeze(each, intention.scope, {}), annot) for each in sought.annots
    )


def _named(term: Any) -> Any:
    """Replace each ``_`` in a term by a variable that can be bound."""
    if isinstance(term, agentspeak.Wildcard):
        return agentspeak.Var()
    if agentspeak.is_literal(term):
        return Literal(term.functor, map(_named, term.args), term.annots)
    return tuple(map(_named, term)) if isinstance(term, tuple) else term


class AgentSpeakAgent(agentspeak.runtime.Agent):  # type: ignore[misc]
    """The interpreter's agent, with constructs of AgentSpeak that the interpreter lacks.

    Its own beliefs and goals get a source (``source(self)``). A test goal checks beliefs before it looks for
    plans, failed goals can recover (``-!goal``), and an atomic plan is not interrupted.

    Args:
        actions: Actions that the program may call.
        env: Environment of the interpreter.
        name: Name of the agent.
    """

    def __init__(self, actions: Any, env: Environment, name: str, *_: object) -> None:
        self.base = _Base()
        super().__init__(env, name, self.base)
        self.actions = actions
        self.thought = ReasoningRecord()
        self.acted: Any = None
        """The literal of the chosen action."""
        self.said: list[str] = []
        """Messages to send to the team with the next action."""
        self.chance = ProgramRandom()
        self._acting: Any = None
        self._asked = 0
        self._wanted: Any = None
        """The goal for which a plan is searched."""
        self._kind = ""
        self._bodies: list[Any] = []
        self._fired: dict[int, str] = {}
        self._atomic: set[int] = set()

    def add_plan(self, plan: Any) -> None:
        super().add_plan(plan)
        self._bodies.append(plan.body)
        if any(each.functor == "atomic" for each in getattr(plan.annotation, "annotations", ())):
            self._atomic.add(id(plan.body))

    def name_plans(self, trees: Sequence[Any], program: str) -> None:
        """Set the names of plans in the record, with their lines; ``trees`` has the order of the plans."""
        for body, tree in zip(self._bodies, trees, strict=True):
            context = f" : {tree.context}" if tree.context else ""
            file = "" if tree.loc.filename == program else f"{tree.loc.filename}, "
            self._fired[id(body)] = f"{file}line {tree.loc.lineno}: {tree.event}{context}"

    # -- events --

    def call(
        self, trigger: Any, goal_type: Any, term: Any, calling_intention: Any, delayed: bool = False
    ) -> bool:
        """Handle a belief or goal that is added or removed; the interpreter's instructions call this.

        Args:
            trigger: Whether it is added or removed.
            goal_type: Whether it is a belief, a goal or a test.
            term: The literal, as written in the plan.
            calling_intention: The running plan, whose scope holds the literal's variables.
            delayed: Whether a new intention is started.

        Returns:
            Whether the plan continues.

        Raises:
            AslError: No plan achieves what the running plan needs.
        """
        scope = calling_intention.scope
        if goal_type == GoalType.belief:
            return self._changed(trigger, term, calling_intention, delayed)
        goal = sourced(agentspeak.freeze(term, scope, {}))
        self._wake(trigger, goal_type, goal)
        if trigger == Trigger.removal:
            self.drop(Literal(goal.functor, goal.args), {}, collections.deque())
            return True
        if goal_type == GoalType.test and self.test_belief(term, calling_intention):
            return True
        stack = None if delayed else self.stack_of(calling_intention)
        if self._start(trigger, goal_type, goal, term, stack):
            return True
        if goal_type == GoalType.test:
            self._kind = "test_goal_failed"
            raise AslError(f"no belief matches ?{as_text(goal)}")
        return self._unmet(goal, term, stack)

    def _changed(self, trigger: Any, term: Any, intention: Any, delayed: bool) -> bool:
        if trigger == Trigger.addition:
            news = self.add_belief(term, intention.scope)
            event = sourced(agentspeak.freeze(term, intention.scope, {})) if news else None
        else:
            event = self.remove_belief(term, intention)
        if event is not None:
            self._told(trigger, event, term, intention, delayed)
        return True

    def _told(self, trigger: Any, belief: Any, term: Any, intention: Any, delayed: bool) -> None:
        """Handle a changed belief: wake intentions that wait for it and start a plan about it."""
        self._wake(trigger, GoalType.belief, belief)
        self._start(trigger, GoalType.belief, belief, term, None if delayed else self.stack_of(intention))

    def _wake(self, trigger: Any, goal_type: Any, event: Any) -> None:
        for stack in self.intentions:
            waiter = stack[-1].waiter if stack else None
            awaited = waiter.event if waiter is not None else None
            if awaited is None or (awaited.trigger, awaited.goal_type) != (trigger, goal_type):
                continue
            if agentspeak.unifies_annotated(awaited.head, event):
                stack[-1].waiter = None

    def _start(self, trigger: Any, goal_type: Any, event: Any, term: Any, stack: Any) -> bool:
        """Start the first applicable plan, in an intention or a new one; return whether there is one."""
        frame = self._applicable(trigger, goal_type, event)
        if frame is None:
            return False
        frame.head_term, frame.calling_term = event, term
        if stack is None:
            stack = collections.deque()
            self.intentions.append(stack)
        stack.append(frame)
        self._enter(stack, goal_type == GoalType.achievement)
        return True

    def _applicable(self, trigger: Any, goal_type: Any, event: Any) -> Any:
        """Return the first applicable plan, ready to run; ``None`` if there is none."""
        outer, self._wanted = self._wanted, event if goal_type == GoalType.achievement else None
        try:
            for plan in self.plans.get((trigger, goal_type, event.functor, len(event.args)), ()):
                frame: Any = Intention()
                for _ in agentspeak.unify_annotated(plan.head, event, frame.scope, frame.stack):
                    for _ in plan.context.execute(self, frame):
                        frame.instr = plan.body
                        return frame
        finally:
            self._wanted = outer
        return None

    def _enter(self, stack: Any, is_goal: bool) -> None:
        """Record the plan on top and its outer goal; a goal that leads to itself counts as a loop."""
        frame, below = stack[-1], stack[-2] if len(stack) > 1 else None
        frame.plan, frame.is_goal = self._fired.get(id(frame.instr), ""), is_goal
        frame.atomic = id(frame.instr) in self._atomic
        frame.goal = as_text(frame.head_term)
        frame.outer = below.outer if below is not None and below.goal == frame.goal else below

    def _unmet(self, goal: Any, term: Any, stack: Any) -> bool:
        """Handle a goal without an applicable plan: run its recovery plan, or fail the calling plan."""
        key = (Trigger.addition, GoalType.achievement, goal.functor, len(goal.args))
        kind = "no_applicable" if self.plans.get(key) else "no_relevant"
        reason = f"no applicable plan for +!{goal.functor}/{len(goal.args)}"
        self.thought.failed.append(f"{as_text(goal)}: {reason}")
        recovers = collections.deque() if stack is None else stack
        if self._recover(recovers, goal, term, kind, reason):
            if stack is None:
                self.intentions.append(recovers)
        elif stack is not None:
            self._kind = kind
            raise AslError(reason)
        return True

    def pursue(self, goal: Any) -> None:
        """Start a goal as a new intention; a goal without a plan fails."""
        self._begin(Trigger.addition, GoalType.achievement, goal)

    def begin(self, beliefs: Iterable[Any]) -> list[Any]:
        """Add the program's initial beliefs.

        Returns:
            Beliefs that are events when the agent first gets percepts.

        Raises:
            AslError: A belief is no fact.
        """
        nothing = Intention()
        return [sourced(each) for each in beliefs if self.add_belief(each, nothing.scope)]

    def perceive(self, gone: Iterable[str], new: Iterable[str], begun: Sequence[Any] = ()) -> None:
        """Remove old percepts and add new ones, given as facts; both are events.

        All beliefs are updated before any plan is chosen. Events of ``begun`` come first.
        """
        waits = any(waiter.event for waiter in self.waiters())
        heard = {key for key, plans in self.plans.items() if plans and key[1] == GoalType.belief}
        nothing = Intention()
        events = [(Trigger.addition, belief) for belief in begun]
        for trigger, facts in ((Trigger.removal, gone), (Trigger.addition, new)):
            for fact in facts:
                belief = literal(fact, "percept")
                if trigger is Trigger.addition:
                    changed = self._enter_base(belief)
                else:
                    changed = self._leave_base(belief)
                # An event without a plan for it has no further effect: only the belief changes.
                if changed and (waits or (trigger, GoalType.belief, *belief.literal_group()) in heard):
                    events.append((trigger, belief))
        for trigger, belief in events:
            self._safely(partial(self._told, trigger, belief, belief, nothing, True), belief)

    # -- beliefs --

    def add_belief(self, term: Any, scope: Any) -> Any:
        """Add a belief; return whether it or its source is new."""
        belief = sourced(term.grounded(scope))
        if not isinstance(belief, GroundLiteral):
            belief = GroundLiteral(belief.functor, belief.args, belief.annots)
        return self._enter_base(belief)

    def _enter_base(self, belief: GroundLiteral) -> bool:
        held = self._held(belief)
        known = held.get(text := belief.text)
        if known is None:
            held[text] = belief
            self.thought.believes(text)
            return True
        if belief.annots <= known.annots:
            return False
        held[text] = GroundLiteral(known.functor, known.args, known.annots | belief.annots)
        return True

    def remove_belief(self, term: Any, intention: Any) -> Any:
        """Remove the named source from a belief, by default the agent itself.

        A belief that also has another source, such as a message or a percept, stays.

        Returns:
            The belief with the removed sources; ``None`` if no belief matched.
        """
        sought = agentspeak.evaluate(term, intention.scope)
        if not agentspeak.is_literal(sought):
            raise AslError(f"expected a belief to remove, got: '{sought}'")
        sought = sourced(sought)
        held = self._held(sought)
        for belief in held:
            choicepoint = object()
            intention.stack.append(choicepoint)
            for _ in agentspeak.unify_annotated(sought, belief, intention.scope, intention.stack):
                gone = {each for each in belief.annots if _fits(each, sought, intention)}
                self._forget(held, belief, gone)
                return Literal(belief.functor, belief.args, frozenset(gone))
            agentspeak.reroll(intention.scope, intention.stack, choicepoint)
        return None

    def _leave_base(self, belief: GroundLiteral) -> bool:
        """Remove this fact's own source from the belief; return whether the belief had it."""
        held = self._held(belief)
        known = held.get(belief.text)
        if known is None or not belief.annots <= known.annots:
            return False
        self._forget(held, known, belief.annots)
        return True

    def _forget(self, held: _Beliefs, belief: Any, annots: Any) -> None:
        left = belief.annots - annots
        if any(each.functor == "source" for each in left):
            held[as_text(belief)] = GroundLiteral(belief.functor, belief.args, frozenset(left))
            return
        del held[as_text(belief)]
        self.thought.believes_no_longer(as_text(belief))

    def _held(self, literal: Any) -> _Beliefs:
        """Return the beliefs with the same name and number of arguments."""
        return self.base[literal.literal_group()]

    def abolish(self, pattern: Any) -> None:
        """Remove all beliefs that match a pattern, whatever their source."""
        held = self._held(pattern)
        for belief in held:
            if agentspeak.unifies_annotated(pattern, belief):
                self._forget(held, belief, belief.annots)

    # -- intentions --

    def stack_of(self, intention: Any) -> Any:
        """Return the intention whose top plan this is; ``None`` if there is none."""
        return next((stack for stack in self.intentions if stack and stack[-1] is intention), None)

    def remove(self, stack: Any) -> None:
        """Remove an intention with its parallel branches."""
        self.intentions = collections.deque(each for each in self.intentions if each is not stack)
        for frame in stack:
            if isinstance(frame.waiter, Join):
                for branch in frame.waiter.branches:
                    self.remove(branch)

    def intends(self, goal: Any, scope: Any, bound: Any) -> Iterator[Any]:
        """Yield each intention that has a goal, with the goal's index in it."""
        for stack in list(self.intentions):
            for place, frame in enumerate(stack):
                if not getattr(frame, "is_goal", False):
                    continue
                choicepoint = object()
                bound.append(choicepoint)
                for _ in agentspeak.unify_annotated(goal, frame.head_term, scope, bound):
                    yield stack, place
                    break
                else:
                    agentspeak.reroll(scope, bound, choicepoint)

    def desires(self, goal: Any, scope: Any, bound: Any) -> Iterator[Any]:
        """Yield if the agent has a goal or searches a plan for it."""
        if self._wanted is not None:
            for _ in agentspeak.unify_annotated(goal, self._wanted, scope, bound):
                yield None
        yield from self.intends(goal, scope, bound)

    def drop(self, goal: Any, scope: Any, bound: Any) -> None:
        """Remove the intentions that have a goal."""
        for stack, _ in list(self.intends(goal, scope, bound)):
            self.remove(stack)

    def end_goal(self, goal: Any, scope: Any, bound: Any, *, failed: bool) -> None:
        """End a goal and everything above it: as achieved, or as failed, so that it can recover."""
        for stack, place in list(self.intends(goal, scope, bound)):
            if all(each is not stack for each in self.intentions) or len(stack) <= place:
                continue
            above = collections.deque(list(stack)[place + 1 :])
            self.remove(above)
            while len(stack) > place + 1:
                stack.pop()
            stack[-1].waiter = None
            if failed:
                self._fail("it was made to fail", stack)
            else:
                stack.pop()
                if not stack:
                    self.remove(stack)

    # -- messages --

    def receive(self, message: ReceivedMessage) -> None:
        """Process a message from a team-mate: an answer, a question, a belief or a goal."""
        if message.re and self._answered(message):
            return
        if message.force in ASKS:
            self._safely(partial(self._answer, message), message.content)
            return
        if not agentspeak.is_literal(message.content):
            return  # an answer for which no plan waits any longer
        goal_type = GoalType.achievement if message.force.endswith("achieve") else GoalType.belief
        trigger = Trigger.removal if message.force.startswith("un") else Trigger.addition
        self._begin(trigger, goal_type, message.content)

    def new_question_number(self) -> str:
        """Return the number for a new question."""
        self._asked += 1
        return f"q{self._asked}"

    def _answered(self, heard: ReceivedMessage) -> bool:
        """Give an answer to the plan that waits for it; return whether there is one."""
        for stack in self.intentions:
            waiter = stack[-1].waiter if stack else None
            if not isinstance(waiter, AnswerWaiter) or waiter.number != heard.re:
                continue
            frame, answer = stack[-1], False if heard.force == "untell" else heard.content
            frame.waiter = None
            if not agentspeak.unify(waiter.wanted, answer, frame.scope, frame.stack):
                self._fail("the answer does not match the expected one", stack)
            return True
        return False

    def _answer(self, heard: ReceivedMessage) -> None:
        """Answer a question with the matching beliefs, or with what a plan for it finds."""
        asked = Literal(heard.content.functor, map(_named, heard.content.args))
        intention, found = Intention(), list[Any]()
        for _ in TermQuery(asked).execute(self, intention):
            found.append(agentspeak.freeze(asked, intention.scope, {}))
            if heard.force == "askOne":
                break
        to = f".send({heard.sender}, "
        if heard.force == "askAll":
            self.queue_message(f"{to}tell[re({heard.id})], [{', '.join(map(as_text, found))}])")
        elif found:
            self.queue_message(f"{to}tell[re({heard.id})], {as_text(found[0])})")
        else:
            self.queue_message(f"{to}untell[re({heard.id})], {as_text(asked)})")

    def _begin(self, trigger: Any, goal_type: Any, term: Any) -> None:
        self._safely(partial(self.call, trigger, goal_type, term, Intention(), True), term)

    def _safely(self, begin: Callable[[], object], about: Any) -> None:
        try:
            begin()
        except Exception as error:  # a context runs code of the program, which may raise anything
            reason = _ENDLESS if isinstance(error, RecursionError) else error
            self.thought.failed.append(f"{as_text(about)}: {reason}")

    def deliberate(self, cycles: int) -> Any:
        """Run the intentions until the program acts.

        Args:
            cycles: Largest number of interpreter steps.

        Returns:
            The action's literal.

        Raises:
            Undecided: The program chose no action.
            Overdue: The deadline is over.
        """
        self.acted = None
        self._take_turns()
        with collected_warnings() as problems:
            for cycle in range(cycles):
                busy = self._think(problems)
                if self.acted is not None:
                    return self.acted
                if not busy:
                    raise NoActionChosen(self._idle())
                if not cycle % 64 and time.monotonic() > self.base.until:
                    raise DeadlinePassed
        raise NoActionChosen(
            f"the program has not come to an action within {cycles} steps of the interpreter"
        )

    def _think(self, problems: list[str]) -> bool:
        """Run one step of the interpreter; return whether intentions are left to run."""
        if self._atomic:
            self._put_atomic_first()
        try:
            return bool(self.step())
        except (agentspeak.AggregatedError, RecursionError) as error:
            endless = RecursionError in (type(error), type(error.__context__))
            self._fail(_ENDLESS if endless else problems[-1] if problems else "it failed")
            return True
        finally:
            problems.clear()

    def _take_turns(self) -> None:
        """Move the intention that acted behind all others, so that an endless intention leaves them time."""
        acting, self._acting = self._acting, None
        if any(each is acting for each in self.intentions):
            self.intentions = collections.deque(each for each in self.intentions if each is not acting)
            self.intentions.append(acting)

    def _put_atomic_first(self) -> None:
        """Move an intention with an atomic plan to the front until it ends, unless it waits."""
        for stack in self.intentions:
            if stack and any(frame.atomic for frame in stack) and stack[-1].waiter is None:
                if stack is not self.intentions[0]:
                    self.intentions = collections.deque(each for each in self.intentions if each is not stack)
                    self.intentions.appendleft(stack)
                return

    def _idle(self) -> str:
        if self.thought.failed:
            return f"the program has nothing left to do: {self.thought.failed[-1]}"
        if any(stack for stack in self.intentions):
            return "the program waits and chooses no action"
        return "the program has nothing left to do and chooses no action"

    def act(self, action: Any, intention: Any) -> None:
        """Record an action of the program, to be played in the environment's next step."""
        self.acted, self._acting = action, self.stack_of(intention)
        self.thought.goals, frame = [], intention
        while frame is not None:
            self.thought.goals.insert(0, frame.goal)
            frame = frame.outer
        self.thought.plan = intention.plan

    def queue_message(self, text: str) -> None:
        """Add a message to those sent to the team with the next action."""
        if sum(map(len, self.said)) + len(self.said) + len(text) > LONGEST_SAID:
            raise AslError(f"more than {LONGEST_SAID} characters of messages to the team with one action")
        self.said.append(text)

    def _fail(self, reason: str, stack: Any = None) -> None:
        """Fail the running plan; the innermost of its goals that has a recovery plan recovers."""
        if stack is None:
            stack = next(stack for stack in self.intentions if stack and stack[-1].waiter is None)
        kind, self._kind = self._kind or "ia_failed", ""
        while stack:
            failed = stack.pop()
            goal = failed.head_term
            if (join := getattr(failed, "join", None)) is not None:
                self._fail_branch(join, stack, reason)
                return
            self.thought.failed.append(f"{as_text(goal)}: {reason}" if goal is not None else reason)
            if goal is None or not getattr(failed, "is_goal", False):
                continue
            if self._recover(stack, goal, failed.calling_term, kind, reason):
                return
        self.remove(stack)

    def _fail_branch(self, join: Join, branch: Any, reason: str) -> None:
        """Fail one of several branches and its plan, unless another running branch is enough."""
        self.remove(branch)
        others = [each for each in join.branches if each and each is not branch]
        if join.enough is any and others:
            join.give_up(branch)
            return
        for each in others:
            self.remove(each)
        join.stack[-1].waiter = None
        self._fail(reason, join.stack)

    def _recover(self, stack: Any, goal: Any, term: Any, kind: str, reason: str) -> bool:
        """Start a plan for ``-!goal`` in place of the failed plan; the event's annotations contain the
        reason.
        """
        why = (Literal("error", (Literal(kind),)), Literal("error_msg", (reason,)))
        event = Literal(goal.functor, goal.args, goal.annots | frozenset(why))
        if not self._start(Trigger.removal, GoalType.achievement, event, term, stack):
            return False
        frame = stack[-1]
        frame.head_term, frame.is_goal = goal, False
        return True
