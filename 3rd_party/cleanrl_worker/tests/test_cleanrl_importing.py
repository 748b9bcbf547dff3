"""Policies of CleanRL's own scripts play here as they do there; what is hostile is refused unread."""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import json
import os
import pickle
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cleanrl_scripts
import gymnasium as gym
import numpy as np
import pytest
import torch
from cleanrl_scripts import scripted

from cleanrl_worker.importing import main
from cleanrl_worker.policy import Policy
from mosaic_worker.checkpoint import read_description
from tests.support.seldom import some_of

ENVS = {
    "ppo": "CartPole-v1",
    "dqn": "CartPole-v1",
    "c51": "CartPole-v1",
    "ppo_continuous": "Pendulum-v1",
    "ddpg": "Pendulum-v1",
    "td3": "Pendulum-v1",
    "sac": "Pendulum-v1",
    "ppo_atari": "screens:Screens-v0",
    "dqn_atari": "screens:Screens-v0",
}


@pytest.fixture(autouse=True)
def _unregistered() -> Iterator[None]:
    """The environment of these tests is there for them alone."""
    yield
    gym.registry.pop("Screens-v0", None)
    sys.modules.pop("screens", None)


def observations(env_id: str, count: int) -> Any:
    """What an environment shows over some episodes of random play."""
    env = gym.make(env_id)
    env.action_space.seed(5)
    seen: list[Any] = []
    while len(seen) < count:
        seen.append(env.reset(seed=len(seen))[0])
        over = False
        while not over and len(seen) < count:
            observation, _, ended, cut, _ = env.step(env.action_space.sample())
            seen.append(observation)
            over = ended or cut
    env.close()
    return np.stack(seen)


def brought(path: Path, env_id: str, *options: str) -> Policy:
    out = path.parent / f"out-{path.stem}"
    assert main([str(path), "--env-id", env_id, "--out", str(out), *options]) == 0
    return Policy.load(out)


def refused(capsys: pytest.CaptureFixture[str], path: Path, env_id: str, *options: str) -> str:
    out = path.parent / "refused"
    assert main([str(path), "--env-id", env_id, "--out", str(out), *options]) == 2
    assert not out.exists()
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert said.count("\n") == 1
    return said


