"""What passes between environment, engine and policies.

What is made once per agent decision is no frozen dataclass, which takes several times as long to
build. Questions and answers are structs, at a third of the cost of a ``NamedTuple``; others are that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from gym_gui.core.enums import Limit, Loss

AgentID = str
Plan = Sequence[Sequence[float]]
"""Points in the world through which a player means to go."""
PLAN_POINTS: Final = "plan_points"
"""The field of an action's record that holds them."""
PLANNED: Final = "planned"
"""The field that holds the course of a plan: what it is to earn, and its controls, by steps ahead."""
CAUSE: Final = "cause"
"""The field that says of what kind an answer is that cannot be played; see ``UnusableCause``."""
REFUSED: Final = "refused"
"""The field that says why the answer could not be played, in the record of what was played instead."""
CLOCK: Final = "clock_s"
"""The field that has the seconds that an agent has left after its move, of games on the clock."""
WORD: Final = "word"
"""The field that has an action in its game's own notation, of games that have one: ``Nf3``, ``column 4``."""
Mask = NDArray[np.bool_] | NDArray[np.int8]
"""1-D, one entry per action of a ``Discrete`` space (or the concatenation of a
``MultiDiscrete``'s components); non-zero means legal."""


class StepResult(NamedTuple):
    """What one call of :meth:`ParadigmAdapter.step` made known.

    Attributes:
        observations: For each agent that acts next, what it sees. At the end of an
            agent's life also its final observation, where the environment gives one.
        rewards: Reward that became known with this step, by agent. In turn-based
            environments this includes agents that acted earlier (late rewards).
        terminated: Agents for which the environment reached an end state.
        truncated: Agents cut off by a limit.
        infos: The environment's ``info`` by agent, passed on untouched.
    """

    observations: dict[AgentID, Any]
    rewards: dict[AgentID, float]
    terminated: dict[AgentID, bool]
    truncated: dict[AgentID, bool]
    infos: dict[AgentID, Mapping[str, Any]]

    @property
    def dones(self) -> dict[AgentID, bool]:
        """``terminated or truncated`` by agent."""
        return {a: done or self.truncated.get(a, False) for a, done in self.terminated.items()}


class Choice(NamedTuple):
    """A legal action and its word, where words depend on the position (chess: ``"e2e4"``)."""

    action: int
    word: str


class Shown(NamedTuple):
    """What a slot is shown beside its observation; for policies that read or look.

    Attributes:
        text: The observation in words.
        image: PNG of a picture, ``b""`` where none was asked for.
        messages: What teammates have said since the last decision, ``"green_1: I go left"``.
        choices: The legal actions in words, where the words depend on the position.
        facts: The observation as ground facts, ``"door(yellow, locked, 2, -1)"``.
        state: All of the simulator's state.
    """

    text: str = ""
    image: bytes = b""
    messages: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()
    facts: tuple[str, ...] = ()
    state: tuple[float, ...] = ()


class Decision(Struct, frozen=True, gc=False):
    """One question to one agent: this is what you see, what do you do?

    Attributes:
        id: Unique within a session; answers refer to it.
        episode: Episode index.
        step: Environment step within the episode, from 0.
        agent_id: Agent that acts.
        slot: Configured slot whose policy is asked: ``agent_id``, unless seats are swapped.
        seed: Policy seed of (episode, agent), derived by :mod:`gym_gui.core.seeding`.
        observation: As the environment gave it, the action mask taken out.
        encoded: The same in wire form: one ``bytes`` per leaf of the observation space.
        action_mask: Legal actions, or ``None`` where all are.
        info: The environment's info for this agent.
        attempt: 0 at the first ask, then 1, 2, … for retries.
        reason: Why the previous attempt was refused, empty at the first.
        shown: The observation in words or as a picture, for slots that asked for it.
    """

    id: int
    episode: int
    step: int
    agent_id: AgentID
    slot: AgentID
    seed: int
    observation: Any
    encoded: tuple[bytes, ...]
    action_mask: Mask | None = None
    info: Mapping[str, Any] | None = None
    attempt: int = 0
    reason: str = ""
    shown: Shown | None = None


