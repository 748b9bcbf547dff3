"""Self-play: whom the learner meets, what it is paid, what is kept of it and how it goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cleanrl_worker.config.self_play import SelfPlayConfig
from cleanrl_worker.games import Games
from cleanrl_worker.policy import Policy
from cleanrl_worker.seated_policy import SeatedPolicy
from cleanrl_worker.train import main

GAME = "tictactoe_v3"
SHORT = ["--num-envs=16", "--num-steps=32", "--snapshot-every=512", "--hidden", "32", "--total-steps=2048"]


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
def games(trained: Path) -> Any:
    """Games by the hundred, for matches with the first and the last of that training."""
    found = Games(SelfPlayConfig(env_id=GAME, num_envs=50))
    found.register("first", SeatedPolicy(trained / "past_000000000"))
    found.register("last", SeatedPolicy(trained))
    yield found
    found.close()


def members_of(run: Path) -> dict[str, dict[str, Any]]:
    """The league of a training, by name."""
    return {member["name"]: member for member in json.loads((run / "league.json").read_text())["members"]}


def test_the_league_is_in_the_run_folder(trained: Path) -> None:
    league = json.loads((trained / "league.json").read_text())
    names = [f"past_{step:09d}" for step in (0, 512, 1024, 1536, 2048)]
    assert [member["name"] for member in league["members"]] == names
    for name in names:
        about = Policy.load(trained / name).description
        assert about.env_id == GAME
        assert (about.agents, about.parts) == (("player_1", "player_2"), ())
        assert f"past_{about.total_steps:09d}" == name
    games_played = sum(m["won"] + m["drawn"] + m["lost"] for m in league["members"])
    assert games_played == len(rows(trained / "episodes.jsonl"))
    ratings = [row["m"]["league/rating"] for row in rows(trained / "metrics.jsonl")]
    assert ratings[-1] == pytest.approx(league["learner"]["rating"], abs=0.06)
    assert rows(trained / "metrics.jsonl")[-1]["m"]["league/members"] == 5 - 1


def test_the_learner_gets_better_than_it_was(trained: Path, games: Games) -> None:
    results = games.match(Policy.load(trained), "first", range(100))
    scores = [result.score for result in results]
    assert sum(score for score in scores if score is not None) / 100 > 0.6
    assert {result.seat for result in results} == {"player_1", "player_2"}
    assert {(result.total, result.score) for result in results} <= {(-1.0, 0.0), (0.0, 0.5), (1.0, 1.0)}
    assert {result.others for result in results} == {"first"}


def test_a_match_depends_on_its_seeds_alone(trained: Path, games: Games) -> None:
    last = Policy.load(trained)
    first_time, again = ([result.seat for result in games.match(last, "last", range(7))] for _ in range(2))
    assert first_time == again


def test_two_trainings_with_one_seed_are_the_same(trained: Path, tmp_path: Path) -> None:
    again = train(tmp_path / "p")
    for name in ("league.json", "model.safetensors"):
        assert (again / name).read_bytes() == (trained / name).read_bytes()


@pytest.mark.full
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
    pool = trained / "past_000002048"
    out = train(tmp_path / "p", f"--pool={pool}", "--matchmaking=uniform", "--total-steps=512")
    first, second = json.loads((out / "league.json").read_text())["members"][:2]
    assert (first["name"], first["folder"], first["step"]) == (pool.name, str(pool), None)
    assert second["name"] == "past_000000000"
    assert first["games"] == first["won"] + first["drawn"] + first["lost"] > 0


POOL = """
task: tictactoe_v3
policies:
  tree_search: {type: planner, worker_id: openspiel_worker, settings: {simulations: 5}}
  rules: {type: baseline, behavior: tictactoe_one_ply}
