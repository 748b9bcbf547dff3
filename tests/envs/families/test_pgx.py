"""Pgx: what is known without it, what its positions are in words, and its games, installed by our command."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from gym_gui import envs
from gym_gui.core.enums import Outcome
from gym_gui.core.errors import MissingDependencyError
from gym_gui.envs.environment_registry import families
from mosaic_env_server.shims.pgx_pictures import picture
from mosaic_env_server.shims.pgx_words import action_words, text
from tests.support.own_pythons import episode, episode_elsewhere, installed, said_to_be_installed

HIDDEN = {"kuhn_poker", "leduc_holdem", "sparrow_mahjong"}
PLAYED = ("tic_tac_toe", "connect_four", "kuhn_poker", "2048", "minatar-breakout")
LARGE = ("chess", "shogi", "sparrow_mahjong", "backgammon")
"""Of each kind of observation one, and of each number of players."""


def test_without_it_the_line_that_installs_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path))
    for task in ("pgx/connect_four", "pgx/nothing"):
        with pytest.raises(MissingDependencyError, match=r"Pgx is not installed.*mosaic envs install pgx$"):
            envs.resolve(task)
    with pytest.raises(MissingDependencyError, match="mosaic envs install pgx"):
        envs.resolve("nothing", env_name="pgx")


def test_what_is_known_without_making_one(tmp_path: Path) -> None:
    family = families()["pgx"]
    with said_to_be_installed("pgx", tmp_path):
        specs = {spec.id.partition("/")[2]: spec for spec in envs.list_specs("pgx")}
        assert len(specs) == 20
        assert {name for name, spec in specs.items() if family.hidden_information(spec)} == HIDDEN
        alone = {name for name, spec in specs.items() if spec.api == "gymnasium"}
        assert alone == {"2048", *(name for name in specs if name.startswith("minatar-"))}
        assert len({family.title_of(spec) for spec in specs.values()}) == 20
        assert all(family.summary(spec).endswith(".") for spec in specs.values())
        assert envs.resolve("minatar-freeway").id == "pgx/minatar-freeway"


def _said(name: str, observation: np.ndarray) -> list[str]:
    say = text(name)
    assert say is not None
    return say(observation).splitlines()


def test_boards_are_drawn_as_the_player_sees_them() -> None:
    three = np.zeros((3, 3, 2), bool)
    three[0, 2, 0] = three[2, 1, 1] = True
    assert _said("tic_tac_toe", three)[1:] == ["  1 2 3", "1 . . X", "2 . . .", "3 . O ."]
    columns = np.zeros((6, 7, 2), bool)
    columns[5, 3, 1] = True
    drawn = _said("connect_four", columns)
    assert (drawn[1], drawn[-1]) == ("1 2 3 4 5 6 7", ". . . O . . .")
    stones = np.zeros((9, 9, 17), bool)
    stones[0, 8, 0] = stones[8, 0, 1] = stones[..., 16] = True
    drawn = _said("go_9x9", stones)
    assert drawn[0].endswith("You play white.")
    assert (drawn[1], drawn[2], drawn[-1]) == (
        "  A B C D E F G H J",
        "9 . . . . . . . . X",
        "1 O . . . . . . . .",
    )
    hexes = np.zeros((11, 11, 4), bool)
    assert "You connect top and bottom" in _said("hex", hexes)[0]
    hexes[..., 2:] = True
    assert "You connect left and right" in _said("hex", hexes)[0] and "swap" in _said("hex", hexes)[0]


def test_cards_are_told_to_who_holds_them() -> None:
    kuhn = np.array([0, 0, 1, 1, 0, 0, 1], bool)
    assert _said("kuhn_poker", kuhn) == ["You hold the king. You have not bet, your opponent has bet."]
    leduc = np.zeros(34, bool)
    leduc[[1, 6 + 3, 20 + 5]] = True
    said = "You hold a queen. There is no public card yet. You have put in 3 chips, your opponent 5."
    assert _said("leduc_holdem", leduc) == [said]
    leduc[3] = True
    assert "The public card is the jack." in _said("leduc_holdem", leduc)[0]


def test_men_tiles_and_screens_are_told() -> None:
    men = np.zeros(34, np.int32)
    men[[0, 18, 24, 27, 28 + 3]] = 2, -5, 1, -3, 2
    assert _said("backgammon", men) == [
        "Your men (point 24 towards 1): 2 on 24; on the bar 1, off 0.",
        "Your opponent's: 5 on 6; on the bar 0, off 3.",
        "Dice to play: 4, 4.",
    ]
    tiles = np.zeros((4, 4, 31), bool)
    tiles[..., 0] = True
    tiles[0, 0], tiles[3, 3] = np.eye(31)[11], np.eye(31)[1]
    assert _said("2048", tiles)[0] == "2048    .    .    ." and _said("2048", tiles)[3].endswith("    2")
    screen = np.zeros((10, 10, 4), bool)
    screen[9, 4, 0] = screen[3, 0, 1] = True
    assert _said("minatar-breakout", screen)[1:] == ["Your paddle: 4,9.", "The ball: 0,3."]
    drawn = picture("minatar-breakout", None, SimpleNamespace(observation=screen))
    assert drawn.shape == (400, 400, 3) and (drawn[399, 160] == 250).all() and drawn[0, 0].max() < 20


def test_actions_have_words_where_they_mean_the_same_in_every_position() -> None:
    minatar = SimpleNamespace(use_minimal_action_set=True, minimal_action_set=np.array([0, 1, 3]))
    assert action_words("minatar-breakout", minatar, 3) == ["noop", "left", "right"]
    assert action_words("go_9x9", None, 82)[::81] == ["A9", "pass"]
    assert action_words("hex", None, 122)[::121] == ["a1", "swap"]
    backgammon = action_words("backgammon", None, 156)
    assert (backgammon[6], backgammon[17]) == ("from the bar with 1", "from point 24 with 6")
    assert action_words("chess", None, 4672) == []
    assert action_words("hex", None, 5 * 5 + 1)[24] == "e5"


# -- with the package --------------------------------------------------------------------


@pytest.fixture(scope="module")
def pgx(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with installed("pgx", tmp_path_factory.mktemp("pgx")):
        yield


full = [pytest.mark.full, pytest.mark.timeout(1800), pytest.mark.usefixtures("pgx")]


class TestInstalled:
    pytestmark = full

    @pytest.mark.parametrize("name", PLAYED)
    def test_the_contract_is_kept(self, name: str) -> None:
        report = envs.check(f"pgx/{name}")
        assert report.ok, "\n".join(report.lines())

    @pytest.mark.parametrize("name", LARGE)
    def test_large_ones_are_played(self, name: str) -> None:
        told = episode(f"pgx/{name}", 4, 12)
        assert len(told) >= 24

    @pytest.mark.parametrize("name", ["connect_four", "2048", "kuhn_poker"])
    def test_a_seed_is_an_episode_in_every_process(self, name: str) -> None:
        task = f"pgx/{name}"
        told = episode(task, 7)
        assert told == episode(task, 7) == episode_elsewhere(task, 7)
        assert any(told != episode(task, seed) for seed in range(3))

    def test_who_wins_is_known_when_it_is_over(self) -> None:
        environment = envs.make("pgx/tic_tac_toe")
        adapter = environment.adapter
        adapter.reset(seed=0)
        first, returns = adapter.get_current_agents()[0], dict.fromkeys(adapter.possible_agents, 0.0)
        for square in (0, 3, 1, 4, 2):
            assert environment.outcome(returns) is None
            mover = adapter.get_current_agents()[0]
            assert "X is yours" in environment.describer(mover).text(mover, None)
            for agent, reward in adapter.step({mover: square}).rewards.items():
                returns[agent] += reward
        second = next(agent for agent in returns if agent != first)
        assert returns == {first: 1.0, second: -1.0}
        assert environment.outcome(returns) == {first: Outcome.WIN, second: Outcome.LOSS}
        environment.close()

    def test_cards_of_others_are_seen_by_nobody(self) -> None:
        environment = envs.make("pgx/kuhn_poker")
        adapter, held = environment.adapter, set()
        for seed in range(12):
            shown = adapter.reset(seed=seed)
            mover = adapter.get_current_agents()[0]
            assert shown[mover][:3].sum() == 1
            mine = environment.describer(mover).text(mover, None).partition(".")[0]
            other = next(agent for agent in adapter.possible_agents if agent != mover)
            theirs = environment.describer(other).text(other, None).partition(".")[0]
            assert mine != theirs
            held |= {mine, theirs}
        assert len(held) == 3
        environment.close()

    def test_drawings_are_pictures(self) -> None:
        environment = envs.make("pgx/connect_four", render_mode="rgb_array")
        adapter = environment.adapter
        adapter.reset(seed=0)
        before = environment.picture()
        adapter.step({adapter.get_current_agents()[0]: 3})
        after = environment.picture()
        assert before is not None and after is not None and before.shape == after.shape
        assert 0 < (before != after).any(axis=2).mean() < 0.1
        environment.close()

    def test_options_are_those_of_its_class(self) -> None:
        small = envs.make("pgx/go_9x9", env_kwargs={"size": 5})
        assert small.adapter.action_space("player_0").n == 26
        small.close()
        sure = envs.make("pgx/minatar-freeway", env_kwargs={"sticky_action_prob": 0.0})
        assert sure.action_meanings("agent_0") == ("noop", "up", "down")
        sure.close()
