"""DQN, C51, DDPG, TD3 and SAC learn what each probe isolates, twice the same, and go on the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import off_policy_probes
import pytest
import torch
from off_policy_probes import train

from cleanrl_worker.policy import Policy
from cleanrl_worker.registry import algorithm
from mosaic_worker.learning.training_command import ConfigError, TrainingFailed
from tests.support.seldom import some_of

off_policy_probes_fixture = off_policy_probes.off_policy_probes
VALUES, ACTORS = ("dqn", "c51"), ("ddpg", "td3", "sac")
_VALUES: dict[str, Any] = {
    "total_steps": 900,
    "learning_starts": 100,
    "train_frequency": 2,
    "target_network_frequency": 50,
    "learning_rate": 5e-3,
    "batch_size": 64,
    "hidden": (32,),
}
_ACTORS: dict[str, Any] = {
    "total_steps": 400,
    "learning_starts": 100,
    "learning_rate": 5e-3,
    "batch_size": 64,
    "hidden": (32,),
    "tau": 0.05,
}
SMALL = {**dict.fromkeys(VALUES, _VALUES), **dict.fromkeys(ACTORS, _ACTORS)}
SMALL["c51"] = {**SMALL["c51"], "n_atoms": 21, "v_min": -5.0, "v_max": 5.0}
CALM = {"alpha": 1e-3, "autotune": False}
SMALL["sac"] = {**SMALL["sac"], "q_learning_rate": 5e-3}


def learn(name: str, env_id: str, folder: Path, **settings: Any) -> Any:
    folder.mkdir(exist_ok=True)
    return train(name, env_id, folder, **{**SMALL[name], **settings})


def values(learner: Any, *observation: float) -> list[float]:
    """Of each action."""
    with torch.no_grad():
        return learner.values(torch.tensor([observation]))[0].tolist()


def q(learner: Any, observation: float, *action: float) -> list[float]:
    """Of each critic."""
    with torch.no_grad():
        return learner.policy.critics(torch.tensor([[observation]]), torch.tensor([action]))[:, 0].tolist()


# -- what each probe isolates ------------------------------------------------------------------


@pytest.mark.parametrize("name", VALUES)
def test_values_depend_on_observation_and_action(name: str, tmp_path: Path) -> None:
    learner = learn(name, "probes:Matching-v0", tmp_path)
    assert values(learner, -1.0) == pytest.approx([1.0, -1.0], abs=0.2)
    assert values(learner, 1.0) == pytest.approx([-1.0, 1.0], abs=0.2)


@pytest.mark.parametrize("name", VALUES)
def test_a_cut_episode_is_worth_what_would_have_followed(name: str, tmp_path: Path) -> None:
    learner = learn(name, "probes:Endless-v0", tmp_path, gamma=0.5)
    assert values(learner, 0.0) == pytest.approx([2.0, 2.0], abs=0.2)  # 1 / (1 - gamma); 1 without


def test_illegal_actions_are_never_played(tmp_path: Path) -> None:
    learner = learn("dqn", "MaskedBandit-v0", tmp_path)  # the environment raises on an illegal arm
    found = values(learner, 0.0)
    assert found[2:] == pytest.approx([0.2, 1.0], abs=0.15)


@pytest.mark.parametrize("name", VALUES)
def test_credit_travels_back_one_step_and_none_from_illegal_actions(name: str, tmp_path: Path) -> None:
    learner = learn(name, "LateMask-v0", tmp_path, gamma=0.5)
    # Whatever the network says of action 2 in the second step (the learner never played it there), the
    # first step is worth its reward and half of the best legal second one.
    second = max(values(learner, 0.5)[:2])
    assert values(learner, 0.0) == pytest.approx([r + 0.5 * second for r in (0.0, 0.5, 1.0)], abs=0.25)
    assert second == pytest.approx(1.0, abs=0.25)


@pytest.mark.parametrize(
    ("name", "env_id"), [("c51", "Lamp-v0"), pytest.param("dqn", "LampLarge-v0", marks=pytest.mark.full)]
)
def test_images_are_learnt_from(name: str, env_id: str, tmp_path: Path) -> None:
    steps = {"total_steps": 600, "learning_rate": 1e-3, "batch_size": 32, "buffer_size": 500, "num_envs": 1}
    learner = learn(name, env_id, tmp_path, **steps)
    assert learner.ring.sample(1, np.random.default_rng(0)).observations.dtype == torch.uint8
    policy = Policy.load(tmp_path)
    env = off_policy_probes.Lamp(7 if env_id == "Lamp-v0" else 36)
    paid = 0.0
    for seed in range(20):
        observation, _ = env.reset(seed=seed)
        paid += env.step(int(policy.choose(observation[None]).actions[0]))[1]
    assert paid == 20.0


@pytest.mark.parametrize("name", some_of(ACTORS, "sac"))
def test_an_actor_finds_its_target_within_uneven_bounds(name: str, tmp_path: Path) -> None:
    learn(name, "Target-v0", tmp_path, **{"total_steps": 700, **(CALM if name == "sac" else {})})
    policy = Policy.load(tmp_path)
    seen = np.linspace(-0.9, 0.9, 7, dtype=np.float32)[:, None]
    wanted = np.concatenate((2.0 + 4.0 * seen, np.full_like(seen, 20.0)), axis=1)
    missed = (policy.choose(seen).actions - wanted) / np.array([4.0, 10.0])
    assert np.abs(missed).mean() < 0.12


@pytest.mark.parametrize("name", some_of(ACTORS, "sac"))
def test_an_actor_is_credited_one_step_later(name: str, tmp_path: Path) -> None:
    learner = learn(name, "Late-v0", tmp_path, gamma=0.5, **(CALM if name == "sac" else {}))
    policy = Policy.load(tmp_path)
    assert policy.choose(np.array([[2.0]], np.float32)).actions[0, 0] > 0.8
    assert np.mean(q(learner, 2.0, 0.9)) == pytest.approx(0.45, abs=0.25)


@pytest.mark.parametrize("name", some_of(ACTORS, "sac"))
def test_critics_look_beyond_a_time_limit(name: str, tmp_path: Path) -> None:
    learner = learn(name, "EndlessBox-v0", tmp_path, gamma=0.5, **(CALM if name == "sac" else {}))
    assert q(learner, 0.0, 0.0) == pytest.approx([2.0] * learner.policy.count, abs=0.2)


def test_the_temperature_rises_while_the_policy_has_less_chance_than_wanted(tmp_path: Path) -> None:
    learner = learn("sac", "Late-v0", tmp_path, total_steps=101)
    wanted = learner.target_entropy
    for entropy, sign in ((wanted - 0.5, 1), (wanted + 0.5, -1)):
        before = learner.temperature().item()
        for _ in range(40):  # more than Adam's momentum remembers
            learner.learn_temperature(torch.full((8,), -entropy))
        assert np.sign(learner.temperature().item() - before) == sign


# -- the same twice, and the same in two parts -------------------------------------------------


def weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


def state(folder: Path) -> bytes:
    return (folder / "state" / "state.safetensors").read_bytes()


PLACES = {**dict.fromkeys(VALUES, "CartPole-v1"), **dict.fromkeys(ACTORS, "Pendulum-v1")}
SHORT = {"total_steps": 180, "hidden": (16,), "batch_size": 32, "learning_starts": 60}


@pytest.mark.parametrize("name", some_of(PLACES, "dqn", "sac"))
def test_one_seed_gives_equal_bits_in_one_piece_and_in_two(name: str, tmp_path: Path) -> None:
    """Stopped and resumed, a training ends where the uninterrupted one does."""
    whole, parts, other = (tmp_path / folder for folder in ("whole", "parts", "other"))
    torch.manual_seed(7)
    np.random.seed(7)  # the one that must be left alone
    drawn = torch.rand(3), np.random.random(3)
    torch.manual_seed(7)
    np.random.seed(7)
    learn(name, PLACES[name], whole, **SHORT)
    assert torch.equal(drawn[0], torch.rand(3))
    assert (drawn[1] == np.random.random(3)).all()
    learn(name, PLACES[name], parts, stop_at=97, **SHORT)
    half = weights(parts)
    assert 97 <= Policy.load(parts).description.total_steps < 150
    learn(name, PLACES[name], other, stop_at=97, **SHORT, seed=2)
    assert half != weights(other)
    learn(name, PLACES[name], parts, resume=True, **SHORT)
    assert half != weights(parts) == weights(whole)


def test_a_training_whose_ring_was_too_large_to_keep_fills_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cleanrl_worker.algorithms.replay.KEPT_BYTES", 10)
    learn("dqn", "CartPole-v1", tmp_path, stop_at=100, **SHORT)
    learner = learn("dqn", "CartPole-v1", tmp_path, resume=True, **SHORT)
    assert len(learner.ring) == 80


# -- what is said ------------------------------------------------------------------------------

NAMES = {
    "dqn": {"td_loss", "q_values"},
    "c51": {"loss", "q_values"},
    "ddpg": {"qf1_values", "qf1_loss", "actor_loss"},
    "td3": {"qf1_values", "qf2_values", "qf1_loss", "qf2_loss", "qf_loss", "actor_loss"},
    "sac": {
        "qf1_values", "qf2_values", "qf1_loss", "qf2_loss", "qf_loss", "actor_loss", "alpha", "alpha_loss",
    },
}  # fmt: skip


@pytest.mark.parametrize("name", PLACES)
def test_losses_have_cleanrls_names(name: str, tmp_path: Path) -> None:
    learn(name, PLACES[name], tmp_path, **{**SHORT, "total_steps": 500, "learning_starts": 400})
    rows = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == [500]
    said = {key for key in rows[-1]["m"] if not key.startswith("charts/")}
    assert said == {f"losses/{key}" for key in NAMES[name]}
    assert all(value is not None for value in rows[-1]["m"].values())
    assert "charts/episodic_return" in rows[-1]["m"]


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize(("env_id", "words"), [("PaysNan-v0", "not finite"), ("Raises-v0", "the roof")])
def test_what_breaks_while_running_says_so(name: str, env_id: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(TrainingFailed, match=words):
        learn(name, env_id, tmp_path, total_steps=2_000, learning_starts=1_900)


@pytest.mark.parametrize("name", ACTORS)
@pytest.mark.parametrize(
    ("env_id", "words"),
    [
        ("Unbounded-v0", r"Unbounded-v0: its actions have no finite bounds\. Use ppo"),
        ("Pictures-v0", r"images of shape \(36, 36, 3\).* Learn it with ppo"),
    ],
)
def test_what_an_actor_cannot_learn_is_refused(name: str, env_id: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=words):
        learn(name, env_id, tmp_path)


@pytest.mark.parametrize(
    ("name", "settings", "words"),
    [
        ("dqn", {"learning_starts": 600}, "learning_starts = 600 is not before the end"),
        ("sac", {"learning_starts": 700}, "learning_starts = 700 is not before the end"),
        ("dqn", {"end_e": 1.5}, "end_e must be at most 1"),
        ("dqn", {"train_frequency": 0}, "train_frequency must be at least 1"),
        ("c51", {"v_min": 3.0, "v_max": 3.0}, "v_min = 3.0 must be a number below v_max"),
        ("c51", {"n_atoms": 1}, "n_atoms must be at least 2"),
        ("td3", {"policy_noise": -1.0}, "policy_noise must be at least 0"),
        ("sac", {"alpha": 0.0}, "alpha must be more than 0"),
        ("ddpg", {"tau": 0.0}, "tau must be more than 0"),
    ],
)
def test_settings_that_cannot_work_are_named(name: str, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        algorithm(name).config_class(**{"total_steps": 600, "learning_starts": 100} | settings)


@pytest.mark.parametrize("name", PLACES)
def test_every_setting_has_a_title_a_sentence_and_few_are_shown_first(name: str) -> None:
    found = algorithm(name).config_class.model_json_schema()["properties"]
    assert all((p["title"] and p["description"].endswith(".")) or "ends" in p for p in found.values())
    assert 5 <= sum(p.get("x-group") == "main" for p in found.values()) <= 8
