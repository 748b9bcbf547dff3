"""Converted policies in slots: one agent, the whole team, memory, refusals. XuanCe is not needed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xuance_policies import keep

from mosaic_worker.checkpoint import read_description
from mosaic_worker.gymnasium_spaces import describe
from mosaic_worker.playing.network_policy import read_weights
from mosaic_worker.preprocessing import Pipeline
from mosaic_worker.worker import Actions, Batch, EpisodeEnd, LoadError, Slot
from xuance_worker.main import XuanceWorker
from xuance_worker.plan import Plan
from xuance_worker.policy import Policy
from xuance_worker.team import EVALUATION


def slot_of(folder: Path, plan: Plan, agent: str, index: int = 0, **more: Any) -> Slot:
    deterministic = more.pop("deterministic", None)
    settings = {"checkpoint": str(folder), **more}
    part = read_description(folder).played_by(agent, more.get("checkpoint_agent"))
    seen = describe(Pipeline(part.preprocessing, plan.seen[plan.agents[0]]).input_space)
    does = describe(plan.does[agent] if agent in plan.does else plan.does[plan.agents[0]])
    return Slot(index, agent, plan.env_id, seen, does, settings, deterministic=deterministic)


def rows_of(plan: Plan, agent: str, count: int = 100) -> Any:
    """Observations as the slot's preprocessing gives them."""
    rows = np.random.default_rng(5).normal(0, 1, (count, plan.sizes[agent])).astype(np.float32)
    if not plan.shared:
        return rows
    mark = np.eye(len(plan.agents), dtype=np.float32)[plan.agents.index(agent)]
    return np.concatenate([rows, np.tile(mark, (count, 1))], axis=1)


def ask(worker: XuanceWorker, slot: Slot, rows: Any, step: int = 0, masks: Any = None) -> Actions:
    count = len(rows)
    seeds = np.arange(count, dtype=np.uint64) + np.uint64(2**63)
    return worker.select_actions(
        Batch(slot, list(range(count)), list(range(count)), [step] * count, seeds, rows, masks)
    )


@pytest.mark.parametrize(
    ("algorithm", "env", "more"),
    [
        ("mappo", "alike", {}),
        ("ippo", "real", {}),
        ("qmix", "alike", {}),
        ("vdn", "alike", {"use_rnn": True, "rnn": "LSTM", "normalize": "LayerNorm"}),
        ("mappo", "alike", {"use_rnn": True}),
        ("maddpg", "wide", {}),
        ("masac", "wide", {}),
    ],
)
@pytest.mark.parametrize("deterministic", [None, False])
def test_a_decision_is_the_same_whichever_are_with_it(
    tmp_path: Path, algorithm: str, env: str, more: dict[str, Any], deterministic: bool | None
) -> None:
    plan = keep(tmp_path, algorithm, f"xuance_probes:{env}", **more)
    worker = XuanceWorker()
    slot = slot_of(tmp_path, plan, "left_0", deterministic=deterministic)
    assert worker.load(slot) == f"{algorithm}:xuance_probes:{env}"
    rows = rows_of(plan, "left_0")
    whole = np.asarray(ask(worker, slot, rows).actions)
    few = np.asarray(ask(worker, slot, rows[:7]).actions)
    assert np.array_equal(whole[:7], few)
    if not more.get("normalize"):
        assert len(np.unique(whole, axis=0)) > 1, "weights so large that it does this here and that there"
    space = plan.does["left_0"]
    assert all(space.contains(action) for action in whole)


def test_who_shares_a_network_is_told_apart_by_its_mark(tmp_path: Path) -> None:
    plan = keep(tmp_path, "mappo", "xuance_probes:alike")
    assert plan.shared
    worker, found = XuanceWorker(), []
    for i, agent in enumerate(plan.agents):
        slot = slot_of(tmp_path, plan, agent, i)
        worker.load(slot)
        found.append(np.asarray(ask(worker, slot, rows_of(plan, agent)).actions))
    assert not np.array_equal(*found)
    description = read_description(tmp_path)
    assert [part.weights for part in description.parts] == ["shared.", "shared."]
    marks = [part.preprocessing[-1] for part in description.parts]
    assert marks == [{"step": "append", "values": values} for values in ([1.0, 0.0], [0.0, 1.0])]


