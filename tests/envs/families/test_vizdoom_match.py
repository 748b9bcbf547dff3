"""Matches of ViZDoom: several engines, one world."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

pytest.importorskip("vizdoom")

from gym_gui import envs
from gym_gui.core.enums import Outcome, SteppingParadigm
from gym_gui.core.errors import EnvironmentFailure, UsageError
from gym_gui.envs import Environment
from gym_gui.envs.environment_registry import family_of

PAIR = "VizdoomMultiDeathmatch-2p-v0"
FREE = "VizdoomMultiDeathmatch-2p-MultiBinary-v0"
DUEL = "VizdoomMultiDuel-2p-v0"


def engines(of: int | None = None) -> list[psutil.Process]:
    """Engines that a process has started, this one by default."""
    return [each for each in psutil.Process(of).children(recursive=True) if "vizdoom" in each.name()]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Whatever engines leave is seen here, and on the machine."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "scratch").mkdir()
    yield tmp_path
    assert [each.name for each in tmp_path.iterdir()] == ["scratch"]
    assert not list((tmp_path / "scratch").glob("mosaic-doom-*"))
    assert not engines()


@pytest.fixture
def made() -> Iterator[list[Environment]]:
    environments: list[Environment] = []
    yield environments
    for environment in environments:
        environment.close()


def match(made: list[Environment], task: str = PAIR, **env_kwargs: Any) -> Environment:
    made.append(envs.make(task, render_mode="rgb_array", env_kwargs=env_kwargs))
    return made[-1]


def played(environment: Environment, seed: int, steps: int) -> list[Any]:
    """What everybody saw in a match of random actions."""
    adapter = environment.adapter
    spaces = {agent: adapter.action_space(agent) for agent in adapter.possible_agents}
    for number, space in enumerate(spaces.values()):
        space.seed(number)
    seen = [adapter.reset(seed=seed)]
    while len(seen) <= steps and not adapter.is_episode_done():
        seen.append(adapter.step({agent: space.sample() for agent, space in spaces.items()}).observations)
    return seen


def same(first: list[Any], second: list[Any]) -> bool:
    pairs = [
        (one[agent][part], two[agent][part])
        for one, two in zip(first, second, strict=True)
        for agent in one
        for part in one[agent]
    ]
    return all(np.array_equal(one, two) for one, two in pairs)


def test_matches_are_listed_with_their_teams() -> None:
    specs = {spec.id: spec for spec in envs.list_specs("vizdoom") if spec.api == "parallel"}
    assert {PAIR, FREE, DUEL, "VizdoomMultiCooperative-4p-v0"} <= set(specs)
    assert "VizdoomMultiDuel-3p-v0" not in specs
    assert all(spec.paradigm is SteppingParadigm.SIMULTANEOUS for spec in specs.values())
    family = family_of(specs[PAIR])
    assert family.title_of(specs[FREE]) == "Doom, deathmatch of 2, each button by itself"
    assert all(family.summary(spec).endswith(".") for spec in specs.values())


@pytest.mark.parametrize(
    "task",
    [PAIR, *(pytest.param(task, marks=pytest.mark.full) for task in (FREE, "VizdoomMultiCooperative-2p-v0"))],
)
def test_the_contract_is_kept(task: str) -> None:
    report = envs.check(task, steps=20)
    assert report.ok, "\n".join(report.lines())


def test_two_play_the_same_match_again_in_an_engine_of_its_own(made: list[Environment]) -> None:
    first, second = (played(match(made, DUEL), 3, 150) for _ in range(2))
    assert same(first, second)
    assert not same(first, played(made[0], 4, 150))
    screens = [seen["screen"] for seen in first[-1].values()]
    assert (screens[0] != screens[1]).any(), "each sees with its own eyes"


@pytest.mark.full
def test_matches_at_once_do_not_disturb_each_other(made: list[Environment]) -> None:
    alone = played(match(made), 3, 40)
    pair = [match(made), match(made)]
    adapters = [environment.adapter for environment in pair]
    seen = [[adapter.reset(seed=seed)] for adapter, seed in zip(adapters, (3, 8), strict=True)]
    spaces = [adapters[0].action_space(agent) for agent in adapters[0].possible_agents]
    for number, space in enumerate(spaces):
        space.seed(number)
    for _ in range(40):
        actions = dict(zip(adapters[0].possible_agents, [space.sample() for space in spaces], strict=True))
        for adapter, so_far in zip(adapters, seen, strict=True):
            so_far.append(adapter.step(actions).observations)
    assert same(seen[0], alone) and not same(seen[1], alone)


def test_time_that_is_up_is_a_cut_and_frags_are_the_score(made: list[Environment]) -> None:
    environment = match(made, DUEL, episode_timeout=400, frame_skip=4)
    adapter, earned = environment.adapter, dict.fromkeys(("player_0", "player_1"), 0.0)
    space = adapter.action_space("player_0")
    space.seed(3)
    adapter.reset(seed=5)
    steps = 0
    while not adapter.is_episode_done():
        result = adapter.step({agent: space.sample() for agent in earned})
        steps += 1
        for agent, reward in result.rewards.items():
            earned[agent] += reward
    assert steps == 100
    assert all(result.truncated.values()) and not any(result.terminated.values())
    scores = environment.scores(earned)
    assert scores == earned
    best = max(scores.values())
    expected = {
        agent: Outcome.DRAW
        if min(scores.values()) == best
        else (Outcome.WIN if score == best else Outcome.LOSS)
        for agent, score in scores.items()
    }
    assert environment.outcome(earned) == expected


def test_the_whole_picture_has_all_screens_and_a_seat_its_own(made: list[Environment]) -> None:
    environment = match(made)
    seen = environment.adapter.reset(seed=1)
    whole = environment.picture()
    assert whole is not None and whole.shape == (240, 640, 3)
    for place, agent in enumerate(seen):
        own = environment.seat_picture(agent, seen[agent])
        assert own is not None and (own == seen[agent]["screen"]).all()
        assert (whole[:, 320 * place : 320 * (place + 1)] == own).all()
        assert environment.pictures(agent) == ("egocentric",)
        assert "health: " in environment.describer(agent).text(agent, seen[agent])


def test_people_have_keys_and_mouse_where_buttons_are_free(made: list[Environment]) -> None:
    free, numbered = match(made, FREE), match(made)
    keys = free.keys("player_0")
    assert {axis.key for axis in keys.pointer} == {"MouseLeft", "MouseRight", "MouseX", "MouseY"}
    assert free.keys("player_1", 1).playable
    assert numbered.keys("player_0").bindings["Space"] == numbered.action_meanings("player_0").index("attack")


def test_an_engine_that_dies_fails_the_match_and_the_next_one_is_played(made: list[Environment]) -> None:
    environment = match(made)
    adapter = environment.adapter
    adapter.reset(seed=1)
    nothing = dict.fromkeys(adapter.possible_agents, 0)
    adapter.step(nothing)
    (joined,) = [engine for engine in engines() if any("-join" in word for word in engine.cmdline())]
    joined.kill()
    with pytest.raises(EnvironmentFailure, match="Doom of player_1 ended, and with it the match"):
        adapter.step(nothing)
    adapter.reset(seed=1)
    adapter.step(nothing)


def test_engines_do_not_outlive_who_started_them(elsewhere: Path) -> None:
    code = (
        "import sys; from gym_gui import envs\n"
        f"e = envs.make('{PAIR}'); e.adapter.reset(seed=1)\n"
        "print('begun', flush=True); sys.stdin.read()"
    )
    pipe = subprocess.PIPE
    scratch = elsewhere / "of-the-killed"
    scratch.mkdir()
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=pipe,
        stdout=pipe,
        text=True,
        env={**os.environ, "TMPDIR": str(scratch)},
    )
    assert child.stdout is not None and child.stdin is not None
    assert child.stdout.readline() == "begun\n"
    started = engines(child.pid)
    assert len(started) == 2
    child.kill()
    child.wait()
    child.stdin.close()
    child.stdout.close()
    _, alive = psutil.wait_procs(started, timeout=60)
    assert not alive
    for left in sorted(scratch.rglob("*"), reverse=True):
        left.rmdir() if left.is_dir() else left.unlink()
    scratch.rmdir()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"frame_skip": 0}, "1 or more"),
        ({"doom_skill": 9}, "1 to 5"),
        ({"bots": 2}, "a match has no bots"),
        ({"actions": "keys"}, "buttons, numbered, combinations"),
    ],
)
def test_what_cannot_be_made_says_why(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        envs.make(PAIR, env_kwargs=wrong)


@pytest.mark.full
@pytest.mark.parametrize("players", [3, 4])
def test_up_to_four_play(made: list[Environment], players: int) -> None:
    environment = match(made, f"VizdoomMultiDeathmatch-{players}p-v0", frame_skip=4, episode_timeout=800)
    seen = played(environment, 3, 500)
    assert len(seen) == 201 and len(seen[-1]) == players
    picture = environment.picture()
    assert picture is not None and picture.shape == (480, 640, 3)
    assert len({each["screen"].tobytes() for each in seen[-1].values()}) == players
