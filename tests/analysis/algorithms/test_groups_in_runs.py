"""Where whole groups of trainings play in a run, its trainings are what is compared."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gym_gui.analysis import Summary, open_run, report, summarize


def _played(folder: Path, runs: Any, means: Mapping[str, Sequence[float]], **more: Any) -> Path:
    """Groups by name: the mean return of each training, played on four seeds; and a lone random player."""
    rng = np.random.default_rng(4)
    episodes = {"random": [runs.single("random", i, 20.0 + i, "random") for i in range(4)]}
    groups: dict[str, Mapping[str, Any]] = {}
    for name, of_group in means.items():
        for seed, mean in enumerate(of_group, 1):
            key = f"{name}_seed{seed}"
            groups[key] = {"name": name.upper(), "seed": seed}
            episodes[key] = [runs.single(key, i, mean + rng.normal()) for i in range(4)]
    names = {key: f"{of['name']} (seed {of['seed']})" for key, of in groups.items()}
    return runs.write_run(folder, runs.Plan(episodes, groups=groups, names=names, **more))


GOOD, POOR = [400.0, 420.0, 380.0, 410.0, 390.0], [100.0, 150.0, 120.0, 90.0, 200.0]


@pytest.fixture
def summary(tmp_path: Path, runs: Any) -> Summary:
    return summarize(open_run(_played(tmp_path, runs, {"ppo": GOOD, "dqn": POOR})))


def test_the_verdict_is_over_trainings_and_no_checkpoint_is_set_against_another(summary: Summary) -> None:
    first = str(summary.verdicts[0])
    assert first.startswith("PPO is better than DQN by 2")
    assert "in mean return over 5 trainings each, p = 0.0079;" in first
    (found,) = summary.trainings
    assert [a.trainings for a in found.algorithms] == [5, 5]
    pairs = {(c.first, c.second) for c in summary.comparisons}
    assert len(pairs) == 10
    assert all("random" in pair for pair in pairs)
    assert not any("has a mean return of" in str(verdict) for verdict in summary.verdicts)


def test_a_training_whose_episode_failed_has_no_score(tmp_path: Path, runs: Any) -> None:
    folder = _played(tmp_path, runs, {"ppo": GOOD, "dqn": POOR})
    path = folder / "operators/ppo_seed2/episodes.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[0] |= {"status": "failed", "error": "the policy died"}
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = summarize(open_run(folder))
    assert found.trainings[0].comparisons[0].verdict == "undecided"
    assert "1 of PPO failed, and failed trainings are not counted" in str(found.verdicts[0])


def test_a_training_of_which_an_episode_is_missing_has_no_score(tmp_path: Path, runs: Any) -> None:
    folder = _played(tmp_path, runs, {"ppo": GOOD, "dqn": POOR}, extra={"episodes": {"ppo_seed2": 5}})
    found = summarize(open_run(folder))
    assert found.trainings[0].comparisons[0].verdict == "undecided"
    assert "1 of PPO is not finished" in str(found.verdicts[0])
    assert "Seed 2 of PPO has no score (stopped: 1 of its episodes is missing)." in found.trainings[0].notes


def test_a_run_that_is_on_says_nothing_of_algorithms(tmp_path: Path, runs: Any) -> None:
    folder = _played(tmp_path, runs, {"ppo": GOOD, "dqn": POOR}, status="stopped")
    assert summarize(open_run(folder)).trainings == ()


def test_every_output_says_it(tmp_path: Path, runs: Any, capsys: pytest.CaptureFixture[str]) -> None:
    folder = _played(tmp_path, runs, {"ppo": GOOD, "dqn": POOR})
    report([folder])
    said = capsys.readouterr().out
    assert "PPO is better than DQN" in said
    assert "The unit is the training" in said
    page = (folder / "report.html").read_text()
    assert "PPO is better than DQN" in page
    assert "Performance profile" in page
    data = json.loads((folder / "summary.json").read_text())
    assert data["trainings"][0]["comparisons"][0]["first"] == "PPO"
    assert data["verdicts"][0]["decided"] is True
