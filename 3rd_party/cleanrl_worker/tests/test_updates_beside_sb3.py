"""TD3 and PPO beside Stable-Baselines3's: from the same weights, the same experience gives the same weights.

Both sides have their own defaults, so that a default that bears on an update is held too: rates, discount,
delay, noise and pace of the targets; epochs, clipping, coefficients, gradient norm and Adam's epsilon. A
whole training of TD3 with the same draws holds what is around the updates: what a step is, how many gradient
steps one has, exploration, the scale of actions, and the value beyond a time limit.
"""

# The library is typed only in part.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest
import stable_baselines3
import torch
from off_policy_probes import train
from stable_baselines3.common.buffers import ReplayBuffer as LibraryBuffer
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.noise import ActionNoise
from stable_baselines3.common.type_aliases import ReplayBufferSamples
from stable_baselines3.common.vec_env import DummyVecEnv
from torch import Tensor, nn

from cleanrl_worker.algorithms.ppo import PPO, Rollout, update
from cleanrl_worker.algorithms.replay import Batch, ReplayBuffer
from cleanrl_worker.algorithms.td3 import TD3
from cleanrl_worker.architecture import Encoding
from cleanrl_worker.bounds import Bounds
from cleanrl_worker.config.continuous import TD3Config
from cleanrl_worker.config.ppo import MINIBATCH, PPOConfig
from cleanrl_worker.network import Linear
from cleanrl_worker.off_policy_networks import ActorAndCritics, Heads

Pair = tuple[Tensor, Tensor]
"""A parameter of ours, and the library's, in one shape."""


def layers(module: nn.Module, kind: type[nn.Module] = Linear) -> list[Any]:
    return [each for each in module.modules() if isinstance(each, kind)]


def affine(mine: nn.Module, *theirs: nn.Module) -> list[Pair]:
    """Weights and biases of the layers of a network that the library has in one part or several."""
    others = [layer for part in theirs for layer in layers(part, nn.Linear)]
    pairs = list(zip(layers(mine), others, strict=True))
    return [(a.weight, b.weight) for a, b in pairs] + [(a.bias, b.bias) for a, b in pairs]


@torch.no_grad()
def hand_over(pairs: list[Pair]) -> None:
    """Our weights to the library."""
    for mine, theirs in pairs:
        theirs.copy_(mine)


def normals(seed: int) -> Callable[..., Tensor]:
    draw = torch.Generator().manual_seed(seed)
    return lambda *shape: torch.randn(shape, generator=draw)


# -- TD3 -----------------------------------------------------------------------------------------

OBSERVED, ACTED = 3, 1


def our_td3(config: TD3Config) -> TD3:
    policy = ActorAndCritics(Encoding.of((OBSERVED,), False), ACTED, config.hidden, gaussian=False, critics=2)
    policy.initialise(torch.Generator().manual_seed(config.seed))
    ring = ReplayBuffer(1, ((OBSERVED,), np.float32), ((ACTED,), np.float32))
    bounds = Bounds(np.full(ACTED, -2.0), np.full(ACTED, 2.0))
    return TD3(config, policy, ring, torch.device("cpu"), bounds)


def their_td3(config: TD3Config) -> Any:
    """With the library's defaults, but for the layers, which are ours."""
    shape = {"net_arch": list(config.hidden)}
    return stable_baselines3.TD3("MlpPolicy", "Pendulum-v1", policy_kwargs=shape, device="cpu", seed=1)


def td3_pairs(mine: ActorAndCritics, actor: Any, critics: Any) -> list[Pair]:
    found = affine(mine.actor, actor)
    heads = layers(mine.critics, Heads)
    for i, network in enumerate(critics.q_networks):
        pairs = list(zip(heads, layers(network, nn.Linear), strict=True))
        found += [(a.weight[i].T, b.weight) for a, b in pairs] + [(a.bias[i, 0], b.bias) for a, b in pairs]
    return found


def all_td3_pairs(learner: TD3, model: Any) -> list[Pair]:
    """Of the networks that learn, and of their targets."""
    return [
        *td3_pairs(learner.policy, model.actor, model.critic),
        *td3_pairs(learner.target, model.actor_target, model.critic_target),
    ]


