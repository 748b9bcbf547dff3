"""What one seat of a recorded episode saw, while that is stepped through again."""

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
    """Tells what a seat is shown, preprocessed as its policy had it where that is still known.

    Args:
        seat: The seat that is looked from.
        index: Number of the episode.
        environment: In which it is stepped.
        player: Who had the seat; ``None`` where that is not known.
        info: Spaces of that slot; likewise.
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
        """Prepare what the slot saw; where its worker or policy is gone, the observation itself is shown."""
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

    def look(self, pending: Sequence[Decision]) -> AgentObservation | None:
        """What it sees now, else what it saw last; each of its questions has to be shown here.

        Args:
            pending: What is asked now.
        """
        decision = next((each for each in pending if each.agent_id == self._seat), None)
        if decision is None:
            return self._last
        fed = None if self._streams is None else self._streams.fed(decision)
        self._last = observation_of(self._environment, decision, self._view, fed)
        return self._last
