"""What becomes of trainings, clients and folders when daemons end, in every way they can."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from gym_gui.core.errors import MosaicError, QueueFullError, UsageError, WorkerLaunchError
from gym_gui.services.rpc.address import UnixAddress
from gym_gui.services.store import Store
from gym_gui.services.trainer.daemon import DaemonSettings
from gym_gui.services.trainer.daemon_address import DaemonLock, find, log_file
from gym_gui.services.trainer.queue_entry import place_of, write_entry
from gym_gui.services.trainer.starting import start_daemon, stop_daemon
from gym_gui.services.trainer.trainer_client import DaemonLostError, TrainerClient
from gym_gui.services.trainer.training_folder import EPISODES, EVENTS, RunFolder
from gym_gui.services.trainer.training_process import TrainingProcess
from gym_gui.services.trainer.training_records import RunLimits, TrainingRecord
from gym_gui.services.trainer.training_registry import FILE
from tests.services.trainer.conftest import (
    ENDLESS,
    Daemon,
    config,
    over,
    reached,
    rows,
    served_here,
    trains,
    worker_pid,
)
from tests.support.fixtures import Offspring
from tests.support.waiting import in_time

SAME = ("title", "worker_id", "algorithm", "env_id", "seed", "settings", "limits", "folder", "priority")
"""What is known of a run again without the registry."""


async def drained(watched: AsyncIterator[TrainingRecord]) -> None:
    """Watch to the end."""
    async for _ in watched:
        pass


async def test_after_kill_9_the_next_daemon_goes_on_with_what_runs_what_waits_and_what_ended(
    daemon: Daemon,
) -> None:
    cores = len(os.sched_getaffinity(0))
    first = await daemon.client()
    goes_on = await first.submit(config(total_steps=ENDLESS), title="goes on")
    dies = await first.submit(config(total_steps=ENDLESS), title="dies meanwhile")
    for run_id in (goes_on, dies):
        await trains(first, run_id)
    waiting = [await first.submit(config(total_steps=300), title="waits") for _ in range(2)]
    running = [run for run in await first.runs() if run.started_at is not None]
    pids = {run.run_id: worker_pid(run.folder) for run in running}
    before = {run.run_id: run for run in await first.runs()}
    left_socket = find(daemon.store)
    watched = first.watch_runs()
    while (await anext(watched)).run_id != waiting[-1]:
        pass  # all that there is to tell is told first
    pending = asyncio.ensure_future(drained(watched))
    await daemon.kill()
    with pytest.raises(DaemonLostError, match="no longer answers"):
        await pending
    assert psutil.pid_exists(pids[goes_on])
    os.kill(pids[dies], signal.SIGKILL)
    await in_time(lambda: not TrainingProcess.attach(before[dies].folder).alive, "its runner takes leave")
    second = await daemon.client()
    assert left_socket is not None and find(daemon.store) != left_socket
    lost = await over(second, dies)
    assert (lost.state, lost.reason) == ("failed", "was killed (signal 9, SIGKILL)")
    # It went on meanwhile, in the same process, and obeys the new one.
    went_on = await trains(second, goes_on, beyond=before[goes_on].step)
    assert went_on.started_at == before[goes_on].started_at
    assert worker_pid(went_on.folder) == pids[goes_on]
    if cores == 2:  # the core of the one that goes on is not given away
        assert {run.started_at is None for run in await second.runs() if run.run_id == waiting[1]} == {True}
    await second.pause(goes_on)
    await reached(second, goes_on, lambda r: r.state == "paused")
    await second.cancel(goes_on)
    assert (await over(second, goes_on)).state == "stopped"
    for run_id in waiting:
        assert (await over(second, run_id)).state == "completed"
    # Nothing that a viewer would show is missing.
    steps = [row["step"] for row in rows((await over(second, goes_on)).folder, EPISODES)]
    assert steps == sorted(set(steps))


async def test_a_daemon_that_is_asked_to_end_leaves_trainings_running_and_says_so_to_watchers(
    daemon: Daemon, offspring: Offspring
) -> None:
    client = await daemon.client()
    run_id = await client.submit(config(total_steps=ENDLESS))
    run = await trains(client, run_id)
    held = await client.submit(config(total_steps=ENDLESS))
    await trains(client, held)
    await client.pause(held)
    await reached(client, held, lambda r: r.state == "paused")
    runs = client.watch_runs()
    await anext(runs)
    pid = daemon.pid
    await asyncio.to_thread(stop_daemon, daemon.store)
    with pytest.raises(DaemonLostError, match=r"no longer answers\. Trainings continue without it"):
        async for _ in runs:
            pass
    with pytest.raises(DaemonLostError):
        await client.submit(config())
    await in_time(lambda: not psutil.pid_exists(pid), "the daemon is gone")
    process = TrainingProcess.attach(run.folder)
    assert process.alive
    with pytest.raises(UsageError, match="no trainer daemon serves"):
        await daemon.client(start=False)
    await asyncio.to_thread(process.kill)
    again = await daemon.client()
    assert (await over(again, run_id)).state == "stopped"
    # One that was paused is found paused, and obeys.
    assert [run.state for run in await again.runs() if run.run_id == held] == ["paused"]
    await again.cancel(held)
    assert (await over(again, held)).state == "stopped"


async def test_there_is_one_daemon_for_a_folder(daemon: Daemon) -> None:
    addresses = await asyncio.gather(*(start_daemon(daemon.store) for _ in range(3)))
    assert {address.pid for address in addresses} == {daemon.pid}, "several that start one get the same"
    client, other = await daemon.client(), await daemon.client()
    await client.close()
    with pytest.raises(MosaicError):
        await client.health()
    assert (await other.health()).pid == daemon.pid, "errors of clients are their own"
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "gym_gui", "daemon"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert f"a trainer daemon serves {daemon.store.data} already (process {daemon.pid})" in done.stderr
    assert "mosaic daemon --stop" in done.stderr
    assert len(done.stderr.splitlines()) == 1


async def test_socket_and_token_are_private_and_both_are_needed(store: Store, client: TrainerClient) -> None:
    address = find(store)
    assert address is not None
    for path, kind in ((Path(address.socket), 0o600), (Path(address.token), 0o600)):
        assert stat.S_IMODE(path.stat().st_mode) == kind
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    run_id = await client.submit(config(total_steps=300))
    stranger = TrainerClient(UnixAddress(Path(address.socket)), "guessed", "stranger")
    attempts = [
        stranger.runs(),
        stranger.submit(config()),
        stranger.cancel(run_id),
        stranger.pause(run_id),
        stranger.health(),
        anext(stranger.watch_runs()),
    ]
    for attempt in attempts:
        with pytest.raises(UsageError, match="the token is wrong"):
            await attempt
    await stranger.close()
    assert (await over(client, run_id)).state == "completed"


async def test_what_is_in_the_place_of_its_socket_is_named(daemon: Daemon) -> None:
    await daemon.client()
    address = find(daemon.store)
    assert address is not None
    folder = Path(address.socket).parent
    await daemon.kill()
    shutil.rmtree(folder)
    folder.write_text("something else")
    with pytest.raises(WorkerLaunchError, match=f"{folder} cannot be created.*Remove that folder"):
        await daemon.client()
    folder.unlink()
    folder.mkdir()
    with socket.socket(socket.AF_UNIX) as taken:
        taken.bind(str(folder / "s"))
        taken.listen()
        with pytest.raises(WorkerLaunchError, match=f"another process listens on {folder}/s"):
            await daemon.client()
    # No process listens there any more: the socket is left over, as by kill -9.
    await daemon.client()


async def test_a_full_queue_is_a_clear_error(store: Store) -> None:
    async with served_here(store, DaemonSettings(capacity=1)) as client:
        cores = len(os.sched_getaffinity(0))
        ids = [await client.submit(config(total_steps=ENDLESS)) for _ in range(1)]
        for _ in range(cores - 1):
            await trains(client, ids[-1])
            ids.append(await client.submit(config(total_steps=ENDLESS)))
        await trains(client, ids[-1])
        ids.append(await client.submit(config(total_steps=ENDLESS)))
        with pytest.raises(QueueFullError, match=r"the queue is full: 1 trainings wait\. Wait until some"):
            await client.submit(config())
        assert len(await client.runs()) == cores + 1
        for run_id in ids:
            await client.cancel(run_id)
        for run_id in ids:
            await over(client, run_id)


@pytest.mark.parametrize("lost", ["damaged", pytest.param("deleted", marks=pytest.mark.full)])
async def test_runs_are_found_again_without_the_registry(daemon: Daemon, lost: str) -> None:
    first = await daemon.client()
    done = await first.submit(config(total_steps=300), title="done")
    await over(first, done)
    live = await first.submit(config(total_steps=ENDLESS), title="live")
    await trains(first, live)
    every_core = RunLimits(len(os.sched_getaffinity(0)))  # so that it waits
    held = await first.submit(config(total_steps=300), title="held", priority=7, limits=every_core)
    await first.pause(held)
    cancelled = [await first.submit(config(total_steps=300), limits=every_core) for _ in range(2)]
    for run_id in cancelled:
        await first.cancel(run_id)
    before = {run.run_id: run for run in await first.runs()}
    await daemon.kill()
    folder = daemon.store.data / "training"
    for part in folder.glob(f"{FILE}-*"):
        part.unlink()
    if lost == "damaged":
        (folder / FILE).write_bytes(b"rubbish" * 999)
    else:
        (folder / FILE).unlink()
    second = await daemon.client()
    runs = {run.run_id: run for run in await second.runs()}
    assert runs.keys() == before.keys()
    for run_id in (done, live, held):
        for name in SAME:
            assert getattr(runs[run_id], name) == getattr(before[run_id], name), name
    assert (runs[done].state, runs[done].step) == ("completed", before[done].step)
    assert runs[live].state == "running"
    assert runs[held].state == "paused", "the user holds it"
    for run_id in cancelled:
        assert (runs[run_id].state, runs[run_id].reason) == ("stopped", "cancelled before it began")
    await second.resume(held)
    await second.cancel(live)
    assert (await over(second, live)).state == "stopped"
    assert (await over(second, held)).state == "completed"
    for run_id in cancelled:
        assert not (runs[run_id].folder / EVENTS).exists(), "it never began"
    if lost == "damaged":
        assert "the registry of runs was damaged" in log_file(daemon.store).read_text()
    assert len(list(folder.glob(f"{FILE}.damaged-*"))) == (lost == "damaged")


async def test_what_was_cancelled_while_it_ran_ends_though_nobody_was_there_to_see_to_it(
    daemon: Daemon,
) -> None:
    """The wish is in the folder before the client is answered; it is kept also where it was not heard."""
    first = await daemon.client()
    run_id = await first.submit(config(total_steps=ENDLESS))
    run = await trains(first, run_id)
    await daemon.kill()
    place = place_of(RunFolder(run.folder))
    assert place is not None and place.submitted_at == run.submitted_at
    # As it stands where the daemon was killed between keeping the wish and passing it on.
    write_entry(RunFolder(run.folder), replace(place, cancelled_at=time.time()))
    second = await daemon.client()
    assert (await over(second, run_id)).state == "stopped"


async def test_a_run_that_went_on_after_it_was_cancelled_is_not_ended_by_that(daemon: Daemon) -> None:
    first = await daemon.client()
    run_id = await first.submit(config(total_steps=ENDLESS))
    await trains(first, run_id)
    await first.cancel(run_id)
    stopped = await over(first, run_id)
    await first.submit(config(), resume_of=run_id)
    await trains(first, run_id, beyond=stopped.step)
    await daemon.kill()
    (daemon.store.data / "training" / FILE).unlink()
    second = await daemon.client()
    assert (await second.runs())[0].state == "running"


async def test_whoever_finds_a_daemon_that_ends_just_then_gets_the_next(daemon: Daemon) -> None:
    place = DaemonLock(daemon.store)

    async def end(_: asyncio.StreamReader, connection: asyncio.StreamWriter) -> None:
        place.release()
        connection.close()

    async with await asyncio.start_unix_server(end, place.socket):
        place.announce("the last one")
        client = await daemon.client()
    assert (await client.health()).pid == daemon.pid != os.getpid()


async def test_a_daemon_ends_when_nobody_needs_it_or_its_folder_is_gone(daemon: Daemon) -> None:
    await start_daemon(daemon.store, "--idle", "0.02")
    client = await daemon.client()
    run_id = await client.submit(config(total_steps=ENDLESS))
    pid = daemon.pid
    await trains(client, run_id)
    await asyncio.sleep(0)
    watch = client.watch_runs()
    await anext(watch)
    await client.cancel(run_id)
    await over(client, run_id)
    assert psutil.pid_exists(pid)
    await watch.aclose()  # type: ignore[attr-defined]
    await client.close()
    await in_time(lambda: find(daemon.store) is None, "it ends by itself")
    await in_time(lambda: not psutil.pid_exists(pid), "it is gone")
    await daemon.client()
    pid = daemon.pid
    shutil.rmtree(daemon.store.data / "training")
    await in_time(lambda: not psutil.pid_exists(pid), "it ends with its folder")


async def test_a_data_folder_that_cannot_be_written_is_named(store: Store) -> None:
    (store.data / "training").write_text("in the way")
    with pytest.raises(UsageError, match=r"training cannot be created"):
        await TrainerClient.connect(store)


@pytest.mark.full
async def test_whoever_starts_a_daemon_may_go_with_all_its_children(daemon: Daemon, tmp_path: Path) -> None:
    """As a window does that is killed: its reaper ends what bears its tag, and the daemon is not of it."""
    code = (
        "import asyncio, sys\n"
        "from gym_gui.services.store import Store\n"
        "from gym_gui.services.trainer.trainer_client import TrainerClient\n"
        "from gym_gui.services.worker_orchestrator import UnifiedRunConfig as Config\n"
        "from gym_gui.processes.reaper import guard\n"
        "import os\n"
        "async def main():\n"
        "    guard()\n"
        "    client = await TrainerClient.connect(Store())\n"
        f"    settings = {{'total_steps': {ENDLESS}}}\n"
        "    config = Config('CartPole-v1', worker_type='search_trainer', settings=settings)\n"
        "    print(await client.submit(config))\n"
        "    sys.stdout.flush()\n"
        "    await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    environment = {k: v for k, v in os.environ.items() if k != "MOSAIC_TREE"}
    window = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE, env=environment
    )
    assert window.stdout is not None
    run_id = (await window.stdout.readline()).decode().strip()
    client = await daemon.client(start=False)
    run = await trains(client, run_id)
    window.kill()
    await window.wait()
    await trains(client, run_id, beyond=run.step + 200)
    await client.cancel(run_id)
    assert (await over(client, run_id)).state == "stopped"
