"""A policy sees at a slot what it saw in training; everybody else sees the environment."""

from __future__ import annotations

import json
import shutil
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from gym_gui.analysis import open_run
from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.controllers.engine.session_interface import SessionSettings
from gym_gui.controllers.reexecution.verification import verify
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.core.config import ExecutionConfig, Experiment, OperatorConfig
from gym_gui.core.errors import ExperimentError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.spaces import SpaceCodec
from gym_gui.core.types import Decision, StepOutcome
from gym_gui.workers.discovery import discover
from gym_gui.workers.observation_streams import EpisodeStreams
from gym_gui.workers.registry import WorkerTypeRegistry
from mosaic_worker.preprocessing import Pipeline, wrap
from tests.support.engine import record_run
from tests.support.little_workers import little_worker
from tests.support.session_log import SessionLog
from tests.support.waiting import in_time
from tests.support.watching import plans

PPO = Path(__file__).resolve().parents[3] / "docs/examples/checkpoints/ppo_cartpole"
POLES = "tests.support.duel:Poles"
STACKED: list[Any] = [
    {"step": "frame_stack", "size": 4},
    "flatten",
    {"step": "normalize", "mean": [0.01 * i for i in range(16)], "var": [0.3] * 16},
]
SEEN_BY_RL: list[Any] = [
    {"step": "select", "key": "image"},
    {"step": "resize", "shape": [14, 14]},
    {"step": "grayscale", "keep_dim": True},
    {"step": "frame_stack", "size": 4, "axis": -1},
    "transpose",
]

WITNESS = """
import zlib
import numpy as np
from mosaic_worker import Actions, Worker

class Main(Worker):
    def __init__(self):
        self.told = {}

    def select_actions(self, batch):
        sums = []
        for d in batch:
            seen = np.ascontiguousarray(d.observation).tobytes()
            assert self.told.pop(d.episode, seen) == seen, "a result showed something else"
            sums.append(zlib.crc32(seen))
        n = batch.slot.action_space.n
        retry = batch.attempts or [0] * len(batch)
        if batch.slot.settings.get("clumsy"):
            actions = [s % n if a or t != 3 else 99 for s, a, t in zip(sums, retry, batch.steps)]
        else:
            actions = [s % n for s in sums]
        return Actions(actions, np.array(sums, np.float64))

    def on_step_result(self, results):
        for i, episode in enumerate(results.episodes):
            if not results.terminated[i] and not results.truncated[i]:
                self.told[episode] = np.ascontiguousarray(results.observations[i]).tobytes()
"""
"""Plays by a checksum of what it is shown, and says the checksum."""


@pytest.fixture(autouse=True)
def witness(tmp_path: Path) -> Iterator[None]:
    if not WorkerTypeRegistry.all():
        discover()
    WorkerTypeRegistry.register(little_worker(tmp_path / "workers", WITNESS, "witness_worker"))
    yield
    WorkerTypeRegistry.unregister("witness_worker")


def seat(worker: str = "witness_worker", kind: str = "baseline", **more: Any) -> WorkerAssignment:
    settings = more.pop("settings", {})
    return WorkerAssignment(worker, kind, settings, **more)


def operator(task: str, workers: Mapping[str, WorkerAssignment], **more: Any) -> OperatorConfig:
    return OperatorConfig("op", "", "", task, workers, **more)


async def played(config: OperatorConfig, *seeds: int, **settings: Any) -> SessionLog:
    watcher = SessionLog()
    session = LocalSession(resolve_operator(config), SessionSettings(4, **settings), watcher)
    try:
        await session.start()
        session.play(plans(*seeds))
        await in_time(lambda: len(watcher.episodes) == len(seeds), "all episodes are over")
    finally:
        await session.close()
    return watcher


def as_trained(env_id: str, steps: Any, seed: int) -> list[tuple[int, int]]:
    """Action and checksum of every step, in an environment wrapped as for training."""
    env = wrap(gym.make(env_id), steps)
    seen, _ = env.reset(seed=seed)
    choices: list[tuple[int, int]] = []
    over = False
    while not over:
        checksum = zlib.crc32(np.ascontiguousarray(seen).tobytes())
        choices.append((checksum % int(env.action_space.n), checksum))
        seen, _, ended, cut, _ = env.step(choices[-1][0])
        over = ended or cut
    env.close()
    return choices


