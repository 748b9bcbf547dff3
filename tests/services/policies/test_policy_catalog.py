"""What people call who plays a slot."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.services.policies.policy_catalog import names_in_words, policies_of, title_of
from gym_gui.services.policy_files import find_policy_files
from gym_gui.workers.discovery import discover
from gym_gui.workers.registry import WorkerTypeRegistry

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples" / "checkpoints"


@pytest.mark.parametrize(
    ("worker", "settings", "title"),
    [
        ("operators_worker", {"behavior": "minigrid_path"}, "MiniGrid path planner"),
        ("mosaic_llm_worker", {"client_name": "openai", "model_id": "gpt-4o-mini"}, "gpt-4o-mini"),
        ("mosaic_llm_worker", {}, "Language model"),
        ("cleanrl_worker", {"checkpoint": "/policies/lander"}, "lander"),
        ("human_worker", {}, "You"),
        ("somebody_elses", {}, "somebody_elses"),
    ],
)
def test_titles(worker: str, settings: dict[str, Any], title: str) -> None:
    if not WorkerTypeRegistry.all():
        discover()
    workers = {each.type_id: each for each in WorkerTypeRegistry.all()}
    kind = "" if worker in workers else "rl"
    row = WorkerAssignment(worker, kind, settings)
    assert title_of(row, policies_of(list(workers.values())), workers.get(worker)) == title


def test_a_trained_policy_is_called_as_its_training_and_found_by_its_name() -> None:
    if not WorkerTypeRegistry.all():
        discover()
    (file,) = find_policy_files([EXAMPLES])
    learnt = replace(file, description=replace(file.description, algorithm="self_play"), called="Mine")
    (policy,) = [each for each in policies_of(WorkerTypeRegistry.all(), [learnt]) if each.file]
    assert (policy.title, policy.policy_id.rpartition(":")[2]) == ("Mine", file.path.name)
    assert "Self-play" in policy.meaning, "algorithms are spelt as where they are trained"


@pytest.mark.parametrize(
    ("titles", "words"),
    [
        ([], ""),
        (["Random", "Random"], "Random"),
        (["Soccer chaser", "Random", "Random"], "Soccer chaser and Random"),
        (list("abcd"), "a, b and 2 others"),
    ],
)
def test_several_are_named_once_each(titles: list[str], words: str) -> None:
    assert names_in_words(titles) == words
