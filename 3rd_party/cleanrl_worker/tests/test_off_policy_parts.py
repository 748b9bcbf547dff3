"""The arithmetic of DQN, C51, DDPG, TD3 and SAC, each against its definition or a slower way."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

import cleanrl_worker.algorithms.replay as replay
from cleanrl_worker.algorithms.c51 import cross_entropy, next_distribution, project
from cleanrl_worker.algorithms.dqn import action_value_targets, td_loss
from cleanrl_worker.algorithms.exploration import linear_schedule, normals, random_legal
from cleanrl_worker.algorithms.replay import ReplayBuffer
from cleanrl_worker.algorithms.td3 import smoothed
from cleanrl_worker.architecture import Encoding
from cleanrl_worker.bounds import Bounds
from cleanrl_worker.off_policy_networks import (
    ActorAndCritics,
    Critics,
    GaussianActor,
    follow,
    mean_values,
    squash,
    support,
)
from cleanrl_worker.vector_environments import PolicyInput, Transition

RNG = np.random.default_rng(3)
VECTOR = Encoding.of((3,), False)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


# -- targets -------------------------------------------------------------------------------


def test_a_target_takes_the_best_legal_action_and_nothing_after_the_end() -> None:
    rewards, terminated = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([0.0, 0.0, 1.0])
    values = torch.tensor([[5.0, 9.0], [5.0, 9.0], [5.0, 9.0]])
    masks = torch.tensor([[True, True], [True, False], [False, False]])
    assert action_value_targets(rewards, terminated, values, masks, 0.5).tolist() == [5.5, 4.5, 3.0]
    assert action_value_targets(rewards, terminated, values, None, 0.5).tolist() == [5.5, 6.5, 3.0]


def test_the_loss_is_that_of_the_action_taken() -> None:
    values = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    loss, mean = td_loss(values, torch.tensor([1, 0]), torch.tensor([0.0, 5.0]))
    assert (float(loss), float(mean)) == (4.0, 2.5)


def slow_projection(reward: float, end: bool, p: np.ndarray, z: np.ndarray, gamma: float) -> np.ndarray:
    """Bellemare et al. 2017, algorithm 1, atom by atom."""
    out, width = np.zeros(len(z)), z[1] - z[0]
    for probability, atom in zip(p, z, strict=True):
        moved = min(max(reward + (0.0 if end else gamma * atom), z[0]), z[-1])
        place = (moved - z[0]) / width
        low = min(math.floor(place), len(z) - 1)
        high = min(low + 1, len(z) - 1)
        out[low] += probability * (1.0 - (place - low))
        out[high] += probability * (place - low)
    return out


@given(
    st.lists(st.tuples(st.floats(-30, 30), st.booleans()), min_size=1, max_size=8),
    st.integers(2, 21),
    st.floats(0, 1),
)
def test_the_projection_is_that_of_the_paper(
    happened: list[tuple[float, bool]], count: int, gamma: float
) -> None:
    atoms = support(-10.0, 10.0, count).double()
    p = torch.from_numpy(RNG.dirichlet(np.ones(count), len(happened)))
    rewards = torch.tensor([r for r, _ in happened], dtype=torch.float64)
    ends = torch.tensor([float(e) for _, e in happened], dtype=torch.float64)
    found = project(rewards, ends, p, atoms, gamma).numpy()
    for row, (reward, end) in enumerate(happened):
        expected = slow_projection(reward, end, p[row].numpy(), atoms.numpy(), gamma)
        np.testing.assert_allclose(found[row], expected, atol=1e-5)
        assert found[row].sum() == pytest.approx(1.0)


def test_the_next_distribution_is_that_of_the_best_legal_mean() -> None:
    atoms = support(0.0, 2.0, 3)
    logits = torch.tensor([[[9.0, 0.0, 0.0], [0.0, 9.0, 0.0], [0.0, 0.0, 9.0]]] * 2)
    masks = torch.tensor([[True, True, True], [True, True, False]])
    assert next_distribution(logits, masks, atoms).argmax(-1).tolist() == [2, 1]
    assert mean_values(logits, atoms)[0].round().tolist() == [0.0, 1.0, 2.0]


def test_the_cross_entropy_is_least_for_the_wanted_distribution() -> None:
    wanted = torch.tensor([[0.2, 0.3, 0.5]])
    actions = torch.tensor([1])

    def loss(p: list[float]) -> float:
        return float(cross_entropy(torch.tensor([[[9.0, 9.0, 9.0], p]]).log(), actions, wanted)[0])

    least = loss([0.2, 0.3, 0.5])
    assert least == pytest.approx(-sum(p * math.log(p) for p in (0.2, 0.3, 0.5)), rel=1e-5)
    assert min(loss([0.25, 0.3, 0.45]), loss([0.2, 0.35, 0.45])) > least


def test_a_smoothed_action_stays_near_and_within_its_bounds() -> None:
    actions, noise = torch.tensor([0.0, 0.9, -0.9]), torch.tensor([1.0, 9.0, -9.0])
    assert smoothed(actions, noise, 0.2, 0.5).tolist() == pytest.approx([0.2, 1.0, -1.0])


# -- networks ------------------------------------------------------------------------------


def test_the_density_of_a_squashed_action_is_that_of_the_change_of_variables() -> None:
    mean, log_std = torch.tensor([[0.3, -1.0]]).double(), torch.tensor([[-0.5, 0.2]]).double()
    noise = torch.randn(5, 2, generator=generator()).double()
    actions, log_density = squash(mean, log_std, noise)
    normal = torch.distributions.Normal(mean, log_std.exp())
    slope = torch.log1p(-(actions**2))
    expected = (normal.log_prob(torch.atanh(actions)) - slope).sum(-1)
    torch.testing.assert_close(log_density, expected)
    far = squash(torch.full((1, 1), 60.0), torch.zeros(1, 1), torch.zeros(1, 1))
    assert bool(far[1].isfinite().all())  # where 1 - tanh(u)^2 is zero


def test_critics_evaluated_together_are_those_evaluated_alone() -> None:
    critics = Critics(2, VECTOR, 2, (8, 8))
    ActorAndCritics.initialise(critics, generator())  # type: ignore[arg-type]
    observations, actions = torch.randn(5, 3, generator=generator(1)), torch.rand(5, 2)
    together = critics(observations, actions)
    for i in range(2):
        x = torch.cat((observations, actions), -1)
        for j, layer in enumerate(critics.layers):
            x = nn.functional.linear(x if j == 0 else x.relu(), layer.weight[i].T, layer.bias[i, 0])
        torch.testing.assert_close(together[i], x.squeeze(-1))
    torch.testing.assert_close(critics(observations, actions, first=True), together[:1])
    assert not torch.allclose(together[0], together[1])


def test_the_spread_of_a_gaussian_actor_keeps_its_range() -> None:
    actor = GaussianActor(VECTOR, 2, (8,))
    with torch.no_grad():
        for parameter in actor.parameters():
            parameter.fill_(50.0)
        _, high = actor(torch.ones(1, 3))
        actor.layers[-1].bias.fill_(-1e6)
        _, low = actor(torch.ones(1, 3))
    assert high.tolist() == [[2.0, 2.0]]
    assert low.tolist() == [[-5.0, -5.0]]


def test_a_target_network_follows_a_part_of_the_way() -> None:
    target, online = (nn.Linear(2, 1) for _ in range(2))
    before, goal = target.weight.clone(), online.weight.clone()
    follow(target, online, 0.25)
    torch.testing.assert_close(target.weight, 0.75 * before + 0.25 * goal)
    follow(target, online, 1.0)
    assert torch.equal(target.weight, online.weight)


# -- exploration ---------------------------------------------------------------------------


def test_the_schedule_is_a_line_and_then_level() -> None:
    shown = [linear_schedule(1.0, 0.1, 100, step) for step in (0, 50, 100, 1000)]
    assert shown == pytest.approx([1.0, 0.55, 0.1, 0.1])


@given(st.lists(st.lists(st.booleans(), min_size=5, max_size=5).filter(any), min_size=1, max_size=4))
def test_random_actions_are_legal(rows: list[list[bool]]) -> None:
    masks = np.array(rows)
    for uniform in (0.0, 0.5, np.nextafter(1.0, 0.0)):
        actions = random_legal(masks, np.full(len(rows), uniform))
        assert masks[np.arange(len(rows)), actions].all()


def test_random_actions_are_equally_likely() -> None:
    masks = np.tile(np.array([True, False, True, True]), (30_000, 1))
    found = np.bincount(random_legal(masks, RNG.random(30_000)), minlength=4) / 30_000
    np.testing.assert_allclose(found, [1 / 3, 0, 1 / 3, 1 / 3], atol=0.012)


def test_normal_numbers_are_normal() -> None:
    columns = RNG.random((4, 50_000))
    found = normals(lambda j: columns[j], 2)
    assert found.shape == (50_000, 2)
    np.testing.assert_allclose(found.mean(axis=0), 0.0, atol=0.02)
    np.testing.assert_allclose(found.std(axis=0), 1.0, atol=0.02)
    assert abs(np.corrcoef(found.T)[0, 1]) < 0.02
    assert np.mean(np.abs(found) < 1.0) == pytest.approx(0.6827, abs=0.005)


def test_bounds_scale_the_ends_onto_themselves() -> None:
    bounds = Bounds(np.array([[-2.0, 10.0]]), np.array([[6.0, 30.0]]))
    assert bounds.scale(np.array([[-1.0, 1.0], [0.0, 0.0]])).tolist() == [[[-2.0, 30.0]], [[2.0, 20.0]]]
    for low, high, words in ((-np.inf, 1.0, "no finite bounds"), (1.0, 1.0, "not all below")):
        with pytest.raises(ValueError, match=words):
            Bounds(np.array([low]), np.array([high]))


# -- the ring ------------------------------------------------------------------------------


Step = tuple[PolicyInput, np.ndarray, Transition]


def transition(start: int, count: int, masks: bool = False, ended: bool = False) -> Step:
    """Observations that name themselves: ``count`` rows from ``start``, each leading to itself + 100."""
    rows = np.arange(start, start + count, dtype=np.uint8)
    seen = PolicyInput(np.tile(rows[:, None], (1, 2)), None)
    legal = np.tile(np.array([True, False]), (count, 1)) if masks else None
    following = PolicyInput(seen.observations + 100, legal)
    final = None
    if ended:
        final = PolicyInput(seen.observations + 50, None if legal is None else ~legal)
    ends = np.full(count, ended)
    step = Transition(following, rows.astype(np.float64), np.zeros(count, bool), ends, final)
    return seen, rows.astype(np.int64), step


def ring(capacity: int) -> ReplayBuffer:
    return ReplayBuffer(capacity, ((2,), np.uint8), ((), np.int64))


def held(buffer: ReplayBuffer) -> set[int]:
    batch = buffer.sample(500, np.random.default_rng(0))
    assert torch.equal(batch.observations[:, 0].long(), batch.actions)
    assert torch.equal(batch.observations[:, 0].float(), batch.rewards)
    return set(batch.actions.tolist())


def test_the_oldest_make_room_for_the_newest() -> None:
    buffer = ring(5)
    for start in range(0, 12, 3):
        buffer.add(*transition(start, 3))
        assert len(buffer) == min(start + 3, 5)
    assert held(buffer) == {7, 8, 9, 10, 11}


def test_bytes_stay_bytes_and_a_cut_episode_keeps_its_own_last_observation_and_mask() -> None:
    buffer = ring(8)
    buffer.add(*transition(1, 2, masks=True))
    buffer.add(*transition(5, 2, masks=True, ended=True))
    batch = buffer.sample(200, np.random.default_rng(1))
    assert batch.observations.dtype == torch.uint8
    assert batch.next_masks is not None
    after = torch.where(batch.actions < 4, 100, 50)
    assert torch.equal(batch.next_observations[:, 0].long(), batch.actions + after)
    assert torch.equal(batch.next_masks[:, 0], batch.actions < 4)
    assert not batch.terminated.any()


def test_masks_may_come_late() -> None:
    buffer = ring(8)
    buffer.add(*transition(1, 2))
    assert buffer.sample(4, np.random.default_rng(0)).next_masks is None
    buffer.add(*transition(5, 2, masks=True))
    batch = buffer.sample(200, np.random.default_rng(1))
    assert batch.next_masks is not None
    assert torch.equal(batch.next_masks.all(-1), batch.actions < 4)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=8), st.booleans())
def test_a_restored_ring_gives_the_same_draws_and_goes_on_the_same(counts: list[int], masks: bool) -> None:
    first, start = ring(6), 0
    for count in counts:
        first.add(*transition(start, count, masks))
        start += count
    second = ring(6)
    second.restore({name: tensor.clone() for name, tensor in first.state().items()})
    for _ in range(2):
        one, two = (buffer.sample(50, np.random.default_rng(4)) for buffer in (first, second))
        assert all(a is b is None or torch.equal(a, b) for a, b in zip(one, two, strict=True))
        for buffer in (first, second):
            buffer.add(*transition(start, 3, masks))


def test_a_ring_too_large_to_keep_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = ring(8)
    buffer.add(*transition(1, 4))
    monkeypatch.setattr(replay, "KEPT_BYTES", 10)
    assert buffer.state() == {}
    again = ring(8)
    again.restore({})
    assert len(again) == 0
