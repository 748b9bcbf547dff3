"""A whole training: episodes side by side, and after them one step of the optimizer."""

# torch, and what environments hand out, are typed only in part.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import Tensor, nn

from mosaic_worker.checkpoint import PolicyPart
from mosaic_worker.gymnasium_spaces import describe
from mosaic_worker.learning.observation_steps import vector_steps
from mosaic_worker.learning.policy_evaluation import PolicyEvaluation, mask_in_info
from mosaic_worker.learning.single_env import make_prepared
from mosaic_worker.learning.training_arguments import check_actions_learnt
from mosaic_worker.learning.training_cycle import Training, device_of, tensorboard
from mosaic_worker.learning.training_state import State, begin
from mosaic_worker.training import TrainingRun
from reinforce_worker.policy import Policy
from reinforce_worker.settings import ALGORITHMS, Algorithm, ReinforceSettings


def train(
    algorithm: Algorithm, config: ReinforceSettings, run: TrainingRun, restored: State | None = None
) -> bool:
    """Train into a run folder, to the end or until the training is to stop; whether all was done.

    Raises:
        ConfigError: The environment cannot be trained in.
        TrainingFailed: A number is not finite any more, or the environment raised.
        OSError: The folder cannot be written.
    """
    start = begin(config.seed, restored)
    with ExitStack() as opened:
        bare = opened.enter_context(closing(make_prepared(config.env_id)))
        acts = bare.action_space
        kind = "discrete" if isinstance(acts, gym.spaces.Discrete) else type(acts).__name__
        check_actions_learnt(algorithm, ALGORITHMS, kind, acts, config.env_id)
        steps = vector_steps(config, bare.observation_space)
        envs = [
            opened.enter_context(closing(make_prepared(config.env_id, steps))) for _ in range(config.num_envs)
        ]
        shown = envs[0].observation_space
        part = PolicyPart(
            ("agent_0",),
            describe(bare.observation_space),
            describe(acts),
            {"type": "reinforce", "hidden": list(config.hidden)},
            tuple(steps),
            describe(shown),
        )
        scalars = opened.enter_context(tensorboard(run, start))
        return Session(algorithm.name, config, run, scalars, restored, envs, part, start.seed).train()


@dataclass
class Episode:
    """What was seen, legal, done and earned, step by step; ``rest`` is the baseline where it was cut off."""

    seen: list[Any] = field(default_factory=list)
    legal: list[Any] = field(default_factory=list)
    actions: list[int] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    rest: float = 0.0

    def returns(self, gamma: float) -> list[float]:
        """Discounted return from each step on."""
        found, total = [], self.rest
        for reward in reversed(self.rewards):
            total = reward + gamma * total
            found.append(total)
        return found[::-1]


