"""Detects the interface of an environment from its methods and attributes, not from its class."""

from __future__ import annotations

from typing import Any, Mapping, Set

APIS = ("gymnasium", "aec", "parallel")


def spaces_of(env: Any, name: str) -> Any:
    """Return the attribute of an environment that defines its spaces: a space, function, dict or ``None``.

    Args:
        env: The environment.
        name: ``observation_space`` or ``action_space``; if the environment lacks it, the plural is used.
    """
    found: Any = getattr(env, name, None)
    return getattr(env, f"{name}s", None) if found is None else found


def api_of(env: Any) -> str:
    """Return the interface of an environment, one of :data:`APIS`.

    ``aec``: the environment has ``last`` and ``agent_iter``. ``parallel``: its ``action_space`` is a
    function of the agent; or the keys of its action spaces are integers or the names of its agents, in
    a ``Dict`` space or in ``action_spaces``. ``gymnasium``: any other environment.

    Raises:
        ValueError: ``env`` is no environment, or a vector environment.
    """
    if not (callable(getattr(env, "reset", None)) and callable(getattr(env, "step", None))):
        raise ValueError(f"{type(env).__name__} is no environment: it has no reset() and step()")
    if hasattr(env, "num_envs") and (hasattr(env, "single_action_space") or hasattr(env, "step_wait")):
        raise ValueError(
            f"{type(env).__name__} is a vector environment, which steps several copies at once. Name what "
            "creates a single copy; MOSAIC creates as many copies as it needs"
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
