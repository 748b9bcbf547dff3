"""Makes the preprocessing steps of a training from its settings."""

# Gymnasium's spaces are typed only in part.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any, Dict, List, Tuple

from gymnasium import spaces

from mosaic_worker.learning.training_settings import TrainingSettings
from mosaic_worker.preprocessing import check_steps

MAIN_ENTRIES = ("image", "observation", "rgb")
"""Names of the main entry of a Dict observation; the first one that exists is used."""


def entry_steps(config: TrainingSettings, space: Any) -> Tuple[List[Dict[str, Any]], Any]:
    """Return the steps that select entries of a ``Dict`` observation, and the space of the result.

    Args:
        config: Its ``select`` names the entries; if it is empty, the main entry or all numeric entries.
        space: Gymnasium observation space of the environment.
    """
    if not isinstance(space, spaces.Dict):
        return [], space
    main = next((key for key in MAIN_ENTRIES if isinstance(space.get(key), spaces.Box)), "")
    keys = config.selected or ([main] if main else [])
    if len(keys) == 1:
        return [{"step": "select", "key": keys[0]}], space.get(keys[0])
    return [{"step": "keep", "keys": keys or _numbers_in(space)}], space


def picture_steps(config: TrainingSettings) -> List[Dict[str, Any]]:
    """Return the preprocessing steps for the settings ``grayscale``, ``resize`` and ``frame_stack``."""
    steps: List[Dict[str, Any]] = []
    if config.grayscale:
        steps.append({"step": "grayscale"})
    if config.resize:
        steps.append({"step": "resize", "shape": [config.resize, config.resize]})
    if config.frame_stack > 1:
        steps.append({"step": "frame_stack", "size": config.frame_stack})
    return steps


def vector_steps(config: TrainingSettings, space: Any) -> List[Dict[str, Any]]:
    """Return the preprocessing steps that turn observations of ``space`` into vectors."""
    steps, shown = entry_steps(config, space)
    flat = isinstance(shown, spaces.Box) and len(shown.shape) == 1 and config.frame_stack == 1
    return check_steps([*steps, *picture_steps(config), *([] if flat else [{"step": "flatten"}])])


def _numbers_in(space: Any, within: str = "") -> List[str]:
    """Return the paths of all numeric entries of a ``Dict`` space; entries of text are left out."""
    paths: List[str] = []
    for key, entry in space.spaces.items():
        if isinstance(entry, spaces.Dict):
            paths += _numbers_in(entry, f"{within}{key}/")
        elif isinstance(entry, (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)):
            paths.append(f"{within}{key}")
    return paths
