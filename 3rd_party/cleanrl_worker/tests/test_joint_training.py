"""Several agents that learn together: what they learn, what is kept of it, how it goes on and how it ends."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cleanrl_worker.environments import EVALUATION
from cleanrl_worker.policy import Policy
from cleanrl_worker.train import main
from mosaic_worker.playing.joint_policy import JointPolicy
from mosaic_worker.playing.network_policy import read_weights
from tests.support.seldom import some_of

SHORT = [
    "--num-envs=8", "--num-steps=20", "--hidden", "32", "--learning-rate=5e-3", "--total-steps=3200",
    "--gamma=0.5", "--num-minibatches=2",
]  # fmt: skip
BRIEF = [*SHORT, "--total-steps=480"]


def train(out: Path, algorithm: str, env: str, *options: str) -> Path:
    """A training that has to succeed."""
    assert main([f"--algo={algorithm}", f"--env-id=joint_probes:{env}", f"--out={out}", *options]) == 0
    return out


def digest(folder: Path) -> str:
    """Of the weights."""
    return hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()


def rows(path: Path) -> list[dict[str, Any]]:
    """Lines of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("algorithm", some_of(["ippo", "mappo"], "mappo"))
@pytest.mark.parametrize(
    "options",
    [
        (),
        *(
            pytest.param((each,), marks=pytest.mark.full)
            for each in ("--no-share-parameters", "--lstm-size=16")
        ),
    ],
    ids=str,
)
def test_agents_learn_what_each_has_to_do(algorithm: str, options: tuple[str, ...], tmp_path: Path) -> None:
    out = train(tmp_path / "p", algorithm, "Roles", *SHORT, *options)
    policy = Policy.whole(*read_weights(out))
    # 3 agents x 5 steps; by chance a third of it.
    assert np.mean(EVALUATION.episode_returns(policy, "joint_probes:Roles", range(50, 60))) >= 14.0
    assert rows(out / "events.jsonl")[-1]["mean_return"] >= 14.0


def test_who_shares_a_network_is_told_who_it_is(tmp_path: Path) -> None:
    out = train(tmp_path / "p", "ippo", "Roles", *BRIEF)
    described = json.loads((out / "policy.json").read_text())
    assert described["format_version"] == 3
    parts = described["parts"]
    assert [part["agents"] for part in parts] == [["agent_0"], ["agent_1"], ["agent_2"]]
    assert [part["preprocessing"] for part in parts] == [
        [{"step": "append", "values": values}] for values in np.eye(3).tolist()
    ]
    assert {part["weights"] for part in parts} == {"shared."}
    one = Policy.load(out, "agent_1")
    assert one.description.agents == ("agent_1",)
    assert one.description.shown_space.shape == (6,)


def test_agents_without_shared_parameters_have_networks_of_their_own(tmp_path: Path) -> None:
    out = train(tmp_path / "p", "ippo", "Roles", *BRIEF, "--no-share-parameters")
    parts = json.loads((out / "policy.json").read_text())["parts"]
    assert [part["weights"] for part in parts] == ["agent_0.", "agent_1.", "agent_2."]
    assert all(part["preprocessing"] == [] for part in parts)
    metrics = rows(out / "metrics.jsonl")[-1]["m"]
    assert {f"losses/total/agent_{i}" for i in range(3)} <= set(metrics)


@pytest.mark.parametrize("algorithm", ["ippo", "mappo"])
def test_agents_of_different_kinds_learn_beside_each_other(algorithm: str, tmp_path: Path) -> None:
    out = train(tmp_path / "p", algorithm, "Kinds", *BRIEF)
    parts = json.loads((out / "policy.json").read_text())["parts"]
    assert [part["agents"][0] for part in parts] == ["speaker_0", "listener_0", "listener_1"]
    assert parts[0]["weights"] != parts[1]["weights"] == parts[2]["weights"]
    assert parts[0]["action_space"]["kind"] == "Box"
    kinds = {part["network"]["type"] for part in parts}
    assert kinds == ({"actor_critic"} if algorithm == "ippo" else {"actor"})
    assert isinstance(Policy.whole(*read_weights(out)), JointPolicy)


