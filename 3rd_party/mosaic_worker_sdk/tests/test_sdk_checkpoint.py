"""Checkpoints come back as they were; whatever is wrong with one is said in a sentence."""

from __future__ import annotations

import contextlib
import json
import os
import resource
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mosaic_worker.checkpoint import (
    PolicyDescription,
    PolicyPart,
    read_checkpoint,
    read_description,
    save_checkpoint,
    write_whole,
)
from mosaic_worker.spaces import Space
from mosaic_worker.worker import LoadError


def box(*shape: int) -> Space:
    return Space("Box", np.dtype(np.float32), shape, np.full(shape, -np.inf), np.full(shape, np.inf))


PLAIN = PolicyDescription(
    "a_worker", "ppo", "CartPole-v1", box(4), Space("Discrete", np.dtype(np.int64), n=2), {"type": "mlp"}
)
FULL = replace(
    PLAIN,
    preprocessing=({"step": "frame_stack", "size": 4}, {"step": "flatten"}),
    input_space=box(16),
    agents=("red_0", "red_1"),
    seed=7,
    total_steps=1000,
    mean_return=12.5,
    evaluation_seeds=(1, 2),
    config={"learning_rate": 0.1, "hidden": [4]},
    versions={"torch": "2"},
    trained_at="2026-01-01T00:00:00+00:00",
    licence="MIT",
    origin={"kind": "imported", "file": "a.zip", "sha256": "0", "format": "sb3_zip"},
)
FIRST = {
    **{k: v for k, v in PLAIN.to_json().items() if k not in ("worker", "input_space", "licence", "origin")},
    "format_version": 1,
}


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    folder = tmp_path / "policy"
    save_checkpoint(folder, FULL, b"weights")
    return folder


def test_what_is_written_is_read_by_folder_description_or_weights(kept: Path) -> None:
    for name in ("", "policy.json", "model.safetensors"):
        description, weights = read_checkpoint(kept / name)
        assert weights == b"weights"
        assert replace(description, weights_sha256="") == FULL
        assert description.shown_space == box(16)
    assert sorted(p.name for p in kept.iterdir()) == ["model.safetensors", "policy.json"]


def test_format_1_is_read_and_written_anew_as_2() -> None:
    read = PolicyDescription.from_json(FIRST)
    assert (read.worker, read.origin, read.shown_space) == ("cleanrl_worker", {"kind": "trained"}, box(4))
    assert read.to_json()["format_version"] == 2
    assert PolicyDescription.from_json(read.to_json()) == read


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"format_version": 4}, "format_version is 4"),
        ({"format_version": True}, "format_version is True"),
        ({"preprocessing": ["grayscale"]}, "'grayscale' where an object is needed"),
        ({"preprocessing": [{"size": 4}]}, "has no name"),
        ({"observation_space": {"kind": "Sphere"}}, "unknown space kind"),
        ({"weights": {"file": "../model.pt", "sha256": ""}}, "where model.safetensors is needed"),
        ({"evaluation": None}, "wrong type"),
        ({"network": 3}, "wrong type"),
    ],
)
def test_what_is_wrong_in_a_description_is_named(kept: Path, changes: dict[str, Any], words: str) -> None:
    path = kept / "policy.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    with pytest.raises(LoadError, match=words) as caught:
        read_description(kept)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("key", sorted(FULL.to_json()))
def test_no_key_may_be_missing(key: str) -> None:
    with pytest.raises(ValueError, match=f"'{key}' is missing"):
        PolicyDescription.from_json({k: v for k, v in FULL.to_json().items() if k != key})


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nowhere", r"does not exist.*mosaic train"),
        ("notes.txt", "is no checkpoint"),
        ("model.pt", r"may be a pickle.*mosaic policies add"),
        ("ppo.cleanrl_model", "may be a pickle"),
        ("empty", "holds no policy.json"),
    ],
)
def test_what_is_no_checkpoint_says_the_way_out(tmp_path: Path, name: str, words: str) -> None:
    for file in ("notes.txt", "model.pt", "ppo.cleanrl_model"):
        (tmp_path / file).touch()
    (tmp_path / "empty").mkdir()
    with pytest.raises(LoadError, match=words):
        read_checkpoint(tmp_path / name)


