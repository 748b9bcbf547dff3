"""Choose the adapter for an environment object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gym_gui.core.errors import UsageError
from gym_gui.core.paradigms.base import ParadigmAdapter
from gym_gui.core.paradigms.sequential import SequentialAdapter
from gym_gui.core.paradigms.simultaneous import SimultaneousAdapter
from gym_gui.core.paradigms.single_agent import SingleAgentAdapter
from gym_gui.core.types import AgentID
from mosaic_worker import interfaces
from mosaic_worker.interfaces import APIS


def api_of(env: Any) -> str:
    """Which interface ``env`` has; see :func:`mosaic_worker.interfaces.api_of`.

    Raises:
        UsageError: It is no environment.
    """
    try:
        return interfaces.api_of(env)
    except ValueError as error:
        raise UsageError(str(error)) from None


def adapt(
    env: Any,
    api: str | None = None,
    *,
    rename: Callable[[Any], AgentID] | None = None,
    info_mask: bool = True,
) -> ParadigmAdapter:
    """Wrap ``env`` in the adapter for its interface.

    Args:
        env: A Gymnasium, PettingZoo AEC or PettingZoo Parallel environment, or one
            that takes and returns dicts by agent.
        api: ``"gymnasium"``, ``"aec"`` or ``"parallel"``; found out by default.
        rename: Name of an agent given the environment's key for it.
        info_mask: See :class:`SingleAgentAdapter`.

    Raises:
        UsageError: ``env`` is no environment, or not one with this ``api``.
    """
    found = api_of(env)
    if api is not None and api not in APIS:
        raise UsageError(f"unknown api {api!r}", fix=f"Use one of {', '.join(APIS)}")
    if api is not None and api != found:
        raise UsageError(f"{type(env).__name__} has the {found} interface, not {api}")
    if found == "aec":
        return SequentialAdapter(env, rename=rename)
    if found == "parallel":
        return SimultaneousAdapter(env, rename=rename)
    return SingleAgentAdapter(env, info_mask=info_mask)
