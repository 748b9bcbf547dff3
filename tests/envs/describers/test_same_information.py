"""A seat's text, its facts and its observation carry the same: equal text, facts, and observation.

Held over states of random legal play, and number by number: an observation with one number of another state
in it is told otherwise. What words leave out is declared in ``losses.py``, with the reason.
"""

from __future__ import annotations

import copy
import fnmatch
import os
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from gym_gui import envs
from gym_gui.core.errors import MissingDependencyError
from gym_gui.core.experiment.prompt_inputs import PromptInputs
from gym_gui.core.types import AgentID
from gym_gui.envs import Environment
from gym_gui.envs.describers.information_losses import ABSOLUTE, LOSSES, RELATIVE, ROUNDED, carried
from gym_gui.envs.environment_registry import families, family_of, list_specs, trouble
from gym_gui.envs.facts import Fact
from tests.support.own_pythons import archive, installed, interpreter_with

QUICK: Mapping[str, tuple[int, int]] = {
    **dict.fromkeys(("MiniGrid-FourRooms-v0", "MiniGrid-LavaGapS7-v0", "BabyAI-BossLevel-v0"), (6, 100)),
    **dict.fromkeys(("MosaicMultiGrid-S-2v2-IndAgObs-v1", "MultiGrid-RedBlueDoors-6x6-v0"), (3, 50)),
    **dict.fromkeys(("CartPole-v1", "Acrobot-v1", "Pendulum-v1", "MountainCar-v0"), (6, 60)),
    **dict.fromkeys(("FrozenLake-v1", "Taxi-v4", "CliffWalking-v1", "Blackjack-v1"), (30, 60)),
    **dict.fromkeys(("HalfCheetah-v5", "Reacher-v5"), (3, 60)),
    **dict.fromkeys(("FetchPush-v4", "PointMaze_UMaze-v3"), (2, 20)),
    **dict.fromkeys(("classic/connect_four_v3", "classic/tictactoe_v3"), (12, 40)),
    **dict.fromkeys(("classic/rps_v2", "classic/leduc_holdem_v4", "classic/texas_holdem_v4"), (30, 30)),
    **dict.fromkeys(("classic/texas_holdem_no_limit_v6", "classic/hanabi_v5"), (10, 30)),
    "butterfly/knights_archers_zombies_v11": (2, 150),
    "sisl/pursuit_v5": (1, 15),
    **dict.fromkeys(
        [f"mpe2/simple_{name}" for name in ("spread_v3", "crypto_v3", "speaker_listener_v4")], (6, 25)
    ),
    **dict.fromkeys(
        [f"open_spiel/{name}" for name in ("chess", "checkers", "leduc_poker", "go_fish")], (6, 40)
    ),
    **dict.fromkeys(
        [f"open_spiel/{name}" for name in ("phantom_go", "kriegspiel", "dots_and_boxes")], (6, 40)
    ),
    "CrafterReward-v1": (2, 80),
    "MiniHack-KeyRoom-S5-v0": (3, 50),
    "NetHackScore-v0": (2, 100),
    "highway-fast-v0": (3, 6),
    "Foraging-2s-8x8-3p-3f-v3": (10, 50),
    "rware-tiny-2ag-easy-v2": (2, 100),
}
"""Episodes and steps, of environments that stand for those that a describer speaks of."""
SELDOM: Mapping[str, tuple[int, int]] = {
    **dict.fromkeys(("MosaicMultiGrid-AF-2v2-IndAgObs-v1", "MosaicMultiGrid-C-2v2-IndAgObs-v1"), (3, 50)),
    "MultiGrid-LockedHallway-2Rooms-v0": (3, 50),
    "Ant-v5": (3, 60),
    **dict.fromkeys(("HandReach-v3", "AdroitHandDoor-v1"), (2, 20)),
    "classic/chess_v6": (12, 40),
    **dict.fromkeys([f"mpe2/{name}" for name in ("simple_tag_v3", "simple_reference_v3")], (6, 25)),
    "mpe2/collect_treasure_v1": (6, 25),
    "u-turn-v1": (4, 10),
}
"""Others of their families, which the full run looks at."""
LONG: Mapping[str, tuple[int, int]] = {
    **SELDOM,
    "MiniGrid-FourRooms-v0": (60, 100),
    "MosaicMultiGrid-S-4v4-IndAgObs-v1": (10, 300),
    "Humanoid-v5": (3, 60),
    "classic/go_v5": (10, 150),
    "TextWorld/Small-v0": (4, 30),
    "VizdoomDefendCenter-v1": (2, 100),
    "VizdoomDeadlyCorridor-v1": (2, 100),
    "roundabout-v1": (4, 20),
    "racetrack-v1": (4, 20),
    "parking-v0": (4, 30),
    "exit-v1": (3, 20),
    "intersection-multi-agent-v2": (3, 20),
    "lane-keeping-v0": (3, 60),
    "Foraging-8x8-2p-2f-coop-v3": (30, 50),
}
ABSENT: Mapping[str, tuple[int, int]] = {
    **dict.fromkeys(("LunarLander-v3", "BipedalWalker-v3"), (6, 100)),
    **dict.fromkeys(("dm_control/cartpole-swingup-v0", "dm_control/walker-walk-v0"), (4, 60)),
}
"""Of families that are not installed for tests; the full run installs them beside what is."""
EXTRAS = ("box2d", "dm-control")
MANY = ("minigrid", "multigrid", "ini_multigrid", "openspiel", "mpe2")
"""Families of which the full run looks at every environment."""


