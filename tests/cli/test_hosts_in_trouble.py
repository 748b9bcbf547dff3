"""Hosts whose clocks are off, or that are away for long and come back: a real sshd for each."""

from __future__ import annotations

import json
import signal
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
import pytest

from gym_gui.analysis import compare_runs
from tests.cli.test_submissions import LONG, TWO, begun, playing, profile, submission_of
from tests.support.commands import Mosaic, experiment
from tests.support.debian import need_files
from tests.support.sshd import Sshd, sshd
from tests.support.waiting import EXPERIMENT_S, eventually

pytestmark = [pytest.mark.full, pytest.mark.usefixtures("all_sessions_here")]

_FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1")
_SHARED = Path("/dev/shm")


@contextmanager
def hosts(home: Path, **more: dict[str, object]) -> Generator[dict[str, Sshd]]:
    """Servers by their hosts' names, each with lines of its own for its configuration."""
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(sshd(home / f"sshd-{name}", name, **lines))
            for name, lines in more.items()
        }


@pytest.fixture
def faketime() -> Iterator[Path]:
    """A library that gives programs another time; it leaves shared memory where they are killed."""
    need_files(_FAKETIME, packages=("libfaketime",))
    before = set(_SHARED.glob("*faketime_*"))
    yield _FAKETIME
    for path in set(_SHARED.glob("*faketime_*")) - before:
        path.unlink(missing_ok=True)


def together(home: Path, servers: dict[str, Sshd]) -> Sshd:
    """What finds all of them by their names."""
    config = home / "ssh_config"
    config.write_text("\n".join(each.config.read_text() for each in servers.values()))
    return Sshd(config, 0, "")


def moments(run: Path) -> Iterator[datetime]:
    """All times that a run has on record."""
    header = json.loads((run / "run.json").read_text())
    for row in [header, *header["shards"]]:
        yield from (datetime.fromisoformat(row[key]) for key in ("started_at", "finished_at") if row.get(key))
    for file in run.glob("operators/*/episodes.jsonl"):
        for line in file.read_text().splitlines():
            yield datetime.fromisoformat(json.loads(line)["started_at"])


def test_clocks_that_are_hours_off_are_told_and_times_are_true(mosaic: Mosaic, faketime: Path) -> None:
    file = experiment(mosaic.home, *TWO, num_episodes=4)
    whole = mosaic.home / mosaic("run", file, "--json").json()["run"]
    lines: dict[str, dict[str, object]] = {}
    for name, hours in (("one", -7), ("two", 9)):
        home = mosaic.home / f"home-{name}"
        home.mkdir()
        # Found in the home by all that a login starts, whatever else it has of its environment.
        (home / ".faketimerc").write_text(f"{hours:+}h\n")
        lines[name] = {"SetEnv": f"LD_PRELOAD={faketime} HOME={home}"}
    before = datetime.now(UTC) - timedelta(seconds=2)
    with hosts(mosaic.home, **lines) as servers:
        there = profile(mosaic, together(mosaic.home, servers), "one", "two")
        done = mosaic("run", file, "--executor", "ssh", "--profile", there, "--shards", "4", "--json")
    assert done.status == 0, done.err
    assert "one: its clock is 7:00:00 behind" in done.err and "two: its clock is 9:00:00 ahead" in done.err, (
        done.err
    )
    merged = Path(done.json()["run"])
    assert compare_runs(whole, merged) is None
    late = datetime.now(UTC) + timedelta(seconds=2)
    off = [each for each in moments(merged) if not before <= each <= late]
    assert not off, off


def of_host(server: Sshd, place: Path) -> list[psutil.Process]:
    """What runs on a host: its server and connections, and all that plays."""

    def is_there(process: psutil.Process) -> bool:
        try:
            return process.cwd().startswith(f"{place}/")
        except psutil.Error:
            return False

    known = psutil.Process(server.pid)
    served = [known, *known.children(recursive=True)]
    return [*served, *(each for each in psutil.process_iter() if is_there(each) and each not in served)]


@pytest.mark.parametrize("returns", ["before the end", "after it"])
def test_a_host_that_returns_late_plays_nothing_twice(mosaic: Mosaic, returns: str) -> None:
    file = experiment(mosaic.home, *TWO, num_episodes=LONG)
    whole = mosaic.home / mosaic("run", file, "--json").json()["run"]
    said, place = mosaic.home / "said", mosaic.home / "two"
    with hosts(mosaic.home, one={}, two={}) as servers:
        there = profile(mosaic, together(mosaic.home, servers), "one", "two", patience=2)
        first = begun(mosaic, "run", file, "--executor", "ssh", "--profile", there, "--shards", "4")
        eventually(lambda: playing(mosaic, "one") and playing(mosaic, "two"), "both hosts play")
        stopped = of_host(servers["two"], place)
        for each in stopped:
            each.send_signal(signal.SIGSTOP)
        try:
            eventually(lambda: b"The host is no longer used" in said.read_bytes(), "it is given up")
            if returns == "after it":
                assert first.wait(EXPERIMENT_S) == 0, said.read_text()
        finally:
            for each in stopped:
                each.send_signal(signal.SIGCONT)
        assert first.wait(EXPERIMENT_S) == 0, said.read_text()
        record = json.loads((submission_of(mosaic) / "submission.json").read_text())
        assert {row["host"] for row in record["shards"].values()} == {"one"}
        assert compare_runs(whole, Path(record["run"])) is None
        assert mosaic("verify", record["run"]).status == 0
        if returns == "after it":
            assert b"Not removed: two" in said.read_bytes() and list(place.iterdir())
            done = mosaic("run", "--resume", submission_of(mosaic))
            assert done.status == 0, done.err
        assert not list(place.iterdir()), "what was left there is removed"
        eventually(lambda: len(of_host(servers["two"], place)) == 1, "what it played has ended")
