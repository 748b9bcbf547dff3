"""Converts one agent's observation into text, numbers and a picture for people who watch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gym_gui.core.agent_observation import AgentObservation
from gym_gui.core.drawing.packed_picture import pack
from gym_gui.core.experiment.prompt_inputs import PromptInputs
from gym_gui.core.spaces import Space, to_space
from gym_gui.core.types import Decision, Mask
from gym_gui.envs import Environment
from gym_gui.envs.describers.value_words import value_text
from gym_gui.workers.observation_streams import PreprocessedObservation
from mosaic_worker.failures import described

_T = TypeVar("_T")
_LONGEST = 20_000
"""Largest number of characters of an observation's text that are shown."""
_MOST_LEGAL = 60
_LEAST_SIDE = 24
"""Smallest length in pixels of an array's two longest axes for which the array is shown as a picture."""
_MOST_FRAMES = 8
_BETWEEN = 4
"""Number of pixels between the frames of a stack."""
_OBSERVED_CAPTION = "Observed picture"
_DRAWN = "Picture of the observation"


def observation_of(
    environment: Environment,
    decision: Decision,
    view: PromptInputs | None = None,
    fed: PreprocessedObservation | None = None,
) -> AgentObservation:
    """Return an agent's observation in the form that is shown to people who watch.

    Args:
        environment: The environment, in the state in which the agent is asked.
        decision: The agent's open question.
        view: Prompt inputs of the agent's slot, or ``None``.
        fed: The observation after preprocessing, or ``None`` if nothing is preprocessed.
    """
    agent = decision.agent_id
    given = fed or PreprocessedObservation(
        to_space(environment.adapter.observation_space(agent)), decision.observation
    )
    text = _in_words(environment, decision, view)
    numbers = _tried(lambda: value_text(given.space, given.value))
    picture, caption = _tried(lambda: _picture_in(given.space, given.value)), _OBSERVED_CAPTION
    if picture is None and "whole" not in environment.pictures(agent):  # the whole game is shown anyway
        picture, caption = (
            _tried(lambda: environment.seat_picture(agent, decision.observation)),
            _DRAWN,
        )
    return AgentObservation(
        agent,
        decision.step,
        text=_cut(text),
        fed="" if numbers is None or numbers == text else _cut(numbers),
        preprocessing=given.steps,
        legal=_legal(environment, decision.agent_id, decision.action_mask),
        caption=caption if picture is not None else "",
        picture=None if picture is None else pack(picture),
    )


def _in_words(environment: Environment, decision: Decision, view: PromptInputs | None) -> str:
    """Return the observation as the text that the worker got, or that a worker which reads text would get."""
    if decision.shown is not None and decision.shown.text:
        return decision.shown.text
    agent = decision.agent_id
    if not environment.describer(agent).can_say(agent):
        return ""
    asked = replace(view or PromptInputs(), text=True, image=False, facts=False, state=False, messages=False)
    try:
        return environment.show(agent, decision.observation, asked, decision.action_mask).text
    except Exception as exc:  # the border to describers' and environments' own code
        return f"The observation cannot be described: {described(exc)}"


def _legal(environment: Environment, agent: str, mask: Mask | None) -> tuple[str, ...]:
    if mask is None:
        return ()
    allowed = np.flatnonzero(np.asarray(mask))
    if len(allowed) == len(mask):
        return ()
    words = _tried(lambda: environment.action_meanings(agent)) or ()
    said = _tried(environment.legal_words) or {}
    start = to_space(environment.adapter.action_space(agent)).start
    first: list[int] = allowed[:_MOST_LEGAL].tolist()
    known = {start + i: word for i, word in enumerate(words) if word} | said
    told = [known.get(start + i, str(start + i)) for i in first]
    rest = len(allowed) - len(told)
    return (*told, *([f"and {rest} more"] if rest > 0 else ()))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}\n… {len(text) - _LONGEST:,} more characters"


def _tried(ask: Callable[[], _T]) -> _T | None:
    """Return the result of ``ask``; ``None`` if it raises, so that an environment's error stops no play."""
    try:
        return ask()
    except Exception:  # the border to environments' own code
        return None


# -- observations that are pictures ----------------------------------------------------------


def _picture_in(space: Space, value: Any) -> NDArray[np.uint8] | None:
    """Return the first picture in an observation as RGB; stacked frames are placed side by side."""
    if space.kind == "Dict":
        parts = ((child, value[key]) for key, child in space.spaces.items())
        return next((p for child, part in parts if (p := _picture_in(child, part)) is not None), None)
    if space.kind == "Tuple":
        pairs = zip(space.spaces.values(), value, strict=True)
        return next((p for child, part in pairs if (p := _picture_in(child, part)) is not None), None)
    if space.kind != "Box" or not 2 <= len(space.shape) <= 4 or sorted(space.shape)[-2] < _LEAST_SIDE:
        return None
    array = np.asarray(value)
    if array.dtype != np.uint8:
        low, high = float(np.min(space.low)), float(np.max(space.high))  # type: ignore[arg-type]
        if not -1e3 < low < high < 1e6:
            return None
        array = np.clip((array.astype(np.float32) - low) * (255.0 / (high - low)), 0, 255).astype(np.uint8)
    return np.ascontiguousarray(_as_rgb(array))


def _as_rgb(array: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return an array of two to four axes as an RGB picture of shape (height, width, 3)."""
    if array.ndim == 2:
        return np.repeat(array[:, :, None], 3, axis=2)
    if array.ndim == 4:
        return _beside([_as_rgb(frame) for frame in array[:_MOST_FRAMES]])
    small = int(np.argmin(array.shape))
    channels = array.shape[small]
    if small in (0, 2) and channels in (1, 3):
        picture = np.moveaxis(array, small, 2)
        return np.repeat(picture, 3, axis=2) if channels == 1 else picture
    frames = np.moveaxis(array, 2, 0) if small == 2 else array
    return _beside([_as_rgb(frame) for frame in frames[:_MOST_FRAMES]])


def _beside(frames: list[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    gap = np.zeros((frames[0].shape[0], _BETWEEN, 3), np.uint8)
    parts = [part for frame in frames for part in (frame, gap)]
    return np.concatenate(parts[:-1], axis=1)