class Given:
    """In place of the library's replay buffer: the batches that ours learns from, in order."""

    def __init__(self, batches: list[Batch]) -> None:
        self._left = iter(batches)

    def sample(self, batch_size: int, env: Any = None) -> ReplayBufferSamples:
        b = next(self._left)
        assert len(b.rewards) == batch_size
        ends, rewards = b.terminated[:, None], b.rewards[:, None]
        return ReplayBufferSamples(b.observations, b.actions, b.next_observations, ends, rewards)


def some_batches(count: int, size: int) -> list[Batch]:
    normal = normals(7)
    return [
        Batch(
            observations=normal(size, OBSERVED),
            next_observations=normal(size, OBSERVED),
            actions=normal(size, ACTED).tanh(),
            rewards=normal(size) * 5 - 8,
            terminated=(normal(size) > 1).float(),
        )
        for _ in range(count)
    ]


def test_td3_learns_the_same_from_the_same_batches() -> None:
    config = TD3Config(seed=1)
    learner, model = our_td3(config), their_td3(config)
    hand_over(all_td3_pairs(learner, model))
    before = [mine.detach().clone() for mine, _ in all_td3_pairs(learner, model)]
    batches = some_batches(20, config.batch_size)
    for batch in batches:
        learner.updates += 1
        learner.update(batch)
    model.replay_buffer = Given(batches)
    model.set_logger(Logger(None, []))
    torch.manual_seed(config.seed)  # the noise on the target's actions; ours has a generator of its own
    model.train(len(batches), model.batch_size)
    for (mine, theirs), former in zip(all_td3_pairs(learner, model), before, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0.0, atol=1e-5)
        assert not torch.equal(mine, former)


class Noise(ActionNoise):
    """Exploration by a given generator."""

    def __init__(self, chance: np.random.Generator, scale: float) -> None:
        super().__init__()
        self._chance, self._scale = chance, scale

    def __call__(self) -> Any:
        return self._scale * self._chance.standard_normal((1, ACTED)).astype(np.float32)