@pytest.mark.parametrize(("task", "steps"), [("CartPole-v1", STACKED), ("MiniGrid-Empty-5x5-v0", SEEN_BY_RL)])
async def test_a_slot_shows_what_training_showed(task: str, steps: Any) -> None:
    config = operator(task, {"agent": seat(preprocess=steps)})
    watcher = await played(config, 3, 4, 5, 6, 7)
    for index, seed in enumerate((3, 4, 5, 6, 7)):
        rows = watcher.rows[index]
        assert watcher.episodes[index]["status"] == "completed", watcher.episodes[index]["error"]
        assert [(r["action"], int(r["value"])) for r in rows] == as_trained(task, steps, seed)


async def test_a_retry_does_not_see_the_frame_twice() -> None:
    clumsy = seat(preprocess=STACKED, settings={"clumsy": True}, on_invalid={"retry": 1})
    watcher = await played(operator("CartPole-v1", {"agent": clumsy}), 3)
    rows = watcher.rows[0]
    assert [r["action_source"] for r in rows].count("retry") == 1
    assert [(r["action"], int(r["value"])) for r in rows] == as_trained("CartPole-v1", STACKED, 3)


async def test_the_record_is_of_what_the_environment_shows(tmp_path: Path) -> None:
    """``state_sha`` is over raw observations: the run plays out again without any worker."""
    config = operator("CartPole-v1", {"agent": seat(preprocess=STACKED)})
    folder = await record_run(tmp_path, (config, {}), seeds=(1, 2))
    run = open_run(folder)
    report = await verify(run)
    assert report.episodes == 2
    assert not report.divergences
    watcher = await played(config, 1, observations=True)
    assert {len(row["observation"]) for row in watcher.rows[0]} == {4}


def checkpoint(folder: Path, **changes: Any) -> Path:
    """A copy of the CartPole policy whose description says something else."""
    shutil.copytree(PPO, folder)
    about = json.loads((folder / "policy.json").read_text())
    space = about["observation_space"]
    about.update(
        format_version=2, worker="cleanrl_worker", input_space=space, licence="", origin={"kind": "trained"}
    )
    about.update(changes)
    (folder / "policy.json").write_text(json.dumps(about))
    return folder


def poles(rl: WorkerAssignment, **more: Any) -> OperatorConfig:
    pedestrian = seat("human_worker", "human", settings={"script": [0, 1], "script_end": "repeat"})
    heuristic = WorkerAssignment(worker_type="random")
    return operator(POLES, {"north": rl, "south": pedestrian, "west": heuristic}, api="parallel", **more)


async def test_a_policy_trained_alone_plays_beside_a_person_and_a_heuristic(tmp_path: Path) -> None:
    select = [{"step": "select", "key": "own"}]
    kept = checkpoint(tmp_path / "kept", preprocessing=select)
    rl = seat("cleanrl_worker", "rl", settings={"checkpoint": str(kept)})
    watcher = await played(poles(rl), 11, 12)
    alone = await played(
        operator("CartPole-v1", {"agent": seat("cleanrl_worker", "rl", settings={"checkpoint": str(PPO)})}),
        *(11, 12),
    )
    for index in (0, 1):
        match = watcher.episodes[index]
        assert match["status"] == "completed", match["error"]
        kinds = {agent: who["worker_type"] for agent, who in match["agents"].items()}
        assert kinds == {"north": "rl", "south": "human", "west": "baseline"}
        assert match["returns"]["north"] == 60 > match["returns"]["west"]
        north = [r["action"] for r in watcher.rows[index] if r["agent_id"] == "north"]
        assert north == [r["action"] for r in alone.rows[index]][:60], "it plays as it does alone"


