"""Makes environments with one agent by their name, with the preprocessing of a policy."""

# Values returned by environments are untyped.

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from importlib import import_module
from typing import Any, Mapping, Optional, Sequence

import gymnasium as gym

from mosaic_worker import environments
from mosaic_worker.failures import one_line, with_place
from mosaic_worker.learning.mask_wrapper import mask_beside_in_info
from mosaic_worker.learning.training_command import ConfigError
from mosaic_worker.preprocessing import PreprocessingError, wrap

Steps = Sequence[Mapping[str, Any]]

_PACKAGES = {
    "MiniGrid-": "minigrid",
    "BabyAI-": "minigrid",
    "ALE/": "ale_py",
    "Skills/": "gym_gui.envs.gymnasium_ids",
    "SingleAgent/": "gym_gui.envs.gymnasium_ids",
}
"""Packages that register environments whose ids begin with these prefixes."""


def make_single(env_id: str, render_mode: Optional[str] = None, ours: Sequence[str] = ()) -> Any:
    """Make one environment with one agent.

    Args:
        env_id: Id as for :func:`mosaic_worker.environments.make_environment`.
        render_mode: Render mode for environments that take one; ``None`` for no rendering.
        ours: Packages whose lines are left out of error messages.

    Raises:
        ConfigError: The id is unknown, or a package is missing.
    """
    package = next((name for head, name in _PACKAGES.items() if env_id.startswith(head)), "")
    try:
        if package and env_id not in gym.registry:
            (environments.mosaic_module if package.startswith("gym_gui.") else import_module)(package)
        return environments.make_environment(env_id, render_mode)
    except (gym.error.Error, ImportError, ValueError, TypeError, AttributeError) as error:
        raise ConfigError(
            with_place(f"environment {env_id!r} cannot be made: {one_line(error)}", error, ours)
        ) from error


def prepared(env: Any, steps: Steps, env_id: str) -> Any:
    """Wrap an environment so that its observations are preprocessed.

    Args:
        env: The environment; it is closed if the steps do not fit.
        steps: Preprocessing steps.
        env_id: Name of the environment, for error messages.

    Raises:
        ConfigError: The steps do not fit the environment.
    """
    try:
        return wrap(env, list(steps)) if steps else env
    except PreprocessingError as error:
        env.close()
        raise ConfigError(f"observations of {env_id} cannot be prepared: {error}") from error


def make_prepared(
    env_id: str, steps: Steps = (), render_mode: Optional[str] = None, ours: Sequence[str] = ()
) -> Any:
    """Make one environment for a policy: legal actions in its info, observations preprocessed.

    The arguments are those of :func:`make_single` and :func:`prepared`.

    Raises:
        ConfigError: The environment cannot be made, or the steps do not fit.
    """
    return prepared(mask_beside_in_info(make_single(env_id, render_mode, ours)), steps, env_id)
