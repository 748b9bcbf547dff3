"""Files that are damaged, malicious or beyond us are refused in one line, and nothing of them runs."""

from __future__ import annotations

import base64
import io
import json
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cloudpickle
import gymnasium as gym
import numpy as np
import pytest
import torch
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from sb3_worker.importing import main

Members = dict[str, bytes]


class Runs:
    """Its pickle makes a file."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self.mark}",)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Members:
    """Members of a good file."""
    file = tmp_path_factory.mktemp("saved") / "model.zip"
    PPO("MlpPolicy", "CartPole-v1", n_steps=8, batch_size=8, device="cpu").save(file)
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def written(folder: Path, members: Members) -> Path:
    file = folder / "model.zip"
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file


def with_pickle(members: Members, key: str, value: Any) -> Members:
    """The same file with another pickle in one member of ``data``."""
    data = json.loads(members["data"])
    data[key] = {":type:": "", ":serialized:": base64.b64encode(cloudpickle.dumps(value)).decode()}
    return {**members, "data": json.dumps(data).encode()}


def refusal(file: Path, capsys: Any, *more: str, env_id: str = "CartPole-v1") -> str:
    out = file.parent / "out"
    assert main([str(file), "--env-id", env_id, "--out", str(out), *more]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1, said.err
    assert not out.exists()
    return said.err


def _torch_bomb(mark: Path) -> bytes:
    file = io.BytesIO()
    torch.save({"action_net.weight": Runs(mark)}, file)
    return file.getvalue()


def _old_torch_bomb(mark: Path) -> bytes:
    file = io.BytesIO()
    torch.save({"action_net.weight": Runs(mark)}, file, _use_new_zipfile_serialization=False)
    return file.getvalue()


def _objects(mark: Path) -> Any:
    array = np.empty(1, object)
    array[0] = Runs(mark)
    return array


BOMBS: dict[str, Callable[[Members, Path], Members]] = {
    "observation space": lambda m, mark: with_pickle(m, "observation_space", Runs(mark)),
    "action space": lambda m, mark: with_pickle(m, "action_space", [Runs(mark)]),
    "policy class": lambda m, mark: with_pickle(m, "policy_class", Runs(mark)),
    "policy kwargs": lambda m, mark: with_pickle(m, "policy_kwargs", {"net_arch": [Runs(mark)]}),
    "object array": lambda m, mark: with_pickle(m, "observation_space", _objects(mark)),
    "a function": lambda m, mark: with_pickle(m, "policy_kwargs", {"net_arch": lambda: os.system("x")}),
    "weights": lambda m, mark: {**m, "policy.pth": _torch_bomb(mark)},
    "weights, old form": lambda m, mark: {**m, "policy.pth": _old_torch_bomb(mark)},
    "weights, bare pickle": lambda m, mark: {**m, "policy.pth": pickle.dumps(Runs(mark))},
}


@pytest.mark.parametrize("kind", list(BOMBS))
def test_nothing_of_a_malicious_file_runs(kind: str, saved: Members, tmp_path: Path, capsys: Any) -> None:
    mark = tmp_path / "ran"
    said = refusal(written(tmp_path, BOMBS[kind](saved, mark)), capsys)
    assert "refused" in said
    assert not mark.exists()


def test_bombs_where_nobody_looks_do_no_harm(saved: Members, tmp_path: Path) -> None:
    """Members of ``data`` that do not say what the policy is are not read at all."""
    mark = tmp_path / "ran"
    members = saved
    for key in ("lr_schedule", "clip_range", "ep_info_buffer", "_last_obs", "replay_buffer_class"):
        members = with_pickle(members, key, Runs(mark))
    members["policy.optimizer.pth"] = members["pytorch_variables.pth"] = _torch_bomb(mark)
    file = written(tmp_path, members)
    assert main([str(file), "--env-id", "CartPole-v1", "--out", str(tmp_path / "out")]) == 0
    assert not mark.exists()


def test_malicious_statistics_are_refused(saved: Members, tmp_path: Path, capsys: Any) -> None:
    file, mark = written(tmp_path, saved), tmp_path / "ran"
    env = VecNormalize(DummyVecEnv([lambda: gym.make("CartPole-v1")]))
    env.reset()
    for name, value in (("bare", Runs(mark)), ("nested", {"obs_rms": [Runs(mark)]})):
        (tmp_path / name).write_bytes(pickle.dumps(value))
        assert "system" in refusal(file, capsys, "--vecnormalize", str(tmp_path / name))
    env.obs_rms.mean = _objects(mark)  # type: ignore[union-attr]
    env.save(str(tmp_path / "inside"))
    assert "refused" in refusal(file, capsys, "--vecnormalize", str(tmp_path / "inside"))
    (tmp_path / "cut").write_bytes((tmp_path / "inside").read_bytes()[:200])
    assert "not a complete pickle" in refusal(file, capsys, "--vecnormalize", str(tmp_path / "cut"))
    assert not mark.exists()


class Custom(BaseFeaturesExtractor):
    def __init__(self, observation_space: Any) -> None:
        super().__init__(observation_space, 4)

    def forward(self, observations: Any) -> Any:
        return observations


def test_a_network_class_of_its_own_is_named(tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "model.zip"
    kwargs = {"features_extractor_class": Custom}
    PPO("MlpPolicy", "CartPole-v1", n_steps=8, batch_size=8, policy_kwargs=kwargs).save(file)
    assert "Custom" in refusal(file, capsys)
    # In a script it has no module of its own, and its code goes into the file.
    kwargs["features_extractor_class"] = type("InAScript", (Custom,), {"__module__": "__main__"})
    PPO("MlpPolicy", "CartPole-v1", n_steps=8, batch_size=8, policy_kwargs=kwargs).save(file)
    assert "its features extractor is InAScript" in refusal(file, capsys)


@pytest.mark.parametrize(
    ("layers", "words"),
    [
        ([{"layer": "lstm"}], "is not a layer"),
        ([{"layer": "linear"}], "size"),
        ([{"layer": "linear", "size": 10**9}], "size"),
        ([{"layer": "linear", "size": 4, "depth": 2}], "'depth'"),
        ([{"layer": "conv", "channels": 3, "kernel": 3}], "image"),
        (["relu"] * 1000, "at most"),
        ([{"layer": "linear", "size": 5, "name": "net.0"}], "needed"),
    ],
)
def test_layers_that_are_none_are_refused(layers: Any, words: str, tmp_path: Path, capsys: Any) -> None:
    file, described = tmp_path / "model.zip", tmp_path / "layers.json"
    kwargs = {"features_extractor_class": Custom}
    PPO("MlpPolicy", "CartPole-v1", n_steps=8, batch_size=8, policy_kwargs=kwargs).save(file)
    described.write_text(json.dumps({"features_extractor": layers}))
    assert words in refusal(file, capsys, "--describe", str(described))


@pytest.mark.parametrize("cut", [0, 10, 2000, -100])
def test_a_cut_file_is_refused(cut: int, saved: Members, tmp_path: Path, capsys: Any) -> None:
    file = written(tmp_path, saved)
    file.write_bytes(file.read_bytes()[:cut])
    # Behind a cut, the last zip inside (the weights) may look like the archive.
    assert "not a complete zip file" in (said := refusal(file, capsys)) or "no member 'data'" in said


def test_a_flipped_byte_is_noticed(saved: Members, tmp_path: Path, capsys: Any) -> None:
    file = written(tmp_path, saved)
    content = bytearray(file.read_bytes())
    content[content.index(saved["policy.pth"][500:520])] ^= 0xFF
    file.write_bytes(content)
    assert "not a complete zip file" in refusal(file, capsys)


def test_weights_of_another_network_are_refused(saved: Members, tmp_path: Path, capsys: Any) -> None:
    weights = torch.load(io.BytesIO(saved["policy.pth"]), weights_only=True)
    for change, words in (
        ({"action_net.weight": torch.zeros(3, 64)}, r"action_net.weight has shape (3, 64) where (2, 64)"),
        ({"action_net.bias": torch.tensor([float("nan"), 0.0])}, "not finite"),
        ({"extra": torch.zeros(1)}, "contain extra"),
    ):
        file = io.BytesIO()
        torch.save({**weights, **change}, file)
        path = written(tmp_path, {**saved, "policy.pth": file.getvalue()})
        assert words in refusal(path, capsys)
    del weights["value_net.bias"]
    file = io.BytesIO()
    torch.save(weights, file)
    assert "lack value_net.bias" in refusal(
        written(tmp_path, {**saved, "policy.pth": file.getvalue()}), capsys
    )


@pytest.mark.parametrize(
    ("env_id", "more", "words"),
    [
        ("Acrobot-v1", (), "actions of Discrete(3), but the policy's actions are Discrete(2)"),
        ("MountainCarContinuous-v0", (), "actions of Box(1,), but the policy's actions are Discrete(2)"),
        ("sb3_probes:Remembering-v0", ("--frame-stack", "3"), "Box(1,), but the policy takes Box(4,) with 3"),
        ("CartPole-v1", ("--frame-stack", "2"), "Box(4,), but the policy takes Box(4,) with 2 frames"),
        ("CartPool-v1", (), "cannot be made"),
        ("CartPole-v1", ("--algorithm", "dqn"), "has a policy of ppo, not of dqn"),
        ("CartPole-v1", ("--vecnormalize", "/nowhere.pkl"), "cannot be read"),
        ("CartPole-v1", ("--preprocess", '[{"step": "flaten"}]'), "did you mean 'flatten'"),
        ("CartPole-v1", ("--preprocess", "["), "not JSON"),
        ("CartPole-v1", ("--frames", "2"), "unrecognized arguments"),
    ],
)
def test_what_does_not_fit_is_named(
    env_id: str, more: tuple[str, ...], words: str, saved: Members, tmp_path: Path, capsys: Any
) -> None:
    assert words in refusal(written(tmp_path, saved), capsys, *more, env_id=env_id)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"data": b"{"}, "not JSON"),
        ({"data": b"[]"}, "not a JSON object"),
        ({"data": b"{}"}, "has no policy_class"),
        ({"policy.pth": b""}, "policy.pth is"),
    ],
)
def test_strange_members_are_refused(
    change: Members, words: str, saved: Members, tmp_path: Path, capsys: Any
) -> None:
    assert words in refusal(written(tmp_path, {**saved, **change}), capsys)


def test_a_zip_of_something_else_is_refused(tmp_path: Path, capsys: Any) -> None:
    assert "no member 'data'" in refusal(written(tmp_path, {"holiday.jpg": b"x"}), capsys)
    assert "cannot be read" in refusal(tmp_path / "missing.zip", capsys)


def test_settings_beyond_the_plain_ones_are_named(saved: Members, tmp_path: Path, capsys: Any) -> None:
    for kwargs, words in (
        ({"net_arch": [10**9]}, "net_arch"),
        ({"net_arch": [{"qx": [3]}]}, "net_arch"),
        ({"hidden_magic": 3}, "'hidden_magic'"),
        ({"n_critics": True}, "n_critics"),
    ):
        assert words in refusal(written(tmp_path, with_pickle(saved, "policy_kwargs", kwargs)), capsys)


def test_files_of_earlier_versions_are_read(tmp_path: Path, saved: Members) -> None:
    """Before 1.7 the shared extractor had one name, before 1.8 net_arch was a list."""
    members = with_pickle(saved, "policy_kwargs", {"net_arch": [{"pi": [64, 64], "vf": [64, 64]}]})
    file = written(tmp_path, members)
    assert main([str(file), "--env-id", "CartPole-v1", "--out", str(tmp_path / "a")]) == 0
    DQN("MlpPolicy", "CartPole-v1", buffer_size=10, device="cpu").save(tmp_path / "dqn.zip")
    assert main([str(tmp_path / "dqn.zip"), "--env-id", "CartPole-v1", "--out", str(tmp_path / "b")]) == 0
