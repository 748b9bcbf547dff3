from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import gymnasium.spaces as gs
import minigrid  # noqa: F401  (registers the environments)
import numpy as np
import pytest

from mosaic_worker.worker import Batch, EpisodeEnd, EpisodeStart, LoadError, Slot
from operators_worker.behavior import BEHAVIORS
from operators_worker.main import OperatorsWorker
from operators_worker.minigrid_guide import Guide

NOTHING = gs.Box(0.0, 1.0, (1,))
_FOLDERS = Path(__file__).resolve().parents[2]


def test_random_is_the_default(new_slot: Callable[..., Slot]):
    slot = new_slot(NOTHING, gs.Discrete(2), "random")
    bare = Slot(0, slot.agent_id, slot.env_id, slot.observation_space, slot.action_space)
    assert OperatorsWorker().load(bare) == "random"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("randon", "Did you mean 'random'"),
        ("soccer_chase", "Did you mean 'soccer_chaser'"),
        ("zzz", "Known: random, noop"),
        (3, "unknown behavior 3"),
    ],
)
def test_an_unknown_behavior_names_the_nearest(name: Any, message: str, new_slot: Callable[..., Slot]):
    with pytest.raises(LoadError, match=message):
        OperatorsWorker().load(new_slot(NOTHING, gs.Discrete(2), name))


@pytest.mark.parametrize("name", [name for name in BEHAVIORS if name not in ("random", "noop", "cycle")])
def test_a_heuristic_says_what_it_needs(name: str, new_slot: Callable[..., Slot]):
    with pytest.raises(LoadError, match=rf"behavior '{name}' needs .+; 'agent_0' of 'CartPole-v1' has none"):
        OperatorsWorker().load(new_slot(NOTHING, gs.Discrete(2), name, env_id="CartPole-v1"))


def test_slots_of_one_process_keep_their_behaviors(
    new_slot: Callable[..., Slot], new_batch: Callable[..., Batch]
):
    worker = OperatorsWorker()
    still = new_slot(NOTHING, gs.Discrete(5), "noop", index=0, noop_action=4)
    turning = new_slot(NOTHING, gs.Discrete(5), "cycle", index=1)
    assert [worker.load(still), worker.load(turning)] == ["noop", "cycle"]
    zero = [np.zeros(1, np.float32)] * 2
    assert worker.select_actions(new_batch(turning, zero)) == [0, 1]
    assert worker.select_actions(new_batch(still, zero)) == [4, 4]


def _walk(
    worker: OperatorsWorker, slot: Slot, batch_of: Callable[..., Batch], episodes: list[int]
) -> list[str]:
    """Actions of each episode when all are played side by side, 12 steps each."""
    envs = {e: gym.make("MiniGrid-DoorKey-6x6-v0") for e in episodes}
    seen = {e: env.reset(seed=e)[0] for e, env in envs.items()}
    played = dict.fromkeys(episodes, "")
    worker.reset(slot, [EpisodeStart(e, e) for e in episodes])
    for step in range(12):
        n = len(episodes)
        where = {"episodes": episodes, "steps": [step] * n, "seeds": episodes}
        actions = worker.select_actions(batch_of(slot, [seen[e] for e in episodes], **where))
        for e, action in zip(episodes, actions, strict=True):
            played[e] += str(action)
            seen[e] = envs[e].step(action)[0]
    return [played[e] for e in episodes]


def _guides() -> int:
    """What is remembered of episodes that go on, in the whole process."""
    gc.collect()
    return sum(isinstance(each, Guide) for each in gc.get_objects())


def test_64_interleaved_episodes_play_as_each_would_alone(
    new_slot: Callable[..., Slot], new_batch: Callable[..., Batch]
):
    env = gym.make("MiniGrid-DoorKey-6x6-v0")
    slot = new_slot(env.observation_space, env.action_space, "minigrid_path")
    worker = OperatorsWorker()
    worker.load(slot)
    episodes = list(range(64))
    together = _walk(worker, slot, new_batch, episodes)
    assert _guides() >= 64
    worker.on_episode_end(slot, [EpisodeEnd(e, 0.0, 12, "aborted") for e in episodes])
    assert _guides() == 0
    alone = [_walk(worker, slot, new_batch, [e])[0] for e in episodes[::8]]
    assert together[::8] == alone
    assert len(set(together)) > 20


def test_the_plain_baselines_import_numpy_and_the_sdk_only():
    program = (
        "import sys\n"
        "from operators_worker.main import OperatorsWorker\n"
        "from mosaic_worker.spaces import Space\n"
        "from mosaic_worker.worker import Slot\n"
        "import numpy as np\n"
        "two = Space('Discrete', np.dtype('i8'), n=2)\n"
        "slot = Slot(0, 'a', 'e', two, two)\n"
        "OperatorsWorker().load(slot)\n"
        "print(' '.join(sorted({m.partition('.')[0] for m in sys.modules})))\n"
        "print(' '.join(m for m in sys.modules if m.startswith('operators_worker.')))\n"
    )
    path = os.pathsep.join(str(_FOLDERS / name) for name in ("mosaic_worker_sdk", "operators_worker"))
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    packages, own = (set(line.split()) for line in done.stdout.splitlines())
    assert not packages & {"gymnasium", "minigrid", "pettingzoo", "torch", "scipy", "pydantic", "gym_gui"}
    modules = {"behavior", "main", "random_legal", "sampling"}
    assert own == {f"operators_worker.{name}" for name in modules}
