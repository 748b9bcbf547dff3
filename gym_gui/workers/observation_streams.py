"""Observations of a slot as its policy was trained to see them, a stream for each episode."""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

from gym_gui.core.spaces import Parts, Space, SpaceCodec
from gym_gui.core.types import Decision
from mosaic_worker.preprocessing import Pipeline, Stream, describe_steps

_log = logging.getLogger(__name__)

_SPARE = 64
"""Streams of episodes that are over which are kept for later ones: making one costs more than using it."""


class Fed(NamedTuple):
    """An observation as a policy gets it.

    Attributes:
        space: What it is of.
        value: The observation.
        steps: What was done to it before, in words.
    """

    space: Space
    value: Any
    steps: str = ""


class EpisodeStreams:
    """Preprocesses what one slot sees, in any number of episodes at once.

    An observation is worked on once, however often it is asked about (a retry, or the result
    of an action whose next question shows the same): a frame stack must not see it twice.

    Args:
        pipeline: The steps.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._codec = SpaceCodec(pipeline.input_space)
        self._streams: dict[int, Stream] = {}
        self._played: dict[int, Pipeline] = {}
        self._seen: dict[int, tuple[Parts, Parts]] = {}
        self._spare: dict[Pipeline, list[Stream]] = {}

    def begin(self, episode: int, agent: str) -> None:
        """An episode begins, in which the slot plays an agent."""
        self._played[episode] = self._pipeline.of(agent)

    def see(self, episode: int, observation: Any, encoded: Parts) -> Parts:
        """The next observation of an episode, in wire form of the pipeline's input space.

        Args:
            episode: Its index.
            observation: As the environment gave it.
            encoded: The same in wire form; the same object means the same observation.

        Raises:
            Exception: Whatever a step says to an observation that it cannot take.
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
        """What :meth:`see` returned last for an episode."""
        return self._seen[episode][1]

    def fed(self, decision: Decision) -> Fed | None:
        """What :meth:`see` makes of the newest observation, decoded: for people who watch, also before the
        worker is asked. The worker then gets the same, as each observation is preprocessed once.

        Args:
            decision: The open question of an episode.

        Returns:
            ``None`` where the episode is not on, or where a preprocessing step fails; the question to the
            worker then raises the error.
        """
        pipeline = self._played.get(decision.episode)
        if pipeline is None:
            return None
        try:
            parts = self.see(decision.episode, decision.observation, decision.encoded)
            return Fed(self._codec.space, self._codec.decode(parts), describe_steps(pipeline.steps))
        except Exception as exc:  # the border to Gymnasium's wrappers
            _log.info("%s is shown without preprocessing: %s", decision.agent_id, exc)
            return None

    def end(self, episode: int) -> None:
        """An episode is over."""
        self._seen.pop(episode, None)
        stream, pipeline = self._streams.pop(episode, None), self._played.pop(episode, self._pipeline)
        spare = self._spare.setdefault(pipeline, [])
        if stream is not None and len(spare) < _SPARE:
            spare.append(stream)
