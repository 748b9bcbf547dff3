"""Results as tables and pictures for other programs."""

from __future__ import annotations

import csv
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from gym_gui.analysis import Run, open_run, summarize
from gym_gui.analysis.exports import export
from gym_gui.analysis.exports.export import (
    STEP_COLUMNS,
    episode_rows,
    figure_svg,
    operator_rows,
    step_rows,
    write_figure,
    write_table,
)
from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.experiment_data import experiment_from_data
from tests.support.engine import player, record_run


@pytest.fixture
async def run(tmp_path: Path) -> Run:
    def legal(s: Any) -> int:
        return s.legal_actions[(s.seed + s.step_index) % len(s.legal_actions)]

    folder = await record_run(
        tmp_path / "runs",
        (OperatorConfig("pole", "Pole, <b>", "", "CartPole-v1", {}), {"agent_0": lambda s: int(s[2] > 0)}),
        (OperatorConfig("zero", "", "", "CartPole-v1", {}), {"agent_0": player()}),
        (
            OperatorConfig("four", "", "", "connect_four_v3", {}),
            {f"player_{i}": player(legal) for i in (0, 1)},
        ),
    )
    return open_run(folder)


def test_operators_as_csv(run: Run, tmp_path: Path) -> None:
    summary, path = summarize(run), tmp_path / "o.csv"
    assert write_table(operator_rows(summary), path) == 3
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["operator_id"] for row in rows] == ["pole", "zero", "four"]
    assert float(rows[0]["iqm_return"]) == summary.operators[0].iqm.value
    assert rows[0]["name"] == "Pole, <b>"


def test_episodes_as_parquet(run: Run, tmp_path: Path) -> None:
    parquet: Any = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "e.parquet"
    assert write_table(episode_rows(run), path) == 9
    table = parquet.read_table(path).to_pylist()
    recorded = {(e.operator_id, e.episode_index): e for o in run.operators.values() for e in o.episodes()}
    for row in table:
        episode = recorded[row["operator_id"], row["episode_index"]]
        assert (row["seed"], row["length"], row["total_reward"]) == (
            episode.seed,
            episode.length,
            episode.total_reward,
        )
    games = [row for row in table if row["operator_id"] == "four"]
    assert {row["outcome.player_0"] for row in games} <= {"win", "draw", "loss"}
    assert table[0]["outcome.player_0"] is None


@pytest.fixture
async def two_levels(tmp_path: Path) -> Run:
    """A random manager over skills, beside an agent without a manager."""
    who = {"type": "baseline", "behavior": "minigrid_skills"}
    managed = {"agent": {"type": "random"}}
    data = {"id": "two", "task": "MiniGrid-DoorKey-5x5-v0", "manager": managed, "workers": {"agent": who}}
    (operator,) = experiment_from_data({"operators": [{**data, "max_steps": 30}]}, complete=False).operators
    pole = OperatorConfig("pole", "", "", "CartPole-v1", {})
    folder = await record_run(tmp_path / "two", (operator, {}), (pole, {"agent_0": player()}))
    return open_run(folder)


def test_steps_say_what_was_asked_for_which_of_its_moves_it_is_and_how_it_ended(
    two_levels: Run, tmp_path: Path
) -> None:
    path = tmp_path / "s.csv"
    recorded = [step for o in two_levels.operators.values() for step in o.steps()]
    assert write_table(step_rows(two_levels), path) == len(recorded)
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    pole = [row for row in rows if row["operator_id"] == "pole"]
    assert {row["option"] + row["option_move"] + row["option_ended_by"] for row in pole} == {""}
    assert {row["action"] for row in pole} <= {"0", "1"}
    for episode in {row["episode_index"] for row in rows}:
        mine = [r for r in rows if (r["operator_id"], r["episode_index"]) == ("two", episode)]
        choices = [i for i, row in enumerate(mine) if row["agent_id"].endswith("/goal")]
        assert choices[0] == 0
        for start, end in zip(choices, [*choices[1:], len(mine)], strict=True):
            choice, moves = mine[start], mine[start + 1 : end]
            assert [int(row["option_move"]) for row in moves] == list(range(1, len(moves) + 1))
            assert {row["option"] for row in moves} == {choice["option"]}
            assert int(choice["option_moves"]) == len(moves) and choice["option_move"] == ""
            ends = [row["option_ended_by"] for row in moves]
            assert ends == [""] * (len(moves) - 1) + [choice["option_ended_by"]]


