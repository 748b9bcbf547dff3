"""Level-based foraging: agents pick up food together if the sum of their levels reaches the food's level."""

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

_ID = re.compile(
    r"Foraging(?P<near>-2s)?-(?P<size>\d+)x(?P=size)-(?P<players>\d+)p-(?P<food>\d+)f(?P<coop>-coop)?-v3"
)
_SIZES, _PLAYERS, _FOOD = range(5, 20), range(2, 10), range(1, 5)
"""Grid sizes, numbers of players and numbers of food items in the ids that the package registers."""
_LISTED = ((8, 10, 15), (2, 3, 4), (2, 3))
"""Grid sizes, players and food of the listed environments; nearly 2000 further ones are found by id."""
_ROLES: Mapping[str, str] = {
    "none": "wait",
    "north": "up",
    "south": "down",
    "west": "left",
    "east": "right",
    "load": "act",
}


class ForagingFamily(Family):
    """Family of foraging on a grid, for agents ``agent_0``, ``agent_1``, … of one team."""

    name: ClassVar[str] = "lbforaging"
    title: ClassVar[str] = "Level-based foraging"
    extra: ClassVar[str] = "lbforaging"
    modules: ClassVar[tuple[str, ...]] = ("lbforaging",)
    prefixes: ClassVar[tuple[str, ...]] = ("Foraging",)
    closed: ClassVar[bool] = True
    hints: ClassVar[Mapping[str, str]] = {"lbf": "", "gymnasium": "", "gym": ""}
    apis: ClassVar[tuple[str, ...]] = ("parallel",)
    built_by: ClassVar[str] = "gym_gui.envs.families.foraging_env:foraging"
    described_by: ClassVar[str] = "gym_gui.envs.describers.foraging_words:ForagingDescriber"
    web_page: ClassVar[str] = "https://github.com/semitable/lb-foraging"
    modes: ClassVar[tuple[str, ...] | None] = ("rgb_array",)

    def specs(self) -> Sequence[EnvSpec]:
        self.require()
        listed = product(*_LISTED, ("", "-2s"), ("", "-coop"))
        return [self._spec(f"Foraging{near}-{n}x{n}-{p}p-{f}f{coop}-v3") for n, p, f, near, coop in listed]

    def lookup(self, names: Iterable[str]) -> EnvSpec | None:
        for name in names:
            if (found := _ID.fullmatch(name)) is None:
                continue
            size, players, food = (int(found[part]) for part in ("size", "players", "food"))
            if size in _SIZES and players in _PLAYERS and food in _FOOD:
                self.require()
                return self._spec(name)
        return None

    def _spec(self, env_id: str) -> EnvSpec:
        return self.spec(env_id, "lbforaging.foraging.environment:ForagingEnv", max_episode_steps=50)

    def adapter(self, spec: EnvSpec, env: Any) -> ParadigmAdapter:
        return SimultaneousAdapter(env)

    def success(self, environment: Instance) -> bool | None:
        """Return whether all food has been picked up."""
        return not environment.env.field.any()

    def action_meanings(self, environment: Instance, agent: str) -> tuple[str, ...]:
        return tuple(_ROLES)

    def noop_action(self, environment: Instance, agent: str) -> Any | None:
        return 0

    def title_of(self, spec: EnvSpec) -> str:
        said = _parts(spec)
        further = ", all together" if said["coop"] else ""
        near = ", short-sighted" if said["near"] else ""
        size = f"{said['size']} x {said['size']}"
        return f"Foraging, {size}, {said['players']} players, {said['food']} food{further}{near}"

    def summary(self, spec: EnvSpec) -> str:
        return "Load all food: stand beside it and load together, as many as its level takes."

    def keys(self, environment: Instance, agent: str, player: int) -> KeyScheme:
        bindings = {LAYOUTS[player].roles[role]: action for action, role in enumerate(_ROLES.values())}
        return replace(super().keys(environment, agent, player), bindings=bindings)


def _parts(spec: EnvSpec) -> Mapping[str, str | None]:
    found = _ID.fullmatch(spec.id)
    assert found is not None
    return found.groupdict()