def tried(tasks: Mapping[str, tuple[int, int]], *marks: pytest.MarkDecorator) -> list[Any]:
    """What is installed here, with its episodes and steps; the rest is skipped, and named."""
    found: list[Any] = []
    for task, length in tasks.items():
        try:
            why = trouble(envs.resolve(task))
        except MissingDependencyError as error:
            why = str(error)
        skips = [pytest.mark.skip(reason=why)] if why else []
        found.append(pytest.param(task, *length, id=task, marks=[*marks, *skips]))
    return found


class Moment(NamedTuple):
    """What a seat is shown."""

    told: str
    facts: Sequence[Fact]
    observation: Any


def play(environment: Environment, episodes: int, steps: int) -> Iterator[tuple[AgentID, Any]]:
    """Agents with what they see, while it is so, in episodes of random legal moves."""
    adapter, rng = environment.adapter, np.random.default_rng(0)
    for seed in range(episodes):
        seen = adapter.reset(seed=seed)
        for _ in range(steps):
            agents = adapter.get_current_agents()
            if not agents:
                break
            moves: dict[AgentID, Any] = {}
            for agent in agents:
                yield agent, seen[agent]
                describer, mask = environment.describer(agent), adapter.action_mask(agent)
                moves[agent] = describer.any_action(agent, mask, int(rng.integers(1 << 62)))
            seen = adapter.step(moves).observations


def moment(environment: Environment, agent: AgentID, seen: Any) -> Moment:
    """The text with the legal moves, the facts, and the observation."""
    describer = environment.describer(agent)
    view = PromptInputs(text=describer.can_say(agent), facts=describer.can_state(agent))
    shown = environment.show(agent, seen, view, environment.adapter.action_mask(agent))
    words = ", ".join(choice.word for choice in shown.choices)
    facts = describer.facts(agent, seen) if view.facts else ()
    return Moment(f"{shown.text}\n{words}", tuple(facts), copy.deepcopy(seen))


def close(first: Any, second: Any) -> bool:
    """Whether values are told alike: equal, but for digits that are declared as left out."""
    if isinstance(first, Mapping):
        return first.keys() == second.keys() and all(close(first[key], second[key]) for key in first)
    if isinstance(first, tuple | list):
        return len(first) == len(second) and all(map(close, first, second))
    one, other = np.asarray(first), np.asarray(second)
    if one.shape != other.shape:
        return False
    if one.dtype.kind == "f" or other.dtype.kind == "f":
        return bool(np.allclose(one, other, rtol=RELATIVE, atol=ABSOLUTE, equal_nan=True))
    return str(first) == str(second) if one.dtype.kind in "OUS" else bool((one == other).all())


def lost(environment: Environment, moments: Sequence[tuple[AgentID, Moment]]) -> list[str]:
    """Texts that stand for several states of a seat, which its facts or its observation tell apart."""
    family, env_id = environment.family.name, environment.spec.id
    first: dict[tuple[AgentID, str], Moment] = {}
    found: list[str] = []
    for agent, each in moments:
        before = first.setdefault((agent, each.told), each)
        if not close(
            [(f.predicate, *f.terms) for f in before.facts], [(f.predicate, *f.terms) for f in each.facts]
        ):
            found.append(f"facts: {each.told}")
        if not close(carried(family, env_id, before.observation), carried(family, env_id, each.observation)):
            found.append(f"observation: {each.told}")
    return found


def states(environment: Environment, episodes: int, steps: int) -> list[tuple[AgentID, Moment]]:
    return [(agent, moment(environment, agent, seen)) for agent, seen in play(environment, episodes, steps)]


def hold(task: str, episodes: int, steps: int) -> None:
    environment = envs.make(task)
    try:
        moments = states(environment, episodes, steps)
        assert len(moments) >= 10
        assert not (found := lost(environment, moments)), f"{len(found)} times, first {found[0]}"
    finally:
        environment.close()


