"""TextArena: what is known without a game, and its games, installed by our command (long)."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gym_gui import envs
from gym_gui.core.enums import Outcome
from gym_gui.core.errors import MissingDependencyError, UsageError
from gym_gui.core.interpreters import environment_folder
from gym_gui.envs.environment_registry import families
from mosaic_env_server.shims.global_random import GlobalRandom
from tests.support.commands import COMMAND
from tests.support.fake_model_server import FakeModelServer, Request
from tests.support.own_pythons import installed, some_textarena


def test_without_it_the_line_that_installs_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path))
    with pytest.raises(MissingDependencyError, match=r"TextArena is not installed.*envs install textarena$"):
        envs.resolve("textarena/KuhnPoker-v0")


@pytest.fixture
def registered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interpreter whose package registers a few games, one of them in a Python that is not out yet."""
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("MOSAIC_CACHE_DIR", str(tmp_path / "cache"))
    some_textarena()


@pytest.mark.usefixtures("registered")
def test_names_come_from_its_registry() -> None:
    family = families()["textarena"]
    specs = {spec.id.removeprefix("textarena/"): spec for spec in family.specs()}
    assert list(specs) == ["KuhnPoker-v0", "Breakthrough-v0-blind", "Wordle-v0", "Taboo-v0-animals"]
    assert envs.resolve("textarena/KuhnPoker-v0-train").api == "aec"
    assert [spec.api for spec in specs.values()] == ["aec", "aec", "gymnasium", "aec"]
    assert [family.hidden_information(spec) for spec in specs.values()] == [True, True, False, True]
    assert family.title_of(specs["Breakthrough-v0-blind"]) == "Breakthrough, blind"
    assert family.title_of(specs["KuhnPoker-v0"]) == "Kuhn Poker"
    with pytest.raises(UsageError, match=r"players of .* is 5.*an even number of 4 to 15"):
        envs.make("textarena/Taboo-v0-animals", env_kwargs={"players": 5})
    with pytest.raises(UsageError, match=r"The number of players is 2$"):
        envs.make("textarena/KuhnPoker-v0", env_kwargs={"players": 3})


def test_each_episode_has_random_numbers_of_its_own() -> None:
    import random

    import numpy as np

    one, other = GlobalRandom(4), GlobalRandom(4)
    drawn: dict[GlobalRandom, list[Any]] = {one: [], other: []}
    state, numpy_state = random.getstate(), np.random.get_state()[1].tolist()
    for source in (one, one, other, one, other, other):
        with source.in_force():
            drawn[source].append((random.random(), np.random.random()))
    assert drawn[one] == drawn[other] and len(set(drawn[one])) == 3
    assert random.getstate() == state and np.random.get_state()[1].tolist() == numpy_state


# -- with the package --------------------------------------------------------------------


@pytest.fixture(scope="module")
def textarena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with installed("textarena", tmp_path_factory.mktemp("textarena")):
        yield


full = [pytest.mark.full, pytest.mark.timeout(1800), pytest.mark.usefixtures("textarena")]
CONTRACT = (
    *("2048", "Wordle", "Sokoban", "Countdown", "TicTacToe", "KuhnPoker", "LiarsDice"),
    *("SecretMafia", "Snake", "Surround"),
)


def played(
    task: str, seed: int, moves: list[str], **env_kwargs: Any
) -> tuple[Any, dict[str, float], list[str]]:
    """A game of these moves: the environment, what was earned, and everything that was told."""
    environment = envs.make(task, env_kwargs=env_kwargs)
    adapter, told = environment.adapter, list[str]()
    shown = adapter.reset(seed=seed)
    returns = dict.fromkeys(adapter.possible_agents, 0.0)
    for move in moves:
        if not adapter.get_current_agents():
            break
        (mover,) = adapter.get_current_agents()
        told.append(f"{mover}: {shown[mover]}")
        result = adapter.step({mover: move})
        for agent, reward in result.rewards.items():
            returns[agent] += reward
        shown = {**shown, **result.observations}
    return environment, returns, [*told, str(sorted(shown.items()))]


