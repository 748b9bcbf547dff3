"""What a training or an import says when it cannot be; nothing here needs Ray, and nothing is started."""

from __future__ import annotations

import base64
import contextlib
import io
import itertools
import json
import pickle
import socket
import sys
import types
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces

from gym_gui.workers.manifest import read_manifest
from mosaic_worker.learning.importing import ImportRefused
from mosaic_worker.learning.joint_env import make_joint, make_parallel
from mosaic_worker.learning.training_schema import schema_file, schema_text
from mosaic_worker.learning.training_state import State, read_state, write_state
from mosaic_worker.preprocessing import Pipeline
from ray_worker import importing
from ray_worker.algorithms import ALGORITHMS
from ray_worker.checkpoint_files import read_checkpoint_folder
from ray_worker.connectors import array_of, encode_arrays, normalize_step
from ray_worker.environments import make_environment, steps_for
from ray_worker.plan import plan_of
from ray_worker.settings import DQNConfig, PPOConfig
from ray_worker.state import packed, unpacked
from ray_worker.train import main

MANIFEST = Path(__file__).resolve().parents[1] / "worker.toml"


def test_manifest_and_schema_say_what_there_is() -> None:
    found = read_manifest(MANIFEST)
    assert found.train is not None and list(found.train.algorithms) == list(ALGORITHMS)
    assert found.launch.python is not None and found.launch.python.is_absolute()
    assert schema_file("ray_worker").read_text("utf-8") == schema_text(ALGORITHMS)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--algo=pp0"], "unknown algorithm 'pp0'. Did you mean ppo?"),
        (
            ["--algo=ppo", "--total-steps=10"],
            "total_steps = 10 is less than one batch of",
        ),
        (["--algo=ppo", "--minibatch-size=4096"], "minibatch_size = 4096 is more than train_batch_size"),
        (["--algo=ppo", "--learning-rate=1"], "ppo has no option --learning-rate"),
        (["--algo=ppo", "--address=nowhere"], "address must be host:port"),
        (["--algo=ppo", "--address=ray://a:1"], "address must be host:port"),
        (["--algo=ppo", "--mapping=left"], "mapping must consist of AGENTS=NETWORK"),
        (["--algo=ppo", "--env-id=NoSuch-v0"], "environment 'NoSuch-v0' cannot be made"),
        (["--algo=dqn", "--env-id=Pendulum-v1"], "dqn learns discrete actions; Pendulum-v1 has Box"),
        (["--algo=sac", "--env-id=CartPole-v1"], "sac learns continuous actions; CartPole-v1 has Discrete"),
        (
            ["--algo=ppo", "--env-id=ray_probes:Pair", "--mapping=left_*=one"],
            "gives no network to right_0",
        ),
        (["--algo=ppo", "--device=cuda"], "torch finds no GPU here"),
        (["--algo=dqn", "--buffer-size=100000000"], "buffer_size"),
    ],
)
def test_a_request_that_cannot_be_is_one_line(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    words: str,
) -> None:
    monkeypatch.setenv("MOSAIC_MEMORY_MB", "3000")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    out = tmp_path / "out"
    assert main([*arguments, f"--out={out}"]) == 2
    said = capsys.readouterr().err.strip()
    assert words in said and len(said.splitlines()) == 1
    assert not out.exists() and "ray" not in sys.modules


