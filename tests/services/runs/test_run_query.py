"""Questions in SQL see what the readers of runs see, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from gym_gui.analysis import Run, open_run
from gym_gui.analysis.exports.export import episode_rows, step_rows
from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import UsageError
from gym_gui.services.runs.run_packing import compress_run
from gym_gui.services.runs.run_query import RunQuery
from tests.support.engine import player, record_run

duckdb = pytest.importorskip("duckdb")


@pytest.fixture
async def run(tmp_path: Path) -> Run:
    folder = await record_run(
        tmp_path / "runs",
        (OperatorConfig("pole", "Pole's", "", "CartPole-v1", {}), {"agent_0": lambda s: int(s[2] > 0)}),
        (OperatorConfig("zero", "", "", "CartPole-v1", {}), {"agent_0": player()}),
        (
            OperatorConfig("four", "", "", "connect_four_v3", {}),
            {f"player_{i}": player(lambda s: s.legal_actions[0]) for i in (0, 1)},
        ),
    )
    return open_run(folder)


@pytest.fixture
def query(run: Run, tmp_path: Path) -> Iterator[RunQuery]:
    with RunQuery([run], tmp_path / "cache") as made:
        yield made


def asked(query: RunQuery, sql: str) -> list[dict[str, Any]]:
    answer = query.ask(sql)
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]


def test_a_time_of_a_form_that_nobody_knows_is_none(run: Run, tmp_path: Path) -> None:
    file = run.path / "run.json"
    file.write_bytes(orjson.dumps(orjson.loads(file.read_bytes()) | {"finished_at": "in the evening"}))
    with RunQuery([open_run(run.path)], tmp_path / "cache") as query:
        (row,) = asked(query, "select started_at is null as begun, finished_at from runs")
    assert row == {"begun": False, "finished_at": None}


def test_episodes_and_steps_are_those_of_the_other_tables(query: RunQuery, run: Run) -> None:
    found = asked(query, "from episodes order by operator_id, episode_index")
    wanted = sorted(episode_rows(run), key=lambda row: (row["operator_id"], row["episode_index"]))
    assert len(found) == len(wanted)
    for row, expected in zip(found, wanted, strict=True):
        assert row["run"] == run.path.name
        for name, value in expected.items():
            if name != "started_at" and not name.startswith(("tokens.", "usd.")):
                assert row.get(name) == value, name

    steps = asked(query, "from steps order by operator_id, episode_index, step_index, agent_id")
    order = ("operator_id", "episode_index", "step_index", "agent_id")
    rows = sorted(step_rows(run), key=lambda row: tuple(row[name] for name in order))
    for row, expected in zip(steps, rows, strict=True):
        for name in set(expected) - {"option_move"}:
            assert row[name] == expected[name], name


def test_a_comparison_over_compressed_runs(query: RunQuery, run: Run, tmp_path: Path) -> None:
    sql = """
        select avg(a.total_reward - b.total_reward) as d, count(*) as n, min(s.reward) as least
        from episodes a join episodes b using (run, seed)
        join steps s on s.run = a.run and s.operator_id = a.operator_id and s.episode_index = a.episode_index
        where a.operator_id = 'pole' and b.operator_id = 'zero'
    """
    (plain,) = asked(query, sql)
    compress_run(run.path)
    with RunQuery([open_run(run.path)], tmp_path / "other") as again:
        assert asked(again, sql) == [plain]
    assert plain["least"] == 1.0 and math.isfinite(plain["d"])
    assert (
        asked(query, "select run, status, versions->>'gymnasium' as v from runs")[0]["status"] == "completed"
    )


def test_rows_of_no_finished_episode_do_not_count(run: Run, tmp_path: Path) -> None:
    steps = run.path / "operators" / "zero" / "steps.jsonl"
    row = {**orjson.loads(steps.read_bytes().splitlines()[0]), "episode_index": 77}
    with steps.open("ab") as file:
        file.write(orjson.dumps(row) + b'\n{"episode_index":77,"step_in')
    header = run.path / "run.json"
    header.write_bytes(orjson.dumps({**orjson.loads(header.read_bytes()), "status": "running"}))
    with RunQuery([open_run(run.path)], tmp_path / "cache") as query:
        assert asked(query, "select max(episode_index) as last from steps") == [{"last": 2}]


def test_tables_are_made_once_and_anew_when_a_run_grows(run: Run, query: RunQuery, tmp_path: Path) -> None:
    sql = "select count(*) as n from steps where operator_id = 'zero'"
    first = asked(query, sql)
    made = {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").iterdir()}
    assert asked(query, sql) == first and {p.name for p in (tmp_path / "cache").iterdir()} == {
        p.name for p in made
    }
    folder = run.path / "operators" / "zero"
    for name in ("steps.jsonl", "episodes.jsonl"):
        lines = (folder / name).read_bytes().splitlines()
        more = [
            orjson.dumps({**row, "episode_index": 9})
            for row in map(orjson.loads, lines)
            if not row["episode_index"]
        ]
        (folder / name).write_bytes(b"\n".join([*lines, *more, b""]))
    grown = asked(query, sql)
    assert grown[0]["n"] > first[0]["n"]
    assert len(list((tmp_path / "cache").iterdir())) == len(made), "what has been replaced is gone"


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("selec 1", "syntax error"),
        ("select nope from episodes", 'column "nope" not found'),
        ("from nowhere", "nowhere does not exist"),
        ("", "one statement that reads"),
        ("select 1; select 2", "one statement that reads"),
        ("drop view steps", "one statement that reads"),
        ("create table t as select 1", "one statement that reads"),
        ("set memory_limit='9GB'", "one statement that reads"),
        ("copy (select 1) to 'x.csv'", "one statement that reads"),
        ("attach 'x.db'", "one statement that reads"),
        ("install httpfs", "one statement that reads"),
        ("select * from read_text('/etc/hostname')", "file system operations are disabled"),
        ("select * from read_csv('https://localhost/x.csv')", "query failed"),
        ("select * from glob('/etc/*')", "file system operations are disabled"),
        ("select 'a'::int", "Could not convert"),
    ],
)
def test_a_question_reads_the_tables_and_nothing_else(query: RunQuery, sql: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        asked(query, sql)
    assert said in str(refused.value) and "\n" not in str(refused.value)


def test_parquet_is_written_whole(query: RunQuery, tmp_path: Path) -> None:
    out = tmp_path / "it's.parquet"
    assert query.write_parquet("select name, length from episodes -- all", out) == 9
    with duckdb.connect() as connection:
        (count,) = connection.execute("select count(*) from read_parquet(?)", [str(out)]).fetchone()
    assert count == 9
    with pytest.raises(UsageError, match="cannot be written"):
        query.write_parquet("from episodes", tmp_path / "nowhere" / "x.parquet")
    with pytest.raises(UsageError):
        query.write_parquet("select nope from episodes", tmp_path / "no.parquet")
    assert [path.name for path in tmp_path.glob("*.parquet*")] == [out.name]


def test_a_damaged_row_is_named(run: Run, query: RunQuery) -> None:
    with (run.path / "operators" / "zero" / "steps.jsonl").open("ab") as file:
        file.write(b"{damaged}\n")
    with pytest.raises(UsageError, match=r"zero/steps\.jsonl: .*JSON"):
        asked(query, "select count(*) from steps")


def test_runs_of_one_name_are_told_apart(run: Run, tmp_path: Path) -> None:
    other = tmp_path / "other" / run.path.name
    other.parent.mkdir()
    other.symlink_to(run.path)
    with RunQuery([run, open_run(other)], tmp_path / "cache") as query:
        names = {row["run"] for row in asked(query, "select distinct run from episodes")}
    assert names == {str(run.path), str(other)}