class Drawn(LibraryBuffer):
    """The library's replay buffer, from which a given generator draws."""

    def __init__(self, *arguments: Any, chance: np.random.Generator, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._chance = chance

    def sample(self, batch_size: int, env: Any = None) -> ReplayBufferSamples:
        rows = self._chance.integers(self.size(), size=batch_size)
        ends = self.dones[rows] * (1.0 - self.timeouts[rows])
        parts = (self.observations, self.actions, self.next_observations)
        seen, acted, followed = (torch.from_numpy(part[rows, 0]) for part in parts)
        return ReplayBufferSamples(
            seen, acted, followed, torch.from_numpy(ends), torch.from_numpy(self.rewards[rows])
        )


def test_td3_trains_as_the_library_does(tmp_path: Path) -> None:
    """Beyond an episode's end, at 200 steps; rounding grows from step to step, and stays small so far."""
    settings: dict[str, Any] = {"hidden": (32, 32), "batch_size": 32, "learning_starts": 0, "seed": 3}
    config = TD3Config(total_steps=260, **settings)
    chance = np.random.Generator(np.random.PCG64(config.seed))
    model = stable_baselines3.TD3(
        "MlpPolicy",
        "Pendulum-v1",
        batch_size=config.batch_size,
        learning_starts=0,
        action_noise=Noise(chance, config.exploration_noise),
        replay_buffer_class=Drawn,
        replay_buffer_kwargs={"chance": chance},
        buffer_size=1000,
        policy_kwargs={"net_arch": list(config.hidden)},
        seed=config.seed,
        device="cpu",
    )
    begun = our_td3(config)
    hand_over(all_td3_pairs(begun, model))
    torch.manual_seed(config.seed)
    model.learn(config.total_steps)
    learner = train("td3", "Pendulum-v1", tmp_path, total_steps=config.total_steps, **settings)
    for (mine, theirs), (former, _) in zip(
        all_td3_pairs(learner, model), all_td3_pairs(begun, model), strict=True
    ):
        torch.testing.assert_close(mine, theirs, rtol=0.0, atol=1e-4)
        assert (mine - former).abs().max() > 1e-3


def test_td3_begins_with_weights_of_the_same_spread() -> None:
    config = TD3Config(seed=1)
    learner, model = our_td3(config), their_td3(config)
    for mine, theirs in td3_pairs(learner.policy, model.actor, model.critic):
        if mine.numel() >= 256:
            assert mine.abs().max().item() == pytest.approx(theirs.abs().max().item(), rel=0.05)
        if mine.numel() >= 256**2:
            assert mine.std().item() == pytest.approx(theirs.std().item(), rel=0.02)


# -- PPO -----------------------------------------------------------------------------------------

ENVS, STEPS, NUMBERS, ACTIONS = 8, 8, 6, 3
assert ENVS * STEPS == MINIBATCH  # one minibatch: the order of its rows does not matter


def our_ppo() -> PPO:
    space = gymnasium.make("Acrobot-v1")
    view = SimpleNamespace(
        count=ENVS,
        observation_space=space.observation_space,
        action_space=space.action_space,
        actions=ACTIONS,
    )
    config = PPOConfig(env_id="Acrobot-v1", num_envs=ENVS, num_steps=STEPS)
    return PPO(config, view, torch.device("cpu"))


def their_ppo() -> Any:
    """With the library's defaults, but for the length of a rollout."""
    copies = DummyVecEnv([lambda: gymnasium.make("Acrobot-v1")] * ENVS)
    return stable_baselines3.PPO("MlpPolicy", copies, n_steps=STEPS, device="cpu", seed=1)


def ppo_pairs(learner: PPO, model: Any) -> list[Pair]:
    extractor = model.policy.mlp_extractor
    return [
        *affine(learner.model.actor, extractor.policy_net, model.policy.action_net),
        *affine(learner.model.critic, extractor.value_net, model.policy.value_net),
    ]


@torch.no_grad()
def some_rollout(learner: PPO) -> Rollout:
    normal = normals(7)
    observations = normal(STEPS, ENVS, NUMBERS)
    params, values = learner.model(observations.flatten(0, 1))
    actions = learner.distribution.sample(params, None, learner.generator)
    log_probs, _ = learner.distribution.evaluate(params, actions, None)
    return Rollout(
        observations,
        None,
        actions.unflatten(0, (STEPS, ENVS)),
        log_probs.unflatten(0, (STEPS, ENVS)),
        values.unflatten(0, (STEPS, ENVS)),
        normal(STEPS, ENVS) - 1,
        (normal(STEPS, ENVS) > 1).float(),
        normal(ENVS),
    )


def told(model: Any, rollout: Rollout) -> None:
    """Fill the library's buffer, which asks whether an episode began, where ours asks whether one ended."""
    began = np.ones(ENVS, np.float32)
    for t in range(STEPS):
        model.rollout_buffer.add(
            rollout.observations[t].numpy(),
            rollout.actions[t].numpy().reshape(ENVS, 1),
            rollout.rewards[t].numpy(),
            began,
            rollout.values[t],
            rollout.log_probs[t],
        )
        began = rollout.dones[t].numpy()
    model.rollout_buffer.compute_returns_and_advantage(rollout.next_value, began)


def test_ppo_learns_the_same_from_the_same_rollout() -> None:
    learner, model = our_ppo(), their_ppo()
    hand_over(ppo_pairs(learner, model))
    before = [mine.detach().clone() for mine, _ in ppo_pairs(learner, model)]
    rollout = some_rollout(learner)
    told(model, rollout)
    model.set_logger(Logger(None, []))
    update(learner, rollout)
    model.train()
    for (mine, theirs), former in zip(ppo_pairs(learner, model), before, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0.0, atol=1e-5)
        assert not torch.equal(mine, former)


def test_ppo_begins_with_weights_of_the_same_size() -> None:
    """Orthogonal ones have singular values of one size: the gain of the layer."""
    learner, model = our_ppo(), their_ppo()
    for mine, theirs in ppo_pairs(learner, model):
        if mine.ndim == 2:
            torch.testing.assert_close(torch.linalg.svdvals(mine), torch.linalg.svdvals(theirs))
        else:
            assert not mine.any() and not theirs.any()
