"""Backend that plays the recorded actions of a run in every slot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from gym_gui.controllers.engine.bound_operator import BoundOperator, Player
from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
from gym_gui.core.enums import Limit
from gym_gui.core.experiment.legality import problem_with
from gym_gui.core.experiment.prompt_inputs import PromptInputs
from gym_gui.core.plain_data import action_from_plain
from gym_gui.core.records import IN_PROCESS
from gym_gui.core.types import AgentID, Answer, Decision, EpisodeSummary, StepOutcome
from gym_gui.services.actor import ActorService
from gym_gui.services.backends import Sink, SlotInfo
from gym_gui.services.policy_mapping import PolicyMappingService
from gym_gui.workers.team_context import JoinedAgent

REPLAY = "replay"

RowsOf = Callable[[int], Iterable[Mapping[str, Any]]]
"""Function that returns an episode's step rows, as in ``steps.jsonl``, by episode index."""
OnAsked = Callable[[Decision], None]


class ReplayBackend:
    """Policy backend that answers in every slot with the recorded action.

    The recorded action is played no matter whether a policy, a retry or the engine's substitute chose it. If
    no action is recorded, the answer is a failure, because the record ends there.

    Args:
        slots: Spaces of every agent.
        rows: Returns an episode's rows when it begins.
        sink: Receives the answers.
        limited: Length in steps of episodes that ended at a limit of a player, by episode.
        on_asked: Called with every decision before it is answered.

    Attributes:
        gaps: First (step, agent) without a recorded action, by episode.
    """

    carrier = None
    exclusive = False
    wants_results = False

    def __init__(
        self,
        slots: Mapping[AgentID, SlotInfo],
        rows: RowsOf,
        sink: Sink,
        limited: Mapping[int, int] | None = None,
        on_asked: OnAsked | None = None,
    ) -> None:
        self._slots, self._rows, self._sink, self._limited = slots, rows, sink, limited or {}
        self._on_asked = on_asked
        self._actions: dict[int, dict[tuple[int, AgentID], Any]] = {}
        self._joined: dict[tuple[int, AgentID], SlotInfo] = {}
        self.gaps: dict[int, tuple[int, AgentID]] = {}

    def seat(self, episode: int, agent: AgentID, slot: SlotInfo) -> None:
        """Add the slot of an agent that has appeared in an episode."""
        self._joined[episode, agent] = slot

    def begin(
        self, episode: int, seed: int, agent_id: AgentID = "", joined: JoinedAgent | None = None
    ) -> None:
        if episode not in self._actions:  # called once for every slot
            recorded: dict[tuple[Any, Any], Any] = {}
            for row in self._rows(episode):
                recorded.setdefault((row.get("step_index"), row.get("agent_id")), row.get("action"))
            self._actions[episode] = recorded

    def ask(self, decisions: Sequence[Decision]) -> None:
        if self._on_asked is not None:
            for decision in decisions:
                self._on_asked(decision)
        self._sink([self._answer(d) for d in decisions])

    def _answer(self, d: Decision) -> Answer:
        recorded = self._actions[d.episode]
        if (d.step, d.agent_id) not in recorded:
            if self._limited.get(d.episode) == d.step:
                return Answer(d, failure="it ended here", limit=Limit.EPISODE)
            self.gaps.setdefault(d.episode, (d.step, d.agent_id))
            return Answer(d, failure="nothing is recorded for it")
        data = recorded[d.step, d.agent_id]
        info = self._joined.get((d.episode, d.agent_id)) or self._slots[d.agent_id]
        space = info.action_codec.space
        try:
            action = action_from_plain(space, data)
        except ValueError as exc:
            return Answer(d, failure=str(exc))
        # The mask is left out: a substituted no-op need not be legal.
        problem = problem_with(space, action)
        return Answer(
            d, action, failure=f"the recorded action cannot be played: {problem}" if problem else ""
        )

    def result(self, outcome: StepOutcome) -> None:
        """Do nothing, because recorded actions do not depend on results."""

    def end(self, summary: EpisodeSummary) -> None:
        self._actions.pop(summary.episode_index, None)
        self._joined = {at: slot for at, slot in self._joined.items() if at[0] != summary.episode_index}

    def settle(self) -> None:
        """Do nothing, because every answer is given at once."""


def replay_operator(
    resolved: ResolvedOperator,
    rows: RowsOf,
    limited: Mapping[int, int],
    views: Mapping[AgentID, PromptInputs] | None = None,
    on_asked: OnAsked | None = None,
) -> tuple[BoundOperator, ReplayBackend]:
    """Return a bound operator in which the record plays every slot; no worker is started.

    Args:
        resolved: The operator.
        rows: Returns an episode's rows when it begins.
        limited: Length in steps of episodes that ended at a limit of a player, by episode.
        views: Prompt inputs of slots, for people who watch.
        on_asked: Called with every decision before it is answered.

    Returns:
        The bound operator, and the backend that answers in all of its slots.
    """
    policies = PolicyMappingService(ActorService())
    backend = ReplayBackend(resolved.slots, rows, policies.collect, limited, on_asked)
    policies.actor_service.register_policy(REPLAY, backend)
    for slot in resolved.slots.values():
        policies.set_slot(slot)
        policies.bind_agent_policy(slot.agent_id, REPLAY)
    players = dict.fromkeys(resolved.slots, Player(IN_PROCESS, REPLAY, REPLAY))
    bound = BoundOperator(
        resolved.config.operator_id,
        resolved.make_environment,
        resolved.slots,
        resolved.seatings,
        policies,
        players,
        views=views or {},
    )
    return bound, backend
