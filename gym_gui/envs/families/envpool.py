"""EnvPool: environments in C++ that are stepped in batches.

They have ids of their own, because their random generators, and some of their observations, differ from those
of the original environments.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from gym_gui.envs import index
from gym_gui.envs.family import Family
from gym_gui.envs.spec import EnvSpec

if TYPE_CHECKING:
    from gym_gui.envs.families.envpool_env import Pools
    from gym_gui.envs.instance import Instance


class EnvPoolFamily(Family):
    """Family of EnvPool's environments, under ids such as ``envpool/CartPole-v1``."""

    name: ClassVar[str] = "envpool"
    title: ClassVar[str] = "EnvPool"
    extra: ClassVar[str] = "envpool"
    modules: ClassVar[tuple[str, ...]] = ("envpool",)
    prefixes: ClassVar[tuple[str, ...]] = ("envpool/",)
    closed: ClassVar[bool] = True
    documented: ClassVar[bool] = False
    web_page: ClassVar[str] = "https://envpool.readthedocs.io/en/latest/"
    modes: ClassVar[tuple[str, ...] | None] = ("rgb_array",)

    def specs(self) -> Sequence[EnvSpec]:
        self.require()
        return [
            self.spec(f"envpool/{row['id']}", "gym_gui.envs.families.envpool_env:PooledEnv")
            for row in index.entries("envpool", "envpool")
        ]

    def build(self, spec: EnvSpec, *, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> Any:
        from gym_gui.envs.families.envpool_env import PooledEnv

        options = dict(env_kwargs) if render_mode is None else {"render_mode": render_mode, **env_kwargs}
        return PooledEnv(_pools(os.getpid(), spec.short_id, tuple(sorted(options.items()))), render_mode)

    def title_of(self, spec: EnvSpec) -> str:
        return f"EnvPool {spec.short_id}"

    def summary(self, spec: EnvSpec) -> str:
        return (
            f"{spec.short_id} as EnvPool has it, in C++; its episodes are others than those of the original."
        )

    def success(self, environment: Instance) -> bool | None:
        return None


@lru_cache(maxsize=32)
def _pools(_process: int, name: str, options: tuple[tuple[str, Any], ...]) -> Pools:
    from gym_gui.envs.families.envpool_env import Pools

    return Pools(name, dict(options))
