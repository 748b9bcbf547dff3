"""Environments that Gymnasium registers itself, or that another module registered with Gymnasium."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from gym_gui.core.paradigms import OptionLibrary, ParadigmAdapter, SingleAgentAdapter, adapt
from gym_gui.core.types import Plan
from gym_gui.envs import index, mujoco_gl, mujoco_plans
from gym_gui.envs.describers import Describer
from gym_gui.envs.documents import source, summaries
from gym_gui.envs.environment_source import EnvironmentSource, called
from gym_gui.envs.family import Family
from gym_gui.envs.instance import Instance
from gym_gui.envs.keymaps import LAYOUTS, KeyScheme, Pace, of_pushes
from gym_gui.envs.simulator import Simulator, mujoco_in, simulator_in
from gym_gui.envs.spec import EnvSpec, split_version

_HOME = "gymnasium.envs."

# Facts from Gymnasium's documentation that its code lacks. The keys are modules, so that every version and
# variant of an environment shares an entry.
_MEANINGS: Mapping[str, tuple[str, ...]] = {
    "classic_control.cartpole": ("left", "right"),
    "classic_control.mountain_car": ("left", "noop", "right"),
    "classic_control.acrobot": ("torque -1", "noop", "torque +1"),
    "box2d.lunar_lander": ("noop", "left engine", "main engine", "right engine"),
    "box2d.car_racing": ("noop", "right", "left", "gas", "brake"),
    "toy_text.frozen_lake": ("left", "down", "right", "up"),
    "toy_text.cliffwalking": ("up", "right", "down", "left"),
    "toy_text.taxi": ("south", "north", "east", "west", "pickup", "dropoff"),
    "toy_text.blackjack": ("stick", "hit"),
}

# Environments whose steps follow one another faster than a person thinks, at a speed that can be learned.
_PACES: Mapping[str, Pace] = {
    "classic_control.cartpole": Pace(realtime=True, rate=15),
    "phys2d.cartpole": Pace(realtime=True, rate=15),
    "classic_control.acrobot": Pace(realtime=True, rate=15),
    "classic_control": Pace(realtime=True, rate=30),
    "phys2d": Pace(realtime=True, rate=30),
    "box2d": Pace(realtime=True, rate=30),
    "mujoco": Pace(realtime=True, rate=20),
}
# Pushes of continuous actions: role of the key, component, value, effect.
_PUSHES: Mapping[str, tuple[tuple[str, int, float, str], ...]] = {
    "classic_control.pendulum": (("left", 0, 2.0, "turn left"), ("right", 0, -2.0, "turn right")),
    "phys2d.pendulum": (("left", 0, 2.0, "turn left"), ("right", 0, -2.0, "turn right")),
    "classic_control.continuous_mountain_car": (("left", 0, -1.0, "left"), ("right", 0, 1.0, "right")),
    "box2d.lunar_lander": (
        ("up", 0, 1.0, "main engine"),
        ("left", 1, -1.0, "left engine"),
        ("right", 1, 1.0, "right engine"),
    ),
    "box2d.car_racing": (
        ("left", 0, -1.0, "steer left"),
        ("right", 0, 1.0, "steer right"),
        ("up", 1, 1.0, "gas"),
        ("down", 2, 0.8, "brake"),
    ),
}
WALKER = ("first hip", "first knee", "second hip", "second knee")

_DOCUMENTED = frozenset({"classic_control", "toy_text", "box2d", "mujoco"})
_PAGES = {"continuous_mountain_car": "mountain_car_continuous"}
_VERSIONED = re.compile(r"_v\d+$")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def _reached(last: tuple[float, bool]) -> bool:
    return last[1]


def _rewarded(last: tuple[float, bool]) -> bool:
    return last[1] and last[0] > 0


# Rule for a solved episode: (last reward, terminated) -> solved.
_SOLVED: Mapping[str, Callable[[tuple[float, bool]], bool]] = {
    "classic_control.mountain_car": _reached,
    "classic_control.continuous_mountain_car": _reached,
    "classic_control.acrobot": _reached,
    "toy_text.frozen_lake": _rewarded,
    "toy_text.cliffwalking": _reached,
    "toy_text.taxi": _reached,
    "toy_text.blackjack": _rewarded,
}
_SHAPED = frozenset({"box2d.lunar_lander", "box2d.bipedal_walker"})
"""Environments that pay a reward in each step for progress toward the goal."""
_ADVICE = frozenset({"toy_text.taxi"})
"""Environments whose ``info["action_mask"]`` marks the actions with an effect, although all are legal."""


def last_step(environment: Instance) -> tuple[float, bool]:
    """Return reward and ``terminated`` of the episode's last step; 0 and ``False`` with several agents."""
    adapter: Any = environment.adapter
    adapter = getattr(adapter, "inner", adapter)
    return adapter.last_step if isinstance(adapter, SingleAgentAdapter) else (0.0, False)


