"""NetHack (NLE) and MiniHack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from gym_gui.envs.documents import nethack_tasks
from gym_gui.envs.families.gymnasium import success_in_info
from gym_gui.envs.families.minigrid import IndexedFamily
from gym_gui.envs.spec import EnvSpec, split_version
from gym_gui.envs.written_out import WrittenOut

if TYPE_CHECKING:
    from gym_gui.envs.describers import Describer
    from gym_gui.envs.instance import Instance

_HEADS = ("MiniHack-", "NetHack")
_LEFT_OUT = (
    "NetHackChallenge",  # refuses seeds, so that no episode can be repeated
    "MiniHack-Boxoban",  # takes levels that are downloaded, by Python's global random numbers
    "MiniHack-LavaCrossing",  # cannot be made with MiniGrid 3, whose rooms it asks for in a size they refuse
    "MiniHack-SimpleCrossing",
    "MiniHack-Navigation-Custom",  # bases of one's own levels
    "MiniHack-Skill-Custom",
)


class MiniHackFamily(IndexedFamily):
    """The game NetHack with several aims, and small levels made of its parts."""

    name: ClassVar[str] = "minihack"
    title: ClassVar[str] = "NetHack and MiniHack"
    extra: ClassVar[str] = "minihack"
    modules: ClassVar[tuple[str, ...]] = ("nle", "minihack")
    registers: ClassVar[str] = "minihack"
    prefixes: ClassVar[tuple[str, ...]] = _HEADS
    closed: ClassVar[bool] = True
    hints: ClassVar[Mapping[str, str]] = {"nethack": "NetHack", "nle": "NetHack", "gymnasium": "", "gym": ""}

    def is_listed(self, env_id: str, entry_point: str) -> bool:
        return env_id.startswith(_HEADS) and not env_id.startswith(_LEFT_OUT)

    def facts_of(self, env_id: str) -> Mapping[str, Any]:
        return {"package": "nle" if env_id.startswith("NetHack") else "minihack"}

    def needs(self, spec: EnvSpec) -> tuple[str, ...]:
        return ("minigrid",) if spec.module == "minihack.envs.minigrid" else ()

    def build(self, spec: EnvSpec, *, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> Any:
        from gym_gui.envs.families.nethack_env import NetHackEnv

        return NetHackEnv(spec.id, render_mode, env_kwargs)

    def written_out(self, spec: EnvSpec, env_kwargs: Mapping[str, Any]) -> WrittenOut | None:
        """Here its seeds follow from the episode's, as in no program of one's own."""
        return None

    def title_of(self, spec: EnvSpec) -> str:
        base = split_version(spec.id)[0]
        return base.removeprefix("MiniHack-").replace("-", " ") if base.startswith("MiniHack-") else base

    def summary(self, spec: EnvSpec) -> str:
        return nethack_tasks.aim(spec.id)

    def doc_url(self, spec: EnvSpec) -> str:
        if spec.id.startswith("NetHack"):
            return "https://github.com/heiner/nle"
        return "https://minihack.readthedocs.io/en/latest/envs/index.html"

    def render_modes(self, spec: EnvSpec) -> tuple[str, ...]:
        return ("rgb_array", "ansi")

    def success(self, environment: Instance) -> bool | None:
        return success_in_info(environment)

    def action_meanings(self, environment: Instance, agent: str) -> tuple[str, ...]:
        from gym_gui.envs.describers.nethack_actions import words

        return words(environment.env.actions)

    def noop_action(self, environment: Instance, agent: str) -> Any | None:
        """Waiting for a turn, or searching, which is waiting with open eyes."""
        meanings = self.action_meanings(environment, agent)
        return next((meanings.index(word) for word in ("wait", "search") if word in meanings), None)

    def describer(self, environment: Instance) -> Describer:
        from gym_gui.envs.describers.nethack_words import NetHackDescriber

        return NetHackDescriber(environment)