@pytest.mark.parametrize("cut", range(3))
def test_a_save_cut_anywhere_leaves_a_whole_checkpoint(
    kept: Path, cut: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut before each rename: of the weights that wait, of the description, of the weights."""
    calls = 0

    def stop_at_cut(original: Any) -> Any:
        def wrapped(*args: Any, **where: Any) -> Any:
            nonlocal calls
            if calls == cut:
                raise KeyboardInterrupt
            calls += 1
            return original(*args, **where)

        return wrapped

    monkeypatch.setattr(os, "replace", stop_at_cut(os.replace))
    with pytest.raises(KeyboardInterrupt):
        save_checkpoint(kept, replace(FULL, total_steps=2000), b"newer")
    monkeypatch.undo()
    description, weights = read_checkpoint(kept)
    assert (weights, description.total_steps) == ((b"weights", 1000) if cut < 2 else (b"newer", 2000))
    save_checkpoint(kept, FULL, b"newest")
    assert read_checkpoint(kept)[1] == b"newest"


def test_a_disk_that_fills_costs_the_new_files_alone(kept: Path) -> None:
    write_whole(kept / "state" / "a", b"old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))  # a larger file cannot be written
    try:
        with pytest.raises(OSError, match="File too large"):
            save_checkpoint(kept, FULL, bytes(10_000))
        with pytest.raises(OSError, match="File too large"):
            write_whole(kept / "state" / "a", bytes(10_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert read_checkpoint(kept)[1] == b"weights"
    assert (kept / "state" / "a").read_bytes() == b"old"
    assert sorted(p.name for p in kept.iterdir()) == ["model.safetensors", "policy.json", "state"]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=8,
    ),
    st.sampled_from(sorted(FULL.to_json())),
)
def test_any_value_in_a_description_is_read_or_refused(value: Any, key: str) -> None:
    with contextlib.suppress(ValueError):
        read = PolicyDescription.from_json({**FULL.to_json(), key: value})
        assert PolicyDescription.from_json(read.to_json()).to_json().keys() == read.to_json().keys()


def joint_description() -> PolicyDescription:
    """Two parts that share a network, and one with its own."""
    parts = [
        PolicyPart(
            (agent,),
            PLAIN.observation_space,
            PLAIN.action_space,
            {"type": "mlp"},
            ({"step": "append", "values": values},),
            weights=weights,
        )
        for agent, values, weights in (
            ("a_0", [1.0, 0.0], "shared."),
            ("a_1", [0.0, 1.0], "shared."),
            ("b_0", [0.5], "b_0."),
        )
    ]
    return PolicyDescription.joint(parts, worker="w", algorithm="ippo", env_id="E-v0")


def test_a_joint_policy_comes_back_as_it_was(tmp_path: Path) -> None:
    kept = save_checkpoint(tmp_path, joint_description(), b"weights")
    read, _ = read_checkpoint(tmp_path)
    assert read == kept
    assert read.to_json()["format_version"] == 3
    assert read.agents == ("a_0", "a_1", "b_0")
    one = read.part_of("a_1")
    assert (one.agents, one.parts, one.weights_prefix) == (("a_1",), (), "shared.")
    assert one.preprocessing == ({"step": "append", "values": [0.0, 1.0]},)


@pytest.mark.parametrize(
    ("agent", "part", "found"),
    [("a_0", None, "a_0"), ("b_7", None, "b_0"), ("c_0", "a_1", "a_1"), ("a_2", None, ""), ("c_0", None, "")],
)
def test_who_plays_an_agent_of_a_joint_policy(agent: str, part: str | None, found: str) -> None:
    described = joint_description()
    if found:
        assert described.played_by(agent, part).agents == (found,)
    else:
        with pytest.raises(LoadError, match=f"none is called {agent}.*checkpoint_agent"):
            described.played_by(agent, part)
        assert described.played_instead(agent, "b_0").agents == ("b_0",)


def test_a_policy_without_parts_plays_any_agent() -> None:
    assert PLAIN.played_by("any_agent") is PLAIN


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (lambda parts: [parts[0], parts[0]], "must name each agent once"),
        (lambda parts: [], "must name each agent once"),
        (lambda parts: [{**parts[0], "agents": []}, parts[1]], "must name each agent once"),
        (lambda parts: [{k: v for k, v in parts[0].items() if k != "weights"}], "'weights' is missing"),
    ],
)
def test_what_is_wrong_in_the_parts_of_a_joint_policy_is_named(parts: Any, words: str) -> None:
    data = joint_description().to_json()
    with pytest.raises(ValueError, match=words):
        PolicyDescription.from_json({**data, "parts": parts(data["parts"])})