def test_episodes_and_operators_count_what_managers_decided(two_levels: Run) -> None:
    asked = {e: list[str]() for e in range(3)}
    for step in two_levels.operators["two"].steps():
        if step.agent_id.endswith("/goal"):
            asked[step.episode_index].append(step.option)
    rows = list(episode_rows(two_levels))
    told = [(row["manager_decisions"], row["options"]) for row in rows if row["operator_id"] == "two"]
    assert told == [(len(each), len(set(each))) for each in asked.values()]
    assert all("options" not in row for row in rows if row["operator_id"] == "pole")
    whole = {row["operator_id"]: row for row in operator_rows(summarize(two_levels))}
    every = [option for each in asked.values() for option in each]
    assert (whole["two"]["manager_decisions"], whole["two"]["options"]) == (len(every), len(set(every)))
    assert (whole["pole"]["manager_decisions"], whole["pole"]["options"]) == (0, 0)


def test_steps_as_parquet_whatever_actions_are(two_levels: Run, tmp_path: Path) -> None:
    parquet: Any = pytest.importorskip("pyarrow.parquet")
    count = write_table(step_rows(two_levels), tmp_path / "s.parquet")
    table = parquet.read_table(tmp_path / "s.parquet").to_pylist()
    assert len(table) == count and {type(row["action"]) for row in table} == {str}


def test_a_table_is_written_whole_or_not_at_all(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("old")
    with pytest.raises(UsageError, match="nothing to write"):
        write_table([], path)
    assert path.read_text() == "old"
    with pytest.raises(UsageError, match=r"Write e\.csv"):
        write_table(episode_rows(run), tmp_path / "e.xlsx")
    with pytest.raises(UsageError, match="cannot be written"):
        write_table(episode_rows(run), tmp_path / "nowhere" / "e.csv")
    assert {p.name for p in tmp_path.iterdir()} == {"runs", "e.csv"}


def test_the_picture_stands_alone(run: Run, tmp_path: Path) -> None:
    summary = summarize(run)
    text = figure_svg(summary)
    root = ET.fromstring(text)
    said = " ".join("".join(node.itertext()) for node in root.iter() if node.tag.endswith("text"))
    assert "Pole, <b>" in said and "IQM RETURN" not in said
    assert "class=" not in text, "no style sheet comes along"
    assert not re.search(r'fill="(?!#)', text)
    write_figure(summary, tmp_path / "f.svg", summary.comparisons[-1])
    assert "minus" in (tmp_path / "f.svg").read_text(encoding="utf-8")


def test_steps_are_written_as_they_come(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet: Any = pytest.importorskip("pyarrow.parquet")
    rows = list(step_rows(run))
    assert set(rows[0]) == set(STEP_COLUMNS)
    monkeypatch.setattr(export, "BATCH", 7)
    for suffix in (".csv", ".parquet"):
        whole, parts = tmp_path / f"whole{suffix}", tmp_path / f"parts{suffix}"
        assert write_table(rows, whole) == write_table(iter(rows), parts, STEP_COLUMNS) == len(rows)
        if suffix == ".csv":
            assert whole.read_bytes() == parts.read_bytes()
        else:
            assert parquet.read_table(whole).to_pylist() == parquet.read_table(parts).to_pylist() == rows
            assert parquet.ParquetFile(parts).num_row_groups > 1
    with pytest.raises(UsageError, match="nothing to write"):
        write_table([], tmp_path / "no.csv", STEP_COLUMNS)
