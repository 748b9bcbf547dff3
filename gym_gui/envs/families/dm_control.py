"""DeepMind's Control Suite: single bodies in MuJoCo, and soccer for teams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from gym_gui.core.enums import Outcome
from gym_gui.core.paradigms import ParadigmAdapter
from gym_gui.envs import index
from gym_gui.envs.describers import Describer
from gym_gui.envs.family import Family, ranked
from gym_gui.envs.instance import Instance, Teams
from gym_gui.envs.keymaps import KeyScheme, Pace, of_space
from gym_gui.envs.spec import EnvSpec

_SOCCER, _SIZES = "soccer", (1, 2, 3, 4)
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
    "soccer": "Bring the ball into the other team's goal.",
    "stacker": "Stack boxes with a flat arm and hand where they belong.",
    "swimmer": "Swim to a target with a chain of joints.",
    "walker": "Keep a flat body with two legs upright, and walk or run.",
}
"""Summary of a task by its domain (body) in the suite."""


class DmControlFamily(Family):
    """Family of the suite's tasks, under Shimmy's ids, and of its soccer."""

    name: ClassVar[str] = "dm_control"
    title: ClassVar[str] = "DM Control Suite"
    extra: ClassVar[str] = "dm-control"
    modules: ClassVar[tuple[str, ...]] = ("dm_control", "shimmy")
    prefixes: ClassVar[tuple[str, ...]] = ("dm_control/",)
    closed: ClassVar[bool] = True
    hints: ClassVar[Mapping[str, str]] = {"dmc": "", "gymnasium": "", "gym": ""}
    documented: ClassVar[bool] = False
    """False, because the documentation of the suite's modules is only the domain's name."""
    web_page: ClassVar[str] = (
        "https://github.com/google-deepmind/dm_control/blob/main/dm_control/suite/README.md"
    )
    modes: ClassVar[tuple[str, ...] | None] = ("rgb_array",)
    usual_pace: ClassVar[Pace] = Pace(realtime=True, rate=20)

    def specs(self) -> Sequence[EnvSpec]:
        self.require()
        return [
            self.spec(
                row["id"],
                f"dm_control.suite.{row['domain']}:Physics",
                traits={"domain": row["domain"], "task": row["task"]},
            )
            for row in index.entries("dm_control", "dm_control.suite")
        ] + [
            self.spec(
                f"dm_control/{_SOCCER}-{size}v{size}-v0",
                "dm_control.locomotion.soccer:load",
                apis=("parallel", "aec"),
                traits={"domain": _SOCCER, "task": f"{size} against {size}", "size": size},
            )
            for size in _SIZES
        ]

    def build(self, spec: EnvSpec, *, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> Any:
        if spec.traits["domain"] == _SOCCER:
            from gym_gui.envs.families.dm_soccer_env import soccer

            return soccer(spec.traits["size"], render_mode, env_kwargs)
        from gym_gui.envs.families.dm_control_env import suite_task

        return suite_task(spec.traits["domain"], spec.traits["task"], render_mode, env_kwargs)

    def title_of(self, spec: EnvSpec) -> str:
        return f"{_words(spec, 'domain')}, {_words(spec, 'task')} (DM Control)"

    def summary(self, spec: EnvSpec) -> str:
        return _SUMMARIES.get(spec.traits["domain"], "")

    def keys(self, environment: Instance, agent: str, player: int) -> KeyScheme:
        space = environment.adapter.action_space(agent)
        parts = environment.env.actuators
        return of_space(space, player, self.pace(environment.spec), components=parts)

    def teams(self, spec: EnvSpec, adapter: ParadigmAdapter) -> Teams:
        """Return ``home`` and ``away`` as teams of soccer, in the order of the agents."""
        if spec.traits["domain"] != _SOCCER:
            return super().teams(spec, adapter)
        agents, size = adapter.possible_agents, spec.traits["size"]
        return {"home": agents[:size], "away": agents[size:]}

    def scores(self, environment: Instance, returns: Mapping[str, float]) -> dict[str, float] | None:
        """Return the goals of each team in soccer; ``None`` for other tasks."""
        if environment.spec.traits["domain"] != _SOCCER:
            return None
        return {team: float(goals) for team, goals in environment.env.goals.items()}

    def outcome(self, environment: Instance, returns: Mapping[str, float]) -> dict[str, Outcome] | None:
        """Return each team's outcome by goals in soccer; ``None`` for other tasks."""
        scores = self.scores(environment, returns)
        return None if scores is None else ranked(scores)

    def describer(self, environment: Instance) -> Describer:
        if environment.spec.traits["domain"] == _SOCCER:
            return super().describer(environment)
        from gym_gui.envs.describers.dm_control_words import DmControlDescriber

        return DmControlDescriber(environment)


def _words(spec: EnvSpec, trait: str) -> str:
    name = str(spec.traits[trait]).replace("_", " ")
    return f"{name[:1].upper()}{name[1:]}" if trait == "domain" else name
