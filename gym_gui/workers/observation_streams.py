"""Preprocesses a slot's observations as in its policy's training, with a separate stream per episode."""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

from gym_gui.core.spaces import Parts, Space, SpaceCodec
from gym_gui.core.types import Decision
from mosaic_worker.preprocessing import Pipeline, Stream, describe_steps

_log = logging.getLogger(__name__)

_SPARE = 64
"""Number of streams of finished episodes that are kept for reuse, because making a stream is expensive."""


class PreprocessedObservation(NamedTuple):
    """Observation in the form that a policy gets, after preprocessing.

    Attributes:
        space: Space of the observation.
        value: The observation.
        steps: The preprocessing steps, in words.
    """

    space: Space
    value: Any
    steps: str = ""


class EpisodeStreams:
    """Preprocesses the observations of one slot, in any number of episodes at once.

    Each observation is processed once, even if several questions contain it (a retry, or the result of an
    action whose next question has the same observation), because a frame stack must not get it twice.

    Args:
        pipeline: The preprocessing steps.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._codec = SpaceCodec(pipeline.input_space)
        self._streams: dict[int, Stream] = {}
        self._played: dict[int, Pipeline] = {}
        self._seen: dict[int, tuple[Parts, Parts]] = {}
        self._spare: dict[Pipeline, list[Stream]] = {}

    def begin(self, episode: int, agent: str) -> None:
        """Begin an episode in which the slot plays this agent."""
        self._played[episode] = self._pipeline.of(agent)

    def see(self, episode: int, observation: Any, encoded: Parts) -> Parts:
        """Return the next observation of an episode, preprocessed and encoded.

        Args:
            episode: Index of the episode.
            observation: The environment's observation.
            encoded: The encoded observation; the same object means the same observation.

        Raises:
            Exception: A preprocessing step raised it for this observation.
        """
        last = self._seen.get(episode)
        if last is not None and last[0] is encoded:
            return last[1]
        stream = self._streams.get(episode)
        if stream is None:
            pipeline = self._played.get(episode, self._pipeline)
            spare = self._spare.get(pipeline)
            stream = self._streams[episode] = spare.pop() if spare else pipeline.stream()
            stream.reset()
        parts = self._codec.encode(stream.apply(observation))
        self._seen[episode] = encoded, parts
        return parts

    def seen(self, episode: int) -> Parts:
        """Return the newest preprocessed observation of an episode, encoded."""
        return self._seen[episode][1]

    def fed(self, decision: Decision) -> PreprocessedObservation | None:
        """Return an open question's observation after preprocessing, for people who watch.

        The worker gets the same value later, because each observation is preprocessed once.

        Args:
            decision: The open question of an episode.

        Returns:
            The observation; ``None`` if the episode does not run, or if a preprocessing step fails. Such an
                error is raised when the worker is asked.
        """
        pipeline = self._played.get(decision.episode)
        if pipeline is None:
            return None
        try:
            parts = self.see(decision.episode, decision.observation, decision.encoded)
            return PreprocessedObservation(
                self._codec.space, self._codec.decode(parts), describe_steps(pipeline.steps)
            )
        except Exception as exc:  # the border to Gymnasium's wrappers
            _log.info("%s is shown without preprocessing: %s", decision.agent_id, exc)
            return None

    def end(self, episode: int) -> None:
        """End an episode and keep its stream for reuse."""
        self._seen.pop(episode, None)
        stream, pipeline = self._streams.pop(episode, None), self._played.pop(episode, self._pipeline)
        spare = self._spare.setdefault(pipeline, [])
        if stream is not None and len(spare) < _SPARE:
            spare.append(stream)
