"""What a training goes on from comes back as it was; what is none is refused, and nothing in it is run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import safetensors.torch
import torch

from mosaic_worker.learning.training_command import ConfigError
from mosaic_worker.learning.training_state import State, begin, read_state, state_file, write_state


def test_it_comes_back_with_the_optimizers_of_its_parts(tmp_path: Path) -> None:
    network = torch.nn.Linear(3, 2)
    optimizer = torch.optim.Adam(network.parameters())
    network(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    part = State({"weight": network.weight}, {"lr": 0.5})
    state = State(values={"algorithm": "ppo", "step": 7, "config": {"gamma": 0.9}})
    state.put("actor", part)
    state.put("shared", part)  # the same tensor under two names
    state.values["optimizer"] = state.pack_optimizer("adam", optimizer.state_dict())
    write_state(tmp_path, state)

    found = read_state(tmp_path, "ppo")
    assert (found.step, found.config) == (7, {"gamma": 0.9})
    for name in ("actor", "shared"):
        assert torch.equal(found.under(name).tensors["weight"], network.weight)
        assert found.under(name).values == {"lr": 0.5}
    again = torch.optim.Adam(torch.nn.Linear(3, 2).parameters())
    again.load_state_dict(found.unpack_optimizer("adam", found.values["optimizer"]))
    for name, tensor in optimizer.state_dict()["state"][0].items():
        assert torch.equal(again.state_dict()["state"][0][name], tensor)


def test_what_is_none_or_of_another_algorithm_is_refused_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds no training that can be resumed"):
        read_state(tmp_path, "ppo")
    write_state(tmp_path, State(values={"algorithm": "dqn"}))
    with pytest.raises(ConfigError, match="of dqn, not ppo; use --algo dqn"):
        read_state(tmp_path, "ppo")
    text = json.dumps({"version": 0, "algorithm": "ppo"})
    state_file(tmp_path).write_bytes(safetensors.torch.save({}, {"state": text}))
    with pytest.raises(ConfigError, match="of another version"):
        read_state(tmp_path, "ppo")


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"\x80\x04N.", b'{"a": 1}', b"\x08\0\0\0\0\0\0\0{}      "),
        *(safetensors.torch.save({}, {"state": text}) for text in ("[]", "{}", "{", "[" * 99_999)),
    ],
    ids=[
        "nothing",
        "a pickle",
        "JSON",
        "no state",
        "a list",
        "an empty state",
        "half a state",
        "a deep state",
    ],
)
def test_a_damaged_one_is_refused(content: bytes, tmp_path: Path) -> None:
    state_file(tmp_path).parent.mkdir()
    state_file(tmp_path).write_bytes(content)
    with pytest.raises(ConfigError, match="cannot be resumed from"):
        read_state(tmp_path, "ppo")


def test_how_far_it_is_stands_where_trainings_keep_it_now_or_did_before() -> None:
    assert State(values={"step": 7, "session": {"returns": []}}).step == 7
    assert State(values={"session": {"step": 5}}).step == 5


def test_a_training_begins_anew_or_behind_what_was_kept() -> None:
    anew = begin(5, None)
    assert (anew.step, anew.seed, anew.purge_step) == (0, 5, None)
    kept = State(values={"step": 7, "config": {"seed": 5}})
    on = begin(5, kept)
    assert (on.step, on.seed, on.purge_step) == (7, kept.seed, 8)
    assert on.seed != 5, "what was drawn already is not drawn again"
    assert torch.get_num_threads() == 1
