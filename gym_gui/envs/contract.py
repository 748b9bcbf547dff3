"""Contract test of an environment, found by its name (``mosaic envs check ID``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gym_gui.core.paradigms.base import ParadigmAdapter
from gym_gui.core.paradigms.check import CheckReport, check_environment
from gym_gui.core.paradigms.random_episode import OnCall, quietly
from gym_gui.envs.environment_registry import make, resolve


def check(
    task: str,
    *,
    env_name: str | None = None,
    api: str | None = None,
    env_kwargs: Mapping[str, Any] | None = None,
    seeds: Sequence[int] = (0, 1),
    steps: int = 200,
    on_call: OnCall = quietly,
) -> CheckReport:
    """Check an environment against the contract of its interface, and its pictures if it has any.

    Args:
        task: A name for :func:`gym_gui.envs.resolve`.
        env_name: Family hint.
        api: Interface; by default the environment's own.
        env_kwargs: Keyword arguments for the environment.
        seeds: Seeds of the episodes to play; at least two different seeds.
        steps: Maximum number of steps of an episode that are played.
        on_call: Called before each call to the environment, with the call's name, seed and step.

    Raises:
        UsageError: The environment does not exist or cannot be made.
    """
    spec = resolve(task, env_name=env_name, api=api)

    def made(render_mode: str | None = None) -> ParadigmAdapter:
        return make(spec, render_mode=render_mode, env_kwargs=env_kwargs).adapter

    return check_environment(
        made, seeds=seeds, steps=steps, make_rendered=lambda: made("rgb_array"), on_call=on_call
    )
