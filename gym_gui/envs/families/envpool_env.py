"""EnvPool's environments, each with Gymnasium's interface, and stepped together.

EnvPool (https://envpool.readthedocs.io) makes several environments at once and fixes their seeds then. In
MOSAIC each episode has its own seed. So episodes that begin together are made as one new *pool*, and steps
that start together are computed together, in C++ and on all cores.
"""

# EnvPool is typed for each environment by itself.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np

from gym_gui.core.errors import UsageError

_SEEDS = 1 << 31
_NO_LIMIT = 2**31 - 1


class Pools:
    """Makes pools of one environment: objects of EnvPool, each with several instances of that environment.

    Args:
        name: EnvPool's id of the environment.
        options: Options of ``envpool.make``.

    Raises:
        UsageError: The environment has several players.
    """

    def __init__(self, name: str, options: Mapping[str, Any]) -> None:
        envpool: Any = import_module("envpool")
        self._make, self._name, self._options = envpool.make, name, dict(options)
        self._asked: dict[PooledEnv, int] = {}
        first = self.make_pool([0])
        if first.config["max_num_players"] > 1:
            raise UsageError(f"{name} of EnvPool has several players, which MOSAIC does not support")
        self.observation_space, self.action_space = first.observation_space, first.action_space
        self.metadata: Mapping[str, Any] = {"render_modes": ["rgb_array"]}
        limit = int(first.config["max_episode_steps"])
        self.spec = SimpleNamespace(max_episode_steps=limit if limit < _NO_LIMIT else None)
        first.close()

    def make_pool(self, seeds: list[int]) -> Any:
        """Return a new EnvPool object with one instance per seed."""
        threads = min(len(seeds), os.cpu_count() or 1)
        return self._make(
            self._name,
            env_type="gymnasium",
            num_envs=len(seeds),
            num_threads=threads,
            env_seed=seeds,
            **self._options,
        )

    def ask(self, env: PooledEnv, seed: int) -> None:
        """Note that an environment requests an episode with a seed; :meth:`begin` makes the episode."""
        self._asked[env] = seed

    def begin(self, env: PooledEnv) -> None:
        """Make one pool for all requested episodes; do nothing if ``env`` has not requested one."""
        if env in self._asked:
            asked, self._asked = self._asked, {}
            pool = Pool(self.make_pool(list(asked.values())))
            for row, each in enumerate(asked):
                each.enter(pool, row)


class Pool:
    """Several instances of an environment that EnvPool steps together; each has a row number.

    Args:
        made: EnvPool's object.
    """

    def __init__(self, made: Any) -> None:
        self.made = made
        self._pending: dict[int, Any] = {}
        shown, info = made.reset()
        self._results: dict[int, Any] = {
            row: (_row(shown, at), _info(info, at)) for at, row in enumerate(_rows(info))
        }
        weakref.finalize(self, made.close)

    def first(self, row: int) -> Any:
        """Return observation and info at the start of a row's episode."""
        return self._results.pop(row)

    def send(self, row: int, action: Any) -> None:
        """Queue the action of a row for the next :meth:`receive`."""
        self._pending[row] = action

    def receive(self, row: int) -> Any:
        """Return observation, reward, terminated, truncated and info of a row's queued action.

        The first call plays the queued actions of all rows.
        """
        if row not in self._results:
            rows = np.fromiter(self._pending, np.int32, len(self._pending))
            self.made.send(np.asarray(list(self._pending.values())), rows)
            self._pending = {}
            shown, rewards, terminated, truncated, info = self.made.recv()
            for at, each in enumerate(_rows(info)):
                ends = bool(terminated[at]), bool(truncated[at])
                self._results[each] = (_row(shown, at), float(rewards[at]), *ends, _info(info, at))
        return self._results.pop(row)


class PooledEnv:
    """One row of a pool, with Gymnasium's interface.

    Args:
        pools: Maker of the environment's pools.
        render_mode: ``rgb_array``, or ``None`` for no pictures.
    """

    def __init__(self, pools: Pools, render_mode: str | None) -> None:
        self._pools = pools
        self.observation_space, self.action_space = pools.observation_space, pools.action_space
        self.metadata, self.render_mode, self.spec = pools.metadata, render_mode, pools.spec
        self._pool: Pool | None = None
        self._row, self._begun, self._stepping = 0, False, False

    @property
    def unwrapped(self) -> PooledEnv:
        """The environment itself."""
        return self

    def enter(self, pool: Pool, row: int) -> None:
        """Assign the pool and row in which the requested episode takes place."""
        self._pool, self._row = pool, row

    def reset_async(self, seed: int | None) -> None:
        """Request an episode; :meth:`reset` with the same seed returns its first observation."""
        if not self._begun:
            self._begun = True
            drawn = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else seed
            self._pools.ask(self, drawn % _SEEDS)

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Any, Mapping[str, Any]]:
        """Begin an episode; return observation and info."""
        self.reset_async(seed)
        self._begun = self._stepping = False
        self._pools.begin(self)
        assert self._pool is not None
        return self._pool.first(self._row)

    def step_async(self, action: Any) -> None:
        """Queue an action; :meth:`step` with the same action returns its result."""
        if self._pool is not None and not self._stepping:
            self._stepping = True
            self._pool.send(self._row, action)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, Mapping[str, Any]]:
        """Play a step; return observation, reward, terminated, truncated and info."""
        self.step_async(action)
        self._stepping = False
        assert self._pool is not None
        return self._pool.receive(self._row)

    def render(self) -> Any:
        """Return a picture as a ``uint8`` array of shape (H, W, 3); ``None`` before the first episode."""
        return None if self._pool is None else self._pool.made.render(env_ids=[self._row])[0]

    def close(self) -> None:
        """Release this environment's pool, which EnvPool closes when no environment uses it."""
        self._pool = None


def _rows(info: Mapping[str, Any]) -> list[int]:
    return [int(row) for row in info["env_id"]]


def _row(shown: Any, at: int) -> Any:
    if isinstance(shown, dict):
        return {key: _row(value, at) for key, value in shown.items()}
    value = shown[at]
    return value.copy() if isinstance(value, np.ndarray) else value


def _info(info: Mapping[str, Any], at: int) -> Mapping[str, Any]:
    """Return a row's info without the entries that EnvPool adds."""
    return {key: _row(value, at) for key, value in info.items() if key not in ("env_id", "players")}
