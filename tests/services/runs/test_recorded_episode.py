"""Recorded episodes are found with their rows, one by one and in one pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from gym_gui.analysis import open_run
from gym_gui.services.runs.recorded_episode import load_episode, load_episodes
from tests.analysis.conftest import Plan, dump, single, step_rows, write_run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Episodes as they finished; of the third nothing was played."""
    rows = [single("op", index, 1.0, length=3) for index in (11, 1, 3, 0)]
    rows[2] |= {"status": "failed", "error": "no worker", "length": 0}
    return write_run(tmp_path, Plan({"op": rows}))


def test_one_pass_finds_what_each_by_itself_is(run: Path) -> None:
    opened = open_run(run)
    found = list(load_episodes(opened, "op", {0, 1, 3, 11, 7}))
    assert [each.episode.episode_index for each in found] == [11, 1, 3, 0]
    assert found[2].lines == b""
    assert [each for each in found if each.lines] == [load_episode(opened, "op", i) for i in (11, 1, 0)]


def test_rows_in_another_order_are_found_too(run: Path) -> None:
    steps = run / "operators" / "op" / "steps.jsonl"
    blocks = [dump(step_rows(single("op", index, 1.0, length=3))) for index in (0, 1, 11)]
    steps.write_bytes(b"".join(blocks))
    found = {each.episode.episode_index: each.lines for each in load_episodes(open_run(run), "op", {0, 11})}
    assert found == {0: blocks[0], 11: blocks[2]}


def test_rows_of_other_programs_are_found(run: Path) -> None:
    steps = run / "operators" / "op" / "steps.jsonl"
    steps.write_bytes(steps.read_bytes().replace(b'{"', b'{ "'))
    (only,) = load_episodes(open_run(run), "op", {1})
    assert [step.step_index for step in only.steps()] == [0, 1, 2]
