"""Chooses the adapter for an environment object."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from gym_gui.core.errors import MissingDependencyError, UsageError
from gym_gui.core.paradigms.base import ParadigmAdapter
from gym_gui.core.paradigms.sequential import SequentialAdapter
from gym_gui.core.paradigms.simultaneous import SimultaneousAdapter
from gym_gui.core.paradigms.single_agent import SingleAgentAdapter
from gym_gui.core.types import AgentID
from mosaic_worker import interfaces
from mosaic_worker.interfaces import APIS


def api_of(env: Any) -> str:
    """Return the interface of ``env``; see :func:`mosaic_worker.interfaces.api_of`.

    Raises:
        UsageError: ``env`` is not an environment.
    """
    try:
        return interfaces.api_of(env)
    except ValueError as error:
        raise UsageError(str(error)) from None


def converted(env: Any, found: str, api: str) -> Any:
    """Return ``env`` with another interface, by PettingZoo's conversions.

    Args:
        env: The environment.
        found: Interface of ``env``.
        api: The wanted interface.

    Raises:
        UsageError: There is no such conversion, or it does not work for this environment.
    """
    refused = f"{type(env).__name__} has the {found} interface, not {api}"
    if {found, api} != {"aec", "parallel"}:
        raise UsageError(refused)
    metadata: Any = getattr(env, "metadata", None) or {}
    if found == "aec" and not metadata.get("is_parallelizable"):
        raise UsageError(
            refused, fix="It does not say that its agents can act at once (metadata: is_parallelizable)"
        )
    if found == "parallel" and not callable(env.observation_space):
        raise UsageError(refused, fix="PettingZoo only converts environments with its own Parallel interface")
    try:
        to: Any = import_module("pettingzoo.utils.conversions")
    except ImportError:
        raise MissingDependencyError("pettingzoo", "mosaic envs install pettingzoo") from None
    return to.parallel_to_aec(env) if api == "aec" else to.aec_to_parallel(env)


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
        api: ``"gymnasium"``, ``"aec"`` or ``"parallel"``; detected by default. PettingZoo's conversions make
            ``"aec"`` of ``"parallel"`` and the reverse, if possible.
        rename: Returns the name of an agent for the environment's key.
        info_mask: See :class:`SingleAgentAdapter`.

    Raises:
        UsageError: ``env`` is not an environment, or not one with this ``api``.
    """
    found = api_of(env)
    if api is not None and api not in APIS:
        raise UsageError(f"unknown api {api!r}", fix=f"Use one of {', '.join(APIS)}")
    if api is not None and api != found:
        env, found = converted(env, found, api), api
    if found == "aec":
        return SequentialAdapter(env, rename=rename)
    if found == "parallel":
        return SimultaneousAdapter(env, rename=rename)
    return SingleAgentAdapter(env, info_mask=info_mask)
