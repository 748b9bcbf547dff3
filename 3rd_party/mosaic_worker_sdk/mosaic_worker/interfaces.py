"""Which interface an environment has, judged by what it offers and not by its class."""

from __future__ import annotations

from typing import Any, Mapping, Set

APIS = ("gymnasium", "aec", "parallel")


def spaces_of(env: Any, name: str) -> Any:
    """What gives an agent's space: a function of it, a dict by agent, or ``None``.

    Args:
        env: The environment.
        name: ``observation_space`` or ``action_space``; of a dict the name may be the plural.
    """
    found: Any = getattr(env, name, None)
    return getattr(env, f"{name}s", None) if found is None else found


def api_of(env: Any) -> str:
    """One of :data:`APIS`.

    AEC environments have ``last`` and ``agent_iter``; PettingZoo Parallel ones answer
    ``action_space(agent)``; a Gymnasium environment whose action space is a dict
    keyed by integers, or one whose agents are listed, acts for all agents at once; so does
    one that has ``action_spaces`` and ``observation_spaces`` by agent in place of the one.

    Raises:
        ValueError: It is no environment.
    """
    if not (callable(getattr(env, "reset", None)) and callable(getattr(env, "step", None))):
        raise ValueError(f"{type(env).__name__} is no environment: it has no reset() and step()")
    if hasattr(env, "num_envs") and (hasattr(env, "single_action_space") or hasattr(env, "step_wait")):
        raise ValueError(
            f"{type(env).__name__} is a vector environment, which steps several copies at once. Name what "
            "makes one of them: as many as are needed are played side by side"
        )
    if callable(getattr(env, "last", None)) and callable(getattr(env, "agent_iter", None)):
        return "aec"
    space = spaces_of(env, "action_space")
    if callable(space) and not hasattr(space, "contains"):
        return "parallel"
    if space is None or spaces_of(env, "observation_space") is None:
        raise ValueError(
            f"{type(env).__name__} is no environment: it has no spaces. Set observation_space and "
            "action_space in its constructor: they are read before reset()"
        )
    return "parallel" if _keyed_by_agent(env, space) else "gymnasium"


def _keyed_by_agent(env: Any, space: Any) -> bool:
    children: Any = getattr(space, "spaces", space)
    if not isinstance(children, Mapping) or not children:
        return False
    keys: Set[Any] = set(children)  # pyright: ignore[reportUnknownArgumentType]
    if all(isinstance(key, int) for key in keys):
        return True
    listed: Any = getattr(env, "possible_agents", None) or getattr(env, "agents", None)
    return bool(listed) and keys == set(listed)