async def test_the_person_beside_is_shown_the_environment(tmp_path: Path) -> None:
    """The very same raw observations enter the digest, whatever one slot's worker is shown."""
    always = {"settings": {"script": [1], "script_end": "repeat"}}
    plain = {a: seat("human_worker", "human", **always) for a in ("north", "south", "west")}
    raw = await played(operator(POLES, plain, api="parallel"), 5)
    steps = [{"step": "select", "key": "own"}, {"step": "normalize", "mean": 0, "var": 1}]
    mixed = {**plain, "north": seat(preprocess=steps)}
    seen = await played(operator(POLES, mixed, api="parallel"), 5)
    first = [w.rows[0][0] for w in (raw, seen)]
    assert first[0]["agent_id"] == first[1]["agent_id"] == "north"
    # The witness happens to choose what the script says, so that the digests may be compared.
    assert first[0]["action"] == first[1]["action"]
    assert first[0]["state_sha"] == first[1]["state_sha"]
    with pytest.raises(ExperimentError, match="a person sees the environment itself"):
        resolve_operator(
            operator(
                POLES, {**plain, "south": seat("human_worker", "human", preprocess=["flatten"], **always)}
            )
        )


async def test_a_slot_that_is_given_to_somebody_else_is_shown_what_that_one_needs() -> None:
    """Seats that change in mid-episode: the new one's frames begin when it comes."""
    watcher = SessionLog()
    config = operator("CartPole-v1", {"agent": WorkerAssignment(worker_type="random")})
    session = LocalSession(resolve_operator(config), SessionSettings(1, live=None), watcher)
    try:
        await session.start()
        await session.rebind("agent_0", seat(preprocess=STACKED))
        session.play(plans(3))
        await in_time(lambda: len(watcher.episodes) == 1, "the episode is over")
        await session.rebind("agent_0", seat())
        session.play(plans(3, first=1))
        await in_time(lambda: len(watcher.episodes) == 2, "the next is over")
    finally:
        await session.close()
    assert [(r["action"], int(r["value"])) for r in watcher.rows[0]] == as_trained("CartPole-v1", STACKED, 3)
    assert [(r["action"], int(r["value"])) for r in watcher.rows[1]] == as_trained("CartPole-v1", [], 3)


async def test_teams_that_change_sides_keep_their_steps() -> None:
    """Seats are swapped: the steps belong to who plays, not to the place."""
    workers = {"north": seat(preprocess=[{"step": "select", "key": "own"}, "flatten"]), "south": seat()}
    # Without steps the other one is shown a Dict, which it cannot sum up: it plays at random.
    workers["south"] = WorkerAssignment(worker_type="random")
    teams = {"a": ["north"], "b": ["south"]}
    config = operator(
        POLES,
        workers,
        api="parallel",
        seats="swap",
        teams=teams,
        env_kwargs={"agents": ["north", "south"], "steps": 10},
    )
    resolved = resolve_operator(config)
    assert len(resolved.seatings) == 2
    watcher = SessionLog()
    session = LocalSession(resolved, SessionSettings(2), watcher)
    try:
        await session.start()
        from gym_gui.core.experiment.execution import EpisodePlan

        session.play([EpisodePlan(0, 7, 0), EpisodePlan(1, 7, 1)])
        await in_time(lambda: len(watcher.episodes) == 2, "both are over")
    finally:
        await session.close()
    shown = []
    for index, place in ((0, "north"), (1, "south")):
        assert watcher.episodes[index]["status"] == "completed", watcher.episodes[index]["error"]
        shown.append([r["value"] for r in watcher.rows[index] if r["agent_id"] == place])
    assert shown[0] == shown[1]  # the poles of all places begin alike