class Session(Training):
    """REINFORCE as the life cycle of a training sees it.

    Args:
        algorithm: Its name.
        config: Every setting.
        run: The run folder.
        scalars: TensorBoard's log.
        restored: State of the training that goes on.
        envs: Those that are played side by side.
        part: What the policy plays.
        seed: Of every random number from here on.
    """

    policies = Policy
    versions_of = ("torch", "gymnasium", "numpy", "safetensors")
    evaluation = PolicyEvaluation(make_prepared)

    def __init__(
        self,
        algorithm: str,
        config: ReinforceSettings,
        run: TrainingRun,
        scalars: Any,
        restored: State | None,
        envs: Sequence[Any],
        part: PolicyPart,
        seed: int,
    ) -> None:
        super().__init__(algorithm, config, run, scalars, restored)
        self._config, self._envs, self._part = config, envs, part
        self._seeds, self._generator = np.random.default_rng(seed), torch.Generator().manual_seed(seed)
        self._device = torch.device(device_of(config.device))
        torch.manual_seed(seed)  # the first weights are drawn from torch's own generator
        network = Network(math.prod(envs[0].observation_space.shape), part.action_space.n, config.hidden)
        self._network = network.to(self._device)
        self._optimizer = torch.optim.Adam(network.parameters(), config.learning_rate)
        if restored is not None:
            network.load_state_dict(restored.under("network").tensors)
            groups = restored.values["optimizer"]
            self._optimizer.load_state_dict(restored.unpack_optimizer("optimizer", groups))

    # -- what it learns --------------------------------------------------------------------

    def learn(self) -> None:
        """Play, then take one step; until all steps are played."""
        while self.step < self._config.total_steps:
            episodes = self._play()
            losses = self._update(episodes)
            self.check_losses(losses)
            self.report.metrics(self.step, losses)
            if not self.go_on():
                return

    def _play(self) -> list[Episode]:
        """An episode of each environment; those under way when all steps are played are cut off there."""
        episodes = [Episode() for _ in self._envs]
        playing: dict[int, tuple[Any, Any]] = {
            i: env.reset(seed=int(self._seeds.integers(2**31))) for i, env in enumerate(self._envs)
        }
        while playing and self.step < self._config.total_steps:
            chosen = self._sample(playing)
            for i, action in chosen:
                episode, (seen, info) = episodes[i], playing[i]
                episode.seen.append(seen)
                episode.legal.append(self._legal(i, info))
                episode.actions.append(action)
                seen, reward, terminated, truncated, info = self._envs[i].step(
                    action + self._part.action_space.start
                )
                episode.rewards.append(float(reward))
                self.step += 1
                playing[i] = seen, info
                if terminated or truncated:
                    episode.rest = 0.0 if terminated else self._expected(seen)
                    self.episode(sum(episode.rewards), len(episode.rewards))
                    del playing[i]
                if self.step >= self._config.total_steps:
                    break
        for i, (seen, _) in playing.items():
            episodes[i].rest = self._expected(seen)
        return [episode for episode in episodes if episode.rewards]

    def _sample(self, playing: Mapping[int, tuple[Any, Any]]) -> Iterator[tuple[int, int]]:
        """An action from zero for each episode under way, drawn from the policy."""
        shown = [seen for seen, _ in playing.values()]
        legal = [self._legal(i, info) for i, (_, info) in playing.items()]
        with torch.no_grad():
            logits, _ = self._network(self._rows(shown))
        likely = _masked(logits.cpu(), torch.from_numpy(np.stack(legal))).softmax(-1)
        drawn = likely.multinomial(1, generator=self._generator).squeeze(-1).tolist()
        return zip(tuple(playing), drawn, strict=True)

    def _update(self, episodes: Sequence[Episode]) -> dict[str, float]:
        """One step along the policy gradient, and of the baseline towards the returns."""
        config = self._config
        rows = self._rows([seen for episode in episodes for seen in episode.seen])
        legal = torch.from_numpy(np.stack([mask for episode in episodes for mask in episode.legal]))
        actions = torch.tensor([action for episode in episodes for action in episode.actions])
        returns = torch.tensor([total for episode in episodes for total in episode.returns(config.gamma)])
        actions, returns = actions.to(self._device), returns.to(self._device)
        logits, baseline = self._network(rows)
        logs = _masked(logits, legal.to(self._device)).log_softmax(-1)
        advantages = returns - baseline.detach()
        advantages = (advantages - advantages.mean()) / (advantages.std(correction=0) + 1e-8)
        policy_loss = -(advantages * logs.gather(-1, actions[:, None]).squeeze(-1)).mean()
        # An illegal action has probability zero and a log of minus infinity: 0 * -inf counts as 0.
        entropy = -(logs.exp() * logs.clamp(min=-1e9)).sum(-1).mean()
        value_loss = 0.5 * (returns - baseline).square().mean()
        self._optimizer.zero_grad()
        (policy_loss - config.ent_coef * entropy + config.vf_coef * value_loss).backward()
        nn.utils.clip_grad_norm_(self._network.parameters(), config.max_grad_norm)
        self._optimizer.step()
        named = {"policy_loss": policy_loss, "value_loss": value_loss, "entropy": entropy}
        return {f"losses/{name}": float(loss.detach()) for name, loss in named.items()}

    def _rows(self, seen: Sequence[Any]) -> Tensor:
        return torch.from_numpy(np.stack(seen).astype(np.float32)).to(self._device)

    def _expected(self, seen: Any) -> float:
        with torch.no_grad():
            return float(self._network(self._rows([seen]))[1])

    def _legal(self, i: int, info: Any) -> Any:
        mask = mask_in_info(self._envs[i], info)
        return np.ones(self._part.action_space.n, np.bool_) if mask is None else mask

    # -- what it has learnt ----------------------------------------------------------------

    def weights(self) -> Mapping[str, Tensor]:
        """Of the network, baseline included."""
        return self._network.state_dict()

    def parts(self) -> Sequence[PolicyPart]:
        """The one part: of the one agent."""
        return (self._part,)

    def state(self) -> State:
        """Network, optimizer, and what means of returns are made of."""
        state = State({f"network/{name}": tensor for name, tensor in self.weights().items()})
        state.values["optimizer"] = state.pack_optimizer("optimizer", self._optimizer.state_dict())
        state.values["session"] = self.report.state()
        return state


def _masked(logits: Tensor, legal: Tensor) -> Tensor:
    return logits.masked_fill(~legal, -torch.inf)


class Network(nn.Module):
    """A logit for each action, and beside it the baseline: the return that is expected.

    Args:
        inputs: Numbers of an observation.
        actions: How many there are.
        hidden: Widths of the hidden layers, of both alike.
    """

    def __init__(self, inputs: int, actions: int, hidden: Sequence[int]) -> None:
        super().__init__()
        self.inputs = inputs
        self.logits, self.baseline = (_perceptron([inputs, *hidden, outputs]) for outputs in (actions, 1))

    def forward(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (N, actions) and expected returns (N,) of observations (N, inputs)."""
        return self.logits(rows), self.baseline(rows).squeeze(-1)


def _perceptron(widths: Sequence[int]) -> nn.Sequential:
    layers: list[nn.Module] = []
    for before, after in pairwise(widths):
        layers += [nn.Linear(before, after), nn.Tanh()]
    return nn.Sequential(*layers[:-1])
