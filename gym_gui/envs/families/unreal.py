"""Maps of Unreal Engine through UnrealCV, in which the agent moves a camera."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from gym_gui.envs.families.simulators import SimulatorFamily
from gym_gui.envs.instance import Instance
from gym_gui.envs.keymaps import LAYOUTS, KeyScheme, Pace
from gym_gui.envs.spec import EnvSpec

_KEYS = {"forward": "up", "back": "down", "turn left": "left", "turn right": "right"}
_ASIDE = {"left": "wait", "right": "put"}


class UnrealFamily(SimulatorFamily):
    """Family of one environment, ``unreal/Map-v0``, for any map of Unreal Engine."""

    name: ClassVar[str] = "unreal"
    title: ClassVar[str] = "Unreal maps"
    prefixes: ClassVar[tuple[str, ...]] = ("unreal/",)
    closed: ClassVar[bool] = True
    port: ClassVar[int] = 9000
    requirements: ClassVar[tuple[str, ...]] = ("unrealcv==1.3.2",)
    imports: ClassVar[tuple[str, ...]] = ("unrealcv", "PIL.Image")
    system: ClassVar[tuple[str, ...]] = ("libgl1", "libglib2.0-0")
    web_page: ClassVar[str] = "https://docs.unrealcv.org/"
    usual_pace: ClassVar[Pace] = Pace(rate=5)

    def specs(self) -> Sequence[EnvSpec]:
        self.require()
        return [self.spec("unreal/Map-v0", "mosaic_env_server.shims.unreal:Map")]

    def title_of(self, spec: EnvSpec) -> str:
        return "Unreal: a map"

    def summary(self, spec: EnvSpec) -> str:
        return "A camera walks a map, to an object or a place if one is set."

    def keys(self, environment: Instance, agent: str, player: int) -> KeyScheme:
        """Return arrow keys for walking and turning, and two letters for sidesteps."""
        words, roles = environment.action_meanings(agent), LAYOUTS[player].roles
        moves = {**_KEYS, **_ASIDE}
        bindings = {roles[moves[word]]: number for number, word in enumerate(words) if word in moves}
        return KeyScheme(bindings)
