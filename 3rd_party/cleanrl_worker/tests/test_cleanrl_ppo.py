"""PPO learns what each probe environment isolates, and learns the same thing twice."""

from __future__ import annotations

from typing import Any

import probes  # noqa: F401  # registers the environments
import pytest
import torch
import trainings

from cleanrl_worker.algorithms.ppo import Rollout, estimate_advantages
from cleanrl_worker.config.ppo import PPOConfig, PPOLSTMConfig
from cleanrl_worker.network import ActorCritic
from cleanrl_worker.vector_environments import Environments
from mosaic_worker.learning.training_command import ConfigError, TrainingFailed

SMALL = {"total_steps": 2560, "num_envs": 4, "num_steps": 32, "learning_rate": 5e-3, "hidden": (16,)}
SMALL |= {"num_minibatches": 4, "update_epochs": 4, "anneal_lr": True, "ent_coef": 0.01, "vf_coef": 0.5}


def learn(env_id: str, **settings: Any) -> ActorCritic:
    return trainings.learn("ppo", {"env_id": env_id, **SMALL, **settings}).model


@torch.no_grad()
def shown(network: ActorCritic, observation: float) -> tuple[torch.Tensor, float]:
    """Probabilities and value for one observation."""
    logits, value = network(torch.tensor([[observation]]))
    return logits.softmax(-1)[0], float(value)


def test_policy_depends_on_the_observation() -> None:
    network = learn("Matching-v0")
    low, high = shown(network, -1.0)[0], shown(network, 1.0)[0]
    assert low[0] > 0.9
    assert high[1] > 0.9


def test_credit_travels_back_one_step() -> None:
    network = learn("TwoSteps-v0", gamma=0.5)
    probabilities, value = shown(network, -1.0)
    assert probabilities[1] > 0.9
    assert value == pytest.approx(0.5, abs=0.1)
    assert shown(network, 1.0)[1] == pytest.approx(1.0, abs=0.15)


def test_a_truncated_episode_is_worth_what_would_have_followed() -> None:
    _, value = shown(learn("Endless-v0", gamma=0.5, total_steps=4096), 0.0)
    assert value == pytest.approx(2.0, abs=0.2)  # 1 / (1 - gamma); 1.25 without the bootstrap


@pytest.mark.parametrize("env_id", ["MaskedBandit-v0", "MaskedBanditInfo-v0"])
def test_masked_actions_are_never_played_and_the_best_legal_one_is_learnt(env_id: str) -> None:
    network = learn(env_id)  # the environment raises on an illegal arm
    with torch.no_grad():
        logits, _ = network(torch.zeros(1, 1))
    assert logits[0, 2:].softmax(-1)[1] > 0.9


def test_one_seed_gives_equal_bits_and_leaves_the_global_generator_alone() -> None:
    torch.manual_seed(7)
    first = learn("TwoSteps-v0", total_steps=512).state_dict()
    drawn = torch.rand(3)
    torch.manual_seed(8)
    second = learn("TwoSteps-v0", total_steps=512).state_dict()
    other = learn("TwoSteps-v0", total_steps=512, seed=2).state_dict()
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not all(torch.equal(first[name], other[name]) for name in first)
    torch.manual_seed(7)
    assert torch.equal(drawn, torch.rand(3))


def test_updates_report_steps_and_can_stop_the_training() -> None:
    learner = trainings.learn("ppo", {"env_id": "Constant-v0", **SMALL}, stop_after=384)
    assert [step for step, _ in learner.told] == [128, 256, 384]
    assert {"losses/value_loss", "losses/entropy", "charts/learning_rate"} <= set(learner.told[0][1])


def test_as_many_steps_are_trained_as_were_asked_for() -> None:
    learner = trainings.learn("ppo", {"env_id": "Constant-v0", **SMALL, "total_steps": 300})
    assert [step for step, _ in learner.told] == [128, 256, 384]
    assert learner.told[-1][1]["charts/learning_rate"] > 0


def test_gae_agrees_with_its_definition() -> None:
    rng = torch.Generator().manual_seed(3)
    num_steps, num_envs, gamma, lam = 6, 2, 0.9, 0.8
    rewards, values = (torch.randn(num_steps, num_envs, generator=rng) for _ in range(2))
    dones = torch.zeros(num_steps, num_envs)
    dones[2, 0] = 1.0
    after = torch.randn(num_envs, generator=rng)
    unused = torch.zeros(0)
    rollout = Rollout(unused, None, unused, unused, values, rewards, dones, after)
    advantages = estimate_advantages(rollout, gamma, lam)
    for env in range(num_envs):
        for t in range(num_steps):
            expected, weight = 0.0, 1.0
            for k in range(t, num_steps):
                nonterminal = 1.0 - float(dones[k, env])
                following = after[env] if k == num_steps - 1 else values[k + 1, env]
                expected += weight * float(rewards[k, env] + gamma * following * nonterminal - values[k, env])
                weight *= gamma * lam * nonterminal
            assert float(advantages[t, env]) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    ("env_id", "words"),
    [
        ("PaysNan-v0", "no longer finite"),
        ("Raises-v0", r"Raises-v0 raised RuntimeError: the roof fell in \(probes.py, line \d+, in step\)"),
    ],
)
def test_what_breaks_while_running_says_so(env_id: str, words: str) -> None:
    with pytest.raises(TrainingFailed, match=words):
        learn(env_id)


@pytest.mark.parametrize(
    ("num_envs", "num_steps", "parts"), [(8, 256, 32), (2, 16, 1), (3, 100, 4), (1, 2, 1)]
)
def test_a_rollout_is_divided_into_minibatches_of_64_steps(num_envs: int, num_steps: int, parts: int) -> None:
    assert PPOConfig(num_envs=num_envs, num_steps=num_steps).minibatches == parts


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"num_envs": 0}, "num_envs must be at least 1"),
        ({"learning_rate": float("nan")}, "learning_rate must be a finite number, not nan"),
        ({"learning_rate": 0}, "learning_rate must be more than 0"),
        ({"gamma": 1.5}, "gamma must be at most 1"),
        ({"gama": 0.5}, "there is no setting 'gama'"),
        ({"device": "tpu"}, "device must be 'auto', 'cpu' or 'cuda'"),
        ({"anneal_lr": "perhaps"}, "anneal_lr must be true or false"),
        ({"num_steps": 1.5}, "num_steps must be a whole number"),
        ({"num_minibatches": 3}, "equal minibatches"),
        ({"num_envs": 1, "num_steps": 4, "num_minibatches": 4}, "at least 2 steps"),
        ({"total_steps": 10}, "less than one rollout"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"hidden": ()}, "hidden must have at least 1 entries, not 0"),
        ({"hidden": (8, 0)}, "hidden must be at least 1, not 0"),
        ({"hidden": 8}, "hidden must be a list"),
        ({"target_kl": 0.0}, "target_kl must be"),
        ({"ent_coef": -1.0}, "ent_coef must be"),
    ],
)
def test_settings_that_cannot_work_are_named(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        PPOConfig(**settings)


def test_a_minibatch_of_the_recurrent_kind_holds_whole_environments() -> None:
    with pytest.raises(ConfigError, match="num_envs = 6 cannot be split into num_minibatches = 4"):
        PPOLSTMConfig(num_envs=6)


@pytest.mark.parametrize(
    ("env_id", "words"),
    [
        ("CartPool-v1", "Did you mean: `CartPole`"),
        ("no_such_module:Thing-v0", "cannot be made"),
    ],
)
def test_environments_that_cannot_be_trained_in_are_refused(env_id: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Environments(PPOConfig(env_id=env_id, num_envs=2))
