"""Melting Pot: what is known without it, and its substrates, installed by our command."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gym_gui import envs
from gym_gui.core.errors import MissingDependencyError
from gym_gui.envs.environment_registry import families
from gym_gui.envs.families.melting_pot import MeltingPotFamily
from mosaic_env_server.shims.melting_pot import action_word
from tests.support.own_pythons import installed, said_to_be_installed


def test_without_it_the_line_that_installs_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path))
    said = r"Melting Pot is not installed.*mosaic envs install melting_pot$"
    with pytest.raises(MissingDependencyError, match=said):
        envs.resolve("melting_pot/clean_up")


def test_what_is_known_without_making_one(tmp_path: Path) -> None:
    family = families()["melting_pot"]
    with said_to_be_installed("melting_pot", tmp_path):
        specs = envs.list_specs("melting_pot")
        assert len(specs) == len({family.title_of(spec) for spec in specs}) == 49
        assert all(family.summary(spec).endswith(".") for spec in specs)
        assert all(family.hidden_information(spec) for spec in specs)
        arena = envs.resolve("meltingpot/stag_hunt_in_the_matrix__arena-v0")
        assert family.title_of(arena) == "Stag hunt in the matrix: arena"


def test_it_is_built_without_the_bots_that_it_would_download(tmp_path: Path) -> None:
    variables = MeltingPotFamily().build_variables(tmp_path)
    assert variables == {"TMPDIR": str(tmp_path)}
    (archive,) = tmp_path.iterdir()
    assert archive.name == "meltingpot-assets-2.3.0.tar.gz"
    with tarfile.open(archive) as opened:
        assert [(member.name, member.isdir()) for member in opened] == [("assets", True)]


def test_actions_have_words() -> None:
    assert action_word({"move": 0, "turn": 0, "fireZap": 0}) == "noop"
    assert action_word({"move": 3, "turn": 0}) == "backward"
    assert action_word({"move": 0, "turn": -1}) == "turn left"
    assert action_word({"move": 0, "turn": 0, "fireZap": 1}) == "fire zap"
    assert action_word({"move": 0, "eat_apple": 1}) == "eat apple"


@pytest.fixture(scope="module")
def melting_pot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with installed("melting_pot", tmp_path_factory.mktemp("melting_pot")):
        yield


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.usefixtures("melting_pot")
class TestInstalled:
    def test_the_contract_is_kept_but_for_who_starts_where(self) -> None:
        """A table of its Lua is gone through in an order that no seed sets."""
        report = envs.check("melting_pot/prisoners_dilemma_in_the_matrix__repeated", steps=40)
        failed = {finding.name for finding in report.failed}
        assert failed <= {"seeding", "interleaving", "rendering"}, "\n".join(report.lines())

    def test_sides_are_teams_where_one_gains_what_the_other_loses(self) -> None:
        painted = envs.make("melting_pot/paintball__king_of_the_hill", render_mode="rgb_array")
        adapter = painted.adapter
        shown = adapter.reset(seed=0)
        assert painted.teams == {
            "red": ("player_0", "player_2", "player_4", "player_6"),
            "blue": ("player_1", "player_3", "player_5", "player_7"),
        }
        assert shown["player_0"]["RGB"].shape == (88, 88, 3)
        assert "WORLD.RGB" not in shown["player_0"]
        words = painted.action_meanings("player_0")
        assert words[:3] == ("noop", "forward", "backward") and painted.noop_action("player_0") == 0
        rng = np.random.default_rng(0)
        for _ in range(5):
            result = adapter.step({agent: int(rng.integers(len(words))) for agent in shown})
        assert len(result.rewards) == 8
        picture = painted.picture()
        assert picture is not None and picture.shape[0] > 88 and picture.std() > 5
        painted.close()
