"""Runs in the hands of a real daemon: submitted, watched, told what to do, ended, removed."""

from __future__ import annotations

import asyncio
import os

import pytest

from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.processes.tree import members
from gym_gui.services.bootstrap import bootstrap_default_services
from gym_gui.services.store import Store
from gym_gui.services.trainer.trainer_client import TrainerClient
from gym_gui.services.trainer.training_folder import EPISODES, METRICS
from gym_gui.services.trainer.training_process import TrainingProcess
from gym_gui.services.trainer.training_records import RunLimits, TrainingRecord
from gym_gui.services.worker_orchestrator import UnifiedRunConfig
from gym_gui.workers.manifest import read_manifest
from gym_gui.workers.registry import WorkerTypeRegistry
from tests.services.trainer.conftest import ENDLESS, Daemon, config, over, reached, rows, trains, worker_pid


async def test_a_run_is_trained_watched_and_removed(client: TrainerClient, store: Store) -> None:
    run_id = await client.submit(config(total_steps=3000), title="erster Versuch", priority=2)
    states: list[TrainingRecord] = []

    async def watch() -> None:
        async for record in client.watch_runs():
            states.append(record)
            if record.has_ended:
                return

    await watch()
    last = states[-1]
    assert last.state == "completed"
    metrics, episodes = rows(last.folder, METRICS), rows(last.folder, EPISODES)
    assert sum(row["length"] for row in episodes) == last.step >= 3000
    assert len(metrics) == len(episodes)
    assert metrics[-1]["m"].keys() == {"charts/episodic_return", "losses/best"}
    assert (last.title, last.worker_id, last.algorithm) == ("erster Versuch", "search_trainer", "search")
    assert (last.env_id, last.seed, last.priority) == ("CartPole-v1", 3, 2)
    assert dict(last.settings) == {"total_steps": 3000}
    assert last.folder == store.data / "training" / run_id
    assert last.policy == str(last.folder)
    assert (last.folder / "policy.json").is_file()
    assert last.mean_return is not None and last.mean_return > 8
    assert last.started_at is not None and last.ended_at is not None
    assert last.submitted_at <= last.started_at <= last.ended_at
    for wish in (client.pause, client.resume, client.checkpoint, client.cancel):
        with pytest.raises(UsageError, match=r"is over \(completed\)"):
            await wish(run_id)
    watched = client.watch_runs()
    assert (await anext(aiter(watched))).state == "completed"
    await client.remove(run_id)
    assert (await anext(aiter(watched))).state == "removed"
    assert not last.folder.exists()
    assert await client.runs() == []
    with pytest.raises(UsageError, match="unknown training run"):
        await client.remove(run_id)


async def test_a_run_is_paused_goes_on_keeps_its_policy_and_stops(client: TrainerClient) -> None:
    run_id = await client.submit(config(total_steps=ENDLESS, step_s=0.001))
    await client.pause(run_id)  # also before it listens
    paused = await reached(client, run_id, lambda r: r.state == "paused")
    (before,) = await client.runs()
    await client.checkpoint(run_id)
    kept = await reached(client, run_id, lambda r: bool(r.policy))
    assert kept.state == "paused"
    assert kept.step == before.step == paused.step
    await client.resume(run_id)
    await trains(client, run_id, beyond=paused.step)
    await client.pause(run_id)
    await reached(client, run_id, lambda r: r.state == "paused")
    await client.cancel(run_id)
    ended = await over(client, run_id)
    assert (ended.state, ended.remaining_s, ended.cpu_percent) == ("stopped", None, 0.0)


async def test_what_was_stopped_goes_on_in_its_folder(client: TrainerClient) -> None:
    run_id = await client.submit(config(total_steps=ENDLESS, spread=2.0), title="lang")
    await trains(client, run_id, beyond=500)
    await client.cancel(run_id)
    stopped = await over(client, run_id)
    assert stopped.state == "stopped"
    total = stopped.step + 1000
    more = UnifiedRunConfig("whatever", settings={"total_steps": total})
    assert await client.submit(more, resume_of=run_id) == run_id
    with pytest.raises(UsageError, match="is not over"):
        await client.submit(more, resume_of=run_id)
    ended = await over(client, run_id)
    assert (ended.state, ended.title, ended.total_steps) == ("completed", "lang", total)
    assert total <= ended.step < total + 500 + 1
    assert dict(ended.settings) == {"total_steps": total, "spread": 2.0}
    # One history: what came first, then what followed.
    steps = [row["step"] for row in rows(ended.folder, EPISODES)]
    assert steps == sorted(steps)
    assert steps[0] < stopped.step < steps[-1]


async def test_use_of_the_machine_is_told(client: TrainerClient) -> None:
    run_id = await client.submit(config(total_steps=ENDLESS))
    used = await reached(client, run_id, lambda r: r.cpu_percent > 1 and r.memory_mb > 10)
    assert used.cpu_percent < 150
    health = await client.health()
    assert (health.running, health.queued, health.cores) == (1, 0, len(os.sched_getaffinity(0)))
    await client.cancel(run_id)
    await over(client, run_id)


async def test_one_that_hears_nothing_is_killed_when_asked_again_with_all_it_started(
    client: TrainerClient,
) -> None:
    run_id = await client.submit(config(fault="deaf"))
    begun = await reached(client, run_id, lambda r: r.state == "starting" and r.started_at is not None)
    while True:
        try:
            process = TrainingProcess.attach(begun.folder)
        except MosaicError:
            await asyncio.sleep(0.01)
            continue
        if len(list(members(process.tag))) >= 3:  # runner, worker, and the child in its own session
            break
        await asyncio.sleep(0.01)
    await client.cancel(run_id)
    await reached(client, run_id, lambda r: r.state == "stopping")
    await client.cancel(run_id)
    ended = await over(client, run_id)
    assert ended.state == "stopped"
    assert ended.reason.startswith("was killed")
    assert list(members(process.tag)) == []


