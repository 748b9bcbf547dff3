"""What a child process finds in its environment."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gym_gui.core.assignment import WorkerAssignment
from gym_gui.services.secrets import resolve_secrets
from gym_gui.workers.environment import scrubbed, worker_environment
from gym_gui.workers.tree import TAG, program_tag
from tests.support.little_workers import RANDOM, little_worker


@pytest.mark.parametrize(
    "name",
    [
        *("OPENAI_API_KEY", "ANTHROPIC_APIKEY", "OPENROUTER_KEY", "KEY", "openai_key", "KEYS_OF_MINE"),
        *("HF_TOKEN", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "X_CREDENTIALS"),
    ],
)
def test_what_looks_like_a_secret_is_withheld(name: str):
    assert scrubbed({name: "x", "PATH": "/bin"}) == {"PATH": "/bin"}


@pytest.mark.parametrize("name", ["PATH", "HOME", "KEYBOARD", "MONKEY", "DISPLAY", "XAUTHORITY", "LANG"])
def test_everything_else_is_inherited(name: str):
    assert scrubbed({name: "x"}) == {name: "x"}


def test_a_variable_that_an_experiment_names_as_secret_is_withheld(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HARMLESS_LOOKING_NAME", "sk-1")
    assert "HARMLESS_LOOKING_NAME" in scrubbed(os.environ)
    player = WorkerAssignment("mosaic_llm_worker", "llm", {"api_key": "env:HARMLESS_LOOKING_NAME"})
    assert resolve_secrets(player) == {"api_key": "sk-1"}
    assert "HARMLESS_LOOKING_NAME" not in scrubbed(os.environ)


def test_one_thread_no_gpu_and_a_cache_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("MKL_NUM_THREADS", "3")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1,2")
    monkeypatch.setenv("MOSAIC_CACHE_DIR", str(tmp_path))
    env = worker_environment(little_worker(tmp_path, RANDOM), "tag")
    assert env["OMP_NUM_THREADS"] == "1"
    assert env["MKL_NUM_THREADS"] == "3", "what the person set stays"
    assert env["CUDA_VISIBLE_DEVICES"] == ""
    assert env["HF_HOME"].startswith(str(tmp_path / "workers/little_worker"))
    assert (
        worker_environment(little_worker(tmp_path, RANDOM, "two"), "t", ("1", "0"))["CUDA_VISIBLE_DEVICES"]
        == "1,0"
    )


def test_the_manifest_has_the_last_word(tmp_path: Path):
    launch = {"env": {"OMP_NUM_THREADS": "8", "MY_MODE": "fast"}}
    env = worker_environment(little_worker(tmp_path, RANDOM, launch=launch), "tag")
    assert (env["OMP_NUM_THREADS"], env["MY_MODE"]) == ("8", "fast")


def test_the_tag_adds_to_those_of_the_parents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    definition = little_worker(tmp_path, RANDOM)
    monkeypatch.setenv(TAG, "outer")
    assert worker_environment(definition, "inner")[TAG] == "outer:inner"
    monkeypatch.delenv(TAG)
    assert worker_environment(definition, "inner")[TAG] == f"{program_tag()}:inner"


def test_an_interpreter_of_its_own_gets_the_sdk_and_nothing_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PYTHONPATH", "/of/ours")
    definition = little_worker(tmp_path, RANDOM)
    assert "/of/ours" in worker_environment(definition, "t")["PYTHONPATH"].split(os.pathsep)
    foreign = replace(definition, launch=replace(definition.launch, python=Path("/opt/py/bin/python")))
    path = worker_environment(foreign, "t")["PYTHONPATH"].split(os.pathsep)
    assert path[0] == str(tmp_path / "little_worker")
    assert [Path(p, "mosaic_worker").is_dir() for p in path[1:]] == [True]
    assert not set(path) & {p for p in sys.path if "site-packages" in p}