def test_a_cluster_that_is_not_there_is_said_before_anything_is_started(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address = f"127.0.0.1:{free_port()}"
    assert main(["--algo=ppo", f"--address={address}", f"--out={tmp_path / 'out'}"]) == 2
    assert f"no Ray cluster answers at {address} (Connection refused)" in capsys.readouterr().err
    assert not (tmp_path / "out").exists() and "ray" not in sys.modules


# -- who learns what -----------------------------------------------------------------------


def test_agents_that_share_are_told_which_they_are() -> None:
    config = PPOConfig(env_id="ray_probes:Pair")
    plan = plan_of(ALGORITHMS["ppo"], config)
    assert plan.joint and [seat.network for seat in plan.seats] == ["shared", "shared"]
    shown = [
        Pipeline(seat.steps, seat.observation_space).stream().apply(np.ones(2, np.float32))
        for seat in plan.seats
    ]
    assert [each.tolist() for each in shown] == [[1, 1, 1, 0], [1, 1, 0, 1]]
    own = plan_of(ALGORITHMS["ppo"], PPOConfig(env_id="ray_probes:Pair", share_parameters=False))
    assert [seat.network for seat in own.seats] == ["left_0", "right_0"]
    assert [len(seat.input_space.low) for seat in own.seats] == [2, 2]
    mapped = plan_of(ALGORITHMS["dqn"], DQNConfig(env_id="ray_probes:Pair", mapping="left_*=one, *=two"))
    assert [seat.network for seat in mapped.seats] == ["one", "two"]


def test_an_environment_of_mosaics_own_is_found_by_name() -> None:
    steps = dict.fromkeys(make_parallel("simple_spread_v3").possible_agents, ())
    with contextlib.closing(make_joint("simple_spread_v3", steps)) as joint:
        seen, info = joint.reset(seed=1)
        assert tuple(seen) == info["acting"] == joint.agents == ("agent_0", "agent_1", "agent_2")
        _, _, over, cut, info = joint.step(dict.fromkeys(joint.agents, 0))
        assert tuple(info["steps"]) == joint.agents and not over and not cut


def test_images_want_a_size_that_rllib_has_a_network_for() -> None:
    pixels = spaces.Box(0, 255, (210, 160, 3), np.uint8)
    with pytest.raises(Exception, match="give --resize with one of 42, 64, 84, 96"):
        steps_for(pixels, PPOConfig())
    steps = steps_for(pixels, PPOConfig(grayscale=True, resize=84, frame_stack=4))
    shown = Pipeline(steps, pixels).input_space
    assert shown.shape == (84, 84, 4) and shown.dtype == np.float32 and shown.high.max() == 1


def test_actions_are_counted_from_zero_for_rllib_alone() -> None:
    from ray_worker.environments import trainable

    env = trainable(make_environment("ray_probes:Switch"))
    assert env.action_space == spaces.Discrete(2)
    env.reset(seed=0)
    env.step(1)  # which the environment knows as 4


# -- going on ------------------------------------------------------------------------------


def test_a_state_comes_back_as_it_was_and_never_through_a_pickle(tmp_path: Path) -> None:
    learnt = {"w": np.arange(3.0), ("a", 1): (torch.ones(2), [True, 0.5])}
    state = State(values={"algorithm": "ppo", "step": 7, "config": {"a": [1, None, "b"]}})
    state.values["learnt"] = packed(learnt, state.tensors)
    write_state(tmp_path, state)
    found = read_state(tmp_path, "ppo")
    assert found.step == 7 and found.config == {"a": [1, None, "b"]}
    back = unpacked(found.values["learnt"], found.tensors)
    np.testing.assert_array_equal(back["w"], np.arange(3.0))
    assert torch.equal(back["a", 1][0], torch.ones(2)) and back["a", 1][1] == [True, 0.5]
    with pytest.raises(TypeError, match="contains a object"):
        packed({"x": object()}, {})


class Evil:
    """Leaves a mark where it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self._mark = str(mark)

    def __reduce__(self) -> Any:
        return open, (self._mark, "w")


def npy(array: Any) -> str:
    content = io.BytesIO()
    np.save(content, array, allow_pickle=True)
    return base64.b64encode(zlib.compress(content.getvalue())).decode("ascii")


def test_statistics_that_hold_a_pickle_are_refused_unread(tmp_path: Path) -> None:
    planted = npy(np.array([Evil(tmp_path / "mark")], object))
    with pytest.raises(ValueError, match="allow_pickle"):
        array_of(planted)
    with pytest.raises(ValueError, match="not numbers"):
        encode_arrays({"mean_array": planted})
    assert not (tmp_path / "mark").exists()


def test_statistics_become_the_step_that_does_the_same() -> None:
    rows = np.random.default_rng(0).normal(3, 2, (500, 2))
    mean, squares = rows.mean(axis=0), ((rows - rows.mean(axis=0)) ** 2).sum(axis=0)
    told = {"num_pushes": 500, "mean_array": npy(mean), "sum_sq_diff_array": npy(squares)}
    state = {
        None: {"running_stats": [told], "clip_by_value": 10.0, "de_mean_to_zero": True, "de_std_to_one": True}
    }
    sees = spaces.Box(-np.inf, np.inf, (2,), np.float32)
    shown = Pipeline([normalize_step({"MeanStdFilter": state}, None)], sees).stream()
    seen = np.array([5.0, -900.0], np.float32)
    deviation = np.sqrt((squares / 499).astype(np.float32)) + np.float32(1e-6)
    wanted = np.clip((seen - mean) / deviation, -10, 10).astype(np.float32)
    np.testing.assert_array_equal(shown.apply(seen), wanted)


# -- bringing checkpoints --------------------------------------------------------------------


@pytest.fixture
def of_rllib(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Makes classes that pickles know under names of RLlib's."""

    def made(name: str, **members: Any) -> Any:
        module, _, short = name.rpartition(".")
        kind = type(short, (), {"__module__": module, **members})
        holder = types.ModuleType(module)
        setattr(holder, short, kind)
        monkeypatch.setitem(sys.modules, module, holder)
        for parent in itertools.accumulate(module.split("."), "{}.{}".format):
            if parent not in sys.modules:
                monkeypatch.setitem(sys.modules, parent, types.ModuleType(parent))
        return kind

    yield made


def checkpoint(folder: Path, kind: Any, weights: Any, **more: Any) -> Path:
    """A folder as RLModule.save_to_path writes it."""
    folder.mkdir(parents=True)
    told = {"observation_space": spaces.Box(-1, 1, (4,), np.float32), "action_space": spaces.Discrete(2)}
    told |= {"model_config": {"fcnet_hiddens": [8]}, "inference_only": False, **more}
    made = {"class": kind, "ctor_args_and_kwargs": ((), told)}
    (folder / "class_and_ctor_args.pkl").write_bytes(pickle.dumps(made))
    (folder / "module_state.pkl").write_bytes(pickle.dumps(weights))
    (folder / "metadata.json").write_text(json.dumps({"ray_version": "2.60.0"}))
    return folder


PPO = "ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module.DefaultPPOTorchRLModule"


def test_a_checkpoint_is_read_as_data(tmp_path: Path, of_rllib: Any) -> None:
    found = read_checkpoint_folder(
        checkpoint(tmp_path / "m", of_rllib(PPO), {"pi.bias": np.ones(2, np.float32)})
    )
    (module,) = found.modules.values()
    assert module.class_name == PPO and module.observation_space.shape == (4,) and module.action_space.n == 2
    assert module.model_config == {"fcnet_hiddens": [8]} and module.weights["pi.bias"].tolist() == [1, 1]
    assert found.version == "2.60.0" and not found.known and len(found.sha256) == 64


def test_a_checkpoint_that_would_run_something_is_refused_and_does_not(tmp_path: Path, of_rllib: Any) -> None:
    kind, mark = of_rllib(PPO), tmp_path / "mark"
    for i, (weights, more) in enumerate(
        [
            ({"pi.bias": Evil(mark)}, {}),
            ({"pi.bias": np.array([Evil(mark)], object)}, {}),
            ({"pi.bias": np.ones(2)}, {"model_config": {"x": Evil(mark)}}),
            ({"pi.bias": np.ones(2)}, {"observation_space": Evil(mark)}),
        ]
    ):
        with pytest.raises(ImportRefused, match="refused"):
            read_checkpoint_folder(checkpoint(tmp_path / str(i), kind, weights, **more))
    assert not mark.exists()


def test_settings_that_are_classes_or_another_catalog_are_refused(tmp_path: Path, of_rllib: Any) -> None:
    kind, own = of_rllib(PPO), of_rllib("ray_worker.elsewhere.Catalog")
    with pytest.raises(ImportRefused, match="not a plain setting"):
        read_checkpoint_folder(checkpoint(tmp_path / "a", kind, {}, model_config={"x": own}))
    with pytest.raises(ImportRefused, match=r"its catalog is ray_worker\.elsewhere"):
        read_checkpoint_folder(checkpoint(tmp_path / "b", kind, {}, catalog_class=own))


def test_an_import_of_something_else_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "model.zip").write_bytes(b"PK")
    out = tmp_path / "out"
    assert importing.main([str(tmp_path / "model.zip"), "--env-id=CartPole-v1", f"--out={out}"]) == 2
    said = capsys.readouterr().err.strip()
    assert "no checkpoint of RLlib's new API stack" in said and len(said.splitlines()) == 1
    assert not out.exists()
