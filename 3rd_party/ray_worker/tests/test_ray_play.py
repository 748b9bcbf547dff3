"""Networks out of RLlib's modules, and how they play, in a place without Ray."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
from gymnasium import spaces
from ray_probes import DefaultDQNTorchRLModule, DefaultPPOTorchRLModule, DefaultSACTorchRLModule
from torch import nn

from mosaic_worker.checkpoint import PolicyDescription, PolicyPart, save_checkpoint
from mosaic_worker.gymnasium_spaces import describe
from mosaic_worker.playing.full_batches import BATCH
from mosaic_worker.playing.network_policy import read_weights
from mosaic_worker.worker import Batch, EpisodeStart, LoadError, Slot
from ray_worker.convert import Converted, NotConvertible, convert
from ray_worker.environments import EVALUATION
from ray_worker.main import RayWorker
from ray_worker.policy import Policy

ROOT = Path(__file__).resolve().parents[1]
SEES = spaces.Box(-np.inf, np.inf, (5,), np.float32)
TWO = spaces.Box(0, 1, (2,), np.float32)


def spread(module: nn.Module) -> Any:
    """Weights so large that it does this here and that there."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weights in module.parameters():
            weights.normal_(0.0, 0.7, generator=generator)
    return module


def keep(folder: Path, module: Converted, sees: Any, does: Any) -> Path:
    about = PolicyDescription(
        "ray_worker", "ppo", "Probe", describe(sees), describe(does), module.network.to_json()
    )
    save_checkpoint(folder, about, safetensors.torch.save(dict(module.weights)))
    return folder


def seen(rows: int, size: int = 5) -> Any:
    return np.random.default_rng(3).normal(size=(rows, size)).astype(np.float32)


def test_a_ppo_module_of_choices_becomes_a_policy_that_does_the_same(tmp_path: Path) -> None:
    module = spread(DefaultPPOTorchRLModule(5, 4))
    policy = Policy.load(keep(tmp_path, convert(module, spaces.Discrete(4)), SEES, spaces.Discrete(4)))
    rows = torch.from_numpy(seen(1000))
    features = module.encoder.actor_encoder.net(rows)
    wanted = module.pi.net(features).argmax(dim=1).numpy()
    value = module.vf.net(module.encoder.critic_encoder.net(rows))[:, 0].detach().numpy()
    choices = policy.choose(rows.numpy())
    assert set(wanted) == {0, 1, 2, 3}
    np.testing.assert_array_equal(choices.actions, wanted)
    np.testing.assert_allclose(choices.values, value, rtol=1e-4, atol=1e-5)


def test_a_ppo_module_of_numbers_plays_its_mean_between_the_bounds(tmp_path: Path) -> None:
    module, acts = spread(DefaultPPOTorchRLModule(5, 4)), spaces.Box(-2, 6, (2,), np.float32)
    policy = Policy.load(keep(tmp_path, convert(module, acts), SEES, acts))
    rows = torch.from_numpy(seen(200))
    mean = module.pi.net(module.encoder.actor_encoder.net(rows))[:, :2].detach().numpy()
    np.testing.assert_allclose(
        policy.choose(rows.numpy()).actions, np.clip(-2 + (mean + 1) * 4, -2, 6), rtol=1e-5, atol=1e-5
    )


def test_a_sac_module_plays_the_mode_of_what_it_learnt_to_draw_from(tmp_path: Path) -> None:
    module, acts = spread(DefaultSACTorchRLModule(5, 2)), spaces.Box(-2, 2, (1,), np.float32)
    policy = Policy.load(keep(tmp_path, convert(module, acts), SEES, acts))
    rows = torch.from_numpy(seen(200))
    mean = module.pi.net(module.pi_encoder.net(rows))[:, :1].detach().numpy()
    np.testing.assert_allclose(policy.choose(rows.numpy()).actions, 2 * np.tanh(mean), rtol=1e-4, atol=1e-5)


def test_a_dueling_module_is_greedy_and_explores_only_where_it_is_drawn(tmp_path: Path) -> None:
    module, acts = spread(DefaultDQNTorchRLModule(5, 3)), spaces.Discrete(3, start=2)
    policy = Policy.load(keep(tmp_path, convert(module, spaces.Discrete(3), epsilon=0.5), SEES, acts))
    rows = torch.from_numpy(seen(400))
    features = module.encoder.net(rows)
    gains = module.af.net(features)
    values = (module.vf.net(features) + gains - gains.mean(dim=1, keepdim=True)).detach().numpy()
    choices = policy.choose(rows.numpy())
    np.testing.assert_array_equal(choices.actions, values.argmax(axis=1) + 2)
    np.testing.assert_allclose(choices.values, values.max(axis=1), rtol=1e-4, atol=1e-5)
    draws = np.random.default_rng(0).random((2, 400))
    drawn = policy.choose(rows.numpy(), draws=lambda j: draws[j]).actions
    assert 0.15 < np.mean(drawn != choices.actions) < 0.5


def test_a_row_is_the_same_whoever_is_with_it_and_masks_are_kept_to(tmp_path: Path) -> None:
    module = spread(DefaultPPOTorchRLModule(5, 4))
    policy = Policy.load(keep(tmp_path, convert(module, spaces.Discrete(4)), SEES, spaces.Discrete(4)))
    rows = seen(BATCH + 9)
    whole = policy.choose(rows)
    for i in (0, BATCH - 1, BATCH, BATCH + 8):
        alone = policy.choose(rows[i : i + 1])
        assert alone.actions[0] == whole.actions[i] and alone.values[0] == whole.values[i]  # pyright: ignore[reportOptionalSubscript]
    masks = np.ones((len(rows), 4), bool)
    masks[np.arange(len(rows)), whole.actions] = False
    masks[0] = False
    choices = policy.choose(rows, masks)
    assert not choices.ok[0] and choices.ok[1:].all() and (choices.actions != whole.actions)[1:].all()


