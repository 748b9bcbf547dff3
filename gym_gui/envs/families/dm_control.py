"""DeepMind's Control Suite: bodies in MuJoCo that swing, walk, reach and carry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from gym_gui.envs import index
from gym_gui.envs.family import Family
from gym_gui.envs.keymaps import KeyScheme, Pace, of_space
from gym_gui.envs.spec import EnvSpec

if TYPE_CHECKING:
    from gym_gui.envs.describers import Describer
    from gym_gui.envs.instance import Instance

_SUMMARIES: Mapping[str, str] = {
    "acrobot": "Swing a double pendulum up by its elbow and keep its tip at the top.",
    "ball_in_cup": "Swing a ball on a string up and catch it in the cup it hangs from.",
    "cartpole": "Move a cart so that what stands on it stays upright near the middle.",
    "cheetah": "Run forward on two legs, as fast as 10 m/s.",
    "dog": "Move a dog of 38 muscles.",
    "finger": "Turn a body on a hinge with a finger of two joints.",
    "fish": "Keep a fish upright, or swim to a target.",
    "hopper": "Keep a body with one leg upright, or hop forward.",
    "humanoid": "Keep a body of 21 joints upright, and walk or run.",
    "humanoid_CMU": "Keep a body of 56 joints upright, and walk or run.",
    "lqr": "Bring masses on springs to rest with little force.",
    "manipulator": "Take up a thing with a flat arm and hand, and bring or insert it where it belongs.",
    "pendulum": "Swing a pendulum up with a motor too weak to lift it, and keep it up.",
    "point_mass": "Push a point to the middle of a plane.",
    "quadruped": "Move a body with four legs.",
    "reacher": "Reach a target with the tip of an arm of two joints.",
    "stacker": "Stack boxes with a flat arm and hand where they belong.",
    "swimmer": "Swim to a target with a chain of joints.",
    "walker": "Keep a flat body with two legs upright, and walk or run.",
}
"""By domain."""


class DmControlFamily(Family):
    """The suite's tasks, by the names that Shimmy has for them."""

    name: ClassVar[str] = "dm_control"
    title: ClassVar[str] = "DM Control Suite"
    extra: ClassVar[str] = "dm-control"
    modules: ClassVar[tuple[str, ...]] = ("dm_control", "shimmy")
    prefixes: ClassVar[tuple[str, ...]] = ("dm_control/",)
    closed: ClassVar[bool] = True
    hints: ClassVar[Mapping[str, str]] = {"dmc": "", "gymnasium": "", "gym": ""}

    def specs(self) -> Sequence[EnvSpec]:
        self.require()
        return [
            self.spec(
                row["id"],
                f"dm_control.suite.{row['domain']}:Physics",
                traits={"domain": row["domain"], "task": row["task"]},
            )
            for row in index.entries("dm_control", "dm_control.suite")
        ]

    def build(self, spec: EnvSpec, *, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> Any:
        from gym_gui.envs.families.dm_control_env import suite_task

        return suite_task(spec.traits["domain"], spec.traits["task"], render_mode, env_kwargs)

    def title_of(self, spec: EnvSpec) -> str:
        return f"{_words(spec, 'domain')}, {_words(spec, 'task')} (DM Control)"

    def summary(self, spec: EnvSpec) -> str:
        return _SUMMARIES.get(spec.traits["domain"], "")

    def documentation(self, spec: EnvSpec) -> str:
        """The suite's modules say their domain's name."""
        return ""

    def doc_url(self, spec: EnvSpec) -> str:
        return "https://github.com/google-deepmind/dm_control/blob/main/dm_control/suite/README.md"

    def render_modes(self, spec: EnvSpec) -> tuple[str, ...]:
        return ("rgb_array",)

    def pace(self, spec: EnvSpec) -> Pace:
        return Pace(realtime=True, rate=20)

    def keys(self, environment: Instance, agent: str, player: int) -> KeyScheme:
        space = environment.adapter.action_space(agent)
        parts = environment.env.actuators
        return of_space(space, player, self.pace(environment.spec), components=parts)

    def describer(self, environment: Instance) -> Describer:
        from gym_gui.envs.describers.dm_control_words import DmControlDescriber

        return DmControlDescriber(environment)


def _words(spec: EnvSpec, trait: str) -> str:
    name = str(spec.traits[trait]).replace("_", " ")
    return f"{name[:1].upper()}{name[1:]}" if trait == "domain" else name