@pytest.mark.parametrize(("task", "episodes", "steps"), tried(QUICK))
def test_what_is_told_alike_is_alike(task: str, episodes: int, steps: int) -> None:
    hold(task, episodes, steps)


@pytest.mark.full
@pytest.mark.parametrize(("task", "episodes", "steps"), tried(LONG))
def test_what_is_told_alike_is_alike_in_long_play(task: str, episodes: int, steps: int) -> None:
    hold(task, episodes, steps)


@pytest.fixture(scope="module")
def layered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter that has what this one has, and the families of :data:`EXTRAS`."""
    return interpreter_with(tmp_path_factory.mktemp("layered"), EXTRAS)


_HOLD = """
import sys
from tests.envs.describers.test_same_information import hold
hold(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
"""


@pytest.mark.full
@pytest.mark.parametrize(("task", "episodes", "steps"), [(task, *length) for task, length in ABSENT.items()])
def test_what_is_told_alike_is_alike_in_families_that_are_absent(
    layered: Path, task: str, episodes: int, steps: int
) -> None:
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run(
        [str(layered), "-c", _HOLD, task, str(episodes), str(steps)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]


BALROG: Mapping[str, tuple[int, int]] = {
    **dict.fromkeys(
        [f"balrog/{name}" for name in ("babyai/goto", "babaisai/make_win", "crafter/default")], (2, 40)
    )
}


@pytest.fixture(scope="module")
def balrog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    files = [archive(start) for start in ("baba-", "balrog-0", "minigrid-")]
    with installed("balrog", tmp_path_factory.mktemp("balrog"), files):
        yield


@pytest.mark.full
@pytest.mark.usefixtures("balrog")
@pytest.mark.parametrize(("task", "episodes", "steps"), [(task, *length) for task, length in BALROG.items()])
def test_what_balrog_tells_alike_is_alike(task: str, episodes: int, steps: int) -> None:
    hold(task, episodes, steps)


@pytest.mark.full
@pytest.mark.parametrize("family", MANY)
def test_what_is_told_alike_is_alike_in_every_environment(family: str) -> None:
    for spec in list_specs():
        drawn = "wfc" in str(spec.entry_point)  # of MiniGrid: needs pictures that its package lacks
        if family_of(spec).name == family and not drawn and not trouble(spec):
            environment = envs.make(spec.id)
            try:
                moments = states(environment, 3, 40)
                assert not (found := lost(environment, moments)), f"{spec.id}: {found[0]}"
            finally:
                environment.close()


def test_a_text_that_leaves_something_out_is_found() -> None:
    environment = envs.make("MiniGrid-FourRooms-v0")
    try:
        moments = states(environment, 8, 120)
        rays = [(agent, each._replace(told=each.told.partition("Map:")[0])) for agent, each in moments]
        assert any(found.startswith("facts") for found in lost(environment, rays))
        assert any(found.startswith("observation") for found in lost(environment, rays))
    finally:
        environment.close()


# -- number by number ------------------------------------------------------------------------

Groups = Callable[[Any, Any], Iterator[Sequence[int]]]
"""Of a flat array and one of another state: the numbers that mean something together."""


def singly(one: Any, other: Any) -> Iterator[Sequence[int]]:
    yield from ([i] for i in range(one.size))


def together(*groups: Sequence[int]) -> Groups:
    """Given groups, and all other numbers one by one."""

    def found(one: Any, other: Any) -> Iterator[Sequence[int]]:
        yield from groups
        known = {i for group in groups for i in group}
        yield from ([i] for i in range(one.size) if i not in known)

    return found


def in_rows(width: int, *within: Sequence[int], empty: float = 0) -> Groups:
    """Rows, of which one whose first number says that it is empty means nothing by its parts."""

    def found(one: Any, other: Any) -> Iterator[Sequence[int]]:
        for start in range(0, one.size, width):
            row = range(start, start + width)
            if within and (one[start] == empty or other[start] == empty):
                yield row
            else:
                yield from ([start + i for i in group] for group in within or [range(width)])

    return found


def warehouse(one: Any, other: Any) -> Iterator[Sequence[int]]:
    """What a robot carries and faces is in its own cell once more."""
    own = 8 + 7 * 4
    yield from ([i] for i in (0, 1, 7))
    yield [*range(2, 7), *range(own, own + 7)]
    for start in range(8, one.size, 7):
        if start != own:
            yield range(start, start + 5)
            yield range(start + 5, start + 7)


def knights(one: Any, other: Any) -> Iterator[Sequence[int]]:
    """A row for each body, the own one among them once more, at no distance."""
    yield from ((1, 2), (3, 4))
    for start in range(5, one.size, 5):
        distances = one[start], other[start]
        if all(distances):
            yield from (range(start, start + 3), range(start + 3, start + 5))
        elif any(distances):
            yield range(start, start + 5)


SWAPPED: Mapping[str, Groups] = {
    "MiniGrid-*": in_rows(3),
    "BabyAI-*": in_rows(3),
    "MosaicMultiGrid-*": in_rows(3),
    "MultiGrid-*": in_rows(3),
    "Acrobot-v1": together((0, 1), (2, 3)),
    "Pendulum-v1": together((0, 1)),
    **dict.fromkeys(
        ("CartPole-v1", "MountainCar-v0", "FrozenLake-v1", "Taxi-v4", "CliffWalking-v1", "Blackjack-v1"),
        singly,
    ),
    **dict.fromkeys(("HalfCheetah-v5", "Ant-v5", "Humanoid-v5", "Reacher-v5", "AdroitHandDoor-v1"), singly),
    **dict.fromkeys(("FetchPush-v4", "PointMaze_UMaze-v3", "HandReach-v3", "lane-keeping-v0"), singly),
    **dict.fromkeys([f"mpe2/simple_{name}_v3" for name in ("spread", "tag", "crypto")], singly),
    "mpe2/simple_reference_v3": together((8, 9, 10), range(11, 21)),
    "highway-fast-v0": in_rows(5, *([i] for i in range(5))),
    "Foraging-*": in_rows(3, [0], [1], [2], empty=-1),
    "rware-*": warehouse,
    "sisl/pursuit_v5": singly,
    "butterfly/knights_archers_zombies_v11": knights,
    "u-turn-v1": in_rows(16),
}
"""Environments whose texts are of the observation alone, by how its numbers belong together."""
_EACH = 3
"""Groups that are tried of each array at each moment."""


def arrays(seen: Any, *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The arrays of an observation, by where they are in it."""
    if isinstance(seen, Mapping):
        for key, part in seen.items():
            yield from arrays(part, *path, key)
    elif np.asarray(seen).dtype.kind in "iufb":
        yield path, seen


def with_part(seen: Any, path: Sequence[str], part: Any) -> Any:
    return part if not path else {**seen, path[0]: with_part(seen[path[0]], path[1:], part)}


def exchanged(seen: Any, other: Any, groups: Groups, rng: np.random.Generator) -> Iterator[tuple[Any, str]]:
    """The observation with some numbers of another, each time others."""
    there = dict(arrays(other))
    for path, part in arrays(seen):
        one, two = np.array(part).reshape(-1), np.array(there[path]).reshape(-1)
        how = groups if np.ndim(part) > 0 else singly
        found = [list(group) for group in how(one, two) if not close(one[list(group)], two[list(group)])]
        for i in rng.permutation(len(found))[:_EACH]:
            changed = one.copy()
            changed[found[i]] = two[found[i]]
            shaped = changed.reshape(np.shape(part))
            yield (
                with_part(seen, path, shaped if isinstance(part, np.ndarray) else type(part)(shaped)),
                f"{path} {found[i]}",
            )


@pytest.mark.parametrize(
    ("task", "episodes", "steps"),
    [
        *tried({**QUICK, "Humanoid-v5": (2, 40), "lane-keeping-v0": (2, 30)}),
        *tried(SELDOM, pytest.mark.full),
    ],
)
def test_each_number_of_an_observation_is_told(task: str, episodes: int, steps: int) -> None:
    groups = next((how for name, how in SWAPPED.items() if fnmatch.fnmatchcase(task, name)), None)
    if groups is None:
        return  # told from the game itself, or a picture
    environment, rng = envs.make(task), np.random.default_rng(1)
    count, known = 0, defaultdict[AgentID, list[Any]](list)
    try:
        for agent, seen in play(environment, min(episodes, 6), min(steps, 60)):
            describer = environment.describer(agent)
            text = describer.text(agent, seen)
            facts = describer.facts(agent, seen) if describer.can_state(agent) else None
            if others := known[agent]:
                for changed, which in exchanged(seen, others[rng.integers(len(others))], groups, rng):
                    assert describer.text(agent, changed) != text, f"{which} is not told: {text}"
                    if facts is not None:
                        assert describer.facts(agent, changed) != facts, f"{which} is not stated"
                    count += 1
            others.append(copy.deepcopy(seen))
    finally:
        environment.close()
    assert count >= 5


# -- what is declared ------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.environments)
def test_what_is_left_out_is_of_environments_that_exist(loss: Any) -> None:
    for family in loss.families:
        assert family in families()
        ids = [spec.id for spec in list_specs() if family_of(spec).name == family]
        assert not ids or any(fnmatch.fnmatchcase(each, loss.environments) for each in ids)


def test_that_numbers_are_rounded_stands_where_texts_are_explained() -> None:
    page = Path(__file__).resolve().parents[3] / "docs" / "environments" / "readers.md"
    assert ROUNDED.sentence in " ".join(page.read_text("utf-8").split())
