"""Functions that describe an episode and its agents in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gym_gui.analysis.words import wording
from gym_gui.controllers.setup.check_message import listed
from gym_gui.core.config import OperatorConfig
from gym_gui.core.enums import ActionSource
from gym_gui.core.live import AgentView, LiveView
from gym_gui.core.types import AgentID
from gym_gui.ui.numbers import local, screen
from gym_gui.ui.renderers.joint_agents import JointGroup, joint_groups_of


@dataclass(frozen=True, slots=True)
class SlotPlayer:
    """Policy or person that plays a slot.

    Attributes:
        kind: Kind of agent (``rl``, ``llm``, ``human``, …), which determines the color.
        player: Display name, for example ``PPO solo expert`` or ``you``.
        together: Link to the other slots that the same joint policy plays; ``None`` for a policy of one slot.
    """

    kind: str = "baseline"
    player: str = ""
    joint_group: JointGroup | None = None


def slot_players(
    config: OperatorConfig, names: Mapping[AgentID, str] | None = None
) -> dict[AgentID, SlotPlayer]:
    """Return the policy or person that plays each slot of an operator.

    Args:
        config: The operator.
        names: Display names by slot; slots without an entry get an empty name.
    """
    names, links = names or {}, joint_groups_of(config.link_groups)
    return {
        slot: SlotPlayer(player.worker_type, names.get(slot, ""), links.get(slot))
        for slot, player in config.resolved_slots().items()
    }


_NOT_ITS_OWN: Final = {
    ActionSource.RETRY: "after a retry",
    ActionSource.RANDOM_LEGAL: "random instead",
    ActionSource.NOOP: "no action instead",
    ActionSource.DEFAULT: "default instead",
}
"""Texts for action sources other than the agent's own first answer, such as a random replacement."""


def seat_words(agent: AgentView) -> str:
    """Return the display name of a seat: the game's name (``White``), else the environment's."""
    return agent.name or agent.agent


def source_words(agent: AgentView) -> str:
    """Return who chose an action if it was not the agent's own first answer, such as ``random instead``;
    else ``""``.
    """
    words = [words for source, words in _NOT_ITS_OWN.items() if source == agent.source]
    return ", ".join([*([f"by {agent.by}"] if agent.by else []), *words])


def number_words(value: float) -> str:
    """Return a reward or value in short form: ``0.82``, ``-12.5``, ``1,250``."""
    size = abs(value)
    text = f"{value:,.0f}" if size >= 1000 else f"{value:.1f}" if size >= 100 else f"{value:.2f}"
    return screen().write(text.removeprefix("-") if not text.strip("-0.,") else text)


def _named(team: str) -> str:
    """Return a team name with a capital letter; ids such as ``player_0`` stay unchanged."""
    return team.capitalize() if team.isalpha() else team


def score_words(view: LiveView) -> str:
    """Return the score, such as ``Green 1 : 0 Blue``; ``""`` if the environment keeps no score."""
    if not view.scores:
        return ""
    scores = [(_named(name), f"{local(value):g}") for name, value in view.scores.items()]
    if len(scores) == 2:
        (first, one), (second, other) = scores
        return f"{first} {one} : {other} {second}"
    return " · ".join(f"{name} {value}" for name, value in scores)


def outcome_words(view: LiveView) -> str:
    """Return the outcome, such as ``Green wins`` or ``Draw``; ``""`` if there is none."""
    if not view.over or not view.outcome:
        return ""
    if view.result:
        return view.result
    winners = [_named(name) for name, result in view.outcome.items() if result == "win"]
    if not winners:
        return "Draw" if any(result == "draw" for result in view.outcome.values()) else ""
    return f"{winners[0]} wins" if len(winners) == 1 else f"{' and '.join(winners)} win"


def facts_in_words(view: LiveView) -> str:
    """Return score or return, step, and outcome of a finished episode: ``Return 12.0 · step 12``."""
    parts = [score_words(view)] if view.scores else []
    if len(view.agents) == 1 or not view.scores:
        total = sum(agent.total for agent in view.agents)
        parts.append(f"Return {wording.number(total, locale=screen())}")
    parts.append(f"step {view.step}")
    if view.over:
        outcome = outcome_words(view) or ("" if view.over == "completed" else view.over)
        parts += [outcome] if outcome else []
    return " · ".join(part for part in parts if part)


def agent_sentence(
    agent: AgentView, seat: SlotPlayer, *, to_move: bool, agents: Sequence[AgentView] = ()
) -> str:
    """Return all facts about one agent as a sentence, for a tooltip and for screen readers.

    Args:
        agent: The agent.
        seat: Policy or person that plays the agent's slot.
        to_move: Whether it is the agent's turn while other agents wait.
        agents: All agents of the episode; needed to name agents that share a policy with the agent.
    """
    name = seat_words(agent)
    who = f"{name}, played by {seat.player}" if seat.player else name
    did = f"last action {agent.action}" if agent.action else "no action yet"
    source = ": ".join(filter(None, (source_words(agent), agent.refused)))
    parts = [
        f"{did} ({source})" if source else did,
        f"reward {number_words(agent.reward)}, return {number_words(agent.total)}",
    ]
    if agent.value is not None:
        parts.append(f"expects a value of {number_words(agent.value)}")
    if agent.option:
        parts.append(f"follows the option {option_words(agent)}")
    if agent.latency_ms:
        parts.append(f"chose in {local(agent.latency_ms):.1f} ms")
    if agent.unusable:
        decisions = "decision" if agent.unusable == 1 else "decisions"
        parts.append(f"{agent.unusable} {decisions} without a usable reply")
    mates = seat.joint_group.other_agents(agent.agent, agents) if seat.joint_group is not None else []
    if seat.joint_group is not None and mates:
        parts.append(f"one policy (link {seat.joint_group.letter}) plays it together with {listed(mates)}")
    if to_move:
        parts.append("is to move")
    return f"{who}: {'; '.join(parts)}."


def option_words(agent: AgentView) -> str:
    """Return the option that an agent follows and the step at which it began: ``go to(yellow key) since
    step 4``.
    """
    if agent.option_since is None:
        return agent.option
    return f"{agent.option} since step {agent.option_since}"


def view_sentence(view: LiveView, seats: Mapping[AgentID, SlotPlayer]) -> str:
    """Return score, outcome and facts about every agent as sentences."""
    head = [words for words in (score_words(view), outcome_words(view)) if words]
    waiting = on_turn(view)
    agents = [
        agent_sentence(
            agent,
            seats.get(agent.slot, SlotPlayer()),
            to_move=agent.agent in waiting,
            agents=view.agents,
        )
        for agent in view.agents
    ]
    return " ".join([*(f"{words}." for words in head), *agents])


def on_turn(view: LiveView) -> frozenset[AgentID]:
    """Return the agents whose turn it is while others wait; empty if all agents act at once."""
    return frozenset(view.turn) if 0 < len(view.turn) < len(view.agents) else frozenset()