"""


@pytest.mark.full
def test_workers_of_any_kind_are_in_the_pool(tmp_path: Path) -> None:
    """Tree search, rules and chance, each a process of its own; and all of it once more is the same."""
    file = tmp_path / "pool.yaml"
    file.write_text(POOL)
    options = [f"--pool={file},random", "--matchmaking=uniform", "--total-steps=1024"]
    out, again = (train(tmp_path / name, *options) for name in ("a", "b"))
    members = members_of(out)
    pool = {name: (m["plays"], m["folder"]) for name, m in members.items() if m["step"] is None}
    assert pool == {
        "tree_search": ("openspiel_worker, simulations 5", None),
        "rules": ("tictactoe_one_ply", None),
        "random": ("random", None),
    }
    assert all(members[name]["games"] > 5 for name in pool)
    assert members["rules"]["mean_return"] < members["random"]["mean_return"]
    assert (again / "league.json").read_bytes() == (out / "league.json").read_bytes()
    # Who is not in the pool any more is named, before anything starts.
    train(out, "--resume", "--total-steps=2048")
    assert members_of(out)["tree_search"]["games"] > members["tree_search"]["games"]


def test_who_left_the_pool_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "pool.yaml"
    file.write_text(POOL)
    out = train(tmp_path / "p", f"--pool={file}", "--total-steps=512")
    file.write_text(POOL.replace("rules:", "others:"))
    assert main(["--algo=self_play", f"--out={out}", "--resume", "--total-steps=1024"]) == 2
    assert "rules, a member of the league, is no longer in the pool" in capsys.readouterr().err


@pytest.mark.full
def test_partners_where_all_are_on_one_side(tmp_path: Path) -> None:
    """No player wins there: what counts is the joint return; no past self is left in the league."""
    options = ["--pool=random,noop", "--snapshot-every=0", "--total-steps=1024"]
    out = train(tmp_path / "p", *options, env="simple_spread_v3")
    league = json.loads((out / "league.json").read_text())
    assert league["learner"]["rating"] is None
    members = members_of(out)
    assert set(members) == {"random", "noop"}
    assert all(member["mean_return"] < 0 and not member["won"] for member in members.values())
    assert sum(member["odds"] for member in members.values()) == pytest.approx(1.0, abs=1e-3)
    assert "league/rating" not in rows(out / "metrics.jsonl")[-1]["m"]


def test_one_of_different_kinds_learns_with_partners(tmp_path: Path) -> None:
    options = ["--pool=random", "--snapshot-every=0", "--seat=listener_0", "--total-steps=512"]
    out = train(tmp_path / "p", *options, env="simple_speaker_listener_v4")
    about = Policy.load(out).description
    assert (about.agents, about.observation_space.shape) == (("listener_0",), (11,))


def faulty_pool(tmp_path: Path, settings: str) -> Path:
    """A pool of which one does badly, and one well."""
    file = tmp_path / "pool.yaml"
    file.write_text(
        f"task: {GAME}\npolicies:\n  faulty: {{worker_id: test_worker, settings: {{{settings}}}}}\n"
        "  well: {type: random}\n"
    )
    return file


def test_an_opponent_that_is_killed_costs_its_games_alone(tmp_path: Path) -> None:
    pool = faulty_pool(tmp_path, "fault: signal, at: 40")
    out = train(tmp_path / "p", f"--pool={pool}", "--snapshot-every=0", "--total-steps=512")
    assert members_of(out)["faulty"]["games"] > 10


def test_opponents_that_fail_for_good_are_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The training ends with who it was and why, and keeps its policy."""
    pool = faulty_pool(tmp_path, "fault: raise, times: 0")
    out = tmp_path / "p"
    options = [f"--out={out}", *SHORT, f"--pool={pool}", "--snapshot-every=0"]
    assert main(["--algo=self_play", f"--env-id={GAME}", *options]) == 1
    said = capsys.readouterr().err
    assert "5 games in a row with faulty failed: player_" in said


def test_agents_that_act_at_once_are_sides_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In MultiGrid both move in every step; a game lasts 256 of them."""
    monkeypatch.setattr("cleanrl_worker.algorithms.self_play.EVALUATION_SEEDS", range(2))
    task = "MosaicMultiGrid-S-1v1-IndAgObs-v1"
    options = ["--select=image,direction", "--total-steps=256", "--num-envs=1", "--num-steps=256"]
    out = train(tmp_path / "p", *options, env=task)
    assert {row["length"] for row in rows(out / "episodes.jsonl")} == {256}


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--env-id=simple_speaker_listener_v4"], "has agents of different kinds"),
        (["--env-id=CartPole-v1"], "has one agent"),
        ([f"--env-id={GAME}", "--pool=/nowhere"], "/nowhere"),
        ([f"--env-id={GAME}", "--pool=nonsense"], "not 'nonsense'"),
        ([f"--env-id={GAME}", "--pool=random,random"], "two members of the pool are called random"),
        ([f"--env-id={GAME}", "--pool=nowhere.yaml"], "nowhere.yaml"),
        ([f"--env-id={GAME}", "--snapshot-every=0"], "there is no opponent: set one"),
        ([f"--env-id={GAME}", "--seat=player_3"], "has no agent player_3"),
        (
            ["--env-id=simple_speaker_listener_v4", "--seat=listener_0", "--pool=random"],
            "past copies of listener_0 cannot play the others",
        ),
        ([f"--env-id={GAME}", "--normalize-observations"], "cannot be used in self-play"),
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


def test_others_draw_their_actions(games: Games, trained: Path) -> None:
    """Two games of the same two need not be the same."""
    policy = Policy.load(trained / "past_000000000")
    lengths = {result.length for result in games.match(policy, "first", range(50))}
    assert len(lengths) > 1
    assert max(lengths) <= 5
