"""Lines reach whoever watches whole, in order and once, at any pace."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gym_gui.services.store import Store
from gym_gui.services.trainer.client import TrainerClient
from gym_gui.services.trainer.telemetry import BATCH_BYTES, LineFeed
from gym_gui.services.trainer.watching import Watchers
from mosaic_worker.training import TrainingRun
from tests.services.trainer.conftest import ENDLESS, Daemon, config, over, trains
from tests.services.trainer.test_outside_trainings import ABOUT, Stranger
from tests.services.trainer.test_run_registry import a_run


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(max_size=40), max_size=20), st.integers(0, 25), st.data())
def test_whatever_the_pieces_lines_come_whole(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], skip: int, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("feed") / "metrics.jsonl"
    feed, got = LineFeed(path, skip), b""
    assert feed.next() == b""
    whole = b"".join(line.replace(b"\n", b" ") + b"\n" for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=6)))
    with path.open("ab", buffering=0) as file:
        for begin, end in zip([0, *cuts], [*cuts, len(whole)], strict=True):
            file.write(whole[begin:end])
            piece = feed.next()
            assert piece == b"" or piece.endswith(b"\n")
            got += piece
    got += feed.next()
    assert got.split(b"\n") == (whole.split(b"\n")[skip:] or [b""])


def test_long_lines_and_long_files_come_in_batches(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    long = b"x" * (3 * BATCH_BYTES)
    short = [str(k).encode() for k in range(100_000)]
    path.write_bytes(b"\n".join([*short, long, b"end"]) + b"\nhalf")
    feed, batches = LineFeed(path), list[bytes]()
    while batch := feed.next():
        batches.append(batch)
    assert b"".join(batches).split(b"\n") == [*short, long, b"end", b""]
    assert sorted(map(len, batches))[-2] <= BATCH_BYTES


def test_a_training_that_is_begun_anew_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b"old 1\nold 2\n")
    feed = LineFeed(path)
    assert feed.next() == b"old 1\nold 2\n"
    path.unlink()
    assert feed.next() == b""
    path.write_bytes(b"new 1\nnew 2\nnew 3\n")
    assert feed.next() == b"new 1\nnew 2\nnew 3\n"


async def test_a_slow_watcher_of_runs_sees_the_newest_of_each() -> None:
    watchers = Watchers()
    slow, fast = watchers.add(), watchers.add()
    for step in range(1000):
        watchers.tell(a_run("a", step=step))
        watchers.tell(a_run("b", step=-step))
    changes = slow.changes()
    assert [(await anext(changes)).step for _ in range(2)] == [999, -999]
    watchers.drop(fast)
    watchers.tell(a_run("a", step=1000))
    assert (await anext(changes)).step == 1000


async def test_nothing_is_lost_at_50000_points_a_second_and_who_is_slow_only_lags(
    daemon: Daemon, store: Store, tmp_path: Path
) -> None:
    """A training reports 50,000 points in a second (here as fast as it can) while two watch."""
    client = await daemon.client()
    stranger = Stranger(store)
    run_id = await stranger.register(**{**ABOUT, "every_s": 60, "folder": str(tmp_path)})
    rows, width = 20_000, 10
    training = TrainingRun(tmp_path)

    def report() -> float:
        training.start("impala", "MyGame-v0", 4, rows)
        began = time.perf_counter()
        for step in range(rows):
            training.metrics(step, {f"losses/{k}": float(step + k) for k in range(width)})
            if step % 100 == 0:
                training.advance(step, lambda: None)
        training.done("completed", rows, None)
        training.close()
        return time.perf_counter() - began

    async def watch(pause_s: float) -> list[int]:
        steps: list[int] = []
        async for batch in client.metrics(run_id):
            assert all(row.values["losses/9"] == row.step + 9.0 for row in batch)
            steps += [row.step for row in batch]
            await asyncio.sleep(pause_s)
        return steps

    took, quick, slow = await asyncio.gather(asyncio.to_thread(report), watch(0.0), watch(0.05))
    assert quick == slow == list(range(rows))
    assert rows * width / took > 10_000  # measured properly by scripts/bench_train.py
    stranger.close()
    await over(client, run_id)


async def test_who_does_not_read_gets_no_more_than_was_given_leave_for(
    client: TrainerClient, store: Store
) -> None:
    run_id = await client.submit(config(total_steps=ENDLESS - 1))  # as fast as it can
    run = await trains(client, run_id)
    watched = client.metrics(run_id)
    first = await anext(aiter(watched))
    # Nobody reads meanwhile; the training goes on as if nobody watched, and nothing is missing afterwards.
    await trains(client, run_id, beyond=run.step + 20_000)
    await client.cancel(run_id)
    await over(client, run_id)
    rows = first + [row async for batch in watched for row in batch]
    lines = (run.folder / "metrics.jsonl").read_text().splitlines()
    assert [row.step for row in rows] == [json.loads(line)["step"] for line in lines]


async def test_lines_that_a_worker_got_wrong_hide_no_others(
    client: TrainerClient, store: Store, tmp_path: Path
) -> None:
    (tmp_path / "metrics.jsonl").write_text(
        '{"step":1,"t":1.0,"m":{"a":1}}\nrubbish\n[]\n{"step":2}\n\n{"step":3,"t":3.0,"m":{"a":null}}\n'
    )
    stranger = Stranger(store)
    run_id = await stranger.register(**{**ABOUT, "folder": str(tmp_path)})
    await stranger.beat(run_id, state="completed")
    stranger.close()
    rows = [row async for batch in client.metrics(run_id) for row in batch]
    assert [(row.step, row.values) for row in rows] == [(1, {"a": 1}), (3, {"a": None})]
