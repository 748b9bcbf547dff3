"""Overcooked-AI: cooks who work together in small kitchens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from gym_gui.core.enums import Outcome
from gym_gui.envs.families.served import OwnPythonFamily
from gym_gui.envs.keymaps import LAYOUTS, KeyScheme, Pace
from gym_gui.envs.spec import EnvSpec

if TYPE_CHECKING:
    from gym_gui.envs.instance import Instance
    from gym_gui.envs.remote_env import InstanceRequest

_HORIZON = 400
_LAYOUTS = (
    *("asymmetric_advantages", "asymmetric_advantages_tomato", "bottleneck", "centre_objects", "centre_pots"),
    *("coordination_ring", "corridor", "counter_circuit", "counter_circuit_o_1order", "cramped_corridor"),
    *("cramped_room", "cramped_room_o_3orders", "cramped_room_tomato", "five_by_five"),
    *("forced_coordination", "forced_coordination_tomato", "inverse_marshmallow_experiment", "large_room"),
    *("long_cook_time", "m_shaped_s", "marshmallow_experiment", "marshmallow_experiment_coordination"),
    *("pipeline", "schelling", "schelling_s", "simple_o", "simple_o_t", "simple_tomato", "small_corridor"),
    *("soup_coordination", "unident", "you_shall_not_pass"),
)


class OvercookedFamily(OwnPythonFamily):
    """Family of Overcooked's kitchens, under ids such as ``overcooked/cramped_room``."""

    name: ClassVar[str] = "overcooked"
    title: ClassVar[str] = "Overcooked-AI"
    prefixes: ClassVar[tuple[str, ...]] = ("overcooked/",)
    closed: ClassVar[bool] = True
    apis: ClassVar[tuple[str, ...]] = ("parallel",)
    requirements: ClassVar[tuple[str, ...]] = ("overcooked-ai==1.1.0", "numpy<2", "scipy")
    imports: ClassVar[tuple[str, ...]] = ("overcooked_ai_py.mdp.overcooked_env",)
    server_variables: ClassVar[Mapping[str, str]] = {"SDL_VIDEODRIVER": "dummy"}
    web_page: ClassVar[str] = "https://github.com/HumanCompatibleAI/overcooked_ai"
    usual_pace: ClassVar[Pace] = Pace(realtime=True, rate=5)

    def specs(self) -> Sequence[EnvSpec]:
        self.require()
        return [
            self.spec(
                f"overcooked/{layout}",
                "mosaic_env_server.shims.overcooked:Overcooked",
                max_episode_steps=_HORIZON,
            )
            for layout in _LAYOUTS
        ]

    def wanted(self, spec: EnvSpec, arguments: Mapping[str, Any]) -> InstanceRequest:
        return super().wanted(spec, {"layout": spec.short_id, **arguments})

    def hidden_information(self, spec: EnvSpec) -> bool:
        """Return ``False``, because all cooks see the whole kitchen."""
        return False

    def outcome(self, environment: Instance, returns: Mapping[str, float]) -> dict[str, Outcome] | None:
        return None  # there is one team

    def title_of(self, spec: EnvSpec) -> str:
        return f"Overcooked: {spec.short_id.replace('_', ' ')}"

    def summary(self, spec: EnvSpec) -> str:
        return "Cooks of one kitchen fetch, cook and serve soups, and are paid together for each."

    def keys(self, environment: Instance, agent: str, player: int) -> KeyScheme:
        scheme = super().keys(environment, agent, player)
        act = environment.action_meanings(agent).index("interact")
        moves = {key: number for key, number in scheme.bindings.items() if number != act}
        return replace(scheme, bindings={**moves, LAYOUTS[player].roles["act"]: act})
