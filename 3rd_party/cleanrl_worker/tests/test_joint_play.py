"""Joint policies at play: whole, one agent of them elsewhere, and where seats are swapped."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch
from test_cleanrl_play import box, discrete
from torch_networks import network_of

from cleanrl_worker.main import CleanRLWorker
from cleanrl_worker.policy import Policy
from mosaic_worker.checkpoint import PolicyDescription, PolicyPart, save_checkpoint
from mosaic_worker.playing.network_policy import read_weights
from mosaic_worker.worker import Batch, EpisodeEnd, EpisodeStart, LoadError, Slot

GREEN, BLUE = "green_0", "blue_0"


def keep(folder: Path, *, lstm: int = 0, agents: tuple[str, ...] = (GREEN, BLUE)) -> Path:
    """A joint policy whose n-th agent plays action n, whatever it sees."""
    network = {"type": "actor_critic", "hidden": [4], "activation": "tanh"}
    if lstm:
        network |= {"type": "actor_critic_lstm", "lstm_size": lstm}
    parts = [PolicyPart((a,), box(3), discrete(4), network, weights=f"{a}.") for a in agents]
    description = PolicyDescription.joint(parts, worker="cleanrl_worker", algorithm="ippo", env_id="Soccer")
    tensors: dict[str, torch.Tensor] = {}
    for n, agent in enumerate(agents):
        module = network_of(description.part_of(agent))
        for name, tensor in module.state_dict().items():
            value = torch.zeros_like(tensor)
            if name in ("actor.2.bias", "actor.bias"):
                value[n] = 1.0
            tensors[f"{agent}.{name}"] = value
    save_checkpoint(folder, description, safetensors.torch.save(tensors))
    return folder


def slot_of(folder: Path, index: int, agent: str, **settings: str) -> Slot:
    return Slot(index, agent, "Soccer", box(3), discrete(4), {"checkpoint": str(folder), **settings})


def played(worker: CleanRLWorker, slot: Slot, episodes: list[int]) -> list[int]:
    """What is played in each episode."""
    rows = len(episodes)
    batch = Batch(
        slot, episodes, episodes, [0] * rows, np.zeros(rows, np.uint64), np.zeros((rows, 3), "f4"), None
    )
    return np.asarray(worker.select_actions(batch).actions).tolist()


@pytest.mark.parametrize(
    ("agent", "settings", "action"),
    [
        (GREEN, {}, 0),
        (BLUE, {}, 1),
        ("green_1", {}, 0),  # the only one of its kind
        ("red_5", {"checkpoint_agent": BLUE}, 1),
    ],
)
def test_a_slot_plays_the_part_that_is_its_own(
    agent: str, settings: dict[str, str], action: int, tmp_path: Path
) -> None:
    worker = CleanRLWorker()
    slot = slot_of(keep(tmp_path), 0, agent, **settings)
    assert worker.load(slot) == "ippo:Soccer"
    assert played(worker, slot, [7]) == [action]


@pytest.mark.parametrize(
    ("agents", "agent", "settings", "words"),
    [
        ((GREEN, BLUE), "red_0", {}, "holds green_0, blue_0, and none is called red_0"),
        (("green_0", "green_1", "blue_0"), "green_2", {}, "none is called green_2"),
        ((GREEN, BLUE), GREEN, {"checkpoint_agent": "green_7"}, "holds no agent 'green_7'"),
    ],
)
def test_a_slot_for_which_there_is_no_part_is_refused(
    agents: tuple[str, ...], agent: str, settings: dict[str, str], words: str, tmp_path: Path
) -> None:
    with pytest.raises(LoadError, match=words):
        CleanRLWorker().load(slot_of(keep(tmp_path, agents=agents), 0, agent, **settings))


@pytest.mark.parametrize("lstm", [0, 8])
def test_where_seats_are_swapped_each_agent_has_its_own_part(lstm: int, tmp_path: Path) -> None:
    worker = CleanRLWorker()
    slot = slot_of(keep(tmp_path, lstm=lstm), 0, GREEN)
    worker.load(slot)
    worker.reset(slot, [EpisodeStart(0, 1, GREEN), EpisodeStart(1, 1, BLUE), EpisodeStart(2, 1, GREEN)])
    assert played(worker, slot, [1, 0, 2, 1]) == [1, 0, 0, 1]
    worker.on_episode_end(slot, [EpisodeEnd(1, 0.0, 5, "completed")])
    assert played(worker, slot, [2]) == [0]


def test_a_part_that_was_asked_for_is_played_in_every_seat(tmp_path: Path) -> None:
    worker = CleanRLWorker()
    slot = slot_of(keep(tmp_path), 0, GREEN, checkpoint_agent=BLUE)
    worker.load(slot)
    worker.reset(slot, [EpisodeStart(0, 1, GREEN), EpisodeStart(1, 1, BLUE)])
    assert played(worker, slot, [0, 1]) == [1, 1]


def test_slots_of_a_link_group_share_one_process_and_file(tmp_path: Path) -> None:
    worker, folder = CleanRLWorker(), keep(tmp_path / "p")
    slots = [slot_of(folder, i, agent) for i, agent in enumerate((GREEN, BLUE))]
    for slot in slots:
        worker.load(slot)
    (folder / "policy.json").unlink()
    worker.load(slot_of(folder, 2, "green_1"))
    assert [played(worker, slot, [0]) for slot in slots] == [[0], [1]]


def keep_shared(folder: Path, *, lstm: int) -> Path:
    """A joint policy of random weights; the two of green share a network."""
    network = {"type": "actor_critic", "hidden": [16], "activation": "tanh"}
    if lstm:
        network |= {"type": "actor_critic_lstm", "lstm_size": lstm}
    shares = {"green_0": "green.", "green_1": "green.", BLUE: "blue."}
    parts = [PolicyPart((a,), box(3), discrete(4), network, weights=w) for a, w in shares.items()]
    description = PolicyDescription.joint(parts, worker="cleanrl_worker", algorithm="ippo", env_id="Soccer")
    torch.manual_seed(3)
    tensors: dict[str, torch.Tensor] = {}
    for agent, weights in shares.items():
        module = network_of(description.part_of(agent))
        tensors |= {weights + name: torch.randn_like(t) for name, t in module.state_dict().items()}
    save_checkpoint(folder, description, safetensors.torch.save(tensors))
    return folder


@pytest.mark.parametrize("lstm", [0, 8])
def test_what_a_network_plays_together_is_what_each_slot_plays_alone(lstm: int, tmp_path: Path) -> None:
    folder, rng = keep_shared(tmp_path, lstm=lstm), np.random.default_rng(1)
    agents = ("green_0", "green_1", BLUE)
    slots = [replace(slot_of(folder, i, a), deterministic=a == "green_1") for i, a in enumerate(agents)]
    slots[2] = replace(slots[2], deterministic=False)
    slots[0] = replace(slots[0], deterministic=False)
    workers = [CleanRLWorker(), CleanRLWorker()]
    for worker in workers:
        for slot, agent, other in zip(slots, agents, (BLUE, "green_1", "green_0"), strict=True):
            worker.load(slot)
            # In every third episode green's first and blue's only one have changed seats.
            starts = [EpisodeStart(e, e, other if e % 3 == 2 else agent) for e in range(50)]
            worker.reset(slot, starts)
    together, alone = workers
    for step in range(3):
        batches: list[Batch] = []
        for slot in slots:
            episodes = rng.permutation(50)[: 50 - 9 * slot.index].tolist()
            n = len(episodes)
            seen = rng.normal(size=(n, 3)).astype(np.float32)
            masks = rng.random((n, 4)) < 0.8 if slot.index == 1 or step == 1 else None
            seeds = np.array(episodes, np.uint64)
            batches.append(Batch(slot, list(range(n)), episodes, [step] * n, seeds, seen, masks))
        for batch, found in zip(batches, together.select_together(batches), strict=True):
            wanted = alone.select_actions(batch)
            assert list(found.actions) == list(wanted.actions)
            assert found.values.tobytes() == wanted.values.tobytes()


@pytest.mark.parametrize("lstm", [0, 8])
def test_the_whole_team_plays_as_one(lstm: int, tmp_path: Path) -> None:
    policy = Policy.whole(*read_weights(keep(tmp_path, lstm=lstm)))
    assert policy.memory == (32 if lstm else 0)
    seen = {GREEN: np.zeros((3, 3), np.float32), BLUE: np.zeros((3, 3), np.float32)}
    masks = np.ones((3, 2, 4), bool)
    masks[1, 0] = [False, True, True, True]
    memory = np.zeros((3, policy.memory), np.float32) if lstm else None
    choices = policy.choose(seen, masks, memory=memory)
    assert choices.ok.all()
    assert [row[GREEN] for row in choices.actions] == [0, 1, 0]
    assert [row[BLUE] for row in choices.actions][:2] == [1, 1]
