"""A training that was cut goes on as if it had not been; what cannot go on says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cleanrl_worker import session
from cleanrl_worker.continuable import Continuable
from cleanrl_worker.environments import make_environment
from cleanrl_worker.train import main
from mosaic_worker.learning.training_state import read_state
from mosaic_worker.training import ask

SMALL = ["--num-envs=2", "--num-steps=64", "--hidden", "16"]
WAYS = {
    "vectors": ["--env-id=CartPole-v1"],
    "statistics": ["--env-id=Pendulum-v1", "--normalize-observations", "--normalize-rewards"],
    "frames": ["--env-id=CartPole-v1", "--frame-stack=3"],
    "processes": ["--env-id=CartPole-v1", "--async-envs"],
    "masks": ["--env-id=MaskedBandit-v0"],
    "grids": ["--env-id=MiniGrid-Empty-Random-5x5-v0"],
    "memory": ["--algo=ppo_lstm", "--env-id=CartPole-v1", "--lstm-size=8", "--num-envs=4", "--num-steps=32"],
}


def metrics(folder: Path) -> list[Any]:
    """Everything that was reported but for times."""
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_bytes().splitlines()]
    return [(r["step"], {k: v for k, v in r["m"].items() if k != "charts/SPS"}) for r in rows]


@pytest.mark.parametrize(
    "way", [pytest.param(w, marks=[pytest.mark.full] * (w not in {"processes", "memory"})) for w in WAYS]
)
def test_a_cut_training_equals_one_that_was_not(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped in the middle of episodes, continued in an environment made anew."""
    monkeypatch.setattr("mosaic_worker.learning.evaluation.EVALUATION_SEEDS", (10_000,))
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    args = [*SMALL, *WAYS[way], "--no-anneal-lr"]
    assert main([*args, f"--out={whole}", "--total-steps=512"]) == 0
    assert main([*args, f"--out={cut}", "--total-steps=256"]) == 0
    assert main(["--resume", *WAYS[way][:1], f"--out={cut}", "--total-steps=512"]) == 0
    assert (cut / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()
    assert metrics(cut) == metrics(whole)
    episodes = [json.loads(line) for line in (cut / "episodes.jsonl").read_bytes().splitlines()]
    expected = [json.loads(line) for line in (whole / "episodes.jsonl").read_bytes().splitlines()]
    assert expected
    assert [(e["step"], e["return"], e["length"]) for e in episodes] == [
        (e["step"], e["return"], e["length"]) for e in expected
    ]
    events = [json.loads(line)["event"] for line in (cut / "events.jsonl").read_bytes().splitlines()]
    assert "warning" not in events


def test_a_training_that_was_stopped_goes_on_to_its_end(tmp_path: Path) -> None:
    args = ["--env-id=CartPole-v1", *SMALL, "--total-steps=512", f"--out={tmp_path}"]
    original = session.Session.metrics

    def wish(self: Any, step: int, values: Any) -> None:
        original(self, step, values)
        if step == 256:
            ask(tmp_path, "stop")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session.Session, "metrics", wish)
        assert main(args) == 130
    assert read_state(tmp_path, "ppo").step == 256
    assert main(["--resume", f"--out={tmp_path}"]) == 0
    steps = [step for step, _ in metrics(tmp_path)]
    assert steps == list(range(128, 513, 128))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a training that is over; no test changes it."""
    folder = tmp_path_factory.mktemp("finished")
    assert main(["--env-id=CartPole-v1", *SMALL, "--total-steps=256", f"--out={folder}"]) == 0
    return folder


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--learning-rate=0.1"], "a resumed training keeps its settings, but learning_rate was 0.0003"),
        (["--env-id=Acrobot-v1"], "env_id was 'CartPole-v1'"),
        (["--algo=ppo_lstm"], "of ppo, not ppo_lstm"),
        ([], "already has its 256 steps; raise total_steps"),
        (["--overwrite"], "either --resume or --overwrite"),
    ],
)
def test_what_cannot_go_on_is_said(
    args: list[str], words: str, finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in finished.rglob("*") if path.is_file()}
    assert main(["--resume", f"--out={finished}", *args]) == 2
    assert words in capsys.readouterr().err
    assert {path: path.read_bytes() for path in finished.rglob("*") if path.is_file()} == before


def test_a_refusal_is_in_the_run_folder_that_a_trainer_made(tmp_path: Path) -> None:
    (tmp_path / "train.json").write_text("{}")
    assert main(["--gamma=3", f"--out={tmp_path}"]) == 2
    event = json.loads((tmp_path / "events.jsonl").read_text())
    assert (event["event"], event["kind"]) == ("error", "usage")
    assert "gamma must be at most 1" in event["message"]


def test_an_episode_that_went_otherwise_begins_anew() -> None:
    first = Continuable(make_environment("CartPole-v1"))
    first.reset(seed=5)
    for _ in range(7):
        seen = first.step(1)[0]
    snapshot = json.loads(json.dumps(first.snapshot()))
    there = Continuable(make_environment("CartPole-v1"), snapshot)
    assert there.reset(seed=99)[0].tobytes() == seen.tobytes()
    assert there.continued()
    assert there.snapshot() == first.snapshot()
    snapshot["seen"] = "something else"
    elsewhere = Continuable(make_environment("CartPole-v1"), snapshot)
    fresh = make_environment("CartPole-v1").reset(seed=99)[0]
    assert elsewhere.reset(seed=99)[0].tobytes() == fresh.tobytes()
    assert not elsewhere.continued()