async def test_a_worker_that_is_killed_is_a_run_that_failed(client: TrainerClient) -> None:
    run_id = await client.submit(config(total_steps=ENDLESS))
    await reached(client, run_id, lambda r: bool(r.policy))
    (run,) = await client.runs()
    os.kill(worker_pid(run.folder), 9)
    ended = await over(client, run_id)
    assert (ended.state, ended.reason) == ("failed", "was killed (signal 9, SIGKILL)")
    assert ended.policy == str(run.folder)


async def test_limits_are_kept_and_each_end_says_why(client: TrainerClient) -> None:
    short = await client.submit(config(total_steps=ENDLESS), limits=RunLimits(max_s=1.0))
    greedy = await client.submit(config(fault="greedy"), limits=RunLimits(memory_mb=150))
    nan = await client.submit(config(total_steps=ENDLESS, fault="nan"))
    ended = {run_id: await over(client, run_id) for run_id in (short, greedy, nan)}
    assert ended[short].state == "stopped"
    assert "longer than its limit of 1 s" in ended[short].reason
    assert ended[greedy].state == "failed"
    assert "more than 150 MB" in ended[greedy].reason
    assert ended[nan].state == "failed"
    assert "not a finite number at step" in ended[nan].reason


NO_RUNS = [
    (UnifiedRunConfig("CartPole-v1", worker_type="serch_trainer"), "Did you mean 'search_trainer'"),
    (UnifiedRunConfig("CartPool-v1", worker_type="search_trainer"), "CartPole-v1"),
    (UnifiedRunConfig("CartPole-v1", worker_type="search_trainer", algorithm="sarch"), "Did you mean"),
    (UnifiedRunConfig("CartPole-v1", worker_type="search_trainer", seed=-1), "must not be negative"),
    (config(total_stops=1), "total_steps"),
    (config(step_s=7), "step_s"),
    (config(total_steps={1, 2}), "must be plain values"),
    (config(device="cuda"), "device"),
    (UnifiedRunConfig("chess_v6", worker_type="search_trainer"), "cannot train in"),
]


async def test_what_cannot_be_trained_is_refused_at_once(client: TrainerClient, store: Store) -> None:
    for asked, words in NO_RUNS:
        with pytest.raises(UsageError, match=words):
            await client.submit(asked)
    with pytest.raises(UsageError, match="cores are requested, but this machine has"):
        await client.submit(config(), limits=RunLimits(cpu_cores=4096))
    with pytest.raises(UsageError, match="numbers that are not negative"):
        await client.submit(config(), limits=RunLimits(memory_mb=2**40))
    with pytest.raises(UsageError, match="unknown training run 'nobody'"):
        await client.submit(config(), resume_of="nobody")
    assert await client.runs() == []
    assert [p.name for p in (store.data / "training").iterdir() if p.is_dir()] == []


async def test_one_that_waits_can_be_held_and_cancelled(client: TrainerClient) -> None:
    everything = RunLimits(cpu_cores=len(os.sched_getaffinity(0)))
    first = await client.submit(config(total_steps=ENDLESS), limits=everything)
    await trains(client, first)
    held = await client.submit(config(total_steps=500))
    dropped = await client.submit(config(total_steps=500))
    waits = await reached(client, dropped, lambda r: r.position == 2)
    assert (waits.state, waits.reason) == ("queued", "waits for cores")
    with pytest.raises(UsageError, match="has not begun"):
        await client.checkpoint(held)
    await client.pause(held)
    await client.cancel(dropped)
    cancelled = await over(client, dropped)
    assert (cancelled.state, cancelled.reason) == ("stopped", "cancelled before it began")
    await client.cancel(first)
    await over(client, first)
    third = await client.submit(config(total_steps=500))
    await over(client, third)
    (still,) = [run for run in await client.runs() if run.run_id == held]
    assert (still.state, still.started_at) == ("paused", None)
    await client.resume(held)
    assert (await over(client, held)).state == "completed"


@pytest.mark.full
async def test_twenty_runs_share_the_machine_and_all_are_trained(client: TrainerClient) -> None:
    cores = len(os.sched_getaffinity(0))
    ids = [await client.submit(config(total_steps=300), priority=k % 3) for k in range(20)]
    most, ended = 0, set[str]()
    async with asyncio.timeout(60):
        async for _ in client.watch_runs():
            runs = await client.runs()
            most = max(most, sum(run.started_at is not None and not run.has_ended for run in runs))
            ended = {run.run_id for run in runs if run.has_ended}
            if len(ended) == 20:
                break
    assert 1 <= most <= cores
    assert ended == set(ids)
    assert {run.state for run in await client.runs()} == {"completed"}


async def test_what_the_orchestrator_chooses_is_trained_by_the_daemon(daemon: Daemon, store: Store) -> None:
    with WorkerTypeRegistry.isolated() as registry:
        registry.register(read_manifest(store.data / "workers" / "search_trainer" / "worker.toml"))
        asked = UnifiedRunConfig("CartPole-v1", algorithm="search", seed=3, settings={"total_steps": 300})
        client = await daemon.client()
        services = bootstrap_default_services(store=store, registry=registry)
        run_id = await services.new_orchestrator(client).submit_run(asked)
    ended = await over(client, run_id)
    assert (ended.state, ended.worker_id, ended.algorithm) == ("completed", "search_trainer", "search")
