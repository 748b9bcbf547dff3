"""Results as tables and pictures for other programs."""

from __future__ import annotations

import csv
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from gym_gui.analysis import Run, open_run, summarize
from gym_gui.analysis.export import episode_rows, figure_svg, operator_rows, write_figure, write_table
from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import UsageError
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
