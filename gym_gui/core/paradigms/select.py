"""Choose the adapter for an environment object."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gym_gui.core.errors import UsageError
from gym_gui.core.paradigms.base import ParadigmAdapter
from gym_gui.core.paradigms.sequential import SequentialAdapter
from gym_gui.core.paradigms.simultaneous import SimultaneousAdapter, spaces_of
from gym_gui.core.paradigms.single_agent import SingleAgentAdapter
from gym_gui.core.types import AgentID

APIS = ("gymnasium", "aec", "parallel")


def api_of(env: Any) -> str:
    """Which interface ``env`` has, judged by what it offers, not by its class.

    AEC environments have ``last`` and ``agent_iter``; PettingZoo Parallel ones answer
    ``action_space(agent)``; a Gymnasium environment whose action space is a dict
    keyed by integers, or one whose agents are listed, acts for all agents at once; so does
    one that has ``action_spaces`` and ``observation_spaces`` by agent in place of the one.

    Raises:
        UsageError: It is none of these.
    """
    if not (callable(getattr(env, "reset", None)) and callable(getattr(env, "step", None))):
        raise UsageError(f"{type(env).__name__} is no environment: it has no reset() and step()")
    if callable(getattr(env, "last", None)) and callable(getattr(env, "agent_iter", None)):
        return "aec"
    space = spaces_of(env, "action_space")
    if callable(space) and not hasattr(space, "contains"):
        return "parallel"
    if space is None or spaces_of(env, "observation_space") is None:
        raise UsageError(f"{type(env).__name__} is no environment: it has no spaces")
    return "parallel" if _keyed_by_agent(env, space) else "gymnasium"


def _keyed_by_agent(env: Any, space: Any) -> bool:
    children: Any = getattr(space, "spaces", space)
    if not isinstance(children, Mapping) or not children:
        return False
    keys: set[Any] = set(children)  # pyright: ignore[reportUnknownArgumentType]
    if all(isinstance(key, int) for key in keys):
        return True
    listed: Any = getattr(env, "possible_agents", None) or getattr(env, "agents", None)
    return bool(listed) and keys == set(listed)


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
