"""The table, the page and the files: readable, whole, and safe against what runs contain."""

from __future__ import annotations

import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from gym_gui.analysis import Summary, open_run, render_html, render_text, report, summarize
from gym_gui.analysis.exports.episode_curves import completed_episodes
from gym_gui.analysis.exports.export import operator_rows
from gym_gui.analysis.terminal_report import print_columns
from gym_gui.analysis.words.plain_columns import Column
from gym_gui.core.errors import UsageError

HOSTILE = "<script>alert(1)</script>\"'>&\x1b[31m\u202e\n[bold]x[/bold]"


@pytest.fixture
def mixed(tmp_path: Path, runs: Any) -> tuple[Path, Path]:
    """CartPole with a failure, and soccer in swapped seats."""
    cart = {
        "ppo": [runs.single("ppo", i, 480.0 + i, success=True) for i in range(20)],
        "rnd": [runs.single("rnd", i, 10.0 + i % 7, "random", success=False) for i in range(19)]
        + [runs.single("rnd", 19, None, "random", status="failed", error="worker lost: killed (signal 9)")],
    }
    goals = [{"green": 3, "blue": 1}, {"blue": 2, "green": 0}]
    soccer = {"soccer": [runs.match("soccer", i, goals[i % 2], swapped=bool(i % 2)) for i in range(16)]}
    names = {"ppo": "PPO, 200k steps", "rnd": "Random"}
    first = runs.write_run(tmp_path, runs.Plan(cart, run_id="01A", names=names))
    return first, runs.write_run(tmp_path, runs.Plan(soccer, run_id="01B", task="Soccer 2v2"))


def _summary(paths: tuple[Path, ...]) -> Summary:
    return summarize([open_run(path) for path in paths])


