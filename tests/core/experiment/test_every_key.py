"""Experiment files with every key in them: what is recorded, described and refused, letter by letter.

``every_key.json`` was written before the keys were declared in one place. Run folders, presets and what
people read in their terminals hold to it.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from gym_gui.core.errors import ExperimentError
from gym_gui.core.experiment.experiment_data import experiment_from_data
from gym_gui.core.experiment.experiment_text import describe

PINNED: dict[str, Any] = json.loads(Path(__file__).with_name("every_key.json").read_text("utf-8"))
WRITTEN = PINNED["read"][0]["written"]


@pytest.mark.parametrize("pinned", PINNED["read"], ids=["every key", "no key", "until decided"])
def test_record_and_description_stay_as_they_are(pinned: dict[str, Any]) -> None:
    experiment = experiment_from_data(pinned["written"])
    assert json.dumps(experiment.to_record()) == json.dumps(pinned["record"])  # the order of keys, too
    assert describe(experiment).split("\n") == pinned["described"]
    assert experiment_from_data(pinned["record"]) == experiment


@pytest.mark.parametrize(("place", "value", "message"), PINNED["refused"])
def test_refusal_stays_as_it_is(place: str, value: object, message: str) -> None:
    data = copy.deepcopy(WRITTEN)
    *path, last = place.split(".")
    target = data
    for key in path:
        target = target[int(key)] if isinstance(target, list) else target[key]
    target[last] = value
    with pytest.raises(ExperimentError) as caught:
        experiment_from_data(data)
    assert str(caught.value) == message
