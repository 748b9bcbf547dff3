"""Robotic warehouse: robots bring requested shelves and put them back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, ClassVar

from gym_gui.core.paradigms import ParadigmAdapter, SimultaneousAdapter
from gym_gui.envs.family import Family
from gym_gui.envs.instance import Instance
from gym_gui.envs.keymaps import LAYOUTS, KeyScheme
from gym_gui.envs.spec import EnvSpec

_SIZES = ("tiny", "small", "medium", "large")
_REQUESTS: Mapping[str, str] = {
    "-easy": "two shelves asked for per robot",
    "": "",
    "-hard": "one shelf asked for per two robots",
}
_ID = re.compile(rf"rware-(?P<size>{'|'.join(_SIZES)})-(?P<robots>\d+)ag(?P<asked>-easy|-hard|)-v2")
_ROBOTS = range(1, 20)
"""Numbers of robots for which the package registers ids.

In ``-hard``, a single robot never gets a request, so that id is left out.
"""
_LISTED = (2, 4, 8)
"""Numbers of robots of the listed environments; other environments are found by id."""
_ROLES: Mapping[str, str] = {
    "noop": "wait",
    "forward": "up",
    "left": "left",
    "right": "right",
    "toggle load": "act",
}


class WarehouseFamily(Family):
    """Family of warehouses, for robots ``agent_0``, ``agent_1``, … of one team."""

    name: ClassVar[str] = "rware"
    title: ClassVar[str] = "Robotic warehouse"
    extra: ClassVar[str] = "rware"
    modules: ClassVar[tuple[str, ...]] = ("rware",)
    prefixes: ClassVar[tuple[str, ...]] = ("rware-",)
    closed: ClassVar[bool] = True
    hints: ClassVar[Mapping[str, str]] = {"warehouse": "", "gymnasium": "", "gym": ""}
    apis: ClassVar[tuple[str, ...]] = ("parallel",)
    built_by: ClassVar[str] = "gym_gui.envs.families.rware_env:warehouse"
    described_by: ClassVar[str] = "gym_gui.envs.describers.rware_words:WarehouseDescriber"
    documented: ClassVar[bool] = False
    """False, because the package documents warehouses in the constructor, which MOSAIC does not read."""
    web_page: ClassVar[str] = "https://github.com/semitable/robotic-warehouse"
    modes: ClassVar[tuple[str, ...] | None] = ("rgb_array",)

    def specs(self) -> Sequence[EnvSpec]:
        self.require()
        return [
            self._spec(f"rware-{size}-{robots}ag{asked}-v2")
            for size, robots, asked in product(_SIZES, _LISTED, _REQUESTS)
        ]

    def lookup(self, names: Iterable[str]) -> EnvSpec | None:
        for name in names:
            found = _ID.fullmatch(name)
            if found is None or int(found["robots"]) not in _ROBOTS:
                continue
            if int(found["robots"]) > 1 or found["asked"] != "-hard":
                self.require()
                return self._spec(name)
        return None

    def _spec(self, env_id: str) -> EnvSpec:
        return self.spec(env_id, "rware.warehouse:Warehouse", max_episode_steps=500)

    def adapter(self, spec: EnvSpec, env: Any) -> ParadigmAdapter:
        return SimultaneousAdapter(env)

    def action_meanings(self, environment: Instance, agent: str) -> tuple[str, ...]:
        """Return words for the actions; empty if robots also send bits as messages."""
        return tuple(_ROLES) if hasattr(environment.adapter.action_space(agent), "n") else ()

    def title_of(self, spec: EnvSpec) -> str:
        found = _ID.fullmatch(spec.id)
        assert found is not None
        robots = f"{found['robots']} robot{'s' * (found['robots'] != '1')}"
        return ", ".join(filter(None, (f"Warehouse, {found['size']}", robots, _REQUESTS[found["asked"]])))

    def summary(self, spec: EnvSpec) -> str:
        return "Bring shelves that are asked for to a goal, and put them back where a place is free."

    def keys(self, environment: Instance, agent: str, player: int) -> KeyScheme:
        scheme = super().keys(environment, agent, player)
        if not self.action_meanings(environment, agent):
            return scheme
        bindings = {LAYOUTS[player].roles[role]: action for action, role in enumerate(_ROLES.values())}
        return replace(scheme, bindings=bindings)