def _text(summary: Summary, width: int, **options: Any) -> str:
    console = Console(file=io.StringIO(), width=width, **options)
    render_text(summary, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


# ---------------------------------------------------------------------------- table


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_the_table_fits_and_says_it_all(mixed: tuple[Path, Path], width: int) -> None:
    text = _text(_summary(mixed), width)
    assert max(len(line) for line in text.splitlines()) <= width
    flat = " ".join(text.split())
    assert flat.startswith("Runs of different environments are not compared")
    assert (
        "gymnasium/CartPole-v1: PPO, 200k steps (this checkpoint) against Random is not decided: "
        "Random failed in 1 of"
    ) in flat
    for part in (
        "19 of 20",
        "16/16 (100 % [63, 100])",
        "[485.8, 493.3]",
        "killed (signal 9)",
        "IQM [95 %]",
        "Decision",
    ):
        assert part in flat


@pytest.mark.parametrize("earlier", [False, True], ids=["counted", "by an earlier version"])
@pytest.mark.parametrize("failing", [False, True])
def test_unusable_decisions_are_counted_not_answers(
    tmp_path: Path, runs: Any, failing: bool, earlier: bool
) -> None:
    """Each asked twice more than it had to be; in one of four there was no action in the end."""

    def row(i: int) -> dict[str, Any]:
        unusable, end = i % 4 == 3, dict[str, Any](length=1)
        if unusable and failing:
            end = {"status": "failed", "length": 0, "error": "agent_0: unusable action at step 0: no action"}
        if not earlier:
            end["unusable_decisions"] = {"agent_0": int(unusable)}
        return runs.single("llm", i, 1.0, **end, invalid_actions={"agent_0": 3 if unusable else 2})

    def steps(row: Any) -> list[dict[str, Any]]:
        source = "random_legal" if row["episode_index"] % 4 == 3 else "retry"
        return runs.step_rows(row, source=source)

    path = runs.write_run(tmp_path, runs.Plan({"llm": [row(i) for i in range(8)]}, steps=steps))
    summary = summarize(open_run(path))
    operator = summary.operator("llm")
    assert operator.decisions is not None and operator.decisions.total == 8
    assert (operator.unusable_decisions, operator.invalid_actions) == (2, 18)
    assert operator.slots[0].unusable_decisions == 2
    for told in (_text(summary, 200), render_html(summary)):
        assert "25 %" in told and "100 %" not in told
    assert (operator_rows(summary)[0]["unusable"], operator_rows(summary)[0]["unusable_answers"]) == (2, 18)
    unknown = summarize(open_run(path), steps=False).operator("llm").unusable_decisions
    assert unknown == (None if earlier else 2), "nothing is guessed where the rows are not read"


def test_who_played_with_the_whole_picture_before_them_is_named(tmp_path: Path, runs: Any) -> None:
    goals = {"green": 1, "blue": 0}
    rows = [runs.match("soccer", i, goals) for i in range(4)]
    rows[2]["saw_everything"] = ["blue_0"]
    summary = _summary((runs.write_run(tmp_path, runs.Plan({"soccer": rows}, task="Soccer 2v2")),))
    said = "blue_0 was played by a person who saw what is hidden from that seat, in 1 of 4 episodes"
    for told in (_text(summary, 300), render_html(summary), json.dumps(summary.to_json())):
        assert said in told


def test_games_in_which_moves_were_taken_back_count_nowhere(tmp_path: Path, runs: Any) -> None:
    rows = [runs.match("soccer", i, {"green": 1, "blue": 0}) for i in range(4)]
    back = {"taken_back": {"episode": 1, "step": 3}}
    rows += [{**runs.match("soccer", 4 + i, {"green": 0, "blue": 9}), **back} for i in range(3)]
    folder = runs.write_run(tmp_path, runs.Plan({"soccer": rows}, task="Soccer 2v2"))
    summary = _summary((folder,))
    (operator,) = summary.operators
    assert (operator.recorded, operator.completed) == (4, 4)
    assert "3 episodes left out, because a player took back moves there" in _text(summary, 300)
    assert len(completed_episodes(open_run(folder).operators["soccer"])) == 4


def test_who_was_handed_the_state_of_the_simulator_is_marked_in_every_table(
    tmp_path: Path, runs: Any
) -> None:
    goals = {"green": 1, "blue": 0}
    rows = [{**runs.match("planner", i, goals), "saw_state": ["blue_0"]} for i in range(4)]
    other = [runs.match("soccer", i, goals) for i in range(4)]
    plan = runs.Plan({"planner": rows, "soccer": other}, task="Soccer 2v2")
    summary = _summary((runs.write_run(tmp_path, plan),))
    marked = [operator.name for operator in summary.operators if operator.name.endswith(" †")]
    assert len(marked) == 1 and len(summary.operators) == 2
    for told in (
        _text(summary, 300),
        render_html(summary),
        json.dumps(summary.to_json(), ensure_ascii=False),
    ):
        assert marked[0] in told
        assert "blue_0 received the simulator" in told


def test_the_table_is_plain_where_there_is_no_terminal(mixed: tuple[Path, Path]) -> None:
    summary = _summary(mixed)
    assert "\x1b" not in _text(summary, 100)
    assert "\x1b[" in _text(summary, 100, force_terminal=True, color_system="standard")


def test_the_best_operator_comes_first(mixed: tuple[Path, Path]) -> None:
    lines = _text(_summary(mixed), 120).splitlines()
    rows = [i for i, line in enumerate(lines) if re.match(r"(PPO, 200k steps|Random) +(RL|baseline)", line)]
    assert lines[rows[0]].startswith("PPO") and rows[1] == rows[0] + 1


# ----------------------------------------------------------------------------- page


class _Page(HTMLParser):
    """Collects tags, attributes and text, and checks that tags are closed in order."""

    VOID = frozenset({"meta"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_the_page_says_what_the_summary_says(mixed: tuple[Path, Path]) -> None:
    summary = _summary(mixed)
    page = _Page(render_html(summary))
    text = " ".join(" ".join(page.text).split())
    for verdict in summary.verdicts:
        assert verdict.claim in text
    assert text.index(summary.verdicts[0].claim) < text.index("IQM return")
    for part in (
        "19 of 20",
        "killed (signal 9)",
        "won 16, drawn 0, lost 0",
        "0123456789abcdef",
        "gymnasium 1.4.0",
    ):
        assert part in text
    assert page.tags.count("svg") == 5, "intervals, one pair, team intervals, team pair, outcomes"
    assert "1000, 1001" in text, "seeds at the foot"


def test_the_page_needs_nothing_but_itself(mixed: tuple[Path, Path]) -> None:
    html = render_html(_summary(mixed))
    page = _Page(html)
    assert not {"script", "link", "img", "iframe", "object", "base"} & set(page.tags)
    assert not {"src", "href", "style", "action"} & {name for name, _ in page.attributes}
    assert "url(" not in html and "@import" not in html and "http://" not in html and "https://" not in html
    assert "prefers-color-scheme: dark" in html


def test_run_data_is_text_and_never_markup(tmp_path: Path, runs: Any) -> None:
    agents = {"agent_0": {"worker_id": HOSTILE, "worker_type": HOSTILE, "policy": HOSTILE}}
    rows = [runs.single("a", i, float(i), agents=agents) for i in range(7)]
    failed = [runs.single("a", 7, None, agents=agents, status="failed", error=HOSTILE)]
    match = [runs.match("m", i, {"green": 1, "blue": 0}) for i in range(7)]
    for row in match:
        row["agents"]["green_0"]["policy"] = HOSTILE
        row["teams"] = {HOSTILE: row["teams"]["green"], "blue": row["teams"]["blue"]}
        row["outcome"] = {HOSTILE: "win", "blue": "loss"}
    plan = runs.Plan(
        {"a": rows + failed, "b": [runs.single("b", i, 0.0) for i in range(7)], "m": match},
        names={"a": HOSTILE, "m": HOSTILE + "2"},
        task=HOSTILE,
        extra={
            "versions": {HOSTILE: HOSTILE},
            "machine": {HOSTILE: [HOSTILE]},
            "commit": HOSTILE,
            "status": HOSTILE,
        },
    )
    path = runs.write_run(tmp_path, plan)
    summary = summarize(open_run(path))
    page = _Page(render_html(summary))
    assert "script" not in page.tags and "bold" not in page.tags
    assert all(
        len(value or "") < 120 and "<" not in (value or "")
        for name, value in page.attributes
        if name == "class"
    )
    joined = "".join(page.text)
    assert "<script>alert(1)</script>" in joined, "shown as it is written"
    assert not {"\x1b", "\u202e"} & set(joined)
    text = _text(summary, 400, force_terminal=True, color_system=None)
    assert not {"\x1b[31m", "\u202e"} & set(re.findall(r"\x1b\[31m|\u202e", text))
    assert "[bold]x[/bold]" in text, "not taken for markup"


@pytest.mark.parametrize("n", [0, 1, 700])
def test_the_page_holds_for_any_number_of_episodes(tmp_path: Path, runs: Any, n: int) -> None:
    plan = runs.Plan(
        {
            "a": [runs.single("a", i, float(i % 13), length=1) for i in range(n)],
            "b": [runs.single("b", i, 1.0, length=1) for i in range(n)],
        }
    )
    html = render_html(summarize(open_run(runs.write_run(tmp_path, plan))))
    page = _Page(html)
    assert "nan" not in html.lower().replace("finance", "")
    assert page.tags.count("rect") < 600
    if n == 0:
        assert "No completed episodes." in "".join(page.text)


# ------------------------------------------------------------------- mosaic report


def _console() -> Console:
    return Console(file=io.StringIO(), width=100)


def test_report_prints_and_writes_beside_the_run(mixed: tuple[Path, Path]) -> None:
    console = _console()
    summary = report([mixed[0]], console=console)
    written = json.loads((mixed[0] / "summary.json").read_bytes())
    assert written.pop("made")["files_sha256"].keys() == {"report.html"}
    assert written == json.loads(json.dumps(summary.to_json()))
    assert (mixed[0] / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert sorted(p.name for p in mixed[0].iterdir()) == [
        "operators",
        "report.html",
        "run.json",
        "summary.json",
    ]
    assert isinstance(console.file, io.StringIO) and "Page: " in console.file.getvalue()
    before = (mixed[0] / "report.html").read_bytes()
    report([mixed[0]], console=_console())
    assert (mixed[0] / "report.html").read_bytes() == before, "the same run gives the same page"


def test_report_as_json_is_json_alone(mixed: tuple[Path, Path]) -> None:
    console = _console()
    report([mixed[0]], as_json=True, console=console)
    assert isinstance(console.file, io.StringIO)
    data = json.loads(console.file.getvalue())
    assert data["verdicts"][0]["text"].startswith("PPO, 200k steps (this checkpoint) against Random")
    assert {o["mean"]["n"] for o in data["operators"]} == {20, 19}
    assert data["operators"][0]["mean"]["method"] in data["methods"]


def test_several_runs_are_written_only_where_told(mixed: tuple[Path, Path], tmp_path: Path) -> None:
    report(mixed, console=_console())
    assert not list(tmp_path.rglob("report.html"))
    report(mixed, out=tmp_path / "both", console=_console())
    assert (tmp_path / "both" / "summary.json").is_file()


def test_what_the_person_can_mend_is_one_line(mixed: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no run was named"):
        report([])
    with pytest.raises(UsageError, match="run 01A was named twice"):
        report([mixed[0], mixed[0]])
    blocked = tmp_path / "file"
    blocked.write_text("")
    console = _console()
    with pytest.raises(UsageError, match=r"cannot be written: .*name another folder with --out"):
        report([mixed[0]], out=blocked / "x", console=console)
    assert isinstance(console.file, io.StringIO) and "is not decided" in console.file.getvalue()


@pytest.mark.parametrize("width", [60, 80, 100, 110, 200])
def test_no_column_vanishes_from_a_narrow_terminal(width: int) -> None:
    """A table that has no room stands as several, each with the names again."""
    columns = [
        Column("Policy", lambda row: row[0], words=True),
        Column("Kind", lambda row: row[1], words=True),
        *(Column(f"Figure {n} [95 %]", lambda row, n=n: row[2 + n]) for n in range(8)),
    ]
    rows = [
        [f"policy {i}", "baseline", *(f"{i}.{n}25 [0.{n}10, 9.{n}90]" for n in range(8))] for i in range(3)
    ]
    console = Console(file=io.StringIO(), width=width)
    print_columns(console, columns, rows, "A table")
    text = console.file.getvalue()  # pyright: ignore[reportAttributeAccessIssue]
    assert max(map(len, text.splitlines())) <= width
    for column in columns:
        assert column.heading in text, text
    for row in rows:
        for cell in row:
            assert cell in text, f"{cell} is missing or broken:\n{text}"