@pytest.mark.parametrize("name", some_of(ENVS, *(name for name in ENVS if name != "dqn_atari")))
def test_it_plays_as_it_does_in_the_script(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.cleanrl_model"
    act = scripted(name, path)
    policy = brought(path, ENVS[name], "--seed", "3", "--steps", "500000", "--licence", "MIT")
    seen = observations(ENVS[name], 1000)
    choices = policy.choose(seen)
    assert choices.ok.all()
    with torch.inference_mode():
        wanted = np.concatenate([act(seen[i : i + 100]) for i in range(0, len(seen), 100)])
    if ENVS[name] == "Pendulum-v1":
        np.testing.assert_allclose(choices.actions, wanted, rtol=0, atol=2e-5)
    else:
        assert (choices.actions == wanted).all()
        assert len(set(wanted.tolist())) > 1 or name.endswith("atari")
    about = policy.description
    assert about.algorithm == {"ppo_continuous": "ppo", "ppo_atari": "ppo", "dqn_atari": "dqn"}.get(
        name, name
    )
    assert (about.seed, about.total_steps, about.licence) == (3, 500_000, "MIT")
    assert about.origin["kind"] == "imported"
    assert about.origin["format"] == "cleanrl_model"
    if name == "c51":
        assert about.config["n_atoms"] == 101


def test_values_are_those_of_their_critics(tmp_path: Path) -> None:
    """Theirs take actions in the environment's units, ours in [-1, 1]."""
    path = tmp_path / "ddpg.pt"
    act = scripted("ddpg", path)
    policy = brought(path, "Pendulum-v1")
    seen = observations("Pendulum-v1", 64)
    torch.manual_seed(7)
    cleanrl_scripts.Actor(3, np.float32([-2]), np.float32([2]))
    critic = cleanrl_scripts.Critic(3, 1)
    with torch.inference_mode():
        wanted = critic(torch.as_tensor(seen), torch.as_tensor(act(seen)))[:, 0].numpy()
    np.testing.assert_allclose(policy.choose(seen).values, wanted, rtol=0, atol=2e-5)


def test_a_memory_is_taken_over(tmp_path: Path) -> None:
    torch.manual_seed(1)
    agent = cleanrl_scripts.AtariAgent(1, 6, memory=128)
    path = tmp_path / "lstm.pt"
    torch.save(agent.state_dict(), path)
    steps = json.dumps([{"step": "select", "key": 0}])
    with pytest.raises(AssertionError):
        brought(path, "screens:Screens-v0", "--preprocess", steps)
    agent = cleanrl_scripts.AtariAgent(4, 6, memory=128)
    torch.save(agent.state_dict(), path)
    policy = brought(path, "screens:Screens-v0")
    assert policy.description.algorithm == "ppo_lstm"
    seen = observations("screens:Screens-v0", 40)
    memory: Any = None
    state = (torch.zeros(1, 1, 128), torch.zeros(1, 1, 128))
    for observation in seen:
        choice = policy.choose(observation[None], memory=memory)
        memory = choice.memory
        with torch.inference_mode():
            hidden = agent.network(torch.as_tensor(observation[None]).float() / 255.0)
            out, state = agent.lstm(hidden[None], state)
            assert int(choice.actions[0]) == int(agent.actor(out[0]).argmax())


def test_a_plain_state_dict_is_described(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch.manual_seed(2)
    agent = cleanrl_scripts.PPOAgent(4, 2)
    names = {"pi": "actor", "v": "critic"}
    theirs = {
        k.replace("actor.", "pi.").replace("critic.", "v."): t.double() for k, t in agent.state_dict().items()
    }
    path, described = tmp_path / "mine.pt", tmp_path / "network.json"
    torch.save(theirs, path)
    assert "no network of CleanRL's scripts" in refused(capsys, path, "CartPole-v1")
    network = {"type": "actor_critic", "hidden": [64, 64], "activation": "tanh"}
    described.write_text(json.dumps({"algorithm": "ppo", "network": network, "names": names}))
    policy = brought(path, "CartPole-v1", "--describe", str(described))
    seen = observations("CartPole-v1", 1000)
    with torch.inference_mode():
        wanted = agent.actor(torch.as_tensor(seen)).argmax(1).numpy()
    assert (policy.choose(seen).actions == wanted).all()
    assert policy.description.origin["format"] == "state_dict"
    for wrong, words in (
        ({"algorithm": "ppo", "network": {**network, "hidden": [64]}, "names": names}, "has shape"),
        ({"algorithm": "dqn", "network": network}, "dqn has no network of type 'actor_critic'"),
        ({"algorithm": "pp", "network": network}, "Did you mean ppo?"),
        ({"algorithm": "ppo"}, "needs 'network'"),
        ({"netwrok": {}}, "an object with the keys"),
        ("not json", "is not JSON"),
    ):
        described.write_text(wrong if isinstance(wrong, str) else json.dumps(wrong))
        assert words in refused(capsys, path, "CartPole-v1", "--describe", str(described))


def test_what_was_done_to_observations_comes_along(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    torch.manual_seed(3)
    agent = cleanrl_scripts.PPOAgent(8, 2)
    torch.save(agent.state_dict(), path)
    steps = [{"step": "frame_stack", "size": 2}, "flatten"]
    brought(path, "CartPole-v1", "--preprocess", json.dumps(steps))
    about = read_description(tmp_path / "out-model")
    assert [step["step"] for step in about.preprocessing] == ["frame_stack", "flatten"]
    assert (about.observation_space.shape, about.shown_space.shape) == ((4,), (8,))


# -- what does not fit -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "env_id", "words"),
    [
        ("ppo", "Acrobot-v1", "takes 4 numbers, but observations of Acrobot-v1 have 6"),
        ("dqn", "Acrobot-v1", "takes 4 numbers, but observations of Acrobot-v1 have 6"),
        ("ppo", "Pendulum-v1", "PPO for Discrete or MultiDiscrete actions, but those of Pendulum-v1 are Box"),
        ("ppo_continuous", "CartPole-v1", "PPO for Box actions, but those of CartPole-v1 are Discrete"),
        ("td3", "MountainCarContinuous-v0", "takes 3 numbers, but observations"),
        ("ppo_atari", "CartPole-v1", "images of 36 pixels and more, CartPole-v1 shows Box(4,)"),
        ("ppo", "NoSuch-v0", "cannot be made"),
    ],
)
def test_a_mismatch_says_what_differs(
    name: str, env_id: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "model.cleanrl_model"
    scripted(name, path)
    assert words in refused(capsys, path, env_id)


def test_other_numbers_of_actions_and_other_bounds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "model.pt"
    torch.save(cleanrl_scripts.PPOAgent(4, 3).state_dict(), path)
    assert "gives 3 actions, CartPole-v1 has 2 (Discrete)" in refused(capsys, path, "CartPole-v1")
    actor = cleanrl_scripts.Actor(3, np.float32([-1]), np.float32([1]))
    critic = cleanrl_scripts.Critic(3, 1)
    torch.save((actor.state_dict(), critic.state_dict()), path)
    assert "action_scale is [1.0], the bounds of Pendulum-v1 give [2.0]" in refused(
        capsys, path, "Pendulum-v1"
    )
    actor = cleanrl_scripts.Actor(3, np.float32([-2]), np.float32([2]))
    torch.save(actor.state_dict(), path)
    assert "an actor without its critics" in refused(capsys, path, "Pendulum-v1")


# -- what is hostile -------------------------------------------------------------------------


class Bomb:
    """Makes a file where it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self.mark}",)


def hostile(folder: Path, mark: Path) -> dict[str, Path]:
    """Pickle bombs in every form that torch reads."""
    bomb = Bomb(mark)
    plain = folder / "plain.cleanrl_model"
    plain.write_bytes(pickle.dumps({"actor.0.weight": bomb}))
    saved = folder / "saved.pt"
    torch.save({"actor.0.weight": torch.zeros(2, 2), "more": bomb}, saved)
    legacy = folder / "legacy.pt"
    torch.save({"more": bomb}, legacy, _use_new_zipfile_serialization=False)
    whole = folder / "whole.pt"
    torch.save(cleanrl_scripts.PPOAgent(4, 2), whole)
    inner = folder / "inner.cleanrl_model"
    torch.save(cleanrl_scripts.PPOAgent(4, 2).state_dict(), saved.with_name("good.pt"))
    with zipfile.ZipFile(saved.with_name("good.pt")) as good, zipfile.ZipFile(inner, "w") as made:
        for entry in good.infolist():
            data = pickle.dumps(bomb) if entry.filename.endswith("data.pkl") else good.read(entry)
            made.writestr(entry.filename, data)
    return {p.name: p for p in (plain, saved, legacy, whole, inner)}


@pytest.mark.parametrize(
    "name", ["plain.cleanrl_model", "saved.pt", "legacy.pt", "whole.pt", "inner.cleanrl_model"]
)
def test_a_pickle_bomb_is_refused_and_nothing_runs(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mark = tmp_path / "it-ran"
    said = refused(capsys, hostile(tmp_path, mark)[name], "CartPole-v1")
    assert not mark.exists()
    assert "Save model.state_dict()" in said
    if name == "saved.pt":
        assert "system" in said


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 0.9, 0.999])
def test_a_file_that_was_cut_is_refused(
    share: float, legacy: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cut.pt"
    state = cleanrl_scripts.PPOAgent(4, 2).state_dict()
    torch.save(state, path, _use_new_zipfile_serialization=not legacy)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    assert "cut.pt" in refused(capsys, path, "CartPole-v1")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ([], "the file is empty"),
        (3, "holds a int where a state dict is expected"),
        ({}, "holds a dict where a state dict is expected"),
        ({"actor.0.weight": "text"}, "is no tensor"),
        ({"actor.0.weight": torch.zeros(1, 1).expand(10**6, 10**6)}, "which is larger than its data"),
        (
            {"actor.0.weight": torch.zeros(2, 4), "critic.0.weight": torch.zeros(1, 4)},
            "no hidden layer",
        ),
        (
            {n: t for n, t in cleanrl_scripts.PPOAgent(4, 2).state_dict().items() if n != "actor.0.bias"},
            "actor.0.bias, of shape (64,), is missing",
        ),
    ],
)
def test_files_that_hold_something_else(
    content: Any, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "other.pt"
    torch.save(content, path)
    assert words in refused(capsys, path, "CartPole-v1")


def test_numbers_that_are_none_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "nan.pt"
    state = cleanrl_scripts.PPOAgent(4, 2).state_dict()
    state["actor.0.weight"][0, 0] = float("nan")
    torch.save(state, path)
    assert "not all finite" in refused(capsys, path, "CartPole-v1")


def test_a_command_line_that_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.pt"
    assert "cannot be read" in refused(capsys, path, "CartPole-v1")
    scripted("ppo", path)
    assert "unrecognized arguments: --nmae x" in refused(capsys, path, "CartPole-v1", "--nmae", "x")
    steps = refused(capsys, path, "CartPole-v1", "--preprocess", '["flaten"]')
    assert "did you mean 'flatten'?" in steps
    brought(path, "CartPole-v1")
    assert main([str(path), "--env-id", "CartPole-v1", "--out", str(tmp_path / "out-a")]) == 2
    assert "already holds a policy" in capsys.readouterr().err
