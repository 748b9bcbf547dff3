"""Trainings that somebody started elsewhere: a program without our SDK makes itself known with JSON."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from gym_gui.core.errors import UsageError
from gym_gui.services.rpc.address import FIX, TOKEN
from gym_gui.services.store import Store
from gym_gui.services.trainer.client import TrainerClient
from gym_gui.services.trainer.daemon_address import find
from gym_gui.services.trainer.pb import trainer_pb2 as pb
from gym_gui.services.trainer.pb.trainer_pb2_grpc import TrainerServiceStub
from gym_gui.services.trainer.queue import Machine
from gym_gui.services.trainer.trainer import Trainer
from mosaic_worker.training import TrainingRun
from tests.services.trainer.conftest import Daemon, over, reached

ABOUT = {"algorithm": "impala", "env_id": "MyGame-v0", "worker": "my_script", "every_s": 0.5, "seed": 4}


class Stranger:
    """What such a program does: two calls of gRPC, with JSON in them.

    It knows nothing of event loops; ours goes on while it waits for an answer.
    """

    def __init__(self, store: Store) -> None:
        address = find(store)
        assert address is not None
        self._token = Path(address.token).read_text()
        self._channel = grpc.insecure_channel(f"unix:{address.socket}")

    async def call(self, method: str, message: Any) -> Any:
        """Call the daemon."""
        return await asyncio.to_thread(self._call, method, message)

    def _call(self, method: str, message: Any) -> Any:
        stub: Any = TrainerServiceStub(self._channel)
        return getattr(stub, method)(message, metadata=((TOKEN, self._token),), timeout=20)

    async def register(self, **about: Any) -> str:
        """Make itself known."""
        said = await self.call("RegisterWorker", pb.WorkerRegistration(json=json.dumps(about)))
        return str(said.run_id)

    async def beat(self, run_id: str, **sign: Any) -> list[str]:
        """Give a sign of life."""
        said = await self.call("Heartbeat", pb.WorkerSign(run_id=run_id, json=json.dumps(sign)))
        return list(said.wishes)

    def close(self) -> None:
        """Go."""
        self._channel.close()


@pytest.fixture
async def stranger(client: TrainerClient, store: Store) -> AsyncIterator[Stranger]:
    stranger = Stranger(store)
    yield stranger
    stranger.close()


async def test_one_that_makes_itself_known_is_watched_and_asked_like_others(
    client: TrainerClient, stranger: Stranger
) -> None:
    run_id = await stranger.register(**ABOUT, title="von Hand", total_steps=1000, settings={"lr": 0.1})
    (run,) = await client.runs()
    assert (run.run_id, run.worker_id, run.algorithm, run.env_id) == (
        run_id,
        "my_script",
        "impala",
        "MyGame-v0",
    )
    assert (run.state, run.external, run.title, run.total_steps) == ("running", True, "von Hand", 1000)
    assert await stranger.beat(run_id, step=250, mean_return=1.5, steps_per_s=100, episodes=7) == []
    seen = await reached(client, run_id, lambda r: r.step == 250)
    assert (seen.mean_return, seen.steps_per_s, seen.episodes) == (1.5, 100.0, 7)
    await client.pause(run_id)
    await client.checkpoint(run_id)
    assert await stranger.beat(run_id) == ["pause", "checkpoint"]
    assert await stranger.beat(run_id, state="paused", reason="bei 250") == []
    assert (await reached(client, run_id, lambda r: r.state == "paused")).reason == "bei 250"
    await client.cancel(run_id)
    assert await stranger.beat(run_id, state="running", step=300) == ["stop"]
    assert (await reached(client, run_id, lambda r: r.step == 300)).state == "stopping"
    await stranger.beat(run_id, state="stopped", reason="as asked", step=310)
    ended = await over(client, run_id)
    assert (ended.state, ended.reason, ended.step) == ("stopped", "as asked", 310)
    with pytest.raises(grpc.RpcError) as refused:
        await stranger.beat(run_id)
    assert "is over" in refused.value.details()  # type: ignore[attr-defined]
    trailing = dict(refused.value.trailing_metadata())  # type: ignore[attr-defined]
    assert trailing[FIX] == b"Register anew"
    await client.remove(run_id)
    assert await client.runs() == []


async def test_silence_is_the_end_until_it_is_heard_again(client: TrainerClient, stranger: Stranger) -> None:
    run_id = await stranger.register(**{**ABOUT, "every_s": 0.2})
    silent = await over(client, run_id)
    assert silent.state == "failed"
    assert silent.reason in ("no sign for 1 s", "no sign for 2 s")
    await stranger.beat(run_id, step=5)
    again = await reached(client, run_id, lambda r: r.step == 5)
    assert (again.state, again.reason, again.ended_at) == ("running", "", None)
    await over(client, run_id)


async def test_a_process_that_is_gone_is_not_waited_for(client: TrainerClient, stranger: Stranger) -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", stdin=subprocess.PIPE)
    run_id = await stranger.register(**{**ABOUT, "every_s": 3600, "pid": process.pid})
    await reached(client, run_id, lambda r: r.state == "running")
    process.kill()
    await process.wait()
    ended = await over(client, run_id)
    assert ended.reason == f"its process {process.pid} has ended without a word"


async def test_one_with_a_run_folder_is_followed_there(
    client: TrainerClient, stranger: Stranger, tmp_path: Path
) -> None:
    training = TrainingRun(tmp_path)
    run_id = await stranger.register(**{**ABOUT, "every_s": 30, "folder": str(tmp_path)})
    training.start("impala", "MyGame-v0", 4, 100)
    training.metrics(1, {"losses/value": 0.5})
    training.episode(1, 2.0, 1)
    await asyncio.to_thread(training.advance, 1, lambda: None)
    training.flush()
    assert (await anext(aiter(client.metrics(run_id))))[0].values == {"losses/value": 0.5}
    await client.cancel(run_id)
    await reached(client, run_id, lambda r: r.state == "stopping")
    training.advance(2, lambda: None)
    assert training.stop_requested
    training.done("stopped", 2, None)
    training.close()
    assert (await over(client, run_id)).state == "stopped"
    await client.remove(run_id)
    assert tmp_path.is_dir()  # it is not ours


async def test_they_outlive_daemons_too(daemon: Daemon) -> None:
    await daemon.client()
    stranger = Stranger(daemon.store)
    run_id = await stranger.register(**{**ABOUT, "every_s": 30})
    await stranger.beat(run_id, step=9)
    stranger.close()
    await daemon.kill()
    again = await daemon.client()
    (run,) = await again.runs()
    assert (run.run_id, run.state, run.external) == (run_id, "running", True)
    other = Stranger(daemon.store)
    assert await other.register(**ABOUT, run_id=run_id) == run_id
    await other.beat(run_id, state="completed", step=10)
    other.close()
    assert (await over(again, run_id)).step == 10


@pytest.mark.parametrize(
    ("about", "words"),
    [
        ({"algorithm": ""}, "algorithm must be a text"),
        ({"env_id": 3}, "env_id must be a text"),
        ({"every_s": 0}, "every_s is 0, but must be from 0.1 to 3600"),
        ({"every_s": "often"}, "every_s must be a number"),
        ({"folder": "here"}, "must be an absolute path"),
        ({"pid": 2**22 + 1}, "no such process"),
        ({"pid": 2**80}, "pid must be a number"),
        ({"settings": [1]}, "settings must be a JSON object"),
        ({"run_id": "nobody"}, "did not register before"),
    ],
)
async def test_what_makes_no_sense_is_refused(store: Store, about: dict[str, Any], words: str) -> None:
    trainer = Trainer(store, Machine((0,), 1000))
    await trainer.start()
    with pytest.raises(UsageError, match=words):
        trainer.register({**ABOUT, **about})
    run_id, every_s = trainer.register(ABOUT)
    assert every_s == 0.5
    with pytest.raises(UsageError, match="state is 'asleep', but must be one of running, paused"):
        trainer.heartbeat(run_id, {"state": "asleep"})
    # What a sloppy program sends beside what is needed does no harm.
    trainer.heartbeat(run_id, {"step": -5, "mean_return": "high", "steps_per_s": 1e300, "episodes": True})
    assert (trainer.record(run_id).step, trainer.record(run_id).episodes) == (0, 0)
    await trainer.close()
