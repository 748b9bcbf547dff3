"""Run folders are readable while they are written, and damage has a place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_gui.analysis import open_run
from gym_gui.analysis.records.jsonl import read_lines
from gym_gui.core.errors import RunFormatError, UsageError

rows_of_json = st.lists(
    st.dictionaries(
        st.text(max_size=6),
        st.none() | st.integers(-(2**53), 2**53) | st.text(max_size=12) | st.lists(st.booleans(), max_size=3),
        max_size=3,
    ),
    max_size=5,
)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("jsonl") / "rows.jsonl"


@given(rows=rows_of_json, data=st.data())
@settings(deadline=None)
def test_any_truncation_gives_exactly_the_complete_prefix(
    scratch: Path, rows: list[dict[str, Any]], data: st.DataObject
) -> None:
    encoded = [json.dumps(row, ensure_ascii=False).encode() for row in rows]
    whole = b"".join(line + b"\n" for line in encoded)
    cut = data.draw(st.integers(0, len(whole)))
    scratch.write_bytes(whole[:cut])
    complete, end = 0, 0
    for line in encoded:
        end += len(line)
        complete += end <= cut
        end += 1
    assert [line.value for line in read_lines(scratch)] == rows[:complete]


@given(rows=rows_of_json.filter(lambda rows: len(rows) >= 2), data=st.data())
@settings(deadline=None)
def test_damage_before_the_last_line_is_named_by_line(
    scratch: Path, rows: list[dict[str, Any]], data: st.DataObject
) -> None:
    encoded = [json.dumps(row).encode() + b"\n" for row in rows]
    broken = data.draw(st.integers(0, len(rows) - 2))
    encoded[broken] = data.draw(
        st.sampled_from([b"{\n", b"\n", b"null\n", b'[{"a": 1}]\n', b'{"a": \xff}\n', b"\0\n"])
    )
    scratch.write_bytes(b"".join(encoded))
    with pytest.raises(RunFormatError) as caught:
        list(read_lines(scratch))
    assert caught.value.where == f"{scratch}:{broken + 1}"


def test_a_line_finished_while_reading_is_not_taken_for_two(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"a": 1}\n{"a":')
    reader = read_lines(path)
    assert next(reader).value == {"a": 1}
    with path.open("ab") as file:
        file.write(b' 2}\n{"a": 3}\n')
    assert [line.value for line in reader] in ([], [{"a": 2}, {"a": 3}])
    assert [line.value["a"] for line in read_lines(path)] == [1, 2, 3]


def test_half_a_number_is_no_row(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"a": 1}\n12')
    assert [line.value for line in read_lines(path)] == [{"a": 1}]


def test_lines_know_their_place(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes('{"a": "ü"}\n{"a": 2}\n'.encode())
    first, second = read_lines(path)
    assert (first.start, second.start, second.where) == (0, 12, f"{path}:2")


def test_a_file_that_is_not_there_yet_has_no_rows(tmp_path: Path) -> None:
    assert list(read_lines(tmp_path / "steps.jsonl")) == []


def test_a_run_hands_out_operators_episodes_and_steps(tmp_path: Path, runs: Any) -> None:
    rows = [runs.single("ppo", i, 9.5) for i in (1, 0)]
    run = open_run(runs.write_run(tmp_path, runs.Plan({"ppo": rows, "rnd": []}, names={"ppo": "PPO"})))
    assert list(run.operators) == ["ppo", "rnd"]
    assert run.record.seeds == (1001, 1000)
    ppo = run.operators["ppo"]
    assert (ppo.name, ppo.task) == ("PPO", "gymnasium/CartPole-v1")
    assert [e.episode_index for e in ppo.episodes()] == [1, 0], "in the order in which they finished"
    assert [(s.episode_index, s.step_index) for s in ppo.steps()] == [(1, 0), (1, 1), (0, 0), (0, 1)]
    assert [s.episode_index for s in ppo.steps({0})] == [0, 0]
    assert list(ppo.calls()) == []


def test_an_operator_known_only_by_its_folder_is_there(tmp_path: Path, runs: Any) -> None:
    path = runs.write_run(
        tmp_path, runs.Plan({"ppo": [runs.single("ppo", 0, 1.0)]}, extra={"experiment": {}})
    )
    run = open_run(path)
    assert [o.name for o in run.operators.values()] == ["ppo"]


def test_rows_are_read_lazily(tmp_path: Path, runs: Any) -> None:
    path = runs.write_run(tmp_path, runs.Plan({"ppo": [runs.single("ppo", i, 1.0) for i in range(3)]}))
    file = path / "operators" / "ppo" / "episodes.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(lines[0] + b"garbage\n" + lines[2])
    episodes = open_run(path).operators["ppo"].episodes()
    assert next(episodes).episode_index == 0
    with pytest.raises(RunFormatError, match=r"episodes\.jsonl:2: the line is damaged"):
        next(episodes)


@pytest.mark.parametrize(
    ("second", "says"),
    [
        ({"episode_index": 0}, "episodes.jsonl:2: episode 0 is already at "),
        ({"operator_id": "other"}, "episodes.jsonl:2: the episode is of operator 'other'"),
    ],
)
def test_rows_that_do_not_belong_are_refused(
    tmp_path: Path, runs: Any, second: dict[str, Any], says: str
) -> None:
    rows = [runs.single("ppo", 0, 1.0), {**runs.single("ppo", 1, 1.0), **second}]
    path = runs.write_run(tmp_path, runs.Plan({"ppo": rows}))
    with pytest.raises(RunFormatError) as caught:
        list(open_run(path).operators["ppo"].episodes())
    assert says in str(caught.value)


def test_no_run_is_said_with_what_to_type_instead(tmp_path: Path, runs: Any) -> None:
    with pytest.raises(UsageError, match=r"no run at .*nowhere\. Give the folder that contains run\.json"):
        open_run(tmp_path / "nowhere")
    path = runs.write_run(tmp_path, runs.Plan({"ppo": []}))
    with pytest.raises(UsageError, match=f"contains 1 run; give one, such as {path}"):
        open_run(tmp_path)
    with pytest.raises(UsageError, match=r"contains no run\.json"):
        open_run(path / "operators")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b'{"run_id": "01', "damaged, not JSON"),
        (b"[]", "expected an object, found a list"),
        (b'{"run_id": 3}', "'run_id' should be text, found 3"),
        (b'{"run_id": "x", "experiment": {"operators": [{"id": "../a"}]}}', "no usable id: '../a'"),
    ],
)
def test_a_damaged_run_file_is_named(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "run.json").write_bytes(content)
    with pytest.raises(RunFormatError) as caught:
        open_run(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / 'run.json'}: ")
    assert says in str(caught.value)
