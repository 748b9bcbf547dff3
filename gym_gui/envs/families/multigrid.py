"""MOSAIC MultiGrid: team sports on a grid."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from gym_gui.core.enums import Outcome
from gym_gui.core.paradigms import OptionLibrary, ParadigmAdapter, SequentialAdapter, SimultaneousAdapter
from gym_gui.envs.describers.multigrid_slots import slot_names, team_color
from gym_gui.envs.documents import source
from gym_gui.envs.families.minigrid import IndexedFamily
from gym_gui.envs.family import Teams, enum_names, ranked, team_returns
from gym_gui.envs.instance import Instance
from gym_gui.envs.keymaps import Pace
from gym_gui.envs.spec import EnvSpec, newest_of, split_version

_HEAD = "MosaicMultiGrid-"
_SPORTS = {"soccer": "S", "basketball": "BB", "americanfootball": "AF", "football": "AF", "collect": "C"}
_TITLES = {"S": "Soccer", "BB": "Basketball", "AF": "American football", "C": "Collect"}
_WORDS = {"S": "football ball team sport", "BB": "ball team sport", "AF": "ball team sport", "C": "ball"}
_AIMS = {
    "S": "Carry the ball into the other side's goal.",
    "BB": "Bring the ball to the other side's basket.",
    "AF": "Carry the ball into the other side's end zone.",
    "C": "Collect more balls than the others.",
}
_GREEN_BLUE = ("green", "blue")
_SIDES = {"AF": ("red", "green")}
"""Colors of the two teams by sport, for sports with colors other than green and blue."""
_FORMAT = re.compile(r"^(\d+)vs?(\d+)$")


class MultiGridFamily(IndexedFamily):
    """Family of soccer, basketball, American football and ball collecting; agents are named by team."""

    name: ClassVar[str] = "multigrid"
    title: ClassVar[str] = "MOSAIC MultiGrid"
    extra: ClassVar[str] = "multigrid"
    modules: ClassVar[tuple[str, ...]] = ("mosaic_multigrid",)
    prefixes: ClassVar[tuple[str, ...]] = (_HEAD,)
    closed: ClassVar[bool] = True
    hints: ClassVar[Mapping[str, str]] = {
        "mosaic_multigrid": "",
        "mosaic-multigrid": "",
        "gymnasium": "",
        "gym": "",
        "pettingzoo": "",
    }
    apis: ClassVar[tuple[str, ...]] = ("parallel", "aec")
    compiled: ClassVar[tuple[str, ...]] = ("mosaic_multigrid.utils.obs:gen_obs_grid_encoding",)
    described_by: ClassVar[str] = "gym_gui.envs.describers.multigrid:MultiGridDescriber"
    options_by: ClassVar[str] = "gym_gui.envs.options.soccer:soccer_options"
    web_page: ClassVar[str] = "https://github.com/Abdulhamid97Mousa/mosaic_multigrid"
    modes: ClassVar[tuple[str, ...] | None] = ("rgb_array",)
    usual_pace: ClassVar[Pace] = Pace(rate=10)

    def candidates(self, task: str) -> Iterable[str]:
        """Yield the id and, for an id of an earlier release, its present spelling.

        Earlier names had the sport in full, ``NvsM`` and other version numbers. ``Soccer`` is ``S``,
        ``Basketball`` ``BB``, ``AmericanFootball`` ``AF``, ``Collect`` ``C``; ``2vs2`` is ``2v2``; the
        observation variant ``IndAgObs`` may be missing. Such a name means the newest version, because the old
        numbers counted something else. A name in today's spelling never changes.
        """
        yield task
        new = _respell(task)
        if new is None:
            return
        known = [spec.id for spec in self.specs()] if self.installed else []
        base, _, version = new.rpartition("-v")
        for name in (new, f"{base}-IndAgObs-v{version}"):
            found = newest_of(name, known)
            if found is not None:
                yield found

    def build(self, spec: EnvSpec, *, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> Any:
        env = super().build(spec, render_mode=render_mode, env_kwargs=env_kwargs)
        if spec.api == "parallel":
            return env
        from gym_gui.envs.families.multigrid_aec import MultiGridParallel, as_aec

        return as_aec(MultiGridParallel(env))

    def adapter(self, spec: EnvSpec, env: Any) -> ParadigmAdapter:
        names = slot_names(env.unwrapped)
        kind = SimultaneousAdapter if spec.api == "parallel" else SequentialAdapter
        return kind(env, rename=names.__getitem__)

    def teams(self, spec: EnvSpec, adapter: ParadigmAdapter) -> Teams:
        teams: dict[str, tuple[str, ...]] = {}
        for agent in adapter.possible_agents:
            team = agent.rpartition("_")[0]
            teams[team] = (*teams.get(team, ()), agent)
        return teams

    def scores(self, environment: Instance, returns: Mapping[str, float]) -> dict[str, float] | None:
        """Return the goals of each team, read from the environment, because ``info`` lacks them.

        The environment counts goals by color. If an experiment's team has agents of several colors, there is
        no score (``None``).
        """
        goals: Mapping[int, int] | None = getattr(environment.env, "team_scores", None)
        if goals is None:
            return None
        by_color = {team_color(team): float(n) for team, n in goals.items()}
        colors = {team: {a.rpartition("_")[0] for a in agents} for team, agents in environment.teams.items()}
        if any(len(mixed) != 1 for mixed in colors.values()):
            return None
        return {team: by_color[color] for team, (color,) in colors.items()}

    def outcome(self, environment: Instance, returns: Mapping[str, float]) -> dict[str, Outcome] | None:
        """Return each team's outcome by goals; without goals (ball collecting), by the teams' returns."""
        scores = self.scores(environment, returns)
        return ranked(team_returns(environment.teams, returns) if scores is None else scores)

    def success(self, environment: Instance) -> bool | None:
        """Return whether a team that plays without opponents scored enough goals; ``None`` otherwise."""
        goals: Mapping[int, int] | None = getattr(environment.env, "team_scores", None)
        if not goals or len(environment.teams) > 1:
            return None
        return max(goals.values()) >= environment.env.goals_to_win

    def title_of(self, spec: EnvSpec) -> str:
        """Return a title made from the id: ``Soccer 2v0`` for ``MosaicMultiGrid-S-G-2v0-IndAgObs-v1``."""
        sport, *rest = _id_parts(spec)
        size = next((word for word in rest if _FORMAT.match(word)), "")
        return f"{_TITLES.get(sport, sport)} {size}".strip()

    def search_words(self, spec: EnvSpec) -> str:
        return _WORDS.get(_id_parts(spec)[0], "")

    def summary(self, spec: EnvSpec) -> str:
        sport, *rest = _id_parts(spec)
        aim = _AIMS.get(sport, "")
        sizes = next((match for word in rest if (match := _FORMAT.match(word))), None)
        if not aim or sizes is None:
            return aim
        sides = [
            (int(n), color) for n, color in zip(sizes.groups(), _SIDES.get(sport, _GREEN_BLUE), strict=True)
        ]
        people = [_people(n, color) for n, color in sides if n]
        return f"{aim} {' against '.join(people)}{'' if len(people) > 1 else ' alone, to practise'}."

    def documentation(self, spec: EnvSpec) -> str:
        """Return the documentation of the environment's class and its base classes, joined."""
        found = source.find(str(spec.entry_point))
        chain = [] if found is None else list(source.classes(found))
        return "\n\n".join(
            inspect.cleandoc(each.text)
            for each in chain
            if each.text and each.module.startswith("mosaic_multigrid.envs")
        )

    def action_meanings(self, environment: Instance, agent: str) -> tuple[str, ...]:
        return enum_names(environment.env.actions)

    def options(self, environment: Instance, agent: str) -> OptionLibrary | None:
        """Return options for soccer; ``None`` for the other sports."""
        return super().options(environment, agent) if _id_parts(environment.spec)[0] == "S" else None


def _id_parts(spec: EnvSpec) -> list[str]:
    """Return the parts of an id, such as ``S``, ``2v2`` and ``IndAgObs``."""
    return split_version(spec.id)[0].removeprefix(_HEAD).split("-")


def _people(n: int, color: str) -> str:
    return f"{n} {color} agent{'' if n == 1 else 's'}"


def _respell(task: str) -> str | None:
    """Return the present spelling of an earlier release's id; ``None`` if the id is not an old one."""
    if not task.startswith(_HEAD):
        return None
    old = task.removeprefix(_HEAD).split("-")
    new = [_SPORTS.get(old[0].lower(), old[0]), *(_FORMAT.sub(r"\1v\2", word) for word in old[1:])]
    return None if new == old else _HEAD + "-".join(new)
