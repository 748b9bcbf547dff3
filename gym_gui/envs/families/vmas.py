"""VMAS: bodies that push, carry and meet in a plane, each controlled by an agent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from gym_gui.core.paradigms import ParadigmAdapter, SimultaneousAdapter
from gym_gui.envs.family import Family, Teams
from gym_gui.envs.index import package_dir
from gym_gui.envs.instance import Instance
from gym_gui.envs.keymaps import Pace
from gym_gui.envs.spec import EnvSpec

_HEAD = "vmas/"
_PLACES = (("", "vmas.scenarios"), ("mpe", "vmas.scenarios.mpe"))
"""Folders of scenarios, with the packages to import them from; scenarios for debugging are left out."""
_LENGTH = 100
"""Step limit of an episode unless ``max_steps`` is given; most scenarios have no end of their own."""
_STEP_KEYS = ("x", "y", "turn")
_SUMMARIES: Mapping[str, str] = {
    "balance": "Carry a ball on a bar up to its goal without letting it roll off.",
    "ball_passage": "Push a ball through a gap in a wall to its goal.",
    "ball_trajectory": "Two agents move a ball between them along a circle.",
    "buzz_wire": "Move a ball that hangs between two agents through a narrow way without touching it.",
    "discovery": "Several agents have to be near a target at once to cover it.",
    "dispersion": "Each food is taken by one agent: spread out.",
    "dropout": "One agent has to reach the goal, and all pay for the energy that is spent.",
    "flocking": "Move around a target together without hitting obstacles.",
    "football": "Bring the ball into the other side's goal.",
    "give_way": "Two agents swap sides of a narrow way that has one place to let the other pass.",
    "joint_passage": "Bring a bar between two agents through a gap in a wall.",
    "joint_passage_size": "Bring a bar between agents of different size through gaps of different size.",
    "multi_give_way": "Four agents swap sides of a narrow crossing.",
    "navigation": "Each agent goes to its own goal without hitting others.",
    "passage": "Bring a formation through gaps in a wall.",
    "reverse_transport": "Push a package from its inside to its goal.",
    "road_traffic": "Drive on a map of roads without hitting others or leaving the lane.",
    "sampling": "Explore a field and gather what lies in it, once each.",
    "simple": "Go to the landmark.",
    "simple_adversary": "Stay near the target without letting the adversary find out which it is.",
    "simple_crypto": "Alice tells Bob a message that Eve must not read.",
    "simple_push": "Stay at the landmark, or push the other away from it.",
    "simple_reference": "Each tells the other which landmark to go to.",
    "simple_speaker_listener": "The agent that sees the target tells the other where to go.",
    "simple_spread": "Cover all landmarks without bumping into each other.",
    "simple_tag": "Adversaries catch the faster good agents.",
    "simple_world_comm": "Adversaries and their leader catch good agents, who hide in forests and seek food.",
    "transport": "Push packages that are too heavy for one to their goal.",
    "wheel": "Turn a long bar on an axle at a wanted speed.",
    "wind_flocking": "Move in formation, one shielding the other from the wind.",
}


class VmasFamily(Family):
    """Family of the package's scenarios, with one instance per environment."""

    name: ClassVar[str] = "vmas"
    title: ClassVar[str] = "VMAS"
    extra: ClassVar[str] = "vmas"
    modules: ClassVar[tuple[str, ...]] = ("vmas",)
    prefixes: ClassVar[tuple[str, ...]] = (_HEAD,)
    closed: ClassVar[bool] = True
    hints: ClassVar[Mapping[str, str]] = {"gymnasium": "", "gym": "", "pettingzoo": ""}
    apis: ClassVar[tuple[str, ...]] = ("parallel",)
    documented: ClassVar[bool] = False
    """False, because the package does not document its scenarios."""
    web_page: ClassVar[str] = "https://vmas.readthedocs.io/en/latest/usage/scenarios.html"
    modes: ClassVar[tuple[str, ...] | None] = ("rgb_array",)
    usual_pace: ClassVar[Pace] = Pace(realtime=True, rate=10)

    def specs(self) -> Sequence[EnvSpec]:
        self.require()
        root = package_dir("vmas")
        return [
            self.spec(f"{_HEAD}{path.stem}", f"{module}.{path.stem}:Scenario", max_episode_steps=_LENGTH)
            for folder, module in _PLACES
            for path in sorted((root / "scenarios" / folder).glob("*.py") if root else ())
            if path.stem != "__init__"
        ]

    def candidates(self, task: str) -> Iterable[str]:
        yield task.replace(".", "/") if task.startswith("vmas.") else task

    def build(self, spec: EnvSpec, *, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> Any:
        from gym_gui.envs.families.vmas_env import VmasParallel

        kwargs: dict[str, Any] = {"max_steps": _LENGTH, **env_kwargs}
        return VmasParallel(spec.short_id, render_mode, kwargs)

    def adapter(self, spec: EnvSpec, env: Any) -> ParadigmAdapter:
        return SimultaneousAdapter(env)

    def reusable(self, spec: EnvSpec) -> bool:
        """Return ``False`` for road traffic, which keeps state of the previous episode."""
        return spec.short_id != "road_traffic"

    def teams(self, spec: EnvSpec, adapter: ParadigmAdapter) -> Teams:
        """Return two teams: adversaries and other agents, or blue and red in football; else the default."""
        agents = adapter.possible_agents
        against = adapter.env.adversaries
        if against:
            good = tuple(agent for agent in agents if agent not in against)
            return {"adversaries": tuple(agent for agent in agents if agent in against), "good": good}
        colors = {c: tuple(a for a in agents if f"_{c}_" in a) for c in ("blue", "red")}
        return colors if all(colors.values()) else super().teams(spec, adapter)

    def title_of(self, spec: EnvSpec) -> str:
        name = spec.short_id.replace("_", " ")
        return f"{name[:1].upper()}{name[1:]} (VMAS)"

    def summary(self, spec: EnvSpec) -> str:
        return _SUMMARIES.get(spec.short_id, "")

    def noop_action(self, environment: Instance, agent: str) -> Any | None:
        """Return 0, the discrete action without force and message; ``None`` for continuous actions."""
        return 0 if hasattr(environment.adapter.action_space(agent), "n") else None

    def components(self, spec: EnvSpec) -> tuple[str, ...]:
        return _STEP_KEYS
