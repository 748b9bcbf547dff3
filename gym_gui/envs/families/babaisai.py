"""BabaIsAI: levels of a puzzle whose rules are words on the board that can be pushed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from gym_gui.envs.families.served import OwnPythonFamily
from gym_gui.envs.spec import EnvSpec

if TYPE_CHECKING:
    from gym_gui.envs.remote_env import InstanceRequest

_DISTRACTIONS = ("", "-distr_obj", "-distr_rule", "-distr_obj_rule", "-distr_obj-irrelevant_rule")
"""Suffixes of level names that add useless objects or rules; most levels exist with each of them."""
_ALSO_WINS = "-distr_win_rule"
_TASKS: Mapping[str, tuple[str, ...]] = {
    "goto_win": (*_DISTRACTIONS, _ALSO_WINS),
    "make_win": _DISTRACTIONS,
    "two_room-goto_win": (*_DISTRACTIONS, _ALSO_WINS),
    "two_room-break_stop-goto_win": _DISTRACTIONS,
    "two_room-maybe_break_stop-goto_win": _DISTRACTIONS,
    "two_room-make_win": (*_DISTRACTIONS, _ALSO_WINS),
    "two_room-break_stop-make_win": _DISTRACTIONS,
    "two_room-make_you": ("",),
    "two_room-make_you-make_win": ("",),
    "two_room-make_wall_win": ("",),
    "you_win": ("", "-fixed_you"),
}
_STEPS: Mapping[str, str] = {
    "break_stop": "break the rule that walls stop you",
    "maybe_break_stop": "see whether walls stop you, and break that rule where they do",
    "make_you": "become something else",
    "make_win": "push words together so that something wins",
    "make_wall_win": "say of walls that they win in place of stopping you, then step onto one",
    "goto_win": "go to what wins",
    "you_win": "see which thing is you, and step onto the one beside it that wins",
}
_MORE: Mapping[str, str] = {
    "distr_obj": "a thing lies there that is of no use",
    "distr_rule": "a word lies there that is of no use",
    "distr_obj_rule": "a thing and its word lie there that are of no use",
    "irrelevant_rule": "a word lies there that is about nothing",
    "distr_win_rule": "a second rule says of something that is not there that it wins",
    "fixed_you": "it always begins at the same place",
}
ARCHIVE = "https://github.com/nacloos/baba-is-ai/archive/ad466e027ad0a08f253ac2bf48550a2eb21b5ecc.tar.gz"
"""URL from which the package is installed."""


class BabaIsAIFamily(OwnPythonFamily):
    """Family of BabaIsAI levels, under ids such as ``babaisai/two_room-break_stop-make_win``."""

    name: ClassVar[str] = "babaisai"
    title: ClassVar[str] = "BabaIsAI"
    prefixes: ClassVar[tuple[str, ...]] = ("babaisai/",)
    closed: ClassVar[bool] = True
    # The requirements of the package's setup.py, with a NumPy that this old gym supports.
    requirements: ClassVar[tuple[str, ...]] = (
        "gym==0.23.1",
        "numpy<2",
        "matplotlib>=3",
        "opencv-python-headless<4.12",
        "pygame-ce",
    )
    archives: ClassVar[Mapping[str, str]] = {"baba": ARCHIVE}
    imports: ClassVar[tuple[str, ...]] = ("baba",)
    server_variables: ClassVar[Mapping[str, str]] = {"MPLBACKEND": "Agg", "SDL_VIDEODRIVER": "dummy"}
    documented: ClassVar[bool] = False
    web_page: ClassVar[str] = "https://github.com/nacloos/baba-is-ai"
    modes: ClassVar[tuple[str, ...] | None] = ("rgb_array",)

    def specs(self) -> Sequence[EnvSpec]:
        self.require()
        entry = "mosaic_env_server.shims.babaisai:BabaIsAI"
        names = (task + more for task, several in _TASKS.items() for more in several)
        return [self.spec(f"babaisai/{name}", entry, max_episode_steps=100) for name in names]

    def candidates(self, task: str) -> Sequence[str]:
        # Names as BALROG and the package itself write them.
        return (task, f"babaisai/{task.removeprefix('env/')}") if task.startswith("env/") else (task,)

    def wanted(self, spec: EnvSpec, arguments: Mapping[str, Any]) -> InstanceRequest:
        return super().wanted(spec, {"level": spec.short_id, **arguments})

    def title_of(self, spec: EnvSpec) -> str:
        return f"Baba Is AI {spec.short_id}"

    def summary(self, spec: EnvSpec) -> str:
        parts = spec.short_id.split("-")
        where = "In two rooms, " if "two_room" in parts else ""
        steps = ", then ".join(_STEPS[part] for part in parts if part in _STEPS)
        if "make_wall_win" not in parts and "goto_win" not in parts and "you_win" not in parts:
            steps += ", then go there" if "make_win" in parts else ", then go to what wins"
        more = [_MORE[part] for part in parts if part in _MORE]
        if {"distr_obj", "irrelevant_rule"} <= set(parts):
            more = ["a thing and a word about nothing lie there"]
        text = "; ".join([where + steps, *more])
        return f"{text[0].upper()}{text[1:]}."