class Answer(Struct, frozen=True, gc=False):
    """What came back for a decision.

    Exactly one of three cases: a usable ``action`` (``invalid`` and ``failure``
    empty); an unusable one (``invalid`` says why, the slot's ``on_invalid`` rule
    decides); or a policy that is broken (``failure`` says why, the episode ends).

    Attributes:
        decision: The question this answers.
        action: In the action space and legal, unless ``invalid`` or ``failure`` is set.
        invalid: Why the reply cannot be played.
        failure: Why no reply can be had from this policy.
        latency_ms: Milliseconds from the ask to the answer.
        extras: Optional row fields: ``value``, ``tokens``, ``call_ref``, ``option``, ``human``, ``said``.
        loss: With ``failure``, where the worker was lost and its policy may be blameless.
        limit: With ``failure``, where nothing is broken and a limit was reached.
    """

    decision: Decision
    action: Any = None
    invalid: str = ""
    failure: str = ""
    latency_ms: float = 0.0
    extras: Mapping[str, Any] | None = None
    loss: Loss | None = None
    limit: Limit | None = None


class StepOutcome(NamedTuple):
    """What an earlier decision led to, for policies that learn or remember.

    Attributes:
        episode: Episode index.
        step: Step of the decision.
        agent_id: Agent that acted.
        slot: Configured slot whose policy chose.
        observation: What the agent saw next (or last, when it ended).
        encoded: The same in wire form.
        action: What was played.
        reward: Sum of rewards until the agent acts again or ends; NaN where the slot is not told.
        terminated: The environment ended for the agent.
        truncated: A limit cut the agent off.
        info: The environment's info that came with it.
    """

    episode: int
    step: int
    agent_id: AgentID
    slot: AgentID
    observation: Any
    encoded: tuple[bytes, ...]
    action: Any
    reward: float
    terminated: bool
    truncated: bool
    info: Mapping[str, Any]


@dataclass(slots=True)
class StepSnapshot:
    """What an in-process :class:`~gym_gui.core.protocols.Actor` is shown.

    Attributes:
        step_index: Environment step within the episode, from 0.
        observation: What the agent sees.
        reward: Reward since this agent's last move.
        terminated: Whether the environment ended for this agent.
        truncated: Whether a limit cut this agent off.
        agent_id: The agent, ``"agent_0"`` in single-agent environments.
        episode_index: Index of the episode in its run.
        seed: Policy seed for this agent and episode, or ``None`` outside a session.
        action_mask: Legal actions, or ``None`` where all are.
        info: The environment's info for this agent.
        action: In :meth:`on_step`, what was really played (the engine may have substituted it).
    """

    step_index: int = 0
    observation: Any = None
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False
    agent_id: AgentID = "agent_0"
    episode_index: int = 0
    seed: int | None = None
    action_mask: Mask | None = None
    info: Mapping[str, Any] = field(default_factory=dict[str, Any])
    action: Any = None

    @property
    def legal_actions(self) -> list[int] | None:
        """Indices of legal actions, or ``None`` where all actions are legal."""
        return legal_indices(self.action_mask)


@dataclass(slots=True)
class EpisodeSummary:
    """What a policy gets when an episode is over.

    Attributes:
        episode_index: Index of the episode in its run.
        total_reward: This agent's return (sum of rewards).
        steps: Environment steps.
        seed: The environment's seed.
        agent_id: The agent of the policy.
        status: ``completed``, ``failed`` or ``aborted``.
        metadata: Whatever else is known.
    """

    episode_index: int = 0
    total_reward: float = 0.0
    steps: int = 0
    seed: int | None = None
    agent_id: AgentID = "agent_0"
    status: str = "completed"
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])


def legal_indices(mask: Mask | None) -> list[int] | None:
    """Indices of non-zero entries of ``mask``; ``None`` means every action is legal."""
    return None if mask is None else [int(i) for i in np.flatnonzero(mask)]