# -- what does not fit --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (seat(preprocess=["flaten"]), "there is no step 'flaten'; did you mean 'flatten'?"),
        (seat(preprocess=["grayscale"]), "step 1 (grayscale) does not fit Box"),
        (
            seat("cleanrl_worker", "rl", settings={"checkpoint": str(PPO)}, preprocess=STACKED),
            "Box(4), this slot has Box(16) after frame_stack 4, flatten, normalize",
        ),
    ],
)
def test_steps_that_do_not_fit_are_refused_before_anything_starts(row: WorkerAssignment, words: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        resolve_operator(operator("CartPole-v1", {"agent": row}))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_checkpoint_whose_steps_do_not_fit_says_so(tmp_path: Path) -> None:
    stack = checkpoint(tmp_path / "stack", preprocessing=[{"step": "frame_stack", "size": 2}])
    strange = checkpoint(tmp_path / "strange", preprocessing=[{"step": "frame_stock", "size": 2}])
    for kept, words in ((stack, "this slot has Box(2, 4)"), (strange, "did you mean 'frame_stack'?")):
        row = seat("cleanrl_worker", "rl", settings={"checkpoint": str(kept)})
        with pytest.raises(ExperimentError) as caught:
            resolve_operator(operator("CartPole-v1", {"agent": row}))
        assert words in str(caught.value)


def test_a_policy_of_another_worker_says_whose_it_is(tmp_path: Path) -> None:
    kept = checkpoint(tmp_path / "kept", worker="sb3_worker")
    row = seat("cleanrl_worker", "rl", settings={"checkpoint": str(kept)})
    with pytest.raises(ExperimentError) as caught:
        resolve_operator(operator("CartPole-v1", {"agent": row}))
    assert "kept is played by sb3_worker, not by cleanrl_worker" in str(caught.value)
    assert "Write worker_id 'sb3_worker' for agent_0" in str(caught.value)


def test_the_slots_own_steps_win(tmp_path: Path) -> None:
    kept = checkpoint(tmp_path / "kept", preprocessing=[{"step": "frame_stack", "size": 2}])
    own = seat("cleanrl_worker", "rl", settings={"checkpoint": str(kept)}, preprocess=["flatten"])
    resolved = resolve_operator(operator("CartPole-v1", {"agent": own}))
    assert [step["step"] for step in resolved.pipelines["agent_0"].steps] == ["flatten"]


def test_without_steps_there_is_no_pipeline() -> None:
    rl = seat("cleanrl_worker", "rl", settings={"checkpoint": str(PPO)})
    assert resolve_operator(operator("CartPole-v1", {"agent": rl})).pipelines == {}


def test_a_dry_run_says_what_does_not_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from gym_gui.cli.app import run

    file = tmp_path / "it.yaml"
    experiment = Experiment(
        [operator("CartPole-v1", {"agent": seat("operators_worker", preprocess=["grayscale"])})],
        ExecutionConfig(1),
    )
    file.write_text(json.dumps(experiment.to_record()))
    assert run(["run", str(file), "--dry-run"]) == 2
    assert "step 1 (grayscale) does not fit" in " ".join(capsys.readouterr().err.split())


# -- streams ------------------------------------------------------------------------------


def test_one_stream_per_episode_and_each_observation_once() -> None:
    space = gym.spaces.Box(0, 9, (1,), np.float32)
    codec = SpaceCodec(space)
    streams = EpisodeStreams(Pipeline([{"step": "frame_stack", "size": 2}], space))

    def see(episode: int, value: float) -> list[float]:
        seen = np.float32([value])
        encoded = codec.encode(seen)
        parts = streams.see(episode, seen, encoded)
        assert streams.see(episode, seen, encoded) is parts is streams.seen(episode)
        return np.frombuffer(parts[0], np.float32).tolist()

    assert see(0, 1) == [1, 1]
    assert see(1, 5) == [5, 5]
    assert see(0, 2) == [1, 2]
    streams.end(0)
    assert see(2, 7) == [7, 7], "a stream that is used again begins anew"
    assert see(1, 6) == [5, 6]


def test_an_observation_that_a_step_cannot_take_fails_its_episode_alone() -> None:
    from gym_gui.workers.slot import WorkerSlot

    class Silent:
        """Sends nothing: what is tried here comes before."""

        class welcome:  # noqa: N801
            in_flight, wants_results = 0, True

        def send(self, message: Any) -> None:
            self.message = message

    space = gym.spaces.Box(0, 9, (1,), np.float32)
    pipeline = Pipeline([{"step": "frame_stack", "size": 2}], space)
    answers: list[Any] = []
    slot = WorkerSlot(
        0,
        "a",
        Silent(),
        pipeline.input_space,
        gym.spaces.Discrete(2),
        answers.extend,
        None,
        pipeline,  # pyright: ignore[reportArgumentType]
    )
    codec = SpaceCodec(space)
    good = np.float32([1])
    wrong: Any = "no array"
    slot.ask([Decision(1, 0, 0, "a", "a", 0, good, codec.encode(good))])
    slot.ask([Decision(2, 1, 0, "a", "a", 0, wrong, codec.encode(good))])
    assert [a.decision.id for a in answers] == [2]
    assert "its preprocessing failed" in answers[0].failure
    slot.result(StepOutcome(0, 0, "a", "a", good, codec.encode(good), 1, 0.0, False, False, {}))
