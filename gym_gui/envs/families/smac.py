"""SMAC: battles in StarCraft II in which each unit is an agent, played through the engine's own interface."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from gym_gui.envs.families.simulators import SimulatorFamily
from gym_gui.envs.spec import EnvSpec

if TYPE_CHECKING:
    from gym_gui.envs.remote_env import InstanceRequest

_START_S = 120.0


class _Map(NamedTuple):
    agents: int
    enemies: int
    limit: int
    race: str = "Terran"
    enemy_race: str = "Terran"


_P, _Z = ("Protoss", "Protoss"), ("Zerg", "Zerg")
_PZ = ("Protoss", "Zerg")
_MAPS: Mapping[str, _Map] = {
    "3m": _Map(3, 3, 60),
    "8m": _Map(8, 8, 120),
    "25m": _Map(25, 25, 150),
    "5m_vs_6m": _Map(5, 6, 70),
    "8m_vs_9m": _Map(8, 9, 120),
    "10m_vs_11m": _Map(10, 11, 150),
    "27m_vs_30m": _Map(27, 30, 180),
    "MMM": _Map(10, 10, 150),
    "MMM2": _Map(10, 12, 180),
    "2s3z": _Map(5, 5, 120, *_P),
    "3s5z": _Map(8, 8, 150, *_P),
    "3s5z_vs_3s6z": _Map(8, 9, 170, *_P),
    "1c3s5z": _Map(9, 9, 180, *_P),
    "3s_vs_3z": _Map(3, 3, 150, *_P),
    "3s_vs_4z": _Map(3, 4, 200, *_P),
    "3s_vs_5z": _Map(3, 5, 250, *_P),
    "2s_vs_1sc": _Map(2, 1, 300, *_PZ),
    "2c_vs_64zg": _Map(2, 64, 400, *_PZ),
    "corridor": _Map(6, 24, 400, *_PZ),
    "2m_vs_1z": _Map(2, 1, 150, "Terran", "Protoss"),
    "6h_vs_8z": _Map(6, 8, 150, "Zerg", "Protoss"),
    "so_many_baneling": _Map(7, 32, 100, *_PZ),
    "bane_vs_bane": _Map(24, 24, 200, *_Z),
}
"""Own units, enemy units, step limit and races of each map in the StarCraft Multi-Agent Challenge."""


class SmacFamily(SimulatorFamily):
    """Family of SMAC's battles, under ids such as ``smac/3m``."""

    name: ClassVar[str] = "smac"
    title: ClassVar[str] = "SMAC"
    prefixes: ClassVar[tuple[str, ...]] = ("smac/",)
    closed: ClassVar[bool] = True
    apis: ClassVar[tuple[str, ...]] = ("parallel",)
    # The code of the messages was generated for protobuf 3.20.
    requirements: ClassVar[tuple[str, ...]] = (
        "s2clientprotocol==5.0.17.98310.0",
        "protobuf==3.20.3",
        "websocket-client==1.9.2",
    )
    imports: ClassVar[tuple[str, ...]] = ("s2clientprotocol.sc2api_pb2", "websocket")
    documented: ClassVar[bool] = False
    web_page: ClassVar[str] = "https://github.com/oxwhirl/smac/blob/master/docs/smac.md"
    modes: ClassVar[tuple[str, ...] | None] = ()

    def specs(self) -> Sequence[EnvSpec]:
        self.require()
        entry = "mosaic_env_server.shims.smac:Battle"
        return [
            self.spec(f"smac/{name}", entry, max_episode_steps=found.limit) for name, found in _MAPS.items()
        ]

    def world(self, spec: EnvSpec, env_kwargs: Mapping[str, Any]) -> str:
        """Return the address of an engine that already runs.

        ``""`` if the environment starts its own engine.
        """
        port = env_kwargs.get("port")
        return "" if port is None else f"{self.name} {env_kwargs.get('host', '127.0.0.1')}:{port}"

    def wanted(self, spec: EnvSpec, arguments: Mapping[str, Any]) -> InstanceRequest:
        """Return the request to the server, with facts about the map and the path in ``SC2PATH``."""
        name = spec.short_id
        facts = {"map_name": name, **_MAPS[name]._asdict(), "sc2_path": os.environ.get("SC2PATH", "")}
        wanted = super().wanted(spec, {**facts, **arguments})
        start = arguments.get("start_s", _START_S)
        return replace(wanted, begin_s=wanted.begin_s + (start if isinstance(start, int | float) else 0.0))

    def title_of(self, spec: EnvSpec) -> str:
        return f"SMAC, {spec.short_id.replace('_', ' ')}"

    def summary(self, spec: EnvSpec) -> str:
        found = _MAPS[spec.short_id]
        return f"{found.agents} units fight {found.enemies} of the built-in player's in StarCraft II."
