"""The settings of algorithms are written down where programs read them, and are not out of date."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from cleanrl_worker.registry import ALGORITHMS, load
from mosaic_worker.learning.training_schema import schema_file, schema_text, write_schema

FILE = schema_file("cleanrl_worker")
STALE = "run: python -m mosaic_worker.learning.training_schema cleanrl_worker"
WRITTEN: dict[str, Any] = json.loads(FILE.read_text("utf-8"))["algorithms"]


def test_the_file_is_what_the_models_say() -> None:
    assert FILE.read_text("utf-8") == schema_text(ALGORITHMS), (
        "run python -m mosaic_worker.learning.training_schema cleanrl_worker"
    )


def test_staleness_is_told_by_the_exit_status(tmp_path: Path) -> None:
    file = tmp_path / "train_schema.json"
    assert write_schema(file, ALGORITHMS, ["--check"]) == 1
    assert write_schema(file, ALGORITHMS, []) == 0
    assert write_schema(file, ALGORITHMS, ["--check"]) == 0
    file.write_text("{}")
    assert write_schema(file, ALGORITHMS, ["--check"]) == 1


def test_the_manifest_names_the_same_algorithms() -> None:
    manifest = tomllib.loads((FILE.parent / "worker.toml").read_text("utf-8"))
    assert manifest["train"]["algorithms"] == list(ALGORITHMS) == list(WRITTEN)
    offered = manifest["settings"]["algorithm"]["options"]
    assert [(o["value"], o["title"]) for o in offered] == [(a.name, a.title) for a in ALGORITHMS.values()]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_setting_explains_itself(name: str) -> None:
    properties = WRITTEN[name]["properties"]
    main_ones = [key for key, given in properties.items() if given["x-group"] == "main"]
    assert {"total_steps", "learning_rate", "num_envs", "device"} <= set(main_ones)
    assert len(main_ones) <= 8
    assert list(properties)[: len(main_ones)] == main_ones
    for key, given in properties.items():
        assert given["title"] and given["description"].endswith("."), key
        assert "default" in given, key
        kind = given["type"] if isinstance(given["type"], str) else given["type"][0]
        assert kind in ("integer", "number", "boolean", "string", "array"), key
    assert WRITTEN[name]["description"].endswith(".")


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_name_in_the_registry_is_there(name: str) -> None:
    algorithm = ALGORITHMS[name]
    assert callable(load(algorithm.train))
    for player in algorithm.networks.values():
        assert callable(load(player).build)
