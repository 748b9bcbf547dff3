"""What cannot be trained or imported is refused before anything starts, in one line."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from xuance_policies import library_weights, told

from mosaic_worker.learning.importing import ImportRefused
from mosaic_worker.learning.training_command import ConfigError
from mosaic_worker.learning.training_schema import schema_file, schema_text
from xuance_worker.algorithms import ALGORITHMS
from xuance_worker.convert import network_of, playing_weights
from xuance_worker.equivalence_check import check_equivalence
from xuance_worker.foreign import check_weights, fitting_plan, read_pth
from xuance_worker.moments import Moments
from xuance_worker.plan import plan_for
from xuance_worker.train import main

FILE = schema_file("xuance_worker")
STALE = "run: python -m mosaic_worker.learning.training_schema xuance_worker"
MANIFEST = tomllib.loads((FILE.parent / "worker.toml").read_text("utf-8"))


def test_the_schema_is_what_the_settings_say() -> None:
    assert FILE.read_text("utf-8") == schema_text(ALGORITHMS), (
        "run: python -m mosaic_worker.learning.training_schema xuance_worker"
    )
    assert MANIFEST["train"]["algorithms"] == list(ALGORITHMS)
    named = {option["value"] for option in MANIFEST["settings"]["algorithm"]["options"]}
    assert named == set(ALGORITHMS)


@pytest.mark.parametrize(
    ("algorithm", "env", "more", "why"),
    [
        (
            "qmix",
            "real",
            {},
            r"qmix learns discrete actions; left_0 of .* has Box.* Algorithms for these actions: ippo",
        ),
        ("maddpg", "alike", {}, r"maddpg learns continuous actions.* these actions: ippo, .*qmix"),
        ("ippo", "mixed", {}, "some agents of .* have discrete actions, others continuous ones"),
        ("mappo", "alone", {}, "has one agent"),
        ("mappo", "different", {"use_parameter_sharing": True}, "have different spaces"),
        ("maddpg", "real", {"use_rnn": True}, "use_rnn needs a layer|maddpg remembers nothing"),
        ("ippo", "real", {"use_rnn": True}, "loses the memory"),
        ("qmix", "alike", {"use_rnn": True}, "buffer holds whole episodes"),
        (
            "vdac",
            "alike",
            {"use_rnn": True},
            "vdac has no recurrent network; .* These have one: ippo, mappo, iql",
        ),
        ("mappo", "nothing_there", {}, "nothing_there"),
    ],
)
def test_what_cannot_be_trained(algorithm: str, env: str, more: dict[str, Any], why: str) -> None:
    found = ALGORITHMS[algorithm]
    with pytest.raises(ConfigError, match=why):
        plan_for(found, found.config_class(env_id=f"xuance_probes:{env}", **more))


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--algo", "qmxi"], "unknown algorithm 'qmxi'. Did you mean qmix?"),
        (["--algo", "qmix", "--training-frequency", "10"], "must be a multiple of num_envs = 16"),
        (["--algo", "ippo", "--n-minibatch", "7"], "cannot be split into n_minibatch = 7 parts"),
        (["--algo", "ippo", "--clip-rnage", "1"], "Did you mean --clip-range?"),
        (["--algo", "vdn", "--resume", "--out", "nowhere"], "holds no training that can be resumed"),
        (["--algo", "qmix", "--env-id", "xuance_probes:real"], "qmix learns discrete actions"),
        (["--algo", "qmix", "--env-id", "simple_spraed_v3"], "unknown environment 'simple_spraed_v3'"),
    ],
)
def test_a_command_that_cannot_be(
    words: list[str],
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1
    assert why in said[0]
    assert not list(tmp_path.glob("runs/*"))


# -- imports -----------------------------------------------------------------------------


class Malice:
    def __reduce__(self) -> Any:
        return (print, ("it ran",))


def test_a_pickle_is_not_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "final.pth"
    torch.save({"policy": Malice()}, file)
    with pytest.raises(ImportRefused, match="it needs print, and only tensors and plain data are read"):
        read_pth(file)
    assert "it ran" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"no pickle", "holds more than tensors|was not written by torch.save"),
        (b"", "was not written by torch.save"),
    ],
)
def test_a_file_that_is_none(tmp_path: Path, content: bytes, why: str) -> None:
    file = tmp_path / "final.pth"
    file.write_bytes(content)
    with pytest.raises(ImportRefused, match=why):
        read_pth(file)


@pytest.mark.parametrize("found", [{"weights": {}}, {"policy": {}}, {"policy": {"a": 1}}, [torch.zeros(1)]])
def test_a_file_without_a_policy(tmp_path: Path, found: Any) -> None:
    torch.save(found, tmp_path / "final.pth")
    with pytest.raises(ImportRefused, match=r"has no policy|which is no tensor"):
        read_pth(tmp_path / "final.pth")


def _asked(algorithm: str, *, share: bool, **more: Any) -> dict[str, Any]:
    acting = next(iter(ALGORITHMS[algorithm].acting.values()))
    return {**told(None, **more), "policy": acting.policy, "use_parameter_sharing": share}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("algorithm", "trained", "env", "share", "why"),
    [
        ("mappo", "alike", "three", True, r"shape \(12, 18\), but .*:three needs \(12, 19\).*3 agents"),
        ("vdn", "alike", "three", False, "has no network of left_2 .*it has left_0, left_1"),
        ("vdn", "three", "alike", False, "has networks of left_2, which xuance_probes:alike does not have"),
        ("vdn", "alike", "different", False, "has no network of right_0, right_1"),
    ],
)
def test_another_team_is_refused_by_name(
    algorithm: str, trained: str, env: str, share: bool, why: str
) -> None:
    found, asked = ALGORITHMS[algorithm], _asked(algorithm, share=share)
    before, _ = fitting_plan(found, asked, f"xuance_probes:{trained}")
    plan, acting = fitting_plan(found, asked, f"xuance_probes:{env}")
    networks = {key: network_of(acting, asked, plan, key) for key in plan.keys}
    with pytest.raises(ImportRefused, match=why):
        check_weights(Path("final.pth"), library_weights(algorithm, before), acting, plan, networks)


def test_another_kind_of_action_is_refused_by_name() -> None:
    with pytest.raises(ImportRefused, match="Categorical_MAAC_Policy for discrete actions, but agents of"):
        fitting_plan(ALGORITHMS["ippo"], _asked("ippo", share=True), "xuance_probes:real")


def test_other_settings_are_refused_by_the_weights_that_do_not_fit() -> None:
    found, asked = ALGORITHMS["vdn"], _asked("vdn", share=True)
    plan, acting = fitting_plan(found, asked, "xuance_probes:alike")
    weights = library_weights("vdn", plan)
    deeper = {**asked, "q_hidden_size": [12, 12]}
    networks = {key: network_of(acting, deeper, plan, key) for key in plan.keys}
    with pytest.raises(
        ImportRefused, match=r"lacks head.model.4.bias.*other settings than those in --config"
    ):
        check_weights(Path("final.pth"), weights, acting, plan, networks)


class Stubborn:
    """Stands for the library: plays as a policy does, or always the same."""

    def __init__(self, policy: Any, plan: Any, *, always: int | None = None) -> None:
        self._policy, self._plan, self._always = policy, plan, always

    def begin(self) -> None: ...

    def choose(self, seen: Any, masks: Any) -> dict[str, Any]:
        if self._always is not None:
            return dict.fromkeys(self._plan.agents, self._always)
        marks = np.eye(len(self._plan.agents), dtype=np.float32)
        shown = {a: np.concatenate([seen[a], marks[i]])[None] for i, a in enumerate(self._plan.agents)}
        return self._policy.choose(shown).actions[0]


def test_a_policy_that_plays_otherwise_is_refused(tmp_path: Path) -> None:
    from mosaic_worker.checkpoint import PolicyDescription
    from mosaic_worker.learning.torch_weights import arrays_of
    from xuance_worker.policy import Policy

    found, asked = ALGORITHMS["vdn"], _asked("vdn", share=True)
    plan, acting = fitting_plan(found, asked, "xuance_probes:alike")
    network = network_of(acting, asked, plan, "left_0")
    description = PolicyDescription.joint(
        [plan.part(agent, network, None) for agent in plan.agents],
        worker="xuance_worker",
        algorithm="vdn",
        env_id=plan.env_id,
    )
    weights = playing_weights(acting, library_weights("vdn", plan), plan)
    policy = Policy.whole(description, arrays_of(weights))
    check_equivalence(Stubborn(policy, plan), policy, plan)
    with pytest.raises(ImportRefused, match="does not act as the library does: left_"):
        check_equivalence(Stubborn(policy, plan, always=1), policy, plan)


def test_a_config_is_yaml_and_nothing_else(tmp_path: Path) -> None:
    from xuance_worker.foreign import read_config

    file = tmp_path / "config.yaml"
    file.write_text(yaml.safe_dump({"agent": "QMIX"}))
    with pytest.raises(ImportRefused, match="mosaic workers install xuance_worker"):
        read_config(file, "", "xuance_probes:alike")


def test_running_moments_are_those_of_all_vectors() -> None:
    rows = np.random.default_rng(1).normal(3, 2, (500, 4))
    moments = Moments(4)
    for row in rows:
        moments.update(row)
    step = moments.step()
    assert np.allclose(step["mean"], rows.mean(axis=0), atol=1e-2)
    assert np.allclose(step["var"], rows.var(axis=0), rtol=1e-2)
    assert np.allclose(Moments(4, moments.state()).normalized(rows[0]), moments.normalized(rows[0]))
