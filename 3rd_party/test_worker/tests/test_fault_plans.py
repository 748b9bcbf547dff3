"""Plans are read from settings, and strike when they say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mosaic_worker.codec import Codec
from mosaic_worker.spaces import Space
from mosaic_worker.worker import Batch, LoadError, Slot
from test_worker.main import FaultInjector
from test_worker.plan import FAULTS, Plan, Trigger

SEES = Space.from_json({"kind": "Discrete", "dtype": "int64", "n": 4, "start": 0})
README = Path(__file__).resolve().parents[1] / "README.md"
SPACES: Mapping[str, Any] = {
    "discrete": {"kind": "Discrete", "dtype": "int64", "n": 3, "start": -1},
    "multi": {"kind": "MultiDiscrete", "dtype": "int64", "nvec": [3, 2], "start": [0, 1]},
    "binary": {"kind": "MultiBinary", "dtype": "int8", "shape": [5]},
    "box": {"kind": "Box", "dtype": "float32", "shape": [2, 2], "low": -1.0, "high": 1.0},
    "bytes": {"kind": "Box", "dtype": "uint8", "shape": [3], "low": 0, "high": 255},
    "open": {"kind": "Box", "dtype": "float64", "shape": [2], "low": "-Infinity", "high": 3.0},
}
SPACES = {**SPACES, "nested": {"kind": "Tuple", "spaces": [{"kind": "Dict", "spaces": [*SPACES.items()]}]}}


def slot_of(kind: str = "discrete", **settings: Any) -> Slot:
    return Slot(0, "agent_0", "Nothing-v0", SEES, Space.from_json(SPACES[kind]), settings)


def batch_of(slot: Slot, ids: list[int], episodes: list[int] | None = None, masks: Any = None) -> Batch:
    n = len(ids)
    seeds = np.arange(100, 100 + n, dtype=np.uint64)
    return Batch(slot, ids, episodes or [0] * n, [0] * n, seeds, np.zeros(n, np.int64), masks)


def due(plan: Plan, *batches: Batch) -> list[list[int]]:
    trigger = Trigger(plan)
    return [list(trigger.due(batch)) for batch in batches]


def test_every_fault_is_in_the_manual_with_its_words():
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", README.read_text(encoding="utf-8"), re.MULTILINE))
    assert {name: rows.get(name) for name in FAULTS} == dict(FAULTS)


def test_every_setting_is_in_the_manual():
    named = set(re.findall(r"`(\w+)`", README.read_text(encoding="utf-8").partition("## When")[2]))
    assert set(Plan.__dataclass_fields__) <= named


def test_unknown_fault_is_refused_with_the_nearest():
    with pytest.raises(LoadError, match="unknown fault 'freez'; there is freeze"):
        FaultInjector().load(slot_of(fault="freez"))
    with pytest.raises(LoadError, match="unknown when"):
        Plan.read({"fault": "exit", "when": "never"})


def test_at_and_times_count_decisions():
    slot = slot_of()
    asked = [batch_of(slot, [1, 2, 3]), batch_of(slot, [4, 5, 6])]
    assert due(Plan("late"), *asked) == [[0], []]
    assert due(Plan("late", at=2, times=2), *asked) == [[2], [0]]
    assert due(Plan("late", at=4, times=0), *asked) == [[], [1, 2]]


def test_episode_restricts_what_is_counted():
    slot = slot_of()
    asked = [batch_of(slot, [1, 2], [7, 8]), batch_of(slot, [3, 4], [8, 7])]
    assert due(Plan("late", episode=8, at=1), *asked) == [[], [0]]


def test_decisions_that_are_asked_again_are_not_counted_twice():
    slot = slot_of()
    asked = [batch_of(slot, [1, 2, 3]), batch_of(slot, [2]), batch_of(slot, [3]), batch_of(slot, [4])]
    assert due(Plan("raise", at=1), *asked) == [[1], [0], [], []]


def test_once_is_once_for_all_processes(tmp_path: Path):
    plan = Plan("exit", once=str(tmp_path / "mark"))
    slot = slot_of()
    assert due(plan, batch_of(slot, [1])) == [[0]]
    assert due(plan, batch_of(slot, [1]), batch_of(slot, [2])) == [[], []]


@pytest.mark.parametrize("kind", SPACES)
def test_random_play_is_a_function_of_seed_and_fits_the_space(kind: str):
    worker, slot = FaultInjector(), slot_of(kind)
    assert worker.load(slot) == "random"
    many = worker.select_actions(batch_of(slot, [*range(50)]))
    one = worker.select_actions(batch_of(slot, [*range(50)]).only(7))
    codec = Codec(slot.action_space)
    assert codec.columns([many[7]], 1) == codec.columns(one, 1)
    assert len({column.data for action in many for column in codec.columns([action], 1)}) > 2


def test_mask_is_kept_until_told_otherwise():
    masks = np.array([[False, True, True]] * 40)
    worker = FaultInjector()
    slot = slot_of()
    worker.load(slot)
    assert {int(a) for a in worker.select_actions(batch_of(slot, [*range(40)], masks=masks))} == {0, 1}
    bad = slot_of(fault="illegal", times=0)
    worker.load(bad)
    assert {int(a) for a in worker.select_actions(batch_of(bad, [*range(40)], masks=masks))} == {-1}


@pytest.mark.parametrize("kind", ["discrete", "multi", "binary", "box", "open", "nested"])
def test_illegal_action_is_outside(kind: str):
    from gym_gui.core.experiment.legality import problem_with

    worker, slot = FaultInjector(), slot_of(kind, fault="illegal")
    worker.load(slot)
    (bad,) = worker.select_actions(batch_of(slot, [1]))
    (good,) = worker.select_actions(batch_of(slot, [2]))
    assert problem_with(slot.action_space, bad) and not problem_with(slot.action_space, good)


def test_custom_actions_are_refused_unless_gullible():
    odd = Space("Custom", name="Odd")
    with pytest.raises(LoadError, match="Custom"):
        FaultInjector().load(Slot(0, "a", "N-v0", SEES, odd))
    with pytest.raises(LoadError, match="needs a Box"):
        FaultInjector().load(slot_of(fault="nan"))
