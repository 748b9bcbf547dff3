"""Numbers as results show them: by a locale for people, as they are in files."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gym_gui.analysis import open_run, summarize
from gym_gui.analysis.columns.cells import ColumnOutput, ResultRow, columns_in
from gym_gui.analysis.columns.result_columns import RESULT_COLUMNS
from gym_gui.analysis.exports.export import operator_rows, write_table
from gym_gui.analysis.findings.summary import Summary
from gym_gui.analysis.statistics.summary_numbers import Estimate
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.wording import SCREEN, C, Locale

GERMAN = Locale(point=",", group=".", none="–", micro="µ")  # noqa: RUF001  # a dash


@pytest.fixture
def summary(tmp_path: Path, runs: Any) -> Summary:
    rows = [runs.single("a", i, 1234.5 + i) for i in range(12)]
    rows.append(runs.single("a", 12, None, status="failed", error="lost"))
    return summarize(open_run(runs.write_run(tmp_path, runs.Plan({"a": rows}))))


@pytest.mark.parametrize(
    ("locale", "told"),
    [
        (C, ["1,234.5", "-", "12.3 [10.1, 14.5]", "99.9 %", "0.2 ms", "50 us", "$1,250.00"]),
        (SCREEN, ["1,234.5", "–", "12.3 [10.1, 14.5]", "99.9 %", "0.2 ms", "50 µs", "$1,250.00"]),  # noqa: RUF001
        (GERMAN, ["1.234,5", "–", "12,3 [10,1; 14,5]", "99,9 %", "0,2 ms", "50 µs", "$1.250,00"]),  # noqa: RUF001
    ],
    ids=["C", "screen", "with a decimal comma"],
)
def test_numbers_are_written_by_their_locale(locale: Locale, told: list[str]) -> None:
    assert told == [
        wording.number(1234.5, 1, locale),
        wording.number(None, locale=locale),
        wording.estimate(Estimate(12.3, 10.1, 14.5, 20, 20, "mean"), locale),
        wording.percent(0.9988, locale),
        wording.milliseconds(0.2, locale),
        wording.milliseconds(0.05, locale),
        wording.dollars(1250.0, locale),
    ]


def test_every_column_of_a_place_takes_the_locale(summary: Summary) -> None:
    row = ResultRow(summary.operators[0])
    for place in ColumnOutput:
        for column in columns_in(place, RESULT_COLUMNS, [row]):
            plain, local = column.show(row), column.show(row, Locale(",", "."))
            # What has a decimal point has a comma there, and nothing else is another.
            assert local.text.translate({ord(","): ".", ord("."): ",", ord(";"): ","}) == plain.text


def test_files_hold_numbers_whoever_reads_them(summary: Summary, tmp_path: Path) -> None:
    write_table(operator_rows(summary), tmp_path / "o.csv")
    head, values = (tmp_path / "o.csv").read_text("utf-8").splitlines()
    cells = dict(zip(head.split(","), values.split(","), strict=True))
    assert float(cells["mean_return"]) == summary.operators[0].mean.value == 1240.0
    assert list(cells)[:5] == ["run_id", "operator_id", "name", "task", "kinds"]
    assert list(cells)[-4:] == ["usd", "unpriced_calls", "unsure_requests", "unsure_usd_at_most"]


def test_latencies_are_short() -> None:
    words = [wording.milliseconds(ms, SCREEN) for ms in (0.05, 0.4, 35, 1400, 12_200)]
    assert words == ["50 µs", "0.4 ms", "35 ms", "1.4 s", "12.2 s"]


@pytest.mark.parametrize(
    ("seconds", "words", "rough"),
    [
        (None, SCREEN.none, SCREEN.none),
        (float("nan"), SCREEN.none, SCREEN.none),
        (0.2, "0 s", "0 s"),
        (84, "1 min 24 s", "84 s"),
        (120, "2 min", "2 min"),
        (200, "3 min 20 s", "3 min"),
        (3599, "59 min 59 s", "1 h"),
        (7500, "2 h 5 min", "2 h 5 min"),
        (273_600, "3 d 4 h", "3 d 4 h"),
    ],
)
def test_spans_of_time(seconds: float | None, words: str, rough: str) -> None:
    assert wording.duration(seconds, SCREEN) == words
    assert wording.duration(seconds, SCREEN, rough=True) == rough


def test_moments_are_told_from_today() -> None:
    now = datetime.now().astimezone().replace(hour=12, minute=5)
    days = {0: "today 12:05", 1: "yesterday 12:05"}
    for before, words in days.items():
        assert wording.moment(now - timedelta(days=before)) == words
    assert wording.moment(now - timedelta(days=1), brief=True) == "yesterday"
    assert wording.moment(now - timedelta(days=3), brief=True) == f"{now - timedelta(days=3):%A}"
    assert wording.moment(datetime(2024, 7, 12, tzinfo=UTC)) == "12 Jul 2024" and wording.moment(None) == ""
