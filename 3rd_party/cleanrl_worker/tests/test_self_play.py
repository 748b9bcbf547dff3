"""Self-play: whom the learner meets, what it is paid, what is kept of it and how it goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cleanrl_worker.config.self_play import SelfPlayConfig
from cleanrl_worker.games import Games
from cleanrl_worker.policy import Policy
from cleanrl_worker.self_play import Opponent
from cleanrl_worker.train import main

GAME = "tictactoe_v3"
SHORT = ["--num-envs=16", "--num-steps=32", "--snapshot-every=1024", "--hidden", "32", "--total-steps=4096"]


def train(out: Path, *options: str, env: str = GAME) -> Path:
    """A training that has to succeed."""
    assert main(["--algo=self_play", f"--env-id={env}", f"--out={out}", *SHORT, *options]) == 0
    return out


def rows(path: Path) -> list[dict[str, Any]]:
    """Lines of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training, to look at."""
    return train(tmp_path_factory.mktemp("trained") / "p")


@pytest.fixture
def games() -> Any:
    """Games by the hundred, for matches."""
    found = Games(SelfPlayConfig(env_id=GAME, num_envs=50), lambda: pytest.fail("nobody was asked for"))
    yield found
    found.close()


def test_the_league_is_in_the_run_folder(trained: Path) -> None:
    league = json.loads((trained / "league.json").read_text())
    names = [f"past_{step:09d}" for step in (0, 1024, 2048, 3072, 4096)]
    assert [member["name"] for member in league["members"]] == names
    for name in names:
        about = Policy.load(trained / name).description
        assert about.env_id == GAME
        assert f"past_{about.total_steps:09d}" == name
    games_played = sum(m["won"] + m["drawn"] + m["lost"] for m in league["members"])
    assert games_played == len(rows(trained / "episodes.jsonl"))
    ratings = [row["m"]["league/rating"] for row in rows(trained / "metrics.jsonl")]
    assert ratings[-1] == pytest.approx(league["learner"]["rating"], abs=0.06)
    assert rows(trained / "metrics.jsonl")[-1]["m"]["league/members"] == 5 - 1


def test_the_learner_gets_better_than_it_was(trained: Path, games: Games) -> None:
    last, first = Policy.load(trained), Policy.load(trained / "past_000000000")
    results = games.match(last, Opponent("first", first), range(100))
    assert sum(result.score for result in results) / 100 > 0.6
    assert {result.seat for result in results} == {"player_1", "player_2"}
    assert {result.total for result in results} <= {-1.0, 0.0, 1.0}
    assert all(result.others == -result.total for result in results)


def test_a_match_depends_on_its_seeds_alone(trained: Path, games: Games) -> None:
    last = Policy.load(trained)
    seats = [result.seat for result in games.match(last, Opponent("itself", last), range(7))]
    assert seats == [result.seat for result in games.match(last, Opponent("itself", last), range(7))]


def test_a_training_goes_on_with_its_league(tmp_path: Path) -> None:
    out = train(tmp_path / "p", "--total-steps=1024", "--no-anneal-lr")
    before = json.loads((out / "league.json").read_text())
    train(out, "--resume", "--total-steps=2048")
    after = json.loads((out / "league.json").read_text())
    names = [member["name"] for member in after["members"]]
    assert names[: len(before["members"])] == [member["name"] for member in before["members"]]
    assert len(set(names)) == len(names) == 3
    assert after["learner"]["step"] == 2048


def test_who_was_deleted_from_the_league_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = train(tmp_path / "p", "--total-steps=1024")
    (out / "past_000000000" / "policy.json").unlink()
    (out / "past_000000000" / "model.safetensors").unlink()
    args = ["--algo=self_play", f"--out={out}", "--resume", "--total-steps=2048"]
    assert main(args) == 2
    assert "past_000000000, a member of the league, is missing" in capsys.readouterr().err


def test_a_pool_is_met_from_the_beginning(trained: Path, tmp_path: Path) -> None:
    pool = trained / "past_000004096"
    out = train(tmp_path / "p", f"--pool={pool}", "--matchmaking=uniform", "--total-steps=512")
    first, second = json.loads((out / "league.json").read_text())["members"][:2]
    assert (first["name"], first["folder"], first["step"]) == (pool.name, str(pool), None)
    assert second["name"] == "past_000000000"
    assert first["won"] + first["drawn"] + first["lost"] > 0


def test_agents_that_act_at_once_are_sides_as_well(tmp_path: Path) -> None:
    """In MultiGrid both move in every step; a game lasts 256 of them."""
    task = "MosaicMultiGrid-S-1v1-IndAgObs-v1"
    options = ["--select=image,direction", "--total-steps=512", "--num-envs=2", "--num-steps=256"]
    out = train(tmp_path / "p", *options, env=task)
    assert {row["length"] for row in rows(out / "episodes.jsonl")} == {256}


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--env-id=simple_speaker_listener_v4"], "has agents of different kinds"),
        (["--env-id=CartPole-v1"], "is for one agent"),
        ([f"--env-id={GAME}", "--pool=/nowhere"], "/nowhere, of the pool, holds no policy"),
        ([f"--env-id={GAME}", "--normalize-observations"], "not for self-play"),
        (["--env-id=connect_for_v3"], "Did you mean 'connect_four_v3'"),
    ],
)
def test_bad_commands_get_one_line_and_status_2(
    args: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--algo=self_play", *args, f"--out={tmp_path / 'p'}"]) == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert words in said
    assert not (tmp_path / "p").exists()


def test_an_opponent_s_odd_policy_is_no_fault_of_the_learner_s(games: Games, trained: Path) -> None:
    """Whoever sits opposite draws its moves: two games with the same seed need not be the same."""
    policy = Policy.load(trained / "past_000000000")
    lengths = {result.length for result in games.match(policy, Opponent("x", policy), range(50))}
    assert len(lengths) > 1
    assert np.mean(list(lengths)) <= 5
