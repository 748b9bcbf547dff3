"""What one agent observes and thinks at one moment, and its description in sections of text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gym_gui.analysis.transcripts.bdi_thoughts import COME, GONE
from gym_gui.analysis.transcripts.turn import Turn
from gym_gui.core.agent_observation import AgentObservation
from gym_gui.core.config import GOAL_SUFFIX
from gym_gui.core.live import AgentView, LiveView
from gym_gui.core.types import AgentID
from gym_gui.ui.language.turn_view import SCORES, Section, sections
from gym_gui.ui.numbers import count
from gym_gui.ui.renderers.agent_words import number_words, option_words, source_words
from gym_gui.ui.renderers.joint_agents import JointGroup


@dataclass(frozen=True, slots=True)
class AgentSnapshot:
    """What one agent observes, thinks and does at one moment.

    Attributes:
        agent: Name of the agent.
        view: Live view of the environment at that moment; ``None`` before the first step.
        observed: The agent's current or last observation; ``None`` if it is not known.
        trouble: Sentence that says why the observation is not known; empty if it is known.
        turn: Record of the agent's last decision, or ``None``.
        believes: All beliefs of a BDI program, one per line; empty for other policies.
        action: The action of :attr:`turn`, as text.
        together: Link group whose policy plays this agent and others; ``None`` without such a group.
    """

    agent: AgentID
    view: LiveView | None = None
    observed: AgentObservation | None = None
    trouble: str = ""
    turn: Turn | None = None
    believes: str = ""
    action: str = ""
    joint_group: JointGroup | None = None


def snapshot_sections(snapshot: AgentSnapshot) -> Iterator[Section]:
    """Yield the sections about an agent: goal, observation, thoughts, beliefs, then numbers.

    Thoughts of a program or a search come before the observation, because they are short; a model's prompt
    comes after it.
    """
    seats = {} if snapshot.view is None else {each.agent: each for each in snapshot.view.agents}
    yield from _goal(snapshot, seats)
    if snapshot.joint_group is not None and (
        mates := snapshot.joint_group.sentence(snapshot.agent, tuple(seats.values()))
    ):
        yield "Decides together with", mates, "text"
    parts = [_observation(snapshot), _decision(snapshot, seats.get(snapshot.agent))]
    if snapshot.turn is not None and snapshot.turn.is_decision:
        parts.reverse()
    for part in parts:
        yield from part
    if snapshot.believes:
        yield "Believes", snapshot.believes, "text"
    if snapshot.observed is not None:
        yield from _numbers(snapshot.observed)


def _observation(mind: AgentSnapshot) -> Iterator[Section]:
    if mind.observed is None and mind.trouble:
        yield "Observes", mind.trouble, "muted"
    if mind.observed is not None and mind.observed.text:
        yield f"Observes at step {mind.observed.step}", mind.observed.text, "text"


def _goal(mind: AgentSnapshot, seats: dict[AgentID, AgentView]) -> Iterator[Section]:
    """Yield the goal that an agent pursues or sets for another agent."""
    managing = mind.agent.endswith(GOAL_SUFFIX)
    pursuer = seats.get(mind.agent.removesuffix(GOAL_SUFFIX))
    if pursuer is None:
        return
    manager = seats.get(f"{pursuer.agent}{GOAL_SUFFIX}")
    # A new goal applies from the pursuer's next action on; only the option says from which step.
    goal = manager.action if manager is not None and manager.action else pursuer.option
    if goal == pursuer.option:
        goal = option_words(pursuer)
    if manager is not None and mind.view is not None and manager.agent in mind.view.turn:
        goal = f"{goal}; the next goal is being chosen" if goal else "The first goal is being chosen"
    if managing:
        does = f"\nLast action of {pursuer.agent}: {pursuer.action}" if pursuer.action else ""
        yield f"Goal for {pursuer.agent}", f"{goal}{does}", "text"
    elif goal:
        yield "Goal", f"{goal}{f', set by {manager.agent}' if manager is not None else ''}", "text"


def _decision(mind: AgentSnapshot, seat: AgentView | None) -> Iterator[Section]:
    turn = mind.turn
    if turn is not None:
        for heading, words, color in sections(turn, action=mind.action):
            if heading in (COME, GONE) and mind.believes:
                continue  # all beliefs follow; the transcript has the changes
            if heading == SCORES and turn.considered:
                continue  # the search tree shows them
            yield f"{heading} (step {turn.step})" if heading == "Played" else heading, words, color
    elif seat is not None and seat.action:
        how = source_words(seat)
        parts = [f"{seat.action} ({how})" if how else seat.action, f"reward {number_words(seat.reward)}"]
        if seat.value is not None:
            parts.append(f"expects a value of {number_words(seat.value)}")
        yield "Last action", "\n".join(parts), "text"


def _numbers(observed: AgentObservation) -> Iterator[Section]:
    """Yield the preprocessed observation that a policy receives, and its legal actions."""
    if observed.preprocessing:
        yield "Preprocessing", observed.preprocessing, "text"
    if observed.fed:
        after = "after preprocessing" if observed.preprocessing else "as numbers"
        yield f"Observation {after}", observed.fed, "muted"
    if observed.legal:
        some = count(len(observed.legal), "action")
        yield f"Legal: {some}", ", ".join(observed.legal), "muted"