def test_one_agent_plays_where_it_was_not_trained(tmp_path: Path) -> None:
    plan = keep(tmp_path, "qmix", "xuance_probes:different")
    assert not plan.shared
    worker = XuanceWorker()
    slot = slot_of(tmp_path, plan, "left_0", checkpoint_agent="left_0")
    worker.load(slot)
    assert set(np.asarray(ask(worker, slot, rows_of(plan, "left_0")).actions)) <= {0, 1, 2}
    with pytest.raises(LoadError, match="holds no agent 'left_9'"):
        worker.load(_with(slot, checkpoint_agent="left_9"))
    with pytest.raises(LoadError, match="trained with qmix, not mappo"):
        worker.load(_with(slot, algorithm="mappo"))
    other = Slot(1, "right_0", plan.env_id, slot.observation_space, slot.action_space, dict(slot.settings))
    other.settings.pop("checkpoint_agent")
    with pytest.raises(LoadError, match=r"observations of Box\(7,\)"):
        worker.load(other)


def _with(slot: Slot, **more: Any) -> Slot:
    settings = {**slot.settings, **more}
    return Slot(2, slot.agent_id, slot.env_id, slot.observation_space, slot.action_space, settings)


@pytest.mark.parametrize("cell", ["GRU", "LSTM"])
def test_a_memory_is_one_of_each_episode(tmp_path: Path, cell: str) -> None:
    plan = keep(tmp_path, "mappo", "xuance_probes:alike", use_rnn=True, rnn=cell)
    worker, slot = XuanceWorker(), slot_of(tmp_path, plan, "left_0")
    worker.load(slot)
    rows = rows_of(plan, "left_0", 60)
    policy = Policy.load(tmp_path, "left_0")
    assert policy.memory == (8 if cell == "GRU" else 16)
    first = np.asarray(ask(worker, slot, rows).actions)
    later = [np.asarray(ask(worker, slot, rows, step).actions) for step in range(1, 6)]
    assert any(not np.array_equal(first, each) for each in later), "what it has seen makes a difference"
    assert np.array_equal(later[-1], np.asarray(ask(worker, slot, rows, 5).actions)), "asked again, the same"
    worker.on_episode_end(slot, [EpisodeEnd(episode, 0.0, 6, "terminated") for episode in range(60)])
    assert np.array_equal(first, np.asarray(ask(worker, slot, rows).actions))


def test_masks_forbid(tmp_path: Path) -> None:
    plan = keep(tmp_path, "iql", "xuance_probes:alike")
    worker, slot = XuanceWorker(), slot_of(tmp_path, plan, "left_1")
    worker.load(slot)
    masks = np.ones((100, 3), np.bool_)
    masks[:, 1] = False
    assert 1 not in np.asarray(ask(worker, slot, rows_of(plan, "left_1"), masks=masks).actions)


@pytest.mark.parametrize(
    ("algorithm", "env", "more"),
    [
        ("mappo", "alike", {"use_rnn": True}),
        ("vdac", "masked", {}),
        ("maddpg", "wide", {"share": False}),
        ("qmix", "different", {}),
        ("vdn", "leaving", {}),
    ],
)
def test_the_whole_team_plays(tmp_path: Path, algorithm: str, env: str, more: dict[str, Any]) -> None:
    keep(tmp_path, algorithm, f"xuance_probes:{env}", **more)
    policy = Policy.whole(*read_weights(tmp_path))
    returns = EVALUATION.episode_returns(policy, f"xuance_probes:{env}", range(5))
    assert returns == EVALUATION.episode_returns(policy, f"xuance_probes:{env}", range(5))
    assert len(set(returns)) > 1


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"type": "sb3"}, "it is for|of type 'sb3'"),
        ({"cell": "QRNN"}, "the recurrent cell 'QRNN'"),
        ({"inputs": 6}, "number of inputs of its network differs"),
        ({"outputs": 4}, "number of outputs of its network differs"),
        ({"head": [13]}, r"has shape \(12, 18\) where \(13, 18\) is needed"),
        ({"head": []}, r"head.model.0.weight has shape \(12, 18\) where \(3, 18\) is needed"),
        ({"activation": "gelu"}, "'gelu'"),
        ({"representation": [0]}, "an invalid width"),
        ({"surprise": 1}, "'surprise', which this version does not know"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(tmp_path: Path, change: dict[str, Any], why: str) -> None:
    plan = keep(tmp_path, "mappo", "xuance_probes:alike")
    slot = slot_of(tmp_path, plan, "left_0")
    file = tmp_path / "policy.json"
    told = json.loads(file.read_text())
    for part in told["parts"]:
        part["network"] |= change
    file.write_text(json.dumps(told))
    with pytest.raises(LoadError, match=why):
        XuanceWorker().load(slot)


def test_playing_imports_no_library(tmp_path: Path) -> None:
    keep(tmp_path, "mappo", "xuance_probes:alike")
    Policy.load(tmp_path, "left_0")
    assert "xuance" not in sys.modules
