"""A setting that several workers have is declared once, and each takes it under its own name."""

from __future__ import annotations

import ast
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from mosaic_worker.learning import training_fields as fields
from mosaic_worker.learning.training_command import ConfigError
from mosaic_worker.learning.training_settings import LibrarySettings, TrainingSettings

WORKERS = Path(__file__).resolve().parents[2]
TRAINED_BY = ("cleanrl_worker", "sb3_worker", "xuance_worker", "ray_worker")


class Told(LibrarySettings):
    """A worker's."""

    LIBRARY = ("lr", "n_epochs")

    lr: float = fields.learning_rate(5e-4)
    n_epochs: int = fields.epochs(10, "Passes over each batch.", le=None)
    ent_coef: float = fields.entropy_weight(0.0, main=False)


def said(model: type[TrainingSettings], name: str) -> dict[str, Any]:
    return model.model_json_schema()["properties"][name]


def test_a_setting_is_taken_under_another_name_with_its_sentence_bounds_and_group() -> None:
    rate = said(Told, "lr")
    assert (rate["title"], rate["description"]) == ("Learning rate", "Step size of the optimizer.")
    assert (rate["default"], rate["exclusiveMinimum"], rate["maximum"]) == (5e-4, 0, 1)
    assert rate["x-group"] == "main"


def test_what_a_worker_says_otherwise_holds() -> None:
    epochs = said(Told, "n_epochs")
    assert epochs["description"] == "Passes over each batch."
    assert (epochs["minimum"], "maximum" in epochs) == (1, False)
    assert "x-group" not in said(Told, "ent_coef")
    assert Told(n_epochs=5000).n_epochs == 5000
    with pytest.raises(ConfigError, match="n_epochs must be at least 1, not 0"):
        Told(n_epochs=0)


def test_a_library_is_told_its_own_settings_and_a_seed_that_it_takes() -> None:
    assert Told(lr=0.25).arguments() == {"lr": 0.25, "n_epochs": 10}
    assert TrainingSettings(seed=2**40).seed == 2**40
    with pytest.raises(ConfigError, match="seed must be less than 2147483648"):
        Told(seed=2**31)


def titles(file: Path) -> list[str]:
    """Titles that a source declares by pydantic's ``Field`` itself."""
    calls = [node for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Call)]
    return [
        word.value.value
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id == "Field"
        for word in call.keywords
        if word.arg == "title" and isinstance(word.value, ast.Constant) and isinstance(word.value.value, str)
    ]


def test_no_two_workers_declare_the_same_setting() -> None:
    places: dict[str, set[str]] = defaultdict(set)
    for worker in ("mosaic_worker_sdk", *TRAINED_BY):
        for file in (WORKERS / worker).glob("*/**/*.py"):
            if "tests" not in file.parts:
                for title in titles(file):
                    places[title].add(worker)
    for setting in vars(fields).values():
        if isinstance(setting, fields.Setting):
            places[setting.title].add("mosaic_worker_sdk")
    assert len(places) > 40
    assert {title: where for title, where in places.items() if len(where) > 1} == {}


def test_settings_of_one_title_have_one_kind_of_value() -> None:
    kinds: dict[str, set[str]] = defaultdict(set)
    for worker in TRAINED_BY:
        schema = json.loads((WORKERS / worker / "train_schema.json").read_text("utf-8"))
        for algorithm in schema["algorithms"].values():
            for about in algorithm["properties"].values():
                kind = about["type"] if isinstance(about["type"], str) else about["type"][0]
                kinds[about["title"]].add(kind)
    assert {title: kind for title, kind in kinds.items() if len(kind) > 1} == {}
