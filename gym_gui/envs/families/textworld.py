"""TextWorld: generated text adventures; the id determines the size of the world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from gym_gui.envs.families.gymnasium import success_in_info
from gym_gui.envs.family import Family
from gym_gui.envs.instance import Instance
from gym_gui.envs.spec import EnvSpec, split_version

_HEAD = "TextWorld/"
_ENTRY = "gym_gui.envs.families.textworld_env:TextWorldEnv"
_SIZES: Mapping[str, Mapping[str, int]] = {
    "TextWorld/Small-v0": {"rooms": 2, "objects": 4, "quest_length": 2, "max_steps": 30},
    "TextWorld/Medium-v0": {"rooms": 5, "objects": 10, "quest_length": 4, "max_steps": 60},
    "TextWorld/Large-v0": {"rooms": 10, "objects": 20, "quest_length": 7, "max_steps": 120},
}


class TextWorldFamily(Family):
    """Family of generated text adventures, made as by the command ``tw-make custom``."""

    name: ClassVar[str] = "textworld"
    title: ClassVar[str] = "TextWorld"
    extra: ClassVar[str] = "textworld"
    modules: ClassVar[tuple[str, ...]] = ("textworld",)
    prefixes: ClassVar[tuple[str, ...]] = (_HEAD,)
    closed: ClassVar[bool] = True
    hints: ClassVar[Mapping[str, str]] = {"gymnasium": "", "gym": ""}
    described_by: ClassVar[str] = "gym_gui.envs.describers.textworld_words:TextWorldDescriber"
    web_page: ClassVar[str] = "https://textworld.readthedocs.io/en/stable/"
    modes: ClassVar[tuple[str, ...] | None] = ("ansi",)

    def specs(self) -> Sequence[EnvSpec]:
        self.require()
        return [
            self.spec(env_id, _ENTRY, max_episode_steps=size["max_steps"]) for env_id, size in _SIZES.items()
        ]

    def build(self, spec: EnvSpec, *, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> Any:
        kwargs: dict[str, Any] = {**_SIZES[spec.id], **env_kwargs}
        return spec.load()(**kwargs, render_mode=render_mode)

    def title_of(self, spec: EnvSpec) -> str:
        return f"TextWorld, {split_version(spec.id)[0].removeprefix(_HEAD).lower()}"

    def summary(self, spec: EnvSpec) -> str:
        return "Solve a generated text adventure: read where you are, and write what you do."

    def success(self, environment: Instance) -> bool | None:
        return success_in_info(environment)