class TestInstalled:
    pytestmark = full

    @pytest.mark.parametrize("name", CONTRACT)
    def test_the_contract_is_kept(self, name: str) -> None:
        if name == "Wordle":
            with pytest.raises(UsageError, match=r"needs word lists of NLTK.*-m nltk\.downloader words"):
                envs.make("textarena/Wordle-v0")
            return
        report = envs.check(f"textarena/{name}-v0")
        assert report.ok, "\n".join(report.lines())

    def test_a_game_is_won_and_the_other_hears_of_it(self) -> None:
        moves = ["[4]", "[0]", "[3]", "1", "[5]"]
        environment, returns, told = played("textarena/TicTacToe-v0", 0, moves)
        assert returns == {"player_0": 1.0, "player_1": -1.0}
        assert environment.outcome(returns) == {"player_0": Outcome.WIN, "player_1": Outcome.LOSS}
        assert "You are Player 0 in Tic Tac Toe" in told[0] and "[4]" in told[1] and "[1]" in told[4]
        assert "Your action" not in environment.describer("player_1").text("player_1", None)
        environment.close()

    def test_a_move_that_is_not_taken_may_be_tried_once_more(self) -> None:
        environment, returns, told = played(
            "textarena/TicTacToe-v0", 0, ["nonsense", "[4]", "[4]", "x", "[0]"]
        )
        assert told[1].startswith("player_0") and "attempted an invalid move" in told[1]
        assert told[2].startswith("player_1") and "attempted an invalid move" not in told[2]
        assert returns == {"player_0": 1.0, "player_1": -1.0}
        environment.close()

    def test_a_reward_that_stands_where_its_reason_belongs_is_found(self) -> None:
        environment, returns, _ = played("textarena/Countdown-v0", 0, ["x", "x", "x"])
        assert 0 <= returns["agent_0"] < 1 and environment.success() is False
        assert "Invalid action format" in environment.adapter.info("agent_0")["reason"]
        environment.close()

    def test_a_seed_is_a_game(self) -> None:
        moves = ["[Check]", "[Bet]", "[Call]"] * 4
        for task in ("KuhnPoker-v0", "LiarsDice-v0", "Sokoban-v0", "SecretMafia-v0"):
            games = [played(f"textarena/{task}", seed, moves) for seed in (1, 1, 2)]
            assert games[0][1:] == games[1][1:] and games[0][2] != games[2][2]
            for environment, _, _ in games:
                environment.close()

    @pytest.mark.parametrize(
        ("task", "env_kwargs"), [("KuhnPoker-v0", {}), ("LiarsDice-v0", {"num_dice": 1})]
    )
    def test_what_others_hold_is_told_to_nobody_else(
        self, task: str, env_kwargs: dict[str, Any], tmp_path: Path
    ) -> None:
        """Who begins is told the same, byte for byte, whatever the other holds."""
        script = tmp_path / "deals.py"
        script.write_text(_DEALS)
        python = environment_folder("textarena") / "bin" / "python"
        done = subprocess.run(
            [str(python), str(script), task, json.dumps(env_kwargs)],
            capture_output=True,
            text=True,
            check=False,
            env={"PYTHONPATH": "3rd_party/mosaic_worker_sdk"},
            cwd=Path(__file__).parents[3],
        )
        assert done.returncode == 0, done.stderr
        told: list[tuple[Any, Any, str]] = json.loads(done.stdout)
        by_hand: dict[str, set[str]] = {}
        others: dict[str, set[str]] = {}
        for mine, theirs, text in told:
            by_hand.setdefault(str(mine), set()).add(text)
            others.setdefault(str(mine), set()).add(str(theirs))
        assert any(len(each) > 1 for each in others.values()), "the other always held the same"
        assert all(len(each) == 1 for each in by_hand.values())
        assert len({min(each) for each in by_hand.values()}) == len(by_hand) > 1, "nor its own"

    def test_teams_win_together(self) -> None:
        environment = envs.make("textarena/Taboo-v0", env_kwargs={"players": 6})
        assert environment.teams == {
            "team_0": ("player_0", "player_1", "player_2"),
            "team_1": ("player_3", "player_4", "player_5"),
        }
        environment.close()

    def test_a_language_model_writes_its_moves(self, tmp_path: Path) -> None:
        """It wins against another that is first told that its move was not taken, then loses."""
        first, second = (iter(words) for words in (("4", "3", "5"), ("nowhere", "0", "1")))

        def say(request: Request) -> str:
            mine = "You are Player 0 in Tic Tac Toe" in request.words
            return f"<action>[{next(first if mine else second)}]</action>"

        with FakeModelServer(say) as server:
            settings = {"base_url": server.url, "model_id": "any", "api_key": "env:NO_KEY"}
            player = {"type": "llm", "worker_id": "mosaic_llm_worker", "settings": settings}
            workers = {"player_0": player, "player_1": player}
            row = {"id": "match", "task": "textarena/TicTacToe-v0", "workers": workers}
            file = tmp_path / "match.json"
            file.write_text(json.dumps({"operators": [row], "execution": {"num_episodes": 1, "seeds": [1]}}))
            done = subprocess.run(
                [*COMMAND, "run", str(file), "--json"],
                capture_output=True,
                text=True,
                check=False,
                env={**os.environ, "NO_KEY": "sk-none"},
                cwd=tmp_path,
            )
            assert done.returncode == 0, done.stderr
            assert any("attempted an invalid move" in request.words for request in server.requests)
        (lines,) = (tmp_path / "runs").glob("*/**/episodes.jsonl")
        (episode,) = map(json.loads, lines.read_text().splitlines())
        assert (episode["outcome"]["player_0"], episode["outcome"]["player_1"]) == ("win", "loss")


_DEALS = """
import json, sys
from mosaic_env_server.shims.textarena import make

game = make(sys.argv[1], 2, **json.loads(sys.argv[2]))
told = []
for seed in range(40):
    game.reset(seed=seed)
    state = game._game._env.state.game_state
    hands = state.get("player_cards") or state.get("dice_rolls")
    own = int(game.agent_selection[-1])
    told.append([[own, hands[own]], hands[1 - own], game.observe(game.agent_selection)])
print(json.dumps(told))
"""
