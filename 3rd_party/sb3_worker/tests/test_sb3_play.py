"""The worker in a slot: equal answers for any batch, masks, memory, refusals."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch

from mosaic_worker.checkpoint import PolicyDescription, save_checkpoint
from mosaic_worker.learning.torch_weights import copies
from mosaic_worker.spaces import Space
from mosaic_worker.worker import Actions, Batch, EpisodeEnd, EpisodeStart, Invalid, LoadError, Slot
from sb3_worker.library_network import build, tensors_of
from sb3_worker.main import SB3Worker
from sb3_worker.network import Network
from sb3_worker.policy import from_zero


def box(*shape: int, low: float = -np.inf, high: float = np.inf) -> Space:
    return Space(
        "Box", np.dtype(np.float32), shape, np.full(shape, low, np.float32), np.full(shape, high, np.float32)
    )


def image(*shape: int) -> Space:
    return Space("Box", np.dtype(np.uint8), shape, np.zeros(shape), np.full(shape, 255))


def discrete(n: int, start: int = 0) -> Space:
    return Space("Discrete", np.dtype(np.int64), n=n, start=start)


def several(*sizes: int) -> Space:
    nvec = np.array(sizes, np.int64)
    return Space("MultiDiscrete", np.dtype(np.int64), nvec.shape, nvec=nvec, starts=np.zeros_like(nvec))


def keep(folder: Path, family: str, sees: Space, does: Space, **more: Any) -> Path:
    """A checkpoint with weights so large that it does this here and that there."""
    network = Network(family, sees, from_zero(does), **more)
    module = build(network)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weights in module.parameters():
            weights.normal_(0.0, 0.3, generator=generator)
    description = PolicyDescription("sb3_worker", "ppo", "CartPole-v1", sees, does, network.to_json())
    save_checkpoint(folder, description, safetensors.torch.save(copies(tensors_of(module))))
    return folder


def slot_of(folder: Path, sees: Space, does: Space, deterministic: bool | None = None, **more: Any) -> Slot:
    settings = {"checkpoint": str(folder), **more}
    return Slot(0, "agent_0", "CartPole-v1", sees, does, settings, deterministic=deterministic)


def ask(worker: SB3Worker, slot: Slot, rows: Any, observations: Any, masks: Any = None) -> Actions:
    rows = np.asarray(rows)
    return worker.select_actions(
        Batch(
            slot,
            rows.tolist(),
            rows.tolist(),
            (rows % 50).tolist(),
            (rows // 50).astype(np.uint64) + np.uint64(2**63),
            observations[rows],
            None if masks is None else masks[rows],
        )
    )


POINT = box(1, low=-2.0, high=2.0)


@pytest.mark.parametrize("deterministic", [None, False])
@pytest.mark.parametrize(
    ("family", "sees", "does", "more"),
    [
        ("actor_critic", box(4), discrete(7, start=2), {}),
        ("actor_critic", box(7), several(2, 3), {"net_arch": [33]}),
        ("actor_critic", box(3), POINT, {}),
        ("actor_critic", image(3, 36, 36), discrete(4), {"features": "nature_cnn"}),
        ("dqn", box(4), discrete(5), {"exploration": 0.3}),
        ("sac", box(3), POINT, {"net_arch": [64, 64]}),
        ("tqc", box(3), POINT, {"net_arch": [64]}),
    ],
)
def test_any_split_and_order_of_decisions_gives_equal_bits(
    tmp_path: Path, family: str, sees: Space, does: Space, more: Any, deterministic: bool | None
) -> None:
    slot = slot_of(keep(tmp_path / "p", family, sees, does, **more), sees, does, deterministic)
    worker = SB3Worker()
    worker.load(slot)
    rng, count = np.random.default_rng(5), 100 if sees.dtype == np.uint8 else 500
    observations = rng.normal(size=(count, *sees.shape)).astype(np.float32)
    if sees.dtype == np.uint8:
        bright = rng.random((count, 1, 1, 1))
        observations = (rng.integers(256, size=(count, *sees.shape)) * bright).astype(np.uint8)
    whole = ask(worker, slot, np.arange(count), observations)
    assert len(np.unique(whole.actions, axis=0)) > 1
    for largest in (1, 3, 65) if count > 100 else (3, 65):
        order, begin = rng.permutation(count), 0
        while begin < count:
            rows = order[begin : begin + int(rng.integers(1, largest + 1))]
            part = ask(worker, slot, rows, observations)
            assert np.asarray(part.actions).tobytes() == np.asarray(whole.actions)[rows].tobytes()
            if whole.values is not None:
                assert np.asarray(part.values).tobytes() == np.asarray(whole.values[rows]).tobytes()
            begin += len(rows)
            if largest == 1 and begin > 60:
                break


def test_masks_forbid_for_every_policy_of_discrete_actions(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    observations = rng.normal(size=(300, 4)).astype(np.float32)
    for family, does, width in (
        ("actor_critic", discrete(6, start=3), 6),
        ("maskable_actor_critic", discrete(6), 6),
        ("dqn", discrete(6), 6),
        ("actor_critic", several(3, 3), 6),
    ):
        masks = rng.random((300, width)) < 0.4
        masks[:, [0, 3]] = True
        for deterministic in (None, False):
            folder = keep(tmp_path / family, family, box(4), does)
            slot = slot_of(folder, box(4), does, deterministic)
            worker = SB3Worker()
            worker.load(slot)
            actions = np.asarray(ask(worker, slot, np.arange(300), observations, masks).actions)
            if does.kind == "Discrete":
                assert masks[np.arange(300), actions - does.start].all()
            else:
                assert masks[np.arange(300), actions[:, 0]].all()
                assert masks[np.arange(300), 3 + actions[:, 1]].all()


def test_a_recurrent_policy_remembers_each_episode_apart(tmp_path: Path) -> None:
    folder = keep(
        tmp_path / "p", "recurrent_actor_critic", box(2), discrete(4), options={"lstm_hidden_size": 8}
    )
    slot = slot_of(folder, box(2), discrete(4))
    rng = np.random.default_rng(3)
    seen = rng.normal(size=(6, 40, 2)).astype(np.float32)  # episode, step

    def batch(episodes: list[int], steps: list[int]) -> Batch:
        rows = np.stack([seen[e, s] for e, s in zip(episodes, steps, strict=True)])
        return Batch(slot, episodes, episodes, steps, np.array(episodes, np.uint64), rows)

    def alone(episode: int) -> list[int]:
        worker = SB3Worker()
        worker.load(slot)
        worker.reset(slot, [EpisodeStart(episode, 0)])
        return [int(worker.select_actions(batch([episode], [s])).actions[0]) for s in range(40)]

    expected = [alone(e) for e in range(6)]
    worker = SB3Worker()
    worker.load(slot)
    worker.reset(slot, [EpisodeStart(e, 0) for e in range(6)])
    at, played = [0] * 6, [list[int]() for _ in range(6)]
    while min(at) < 40:
        ready = [e for e in rng.permutation(6).tolist() if at[e] < 40 and rng.random() < 0.6]
        if not ready:
            continue
        answer = worker.select_actions(batch(ready, [at[e] for e in ready]))
        if rng.random() < 0.2:  # asked again: what was remembered does not move twice
            again = worker.select_actions(batch(ready, [at[e] for e in ready]))
            np.testing.assert_array_equal(again.actions, answer.actions)
        for e, action in zip(ready, np.asarray(answer.actions).tolist(), strict=True):
            played[e].append(action)
            at[e] += 1
    assert played == expected
    assert len({tuple(actions) for actions in expected}) > 1
    worker.on_episode_end(slot, [EpisodeEnd(e, 0.0, 40, "completed") for e in range(6)])
    worker.reset(slot, [EpisodeStart(0, 0)])
    assert int(worker.select_actions(batch([0], [0])).actions[0]) == expected[0][0]


def test_what_cannot_be_decided_is_invalid_and_harms_no_neighbor(tmp_path: Path) -> None:
    slot = slot_of(keep(tmp_path / "p", "actor_critic", box(2), discrete(3)), box(2), discrete(3))
    worker = SB3Worker()
    worker.load(slot)
    observations = np.random.default_rng(0).normal(size=(4, 2)).astype(np.float32)
    masks = np.ones((4, 3), np.bool_)
    clean = ask(worker, slot, np.arange(4), observations, masks)
    observations[1, 0] = np.nan
    masks[2] = False
    answer = ask(worker, slot, np.arange(4), observations, masks)
    assert answer.actions[1] == Invalid("the observation holds a value that is no finite number")
    assert answer.actions[2] == Invalid("no action is legal")
    assert [answer.actions[0], answer.actions[3]] == [clean.actions[0], clean.actions[3]]
    assert np.isfinite(answer.values).all()


@pytest.mark.parametrize(
    ("sees", "does", "settings", "words"),
    [
        (box(6), discrete(2), {}, r"observations of Box\(4,\), but slot .* has Box\(6,\)"),
        (discrete(16), discrete(2), {}, r"observations of Box\(4,\), but slot .* has Discrete\(16\)"),
        (box(4), discrete(3), {}, r"actions of Discrete\(2\), but slot .* has Discrete\(3\)"),
        (box(4), discrete(2, start=1), {}, r"has Discrete\(2, start=1\)"),
        (box(4), box(1), {}, r"has Box\(1,\)"),
        (box(4), discrete(2), {"algorithm": "dqn"}, "trained with ppo, not dqn"),
        (box(4), discrete(2), {"checkpoint_agent": "green_0"}, "holds no agent 'green_0'"),
        (box(4), discrete(2), {"checkpoint": ""}, "needs the setting 'checkpoint'.*mosaic train"),
        (box(4), discrete(2), {"chekpoint": "x"}, "Did you mean 'checkpoint'"),
        (box(4), discrete(2), {"checkpoint": "model.zip"}, "not opened|does not exist"),
    ],
)
def test_a_policy_that_does_not_fit_its_slot_is_refused(
    tmp_path: Path, sees: Space, does: Space, settings: dict[str, Any], words: str
) -> None:
    folder = keep(tmp_path / "p", "actor_critic", box(4), discrete(2))
    with pytest.raises(LoadError, match=words):
        SB3Worker().load(slot_of(folder, sees, does, **settings))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"type": "mlp"}, "unknown type: 'mlp'"),
        ({"family": "ppo"}, "family 'ppo'"),
        ({"activation": "os.system"}, "activation 'os.system'"),
        ({"net_arch": [10**9]}, "net_arch"),
        ({"net_arch": [32]}, "has shape|lack|hold"),
        ({"options": {"magic": 1}}, "option 'magic'"),
        ({"exploration": 7}, "exploration"),
    ],
)
def test_a_strange_description_is_refused(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    network = Network("actor_critic", box(4), discrete(2))
    weights = safetensors.torch.save(copies(tensors_of(build(network))))
    strange = {**network.to_json(), **change}
    description = PolicyDescription("sb3_worker", "ppo", "CartPole-v1", box(4), discrete(2), strange)
    save_checkpoint(tmp_path, description, weights)
    with pytest.raises(LoadError, match=words):
        SB3Worker().load(slot_of(tmp_path, box(4), discrete(2)))


def test_a_policy_of_another_worker_is_sent_there(tmp_path: Path) -> None:
    description = PolicyDescription("cleanrl_worker", "ppo", "CartPole-v1", box(4), discrete(2), {})
    save_checkpoint(tmp_path, description, b"")
    with pytest.raises(LoadError, match="is for cleanrl_worker"):
        SB3Worker().load(slot_of(tmp_path, box(4), discrete(2)))


_FAMILIES = {
    "actor_critic": discrete(3),
    "maskable_actor_critic": discrete(3),
    "recurrent_actor_critic": discrete(3),
    "dqn": discrete(3),
    "qrdqn": discrete(3),
    "sac": box(2, low=-1.0, high=1.0),
    "td3": box(2, low=-1.0, high=1.0),
    "tqc": box(2, low=-1.0, high=1.0),
}


def test_who_plays_imports_neither_the_library_nor_torch(tmp_path: Path) -> None:
    for family, does in _FAMILIES.items():
        keep(tmp_path / family, family, box(4), does)
    play_all = """if True:
        import sys
        import numpy as np
        from pathlib import Path
        from mosaic_worker.checkpoint import read_description
        from mosaic_worker.worker import Batch, Slot
        from sb3_worker.main import SB3Worker
        for folder in Path(sys.argv[1]).iterdir():
            told = read_description(folder)
            told = told.observation_space, told.action_space, {"checkpoint": str(folder)}
            worker, slot = SB3Worker(), Slot(0, "agent_0", "CartPole-v1", *told, deterministic=False)
            worker.load(slot)
            rows = np.zeros((1, 4), np.float32)
            worker.select_actions(Batch(slot, [0], [0], [0], np.zeros(1, np.uint64), rows))
        print(*sorted({"torch", "stable_baselines3", "sb3_contrib", "gymnasium"} & sys.modules.keys()))
    """
    found_at = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", play_all, str(tmp_path)]
    ended = subprocess.run(command, env=found_at, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout.strip()) == (0, ""), ended.stderr
