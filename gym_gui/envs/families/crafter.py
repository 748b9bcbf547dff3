"""Crafter: a survival game seen from above, under the ids that its package registered with old Gym."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from gym_gui.envs.family import Family
from gym_gui.envs.instance import Instance
from gym_gui.envs.keymaps import LAYOUTS, KeyScheme, Pace
from gym_gui.envs.spec import EnvSpec

_REWARDED: Mapping[str, bool] = {"CrafterReward-v1": True, "CrafterNoReward-v1": False}
_LENGTH = 10_000
_ROLES: Mapping[str, str] = {
    "move_left": "left",
    "move_right": "right",
    "move_up": "up",
    "move_down": "down",
    "do": "act",
    "noop": "wait",
}
_KEYS: Mapping[str, str] = {
    "sleep": "Z",
    "place_stone": "U",
    "place_table": "I",
    "place_furnace": "O",
    "place_plant": "P",
    "make_wood_pickaxe": "1",
    "make_stone_pickaxe": "2",
    "make_iron_pickaxe": "3",
    "make_wood_sword": "4",
    "make_stone_sword": "5",
    "make_iron_sword": "6",
}


class CrafterFamily(Family):
    """Family of Crafter with and without rewards."""

    name: ClassVar[str] = "crafter"
    title: ClassVar[str] = "Crafter"
    extra: ClassVar[str] = "crafter"
    modules: ClassVar[tuple[str, ...]] = ("crafter",)
    prefixes: ClassVar[tuple[str, ...]] = ("Crafter",)
    closed: ClassVar[bool] = True
    hints: ClassVar[Mapping[str, str]] = {"gymnasium": "", "gym": ""}
    compiled: ClassVar[tuple[str, ...]] = ("opensimplex.internals:_noise3",)
    described_by: ClassVar[str] = "gym_gui.envs.describers.crafter_words:CrafterDescriber"
    web_page: ClassVar[str] = "https://github.com/danijar/crafter"
    usual_pace: ClassVar[Pace] = Pace()

    def specs(self) -> Sequence[EnvSpec]:
        self.require()
        return [
            self.spec(env_id, "gym_gui.envs.families.crafter_env:CrafterEnv", max_episode_steps=_LENGTH)
            for env_id in _REWARDED
        ]

    def build(self, spec: EnvSpec, *, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> Any:
        kwargs: dict[str, Any] = {"reward": _REWARDED[spec.id], "length": _LENGTH, **env_kwargs}
        return spec.load()(**kwargs, render_mode=render_mode)

    def title_of(self, spec: EnvSpec) -> str:
        return "Crafter" if _REWARDED[spec.id] else "Crafter without rewards"

    def summary(self, spec: EnvSpec) -> str:
        return "Survive in a world seen from above: gather, build tools, fight, eat, drink and sleep."

    def action_meanings(self, environment: Instance, agent: str) -> tuple[str, ...]:
        return tuple(environment.env.game.action_names)

    def keys(self, environment: Instance, agent: str, player: int) -> KeyScheme:
        keys = {**_KEYS, **{word: LAYOUTS[player].roles[role] for word, role in _ROLES.items()}}
        words = self.action_meanings(environment, agent)
        scheme = super().keys(environment, agent, player)
        return replace(scheme, bindings={keys[word]: i for i, word in enumerate(words)}, typed=False)
