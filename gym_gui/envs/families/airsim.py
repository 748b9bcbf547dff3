"""AirSim: drones and cars in Unreal Engine, through Cosys-AirSim's client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from gym_gui.envs.families.simulators import SimulatorFamily
from gym_gui.envs.instance import Instance
from gym_gui.envs.keymaps import KeyScheme, Pace, of_pushes
from gym_gui.envs.spec import EnvSpec

_VEHICLES: Mapping[str, str] = {
    "Drone": "A multirotor is steered by velocities and a yaw rate, to a goal if one is set.",
    "Car": "A car is driven by throttle, brake and wheel, to a goal if one is set.",
}


class AirSimFamily(SimulatorFamily):
    """Family of drones and cars in Unreal Engine, under ids such as ``airsim/Drone-v0``."""

    name: ClassVar[str] = "airsim"
    title: ClassVar[str] = "AirSim"
    prefixes: ClassVar[tuple[str, ...]] = ("airsim/",)
    closed: ClassVar[bool] = True
    port: ClassVar[int] = 41451
    requirements: ClassVar[tuple[str, ...]] = ("cosysairsim==3.5.0", "rpc-msgpack==0.6", "pillow")
    imports: ClassVar[tuple[str, ...]] = ("cosysairsim", "PIL.Image")
    web_page: ClassVar[str] = "https://cosys-lab.github.io/Cosys-AirSim/"
    usual_pace: ClassVar[Pace] = Pace(realtime=True, rate=10)

    def specs(self) -> Sequence[EnvSpec]:
        self.require()
        entry = "mosaic_env_server.shims.airsim"
        return [self.spec(f"airsim/{vehicle}-v0", f"{entry}:{vehicle}") for vehicle in _VEHICLES]

    def title_of(self, spec: EnvSpec) -> str:
        return f"AirSim: {_vehicle(spec).lower()}"

    def summary(self, spec: EnvSpec) -> str:
        return _VEHICLES[_vehicle(spec)]

    def components(self, spec: EnvSpec) -> tuple[str, ...]:
        if _vehicle(spec) == "Car":
            return ("throttle", "wheel")
        return ("velocity x", "velocity y", "velocity z", "yaw rate")

    def keys(self, environment: Instance, agent: str, player: int) -> KeyScheme:
        """Return the keys from the environment's metadata.

        The effect of a number depends on its coordinate frame.
        """
        stated: Sequence[Sequence[Any]] = environment.env.metadata["pushes"]
        pushes = [(str(role), int(part), float(value), str(word)) for role, part, value, word in stated]
        return of_pushes(pushes, player, self.pace(environment.spec))


def _vehicle(spec: EnvSpec) -> str:
    return spec.id.partition("/")[2].removesuffix("-v0")
