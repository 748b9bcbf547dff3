"""Types that environment, engine and policies exchange.

Objects that are made for each decision are not frozen dataclasses, because these take several times as long
to make. Questions and answers are structs, which cost a third of a ``NamedTuple``; the others are named
tuples.
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
"""Points in the environment's coordinates through which a player intends to go."""
PLAN_POINTS: Final = "plan_points"
"""Field of an action's record that holds the points of the plan."""
PLANNED: Final = "planned"
"""Field that holds the predicted course of a plan: its rewards and controls for each step ahead."""
CAUSE: Final = "cause"
"""Field with the reason why an answer could not be played, as an ``UnusableCause``."""
REFUSED: Final = "refused"
"""Field with a sentence why an answer could not be played, in the record of the substitute action."""
CLOCK: Final = "clock_s"
"""Field with the seconds that an agent still has after its move, in games with a clock."""
WORD: Final = "word"
"""Field with an action in the game's own notation, such as ``Nf3`` or ``column 4``, if it has one."""
Mask = NDArray[np.bool_] | NDArray[np.int8]
"""Action mask: 1-D, one entry per action of a ``Discrete`` space (or the concatenated masks of the components
of a ``MultiDiscrete``); non-zero means legal."""


class StepResult(NamedTuple):
    """The result of one call of :meth:`ParadigmAdapter.step`.

    Attributes:
        observations: Observation of each agent that acts next. An agent that has ended also has its final
            observation, if the environment gives one.
        rewards: Reward that became known with this step, by agent. In turn-based environments this includes
            agents that acted earlier (late rewards).
        terminated: By agent, whether the environment reached an end state.
        truncated: By agent, whether a limit cut the agent off.
        infos: The environment's ``info`` by agent, unchanged.
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
    """A legal action and its word, in environments whose words depend on the position (chess: ``"e2e4"``)."""

    action: int
    word: str


class Shown(NamedTuple):
    """What a slot receives besides its observation, for policies that read text or see images.

    Attributes:
        text: The observation as text.
        image: PNG of a picture; ``b""`` if the slot requested none.
        messages: Messages of teammates since the last decision, such as ``"green_1: I go left"``.
        choices: The legal actions as words, if the words depend on the position.
        facts: The observation as ground facts, such as ``"door(yellow, locked, 2, -1)"``.
        state: The simulator's whole state.
    """

    text: str = ""
    image: bytes = b""
    messages: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()
    facts: tuple[str, ...] = ()
    state: tuple[float, ...] = ()


class Decision(Struct, frozen=True, gc=False):
    """A question to one agent: an observation for which a policy must choose an action.

    Attributes:
        id: Unique within a session; answers refer to it.
        episode: Episode index.
        step: Environment step within the episode, from 0.
        agent_id: Agent that acts.
        slot: Configured slot whose policy is asked; equals ``agent_id`` unless seats are swapped.
        seed: Policy seed of (episode, agent), derived by :mod:`gym_gui.core.seeding`.
        observation: The environment's observation without the action mask.
        encoded: The observation in encoded form: one ``bytes`` per leaf of the observation space.
        action_mask: Mask of the legal actions, or ``None`` if all actions are legal.
        info: The environment's info for this agent.
        attempt: 0 for the first question, then 1, 2, … for retries.
        reason: Why the previous attempt was refused, empty at the first.
        shown: The observation as text or as a picture, for slots that requested it.
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
    """The answer to a decision.

    There are exactly three cases. The ``action`` is usable (``invalid`` and ``failure`` are empty). Or the
    answer is unusable (``invalid`` says why, and the slot's ``on_invalid`` rule decides). Or the policy is
    broken (``failure`` says why, and the episode ends).

    Attributes:
        decision: The decision that is answered.
        action: An element of the action space and legal, unless ``invalid`` or ``failure`` is set.
        invalid: Why the answer cannot be played.
        failure: Why the policy can give no answer.
        latency_ms: Milliseconds from the question to the answer.
        extras: Optional fields of the row: ``value``, ``tokens``, ``call_ref``, ``option``, ``human``,
            ``said``.
        loss: How the worker was lost, if ``failure`` is set because of that; the policy may be blameless.
        limit: The limit that was reached, if ``failure`` is set because of that and nothing is broken.
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
    """The result of an earlier decision, for policies that learn or remember.

    Attributes:
        episode: Episode index.
        step: Step of the decision.
        agent_id: Agent that acted.
        slot: Configured slot whose policy chose the action.
        observation: The agent's next observation (or its last, when it ended).
        encoded: The observation in encoded form.
        action: The action that was played.
        reward: Sum of rewards until the agent acts again or ends; NaN if the slot does not receive rewards.
        terminated: Whether the environment ended for the agent.
        truncated: Whether a limit cut the agent off.
        info: The environment's info for this result.
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
    """Data that an in-process :class:`~gym_gui.core.protocols.Actor` receives for a decision or its result.

    Attributes:
        step_index: Environment step within the episode, from 0.
        observation: The agent's observation.
        reward: Reward since this agent's last action.
        terminated: Whether the environment ended for this agent.
        truncated: Whether a limit cut this agent off.
        agent_id: The agent, ``"agent_0"`` in single-agent environments.
        episode_index: Index of the episode in its run.
        seed: Policy seed for this agent and episode, or ``None`` outside a session.
        action_mask: Mask of the legal actions, or ``None`` if all actions are legal.
        info: The environment's info for this agent.
        action: In :meth:`on_step`, the action that was played (the engine may have substituted it).
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
        """Indices of the legal actions, or ``None`` if all actions are legal."""
        return legal_indices(self.action_mask)


@dataclass(slots=True)
class EpisodeSummary:
    """Summary of an episode that a policy receives at the episode's end.

    Attributes:
        episode_index: Index of the episode in its run.
        total_reward: This agent's return (sum of rewards).
        steps: Environment steps.
        seed: The environment's seed.
        agent_id: The agent of the policy.
        status: ``completed``, ``failed`` or ``aborted``.
        metadata: Further information.
    """

    episode_index: int = 0
    total_reward: float = 0.0
    steps: int = 0
    seed: int | None = None
    agent_id: AgentID = "agent_0"
    status: str = "completed"
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])


def legal_indices(mask: Mask | None) -> list[int] | None:
    """Return the indices of non-zero entries of ``mask``; ``None`` means that every action is legal."""
    return None if mask is None else [int(i) for i in np.flatnonzero(mask)]
