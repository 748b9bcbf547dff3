"""RLlib's ``MultiAgentEnv`` where MOSAIC plays it; Ray is not imported."""

from __future__ import annotations

from typing import Any

from gymnasium import spaces


def with_spaces(env: Any) -> Any:
    """The same environment with its spaces where Gymnasium has them, by agent.

    RLlib's new stack keeps them in ``observation_spaces`` and ``action_spaces`` alone; MOSAIC's adapter for
    agents that act at once looks for ``observation_space`` and ``action_space``.

    Args:
        env: A ``MultiAgentEnv``; spaces that it has already stay.
    """
    for name in ("observation_space", "action_space"):
        if getattr(env, name, None) is None:
            by_agent = getattr(env, f"{name}s")
            setattr(env, name, spaces.Dict({agent: by_agent[agent] for agent in env.possible_agents}))
    return env