def success_in_info(environment: Instance) -> bool | None:
    """Return the only agent's ``info["is_success"]`` or ``info["success"]``; ``None`` if both are missing."""
    info = environment.adapter.info("agent_0")
    for key in ("is_success", "success"):
        if key in info:
            return bool(info[key])
    return None


class GymnasiumFamily(Family):
    """Family of classic control, toy text, and environments that users registered with Gymnasium."""

    name: ClassVar[str] = "gymnasium"
    title: ClassVar[str] = "Gymnasium"
    extra: ClassVar[str] = "classic"
    hints: ClassVar[Mapping[str, str]] = {"gym": "", "classic_control": "", "toy_text": ""}
    areas: ClassVar[tuple[str, ...]] = ()

    @property
    def listable(self) -> bool:
        return True  # Gymnasium's registry lists them even if their package is missing

    def specs(self) -> Sequence[EnvSpec]:
        rows = index.registered("gymnasium", "gymnasium", _here)
        return [spec for row in rows if (spec := self._spec_of(row)) is not None]

    def lookup(self, names: Iterable[str]) -> EnvSpec | None:
        # By name: packages imported in this process may have registered twenty thousand environments.
        rows = (index.find_registered("gymnasium", "gymnasium", name, _row_here) for name in names)
        specs = (self._spec_of(row) for row in rows if row is not None)
        return next((spec for spec in specs if spec is not None), None)

    def _spec_of(self, row: Mapping[str, Any]) -> EnvSpec | None:
        """Return the spec for an entry of Gymnasium's registry; ``None`` if another family has it."""
        entry = _entry(row["entry_point"])
        if entry is None or not self._is_mine(entry) or row["id"].startswith(_ADAPTERS):
            return None
        return self._spec(row, entry)

    def _is_mine(self, entry: str | Callable[..., Any]) -> bool:
        where = entry if isinstance(entry, str) else entry.__module__
        area = where.removeprefix(_HOME).partition(".")[0] if where.startswith(_HOME) else ""
        if self.areas:
            return area in self.areas
        return area not in _OWN_FAMILY and where.partition(":")[0].partition(".")[0] not in _OWN_PACKAGE

    def _spec(self, row: Mapping[str, Any], entry: str | Callable[..., Any]) -> EnvSpec:
        module = entry if isinstance(entry, str) else ""
        jax = module.startswith((f"{_HOME}phys2d", f"{_HOME}tabular"))
        return self.spec(
            row["id"],
            entry,
            package=self.modules[0] if self.modules else (module.partition(".")[0] or "gymnasium"),
            max_episode_steps=row["max_episode_steps"],
            requirements=("gymnasium[jax]",) if jax else (),
            traits={"kwargs": row["kwargs"]},
        )

    def build(self, spec: EnvSpec, *, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> Any:
        import gymnasium

        # Gymnasium's own checker costs a microsecond per step; `mosaic envs check` does the same checks.
        made = gymnasium.make(spec.id, render_mode=render_mode, disable_env_checker=True, **env_kwargs)
        return mujoco_gl.drawable(made) if render_mode is not None and mujoco_in(made.unwrapped) else made

    def as_source(self, spec: EnvSpec, env_kwargs: Mapping[str, Any]) -> EnvironmentSource | None:
        """Return the source of an environment that Gymnasium itself registers; ``None`` for others."""
        if not spec.module.startswith(_HOME):
            return None
        call = called("gymnasium.make", spec.id, disable_env_checker=True, **env_kwargs)
        return EnvironmentSource(("import gymnasium",), call)

    def simulator(self, environment: Instance) -> Simulator | None:
        """Return the environment's MuJoCo simulator, also inside a user's environment.

        ``None`` without one.
        """
        return simulator_in(environment.env)

    def draw_plans(self, environment: Instance, plans: Sequence[Plan]) -> None:
        """Draw plans as lines in MuJoCo's scene, if the environment uses MuJoCo."""
        if mujoco_in(environment.env):
            mujoco_plans.mark(environment.env, plans)

    def adapter(self, spec: EnvSpec, env: Any) -> ParadigmAdapter:
        return adapt(env, info_mask=_area(spec) not in _ADVICE)

    def needs(self, spec: EnvSpec) -> tuple[str, ...]:
        return ("jax",) if _area(spec).startswith(("phys2d", "tabular")) else ()

    def shaped_rewards(self, spec: EnvSpec) -> bool:
        return _area(spec) in _SHAPED

    def title_of(self, spec: EnvSpec) -> str:
        area, _, name = split_version(spec.id)[0].rpartition("/")
        return f"{name} ({area})" if area else name

    def summary(self, spec: EnvSpec) -> str:
        area = _VERSIONED.sub("", _area(spec))  # mujoco.ant_v5 is mujoco.ant
        return summaries.GYMNASIUM.get(area, "")

    def doc_url(self, spec: EnvSpec) -> str:
        area, _, module = _area(spec).partition(".")
        if area not in _DOCUMENTED or not isinstance(spec.entry_point, str):
            return ""
        name = spec.entry_point.rpartition(":")[2].removesuffix("Env").replace("_", "")
        page = _PAGES.get(module) or _CAMEL.sub("_", name).lower()
        return f"https://gymnasium.farama.org/environments/{area}/{page}/"

    def pace(self, spec: EnvSpec) -> Pace:
        area = _area(spec)
        return next((pace for head, pace in _PACES.items() if area.startswith(head)), Pace())

    def components(self, spec: EnvSpec) -> tuple[str, ...]:
        if _area(spec).startswith("mujoco."):
            return tuple(f"joint {i + 1}" for i in range(len(LAYOUTS[0].pairs)))
        return WALKER if _area(spec) == "box2d.bipedal_walker" else ()

    def keys(self, environment: Instance, agent: str, player: int) -> KeyScheme:
        pushes = _PUSHES.get(_area(environment.spec), ())
        if pushes and not hasattr(environment.adapter.action_space(agent), "n"):
            return of_pushes(pushes, player, self.pace(environment.spec))
        return super().keys(environment, agent, player)

    def action_meanings(self, environment: Instance, agent: str) -> tuple[str, ...]:
        words = _MEANINGS.get(_area(environment.spec), ())
        return words if getattr(environment.adapter.action_space(agent), "n", None) == len(words) else ()

    def describer(self, environment: Instance) -> Describer:
        """Return the environment's own describer, else one made from Gymnasium's documentation."""
        from gym_gui.envs.describers import box2d, classic_control, mujoco, toy_text, vectors

        area = _area(environment.spec)
        if area in toy_text.DESCRIBERS:
            return toy_text.DESCRIBERS[area](environment)
        if area in classic_control.TASKS:
            observed = vectors.observed_in(environment, self._tables(environment.spec))
            return classic_control.ControlDescriber(environment, classic_control.TASKS[area], observed)
        if area in box2d.DESCRIBERS:
            return box2d.DESCRIBERS[area](environment)
        about = reads = ""
        if area.startswith("mujoco."):
            about = mujoco.about(_VERSIONED.sub("", area).removeprefix("mujoco."), environment.env)
            reads = mujoco.further(environment.env)
        return vectors.documented(environment, self._tables(environment.spec), about, reads)

    def options(self, environment: Instance, agent: str) -> OptionLibrary | None:
        """Return options that lead to waypoints; ``None`` if observations lack the agent's position."""
        from gym_gui.envs.options.waypoints import TRACKS, waypoint_options

        track = TRACKS.get(_VERSIONED.sub("", _area(environment.spec)))
        if track is None or environment.adapter.observation_space(agent).shape != (track.observed,):
            return None
        return waypoint_options(track)

    def _tables(self, spec: EnvSpec) -> str:
        """Return the documentation.

        An old version of a MuJoCo environment uses that of the newest version.
        """
        own = self.documentation(spec)
        if "| Num" in own or not isinstance(spec.entry_point, str) or not _area(spec).startswith("mujoco."):
            return own
        newest = _VERSIONED.sub("_v5", spec.module)
        found = source.find(f"{newest}:{spec.entry_point.rpartition(':')[2]}")
        return found.text if found is not None else own

    def success(self, environment: Instance) -> bool | None:
        rule = _SOLVED.get(_area(environment.spec))
        return success_in_info(environment) if rule is None else rule(last_step(environment))


class Box2DFamily(GymnasiumFamily):
    """Family of Gymnasium's Box2D environments."""

    name: ClassVar[str] = "box2d"
    title: ClassVar[str] = "Box2D"
    extra: ClassVar[str] = "box2d"
    modules: ClassVar[tuple[str, ...]] = ("Box2D",)
    hints: ClassVar[Mapping[str, str]] = {"gymnasium": "", "gym": ""}
    areas: ClassVar[tuple[str, ...]] = ("box2d",)

    def reusable(self, spec: EnvSpec) -> bool:
        """Return ``False`` for BipedalWalker, in which later episodes differ from those of a new instance."""
        return not spec.id.startswith("BipedalWalker-")


class MuJoCoFamily(GymnasiumFamily):
    """Family of Gymnasium's MuJoCo environments."""

    name: ClassVar[str] = "mujoco"
    title: ClassVar[str] = "MuJoCo"
    extra: ClassVar[str] = "mujoco"
    modules: ClassVar[tuple[str, ...]] = ("mujoco",)
    hints: ClassVar[Mapping[str, str]] = {"gymnasium": "", "gym": ""}
    areas: ClassVar[tuple[str, ...]] = ("mujoco",)

    def _spec_of(self, row: Mapping[str, Any]) -> EnvSpec | None:
        # Only supported on mujoco<3: https://github.com/Farama-Foundation/Gymnasium/issues/950
        return None if row["id"] == "Pusher-v4" else super()._spec_of(row)

    def build(self, spec: EnvSpec, *, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> Any:
        """Make the environment, after choosing a rendering library that works without a display too."""
        if render_mode is not None:
            mujoco_gl.choose()
        return super().build(spec, render_mode=render_mode, env_kwargs=env_kwargs)


_OWN_FAMILY = frozenset({*Box2DFamily.areas, *MuJoCoFamily.areas})
_ADAPTERS = ("GymV21Environment-", "GymV26Environment-", "dm_control/")
"""Prefixes of ids that Shimmy registers at its import and that this family leaves out.

Some of these environments wrap another environment and cannot be made alone; DM Control has its own family.
"""
_OWN_PACKAGE = frozenset(
    {
        *("minigrid", "mosaic_multigrid", "multigrid", "ale_py", "nle", "minihack", "highway_env"),
        *("lbforaging", "rware", "vizdoom", "gymnasium_robotics", "gym_gui"),
    }
)


def _here(_module: str) -> Iterable[Mapping[str, Any]]:
    """Yield the entries of Gymnasium's registry in this process.

    An entry point may be a string or a callable.
    """
    import gymnasium

    yield from map(_row, gymnasium.registry.values())


def _row_here(env_id: str) -> Mapping[str, Any] | None:
    """Return the entry of one id in Gymnasium's registry of this process, or ``None``."""
    import gymnasium

    known = gymnasium.registry.get(env_id)
    return None if known is None else _row(known)


def _row(known: Any) -> Mapping[str, Any]:
    facts = {"max_episode_steps": known.max_episode_steps, "kwargs": known.kwargs}
    return {"id": known.id, "entry_point": known.entry_point, **facts}


def _entry(point: Any) -> str | Callable[..., Any] | None:
    """Return an entry point; ``None`` for Gymnasium's placeholders that only raise an error."""
    if isinstance(point, str):
        return None if point.partition(":")[2].startswith("_raise") else point
    return point if callable(point) and not getattr(point, "__name__", "").startswith("_raise") else None


def _area(spec: EnvSpec) -> str:
    """Return the environment's module within Gymnasium, such as ``classic_control.cartpole``."""
    return spec.module.removeprefix(_HOME)