@pytest.mark.parametrize("lstm", ["0", "8"])
def test_agents_that_leave_are_passed_over(lstm: str, tmp_path: Path) -> None:
    out = train(tmp_path / "p", "ippo", "Ending", *BRIEF, f"--lstm-size={lstm}")
    episodes = rows(out / "episodes.jsonl")
    # The masked action is never played, or the environment would have raised.
    assert {(e["length"], e["return"]) for e in episodes} == {(3, 6.0)}
    assert episodes[0]["agents"] == {"agent_0": 1.0, "agent_1": 2.0, "agent_2": 3.0}
    metrics = rows(out / "metrics.jsonl")[-1]["m"]
    assert (metrics["agents/agent_1"], metrics["teams/early"], metrics["teams/late"]) == (2.0, 1.0, 5.0)


def test_processes_make_no_difference_to_the_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = train(tmp_path / "a", "ippo", "Ending", *BRIEF, "--no-async-envs")
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(3)))
    divided = train(tmp_path / "b", "ippo", "Ending", *BRIEF)
    assert digest(alone) == digest(divided)
    assert [
        {**row, "t": 0} for row in rows(alone / "episodes.jsonl")
    ] == [{**row, "t": 0} for row in rows(divided / "episodes.jsonl")]  # fmt: skip


@pytest.mark.parametrize("algorithm", [pytest.param("ippo", marks=pytest.mark.full), "mappo"])
@pytest.mark.parametrize("env", ["Roles", pytest.param("Ending", marks=pytest.mark.full)])
def test_a_training_that_was_cut_goes_on_as_if_it_had_not_been(
    algorithm: str, env: str, tmp_path: Path
) -> None:
    options = [*BRIEF, "--no-anneal-lr", "--lstm-size=8", "--normalize-observations", "--num-steps=16"]
    whole = train(tmp_path / "whole", algorithm, env, *options, "--total-steps=512")
    cut = train(tmp_path / "cut", algorithm, env, *options, "--total-steps=256")
    train(cut, algorithm, env, "--resume", "--total-steps=512")
    assert digest(whole) == digest(cut)
    assert "warning" not in {event["event"] for event in rows(cut / "events.jsonl")}


def test_statistics_of_observations_travel_with_each_part(tmp_path: Path) -> None:
    out = train(tmp_path / "p", "ippo", "Roles", *BRIEF, "--normalize-observations")
    for part in json.loads((out / "policy.json").read_text())["parts"]:
        normalize, append = part["preprocessing"]
        assert normalize["step"] == "normalize"
        assert normalize["mean"] == pytest.approx([1 / 3] * 3, abs=0.1)
        assert append["step"] == "append"


def test_a_film_shows_the_team(tmp_path: Path) -> None:
    out = train(tmp_path / "p", "ippo", "Roles", *BRIEF, "--video-every=1000")
    (film,) = (out / "videos").iterdir()
    assert film.stat().st_size > 0


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--env-id=joint_probes:Pictures", "--algo=mappo"], "use one of these algorithms: ippo"),
        (["--env-id=joint_probes:Pictures", "--normalize-observations"], "is only for vectors"),
        (["--env-id=connect_four_v3"], "act one after the other"),
        (["--env-id=simple_sprad_v3"], "Did you mean 'simple_spread_v3'"),
        (["--env-id=joint_probes:SHORT"], "cannot be made"),
        (["--lstm-size=8", "--num-envs=6", "--num-minibatches=4"], "a minibatch has whole environments"),
    ],
)
def test_bad_commands_get_one_line_and_status_2(
    args: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = args if any(arg.startswith("--algo") for arg in args) else ["--algo=ippo", *args]
    assert main([*given, f"--out={tmp_path / 'p'}"]) == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert words in said
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize(
    ("env", "words"),
    [("Raising", "raised RuntimeError: the field is under water"), ("Unpayable", "no longer finite")],
)
@pytest.mark.parametrize("cores", [1, 2])
def test_what_goes_wrong_while_training_is_named(
    env: str,
    words: str,
    cores: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(cores)))
    args = ["--algo=ippo", f"--env-id=joint_probes:{env}", f"--out={tmp_path / 'p'}", *BRIEF]
    assert main([*args, "--no-normalize-rewards"]) == 1
    assert words in capsys.readouterr().err
    assert rows(tmp_path / "p/events.jsonl")[-1]["event"] == "error"