def test_a_number_that_is_none_spoils_its_own_row_alone(tmp_path: Path) -> None:
    module = spread(DefaultPPOTorchRLModule(5, 4))
    policy = Policy.load(keep(tmp_path, convert(module, spaces.Discrete(4)), SEES, spaces.Discrete(4)))
    rows = seen(3)
    rows[1, 2] = np.nan
    assert policy.choose(rows).ok.tolist() == [True, False, True]


def joint(folder: Path) -> Path:
    modules = {
        name: convert(spread(DefaultPPOTorchRLModule(2, 2)), spaces.Discrete(2)) for name in ("a", "b")
    }
    with torch.no_grad():
        for parameter in modules["b"].weights.values():
            parameter.neg_()
    parts = [
        PolicyPart(
            (agent,),
            describe(TWO),
            describe(spaces.Discrete(2)),
            modules[name].network.to_json(),
            weights=f"{name}.",
        )
        for agent, name in (("left_0", "a"), ("right_0", "b"))
    ]
    about = PolicyDescription.joint(parts, worker="ray_worker", algorithm="ppo", env_id="ray_probes:Pair")
    weights = {f"{name}.{k}": v for name, module in modules.items() for k, v in module.weights.items()}
    save_checkpoint(folder, about, safetensors.torch.save(weights))
    return folder


def test_one_agent_out_of_a_joint_file_and_all_of_them(tmp_path: Path) -> None:
    folder, rows = joint(tmp_path), seen(50, 2)
    left, right = (Policy.load(folder, agent).choose(rows).actions for agent in ("left_0", "right_0"))
    assert (left != right).any()
    whole = Policy.whole(*read_weights(folder)).choose({"left_0": rows, "right_0": rows}).actions
    assert [each["left_0"] for each in whole] == left.tolist()
    assert [each["right_0"] for each in whole] == right.tolist()
    returns = EVALUATION.episode_returns(Policy.whole(*read_weights(folder)), "ray_probes:Pair", range(3))
    assert len(returns) == 3 and all(0 <= total <= 12 for total in returns)


def test_the_worker_plays_whole_and_parts(tmp_path: Path) -> None:
    folder, rows, worker = joint(tmp_path), seen(4, 2), RayWorker()

    def played(agent: str, **more: Any) -> Any:
        slot = Slot(
            0,
            agent,
            "ray_probes:Pair",
            describe(TWO),
            describe(spaces.Discrete(2)),
            {"checkpoint": str(folder), **more},
        )
        assert worker.load(slot) == "ppo:ray_probes:Pair"
        worker.reset(slot, [EpisodeStart(i, 0, 0, agent) for i in range(4)])
        batch = Batch(slot, list(range(4)), list(range(4)), [0] * 4, np.arange(4, dtype=np.uint64), rows)
        return np.asarray(worker.select_actions(batch).actions)

    for agent in ("left_0", "right_0"):
        np.testing.assert_array_equal(played(agent), Policy.load(folder, agent).choose(rows).actions)
    right = Policy.load(folder, "right_0").choose(rows).actions
    np.testing.assert_array_equal(played("left_0", checkpoint_agent="right_0"), right)
    with pytest.raises(LoadError, match="holds no agent 'up_0'"):
        played("left_0", checkpoint_agent="up_0")


@pytest.mark.parametrize(
    ("module", "words"),
    [
        (DefaultPPOTorchRLModule(5, 4, nn.Dropout()), "Dropout"),
        (DefaultDQNTorchRLModule(5, 4, atoms=51), "51 atoms"),
        (nn.Linear(5, 4), "only RLlib's own"),
    ],
)
def test_what_is_not_known_is_not_converted(module: nn.Module, words: str) -> None:
    with pytest.raises(NotConvertible, match=words):
        convert(module, spaces.Discrete(4))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda d: d["network"]["head"][0].update(out=7),
            r"head\.0\.weight has shape \(4, 8\) where \(7, 8\)",
        ),
        (lambda d: d["network"]["trunk"][0].update(layer="exec"), "a layer 'exec'"),
        (lambda d: d["network"]["trunk"][0].update({"in": 10**12}), "a size in its network"),
        (lambda d: d["network"].update(outputs="words"), "'words'"),
        (lambda d: d["network"].pop("head"), "is incomplete"),
        (lambda d: d.update(worker="other_worker", network={"type": "x"}), "is for other_worker"),
        (lambda d: d["action_space"].update(n=3), "gives 4 numbers, but 3 are needed"),
    ],
)
def test_files_that_do_not_fit_are_refused_by_name(tmp_path: Path, change: Any, words: str) -> None:
    module = convert(spread(DefaultPPOTorchRLModule(5, 4)), spaces.Discrete(4))
    file = keep(tmp_path, module, SEES, spaces.Discrete(4)) / "policy.json"
    data = json.loads(file.read_text())
    change(data)
    file.write_text(json.dumps(data))
    with pytest.raises(LoadError, match=words):
        Policy.load(tmp_path)


def test_playing_imports_neither_ray_nor_gym_gui(tmp_path: Path) -> None:
    paths = [str(ROOT), str(ROOT.parent / "mosaic_worker_sdk")]
    code = (
        f"import sys; sys.path[:0] = {paths!r}\nimport ray_worker.main\n"
        "print(sorted({m.partition('.')[0] for m in sys.modules} & {'ray', 'gym_gui', 'gymnasium'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
