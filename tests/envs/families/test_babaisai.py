"""BabaIsAI: what is known without it, and its levels, installed by our command from an archive."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gym_gui import envs
from gym_gui.cli.installing.install_extras import install_environments
from gym_gui.core.errors import MissingDependencyError, UsageError
from gym_gui.envs import Environment
from gym_gui.envs.environment_registry import families
from tests.support.own_pythons import archive, episode, episode_elsewhere, installed, said_to_be_installed

UP, RIGHT, DOWN, LEFT = 1, 2, 3, 4


def test_without_it_the_line_that_installs_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path))
    said = r"BabaIsAI is not installed.*mosaic envs install babaisai$"
    with pytest.raises(MissingDependencyError, match=said):
        envs.resolve("babaisai/goto_win")


def test_what_is_known_without_making_one(tmp_path: Path) -> None:
    family = families()["babaisai"]
    with said_to_be_installed("babaisai", tmp_path):
        specs = envs.list_specs("babaisai")
        assert len({spec.id for spec in specs}) == len(specs) == 43
        summary = family.summary(envs.resolve("env/two_room-break_stop-make_win"))
        assert summary == (
            "In two rooms, break the rule that walls stop you, then push words together so that something "
            "wins, then go there."
        )
        assert all(family.summary(spec).count(".") == 1 for spec in specs)


def test_a_file_of_something_else_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "other-1.tar.gz").touch()
    with pytest.raises(UsageError, match=r"babaisai does not need .*baba-….tar.gz"):
        install_environments("babaisai", given=[tmp_path / "other-1.tar.gz"])


@pytest.fixture(scope="module")
def babaisai(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    file = archive("baba-")
    with installed("babaisai", tmp_path_factory.mktemp("babaisai"), [file]):
        yield


@pytest.fixture
def level(request: pytest.FixtureRequest, babaisai: None) -> Iterator[Environment]:
    made = envs.make(f"babaisai/{request.param}", render_mode="rgb_array")
    yield made
    made.close()


def _facts(level: Environment) -> list[tuple[Any, ...]]:
    return [(each.predicate, *each.terms) for each in level.describer("agent_0").facts("agent_0", None)]


@pytest.mark.full
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("babaisai")
class TestInstalled:
    @pytest.mark.parametrize("name", ["goto_win", "two_room-break_stop-make_win-distr_obj_rule", "you_win"])
    def test_the_contract_is_kept(self, name: str) -> None:
        report = envs.check(f"babaisai/{name}")
        assert report.ok, "\n".join(report.lines())

    def test_all_can_be_made(self) -> None:
        for spec in envs.list_specs("babaisai"):
            made = envs.make(spec)
            seen = made.adapter.reset(seed=1)["agent_0"]
            assert made.adapter.observation_space("agent_0").contains(seen)
            assert " is you" in made.describer("agent_0").text("agent_0", seen)
            made.close()

    def test_a_seed_is_a_level_in_every_process(self) -> None:
        task = "babaisai/two_room-make_win-distr_obj_rule"
        told = episode(task, 5)
        assert told == episode(task, 5) == episode_elsewhere(task, 5)
        assert len({episode(task, seed, 1)[0] for seed in range(6)}) > 3

    @pytest.mark.parametrize("level", ["you_win"], indirect=True)
    def test_who_steps_onto_what_wins_has_solved_it(self, level: Environment) -> None:
        steps = {(0, -1): UP, (1, 0): RIGHT, (0, 1): DOWN, (-1, 0): LEFT}
        for seed in range(6):
            level.adapter.reset(seed=seed)
            assert level.family.success(level) is False
            facts = _facts(level)
            color, name = next(rule[1] for rule in facts if rule[0] == "rule" and rule[2] == "win").split()
            away = next(tuple(f[3:]) for f in facts if f[:3] == ("thing", name, color))
            result = level.adapter.step({"agent_0": steps[away]})
            assert result.terminated == {"agent_0": True}
            assert result.rewards["agent_0"] > 0.9
            assert level.family.success(level) is True

    @pytest.mark.parametrize("level", ["goto_win"], indirect=True)
    def test_a_level_that_takes_too_long_is_cut_off(self, level: Environment) -> None:
        assert level.noop_action("agent_0") == 0
        before = level.adapter.reset(seed=0)["agent_0"]
        for step in range(100):
            result = level.adapter.step({"agent_0": 0})
            assert result.truncated == {"agent_0": step == 99}
        assert (result.observations["agent_0"] == before).all()
        assert level.family.success(level) is False

    @pytest.mark.parametrize("level", ["make_win"], indirect=True)
    def test_words_that_are_pushed_are_told_where_they_are(self, level: Environment) -> None:
        level.adapter.reset(seed=0)
        assert [fact for fact in _facts(level) if fact[0] == "rule"] == [("rule", "baba", "you")]
        text = level.describer("agent_0").text("agent_0", None)
        assert text.startswith("Rules that hold: baba is you.\nYou are the white baba.\n")
        assert 'word "win": ' in text and "\nTo the border there are " in text
        rng, told = np.random.default_rng(0), {text}
        for _ in range(30):
            level.adapter.step({"agent_0": int(rng.integers(1, 5))})
            told.add(level.describer("agent_0").text("agent_0", None))
        assert len(told) > 10
        picture = level.picture()
        assert picture is not None and picture.shape == (256, 256, 3) and picture.max() > 200
