"""Jumanji: what is known without it, its words, and its environments, installed by our command."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gym_gui import envs
from gym_gui.core.errors import MissingDependencyError
from gym_gui.envs.environment_registry import families
from mosaic_env_server.shims.jumanji_words import action_words, solved, text
from tests.support.own_pythons import episode, episode_elsewhere, installed, said_to_be_installed

CHECKED = (
    "SearchAndRescue-v0",
    "MultiCVRP-v0",
    "Maze-v0",
    "Cleaner-v0",
    "LevelBasedForaging-v0",
    "Minesweeper-v0",
    "FlatPack-v0",
    "TSP-v1",
)
"""Numbers and parts, one agent and several, paid together and each for itself, nothing legal, nowhere."""


def test_without_it_the_line_that_installs_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path))
    with pytest.raises(
        MissingDependencyError, match=r"Jumanji is not installed.*mosaic envs install jumanji$"
    ):
        envs.resolve("jumanji/Snake-v1")


def test_what_is_known_without_making_one(tmp_path: Path) -> None:
    family = families()["jumanji"]
    with said_to_be_installed("jumanji", tmp_path):
        specs = envs.list_specs("jumanji")
        assert len(specs) == 25
        together = {spec.id for spec in specs if spec.api == "parallel"}
        assert len(together) == 7
        assert together == {spec.id for spec in specs if family.hidden_information(spec)}
        assert len({family.title_of(spec) for spec in specs}) == 25
        assert all(family.summary(spec).endswith(".") for spec in specs)
        assert not any("Sokoban" in spec.id for spec in specs)
        undrawn = {spec.id for spec in specs if not family.render_modes(spec)}
        assert undrawn == {"jumanji/GraphColoring-v1", "jumanji/MMST-v0"}


def _said(name: str, **seen: Any) -> list[str]:
    say = text(name)
    assert say is not None
    return say(seen).splitlines()


def test_fields_are_drawn() -> None:
    assert _said("Game2048-v1", board=np.array([[11, 0], [0, 1]])) == ["2048    .", "   .    2"]
    walls = np.zeros((2, 3), np.int8)
    walls[1, 1] = 1
    place = {"row": np.int32(0), "col": np.int32(2)}
    maze = _said("Maze-v0", walls=walls, agent_position={**place, "col": np.int32(0)}, target_position=place)
    assert maze[1:] == ["A . T", ". # ."]
    field = _said("Minesweeper-v0", board=np.array([[-1, 2]]), num_mines=np.int32(3))
    assert field[0].startswith("There are 3 mines.") and field[1] == "? 2"
    assert _said("Sudoku-v0", board=np.array([[-1, 8]])) == [". 9"]
    assert _said("SlidingTilePuzzle-v0", puzzle=np.array([[10, 0]])) == ["10  ."]
    snake = np.zeros((1, 4, 5))
    snake[0, :2, 0] = snake[0, 1, 1] = snake[0, 0, 2] = snake[0, 3, 3] = 1
    assert _said("Snake-v1", grid=snake)[1] == "t H . F"
    assert text("TSP-v1") is None


def test_actions_have_words() -> None:
    assert action_words("Snake-v1", (4,)) == ["up", "right", "down", "left"]
    cube = action_words("RubiksCube-partly-scrambled-v0", (6, 1, 3))
    assert len(cube) == 18 and cube[1] == "up face anticlockwise"
    sudoku = action_words("Sudoku-v0", (9, 9, 9))
    assert sudoku[np.ravel_multi_index((2, 4, 6), (9, 9, 9))] == "row 3 column 5: 7"
    assert action_words("Tetris-v0", (4, 10))[13] == "turned 90, column 4"
    assert action_words("Minesweeper-v0", (10, 10))[99] == "row 10 column 10"
    assert action_words("TSP-v1", (20,)) == []


def test_what_is_solved_is_known_of_its_last_step() -> None:
    maze, sliding = solved("Maze-v0"), solved("SlidingTilePuzzle-v0")
    assert maze is not None and sliding is not None and solved("TSP-v1") is None
    for over, reward, expected in ((True, 1.0, True), (True, 0.0, False), (False, 1.0, False)):
        step = SimpleNamespace(last=lambda over=over: over, reward=reward)
        assert maze(step) is expected
    assert sliding(SimpleNamespace(extras={"prop_correctly_placed": 1.0}))


# -- with the package --------------------------------------------------------------------


@pytest.fixture(scope="module")
def jumanji(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with installed("jumanji", tmp_path_factory.mktemp("jumanji")):
        yield


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.usefixtures("jumanji")
class TestInstalled:
    @pytest.mark.parametrize("name", CHECKED)
    def test_the_contract_is_kept(self, name: str) -> None:
        report = envs.check(f"jumanji/{name}")
        assert report.ok, "\n".join(report.lines())

    @pytest.mark.parametrize("name", ["Minesweeper-v0", "Connector-v3"])
    def test_a_seed_is_an_episode_in_every_process(self, name: str) -> None:
        task = f"jumanji/{name}"
        told = episode(task, 7, 20)
        assert told == episode(task, 7, 20) == episode_elsewhere(task, 7, 20)
        assert any(told != episode(task, seed, 20) for seed in range(3))

    def test_parts_that_go_together_are_numbered(self) -> None:
        environment = envs.make("jumanji/Minesweeper-v0")
        adapter = environment.adapter
        board = adapter.reset(seed=0)["agent_0"]["board"]
        mask = adapter.action_mask("agent_0")
        assert mask is not None and len(mask) == 100 and all(mask) and (board == -1).all()
        shown = adapter.step({"agent_0": 37}).observations["agent_0"]["board"]
        assert (np.argwhere(shown != -1) == [[3, 7]]).all()
        assert adapter.action_mask("agent_0")[37] == 0
        environment.close()

    def test_values_are_bounded_as_they_are_seen_to_be(self) -> None:
        environment = envs.make("jumanji/Snake-v1", env_kwargs={"time_limit": 3})
        adapter = environment.adapter
        shown = adapter.reset(seed=0)
        while adapter.get_current_agents():
            legal = np.flatnonzero(adapter.action_mask("agent_0"))
            shown = adapter.step({"agent_0": int(legal[0])}).observations
            assert adapter.observation_space("agent_0").contains(shown["agent_0"])
        assert shown["agent_0"]["step_count"] == 3
        assert adapter.observation_space("agent_0")["step_count"].high == 3
        environment.close()

    def test_who_reaches_the_target_has_solved_the_maze(self) -> None:
        environment = envs.make("jumanji/Maze-v0", env_kwargs={"time_limit": 400})
        adapter, rng = environment.adapter, np.random.default_rng(0)
        for seed in range(20):
            adapter.reset(seed=seed)
            while adapter.get_current_agents():
                legal = np.flatnonzero(adapter.action_mask("agent_0"))
                result = adapter.step({"agent_0": int(rng.choice(legal))})
            reached = result.rewards["agent_0"] > 0
            assert environment.family.success(environment) is reached
            if reached:
                break
        else:
            raise AssertionError("no random episode reached it")
        environment.close()

    def test_each_agent_knows_who_it_is(self) -> None:
        environment = envs.make("jumanji/Cleaner-v0", render_mode="rgb_array")
        adapter = environment.adapter
        shown = adapter.reset(seed=0)
        assert [int(shown[f"agent_{i}"]["agent"]) for i in range(3)] == [0, 1, 2]
        assert (shown["agent_0"]["grid"] == shown["agent_2"]["grid"]).all()
        moves = {agent: int(np.flatnonzero(adapter.action_mask(agent))[0]) for agent in shown}
        result = adapter.step(moves)
        assert len(set(result.rewards.values())) == 1
        picture = environment.picture()
        assert picture is not None and picture.shape[2] == 3 and picture.std() > 10
        assert environment.teams == {"team": ("agent_0", "agent_1", "agent_2")}
        environment.close()

    def test_snake_is_drawn_from_the_first_step_on(self) -> None:
        environment = envs.make("jumanji/Snake-v1", render_mode="rgb_array")
        adapter = environment.adapter
        adapter.reset(seed=0)
        before = environment.picture()
        mask = adapter.action_mask("agent_0")
        assert mask is not None
        adapter.step({"agent_0": int(np.flatnonzero(mask)[0])})
        after = environment.picture()
        assert before is not None and after is not None and before.shape == after.shape
        assert 0 < (before != after).any(axis=2).mean() < 0.3
        environment.close()
