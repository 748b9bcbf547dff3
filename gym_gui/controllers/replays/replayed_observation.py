"""Shows one seat's observations while a recorded episode is replayed."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from gym_gui.controllers.human.agent_views import observation_of
from gym_gui.core.agent_observation import AgentObservation
from gym_gui.core.errors import MosaicError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.experiment.prompt_inputs import PromptInputs
from gym_gui.core.types import AgentID, Decision
from gym_gui.envs import Environment
from gym_gui.services.backends import SlotInfo
from gym_gui.services.compatibility import pipeline_of
from gym_gui.workers.discovery import find_workers
from gym_gui.workers.observation_streams import EpisodeStreams
from gym_gui.workers.registry import WorkerTypeRegistry
from mosaic_worker.preprocessing import PreprocessingError

_log = logging.getLogger(__name__)


class ReplayedObservations:
    """Observations of one seat in a replay, preprocessed as for the seat's policy if that is known.

    Args:
        seat: The seat.
        index: Index of the episode.
        environment: The environment in which the episode is stepped.
        player: Player of the seat; ``None`` if unknown.
        info: Spaces of the player's slot; ``None`` if unknown.
    """

    def __init__(
        self,
        seat: AgentID,
        index: int,
        environment: Environment,
        player: WorkerAssignment | None,
        info: SlotInfo | None,
    ) -> None:
        self._seat, self._index, self._environment = seat, index, environment
        self._view: PromptInputs | None = None
        self._streams: EpisodeStreams | None = None
        self._last: AgentObservation | None = None
        if player is not None and info is not None:
            self._prepare(player, info)

    def _prepare(self, player: WorkerAssignment, info: SlotInfo) -> None:
        """Find the prompt inputs and the preprocessing of the player's slot.

        If the worker or the policy no longer exists, observations are shown without preprocessing.
        """
        try:
            find_workers([player.worker_id])
            definition = WorkerTypeRegistry.require(player.worker_id)
            self._view = PromptInputs.of(definition.inputs.wanted, definition.with_defaults(player.settings))
            pipeline = pipeline_of(player, definition, info)
        except (MosaicError, PreprocessingError, OSError, ValueError) as exc:
            _log.info("%s is shown without preprocessing: %s", self._seat, exc)
            return
        if pipeline is not None:
            self._streams = EpisodeStreams(pipeline)
            self._streams.begin(self._index, self._seat)

    def current(self, pending: Sequence[Decision]) -> AgentObservation | None:
        """Return the seat's current observation, or its last one if the seat is not to act now.

        Call this with each of the seat's questions, because preprocessing may depend on earlier observations.

        Args:
            pending: Decisions of the current round.
        """
        decision = next((each for each in pending if each.agent_id == self._seat), None)
        if decision is None:
            return self._last
        fed = None if self._streams is None else self._streams.fed(decision)
        self._last = observation_of(self._environment, decision, self._view, fed)
        return self._last
