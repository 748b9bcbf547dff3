"""The contract test on an environment by name (``mosaic envs check ID``)."""

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
    """Check an environment, its pictures too where it advertises ``rgb_array``.

    Args:
        task: What :func:`gym_gui.envs.resolve` accepts.
        env_name: Family hint.
        api: Interface.
        env_kwargs: Keyword arguments for the environment.
        seeds: Episodes to play; at least two different ones.
        steps: Longest stretch of an episode that is played.
        on_call: Told what the environment is asked next.

    Raises:
        UsageError: There is no such environment, or it cannot be made.
    """
    spec = resolve(task, env_name=env_name, api=api)

    def made(render_mode: str | None = None) -> ParadigmAdapter:
        return make(spec, render_mode=render_mode, env_kwargs=env_kwargs).adapter

    return check_environment(
        made, seeds=seeds, steps=steps, make_rendered=lambda: made("rgb_array"), on_call=on_call
    )
