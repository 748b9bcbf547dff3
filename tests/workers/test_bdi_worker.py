"""AgentSpeak programs in the engine: they solve tasks, talk to each other, repeat, say what they thought."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import re
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.controllers.engine.session_interface import SessionSettings
from gym_gui.controllers.reexecution.verification import verify
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.core.errors import MosaicError
from gym_gui.workers.discovery import discover
from gym_gui.workers.registry import WorkerTypeRegistry
from tests.controllers.engine.test_session_workers import operator
from tests.support.commands import ROOT
from tests.support.engine import plans
from tests.support.runs import played_here
from tests.support.seldom import some_of
from tests.support.session_log import SessionLog
from tests.support.waiting import in_time

EXAMPLES = ROOT / "docs" / "examples" / "bdi"
PAIR = "MosaicMultiGrid-C-2v2-IndAgObs-v1"


SOLVED = [("MiniGrid-Empty-Random-6x6-v0", "empty.asl"), ("MiniGrid-DoorKey-8x8-v0", "doorkey.asl")]
Agent = Callable[..., dict[str, Any]]
"""A slot that is played by a program."""


def interpreter_of(agent: Any) -> str:
    """Which interpreter plays it."""
    return str(agent.args[0])


def slot(worker: str, program: Path, **settings: Any) -> dict[str, Any]:
    return {"worker_id": worker, "type": "bdi", "settings": {"program": str(program), **settings}}


@pytest.fixture(params=some_of(["spade_bdi_worker", "jason_worker"], "spade_bdi_worker"))
def bdi(request: pytest.FixtureRequest) -> Agent:
    """One interpreter after the other; that both act alike is asked of a few programs by every run."""
    if request.param == "jason_worker":
        request.getfixturevalue("jason")
    return functools.partial(slot, request.param)


async def played(
    players: dict[str, Any], task: str, seeds: range, managers: dict[str, Any] | None = None
) -> SessionLog:
    """All episodes, at once."""
    log = SessionLog()
    session = LocalSession(
        resolve_operator(operator(players, task, manager=managers or {})), SessionSettings(len(seeds)), log
    )
    try:
        await session.start()
        session.play(plans(seeds))
        await in_time(lambda: len(log.episodes) == len(seeds), "all episodes are over", 120)
    finally:
        await session.close()
    return log


@pytest.mark.parametrize(("task", "program"), SOLVED)
async def test_the_examples_solve_their_tasks_and_repeat(bdi: Agent, task: str, program: str) -> None:
    players = {"agent": bdi(EXAMPLES / program)}
    seeds = range(6)
    log = await played(players, task, seeds)
    assert all(episode["status"] == "completed" for episode in log.episodes.values())
    assert all(episode["success"] for episode in log.episodes.values())
    assert not any(sum(episode["invalid_actions"].values()) for episode in log.episodes.values())
    again = await played(players, task, seeds)
    for index in seeds:
        assert again.column(index, "action") == log.column(index, "action")
        assert again.column(index, "bdi") == log.column(index, "bdi")


ALIKE = [
    ("MiniGrid-Empty-Random-6x6-v0", "empty.asl", ["agent"], []),
    ("MiniGrid-DoorKey-8x8-v0", "doorkey.asl", ["agent"], []),
    ("MultiGrid-RedBlueDoors-6x6-v0", "doors.asl", ["agent_0", "agent_1"], []),
    ("MosaicMultiGrid-S-1v1-IndAgObs-v1", "soccer.asl", ["green_0"], ["blue_0"]),
    ("MosaicMultiGrid-S-1v1-IndAgObs-v1", "soccer.asl", ["blue_0"], ["green_0"]),
    ("connect_four_v3", "connect_four.asl", ["player_1"], ["player_0"]),
]
"""Task, program, the slots that it plays, those played at random."""


@pytest.mark.parametrize(
    ("task", "program", "slots", "chance"),
    [*ALIKE[1:3], *(pytest.param(*each, marks=pytest.mark.full) for each in (ALIKE[0], *ALIKE[3:]))],
)
async def test_both_interpreters_act_alike(
    jason: None, task: str, program: str, slots: list[str], chance: list[str]
) -> None:
    if task.startswith("MultiGrid"):
        pytest.importorskip("multigrid")
    seeds = range(6 if chance else 10)
    one, other = [
        await played(
            {name: slot(worker, EXAMPLES / program) for name in slots}
            | {name: {"type": "random"} for name in chance},
            task,
            seeds,
        )
        for worker in ("spade_bdi_worker", "jason_worker")
    ]
    for index in seeds:
        done = [[(row["action"], row.get("said")) for row in log.rows[index]] for log in (one, other)]
        assert done[0] == done[1], index


async def test_what_it_thought_is_recorded_with_each_decision(bdi: Agent) -> None:
    log = await played({"agent": bdi(EXAMPLES / "doorkey.asl")}, "MiniGrid-DoorKey-8x8-v0", range(1))
    thoughts = log.column(0, "bdi")
    assert thoughts[0]["added"][0].startswith('mission("use the key')
    assert thoughts[0]["goals"][0] == "solve"
    assert thoughts[0]["plan"] == "line 15: +!approach(A, R) : ((A > 0) & free(1, 0))"
    taken = next(thought for thought in thoughts if "carrying(key, yellow)" in thought.get("added", ()))
    assert "carrying(nothing)" in taken["removed"]


async def test_team_mates_send_each_other_beliefs_and_goals(bdi: Agent, tmp_path: Path) -> None:
    (tmp_path / "leader.asl").write_text(
        "!lead. +!lead : me(M) <- .send(green_1, achieve, turn(3)); "
        ".send(green_1, tell, leads(M)); noop; !stay. +!stay <- noop; !stay."
    )
    (tmp_path / "follower.asl").write_text(
        "!wait. +!wait : leads(green_0) <- right; !wait. +!wait <- noop; !wait.\n"
        "+!turn(N) : N > 0 <- left; !turn(N - 1). +!turn(0) <- true."
    )
    log = await played(
        {
            "green_0": bdi(tmp_path / "leader.asl"),
            "green_1": bdi(tmp_path / "follower.asl"),
            "blue_0": {"type": "passive"},
            "blue_1": {"type": "passive"},
        },
        PAIR,
        range(1),
    )
    said = [row["said"] for row in log.rows[0] if "said" in row]
    assert said == [".send(green_1, achieve, turn(3))\n.send(green_1, tell, leads(green_0))"]
    noop, left, right = 0, 1, 2
    actions = log.column(0, "action", "green_1")
    assert actions[0] == noop
    assert left in actions[1:8]
    assert right in actions[1:8]


@pytest.mark.parametrize("silent", [False, True])
async def test_two_programs_open_doors_in_their_order_because_one_tells_the_other(
    bdi: Agent, tmp_path: Path, silent: bool
) -> None:
    pytest.importorskip("multigrid")
    text = (EXAMPLES / "doors.asl").read_text()
    send = ".send(T, tell, may_open(blue)); "
    assert send in text
    (tmp_path / "doors.asl").write_text(text.replace(send, "") if silent else text)
    pair = {name: bdi(tmp_path / "doors.asl") for name in ("agent_0", "agent_1")}
    log = await played(pair, "MultiGrid-RedBlueDoors-6x6-v0", range(1 if silent else 6))
    assert all(episode["success"] is not silent for episode in log.episodes.values())
    for index in log.episodes:
        said = [row["said"] for row in log.rows[index] if "said" in row]
        assert said == ([] if silent else [".send(agent_1, tell, may_open(blue))"])
        heard = [row for row in log.rows[index] if "may_open(blue)" in row["bdi"].get("added", ())]
        assert [row["agent_id"] for row in heard] == ([] if silent else ["agent_1"])


@pytest.mark.full
@pytest.mark.parametrize(
    ("task", "program", "side", "chance"),
    [
        ("MosaicMultiGrid-S-1v1-IndAgObs-v1", "soccer.asl", "green_0", "blue_0"),
        ("MosaicMultiGrid-S-1v1-IndAgObs-v1", "soccer.asl", "blue_0", "green_0"),
        ("connect_four_v3", "connect_four.asl", "player_0", "player_1"),
    ],
)
async def test_a_program_beats_chance_at_a_game(task: str, program: str, side: str, chance: str) -> None:
    """In Jason it does the same, action by action."""
    pytest.importorskip("agentspeak")
    players = {side: slot("spade_bdi_worker", EXAMPLES / program), chance: {"type": "random"}}
    log = await played(players, task, range(6))
    team = side if side.startswith("player") else side.partition("_")[0]
    assert [episode["outcome"][team] for episode in log.episodes.values()].count("win") >= 5
    assert not any(sum(episode["invalid_actions"].values()) for episode in log.episodes.values())


async def test_a_program_that_never_acts_is_a_true_record(bdi: Agent, tmp_path: Path) -> None:
    (tmp_path / "idle.asl").write_text("believes(nothing).")
    log = await played({"agent": bdi(tmp_path / "idle.asl")}, "MiniGrid-Empty-5x5-v0", range(1))
    assert log.episodes[0]["status"] == "failed"
    assert "chooses no action" in log.episodes[0]["error"]
    quiet = await played(
        {"agent": bdi(tmp_path / "idle.asl", idle="noop")}, "MiniGrid-Empty-5x5-v0", range(1)
    )
    assert quiet.episodes[0]["status"] == "completed"


async def test_what_a_program_prints_without_end_is_cut_and_how_much_is_said(
    bdi: Agent, tmp_path: Path
) -> None:
    (tmp_path / "loud.asl").write_text(
        'size(0). !go. +!go : size(N) & N < 300 <- .print("twenty characters..."); -+size(N + 1); !go.\n'
        "+!go <- forward; !go."
    )
    log = await played({"agent": bdi(tmp_path / "loud.asl")}, "MiniGrid-Empty-5x5-v0", range(1))
    first, second, *_ = log.column(0, "bdi")
    whole, begun, cut = first["printed"][:-2], first["printed"][-2], first["printed"][-1]
    assert whole == ["twenty characters..."] * (4000 // 21)
    assert begun == "twenty characters..."[: 4000 % 21]
    assert cut == f"(cut here: {6000 - 20 * len(whole) - len(begun):,} more characters are not kept)"
    assert "printed" not in second


ENDLESS = {
    "spade_bdi_worker": "!go. +!go : .range(1000000000000, X) & X < 0 <- forward.",
    "jason_worker": "!go. +!go : .range(X, 1, 1000000000000) & X < 0 <- forward.",
}
RECURSIVE = "on(X) :- on(X). !go. +!go : on(1) <- forward."


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("believes(nothing).", "has nothing left to do and chooses no action"),
        ("!go. +!go <- !fly.", "no applicable plan for .!fly/0"),
        (RECURSIVE, "rules call each other without end"),
        ("", "within its deadline|one step of the interpreter has no end"),
    ],
    ids=["idle", "without a plan", "recursive", "endless"],
)
async def test_a_program_in_trouble_fails_with_one_line_and_the_other_operator_goes_on(
    bdi: Agent, text: str, says: str, tmp_path: Path
) -> None:
    (tmp_path / "mind.asl").write_text(text or ENDLESS[interpreter_of(bdi)])
    task, limit = {"task": "MiniGrid-Empty-5x5-v0"}, 60 if text else 0.1
    stuck = {"id": "stuck", **task, "workers": {"agent": bdi(tmp_path / "mind.asl", deliberation_s=limit)}}
    good = {"id": "good", **task, "workers": {"agent": bdi(EXAMPLES / "empty.asl")}}
    # What hangs is begun again, each time in a process of its own, before its episode has failed.
    episodes = 2 if text else 1
    experiment = {"operators": [stuck, good], "execution": {"num_episodes": episodes, "seeds": 0}}
    run = await played_here(tmp_path / "run", experiment)
    assert run.statuses("stuck") == ["failed"] * episodes
    for episode in run.episodes("stuck").values():
        assert re.search(says, str(episode.error)) and "\n" not in str(episode.error)
    assert all(episode.success for episode in run.episodes("good").values())
    assert not (await verify(run.open())).divergences


BUSY = 40
"""Episodes: enough for an interpreter to be in their midst when it is looked for."""
PROCESSES = {"spade_bdi_worker": "spade_bdi_worker", "jason_worker": "mosaic.jason.Main"}


@contextlib.contextmanager
def noticed_soon(worker: str) -> Iterator[None]:
    """Whose silence counts as a hang after five seconds, not after thirty."""
    with WorkerTypeRegistry.isolated() as registry:
        discover()
        definition = registry.require(worker)
        registry.unregister(worker)
        registry.register(replace(definition, launch=replace(definition.launch, heartbeat_s=5.0)))
        yield


def _children(word: str) -> list[int]:
    """Processes that this one has started, by a word of their command lines."""
    found: list[int] = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.Error):
            if word in " ".join(child.cmdline()):
                found.append(child.pid)
    return found


async def test_what_an_interpreter_had_begun_that_dies_or_hangs_is_played_again_and_said(
    bdi: Agent, tmp_path: Path
) -> None:
    name = interpreter_of(bdi)
    task = {"task": "MiniGrid-DoorKey-8x8-v0"}
    experiment = {
        "operators": [
            {"id": "hurt", **task, "workers": {"agent": bdi(EXAMPLES / "doorkey.asl")}},
            {"id": "other", "task": "CartPole-v1", "workers": {"agent": {"type": "random"}}},
        ],
        "execution": {"num_episodes": BUSY, "seeds": 0, "concurrency": 2},
    }
    hurt: list[int] = []
    recorded = 0

    def lines() -> int:
        return sum(file.read_bytes().count(b"\n") for file in tmp_path.glob("run/*/*/hurt/episodes.jsonl"))

    def at_work() -> int:
        """The interpreter, if it is not one that was hurt and has come to the end of an episode."""
        found = [pid for pid in _children(PROCESSES[name]) if pid not in hurt]
        return found[0] if found and lines() > recorded else 0

    with noticed_soon(name):
        playing = asyncio.create_task(played_here(tmp_path / "run", experiment))
        for deed in (signal.SIGKILL, signal.SIGSTOP):
            hurt.append(await in_time(at_work, "it plays"))
            recorded = lines()
            os.kill(hurt[-1], deed)
        run = await playing
    assert run.statuses("hurt") == run.statuses("other") == ["completed"] * BUSY
    assert all(episode.success for episode in run.episodes("hurt").values())
    reasons = [retry["reason"] for retry in run.header()["retries"]]
    assert all("\n" not in reason for reason in reasons)
    for says in (
        f"agent_0: worker {name} was killed (signal 9, SIGKILL)",
        f"agent_0: worker {name} was ended: did not respond for ",
    ):
        assert any(reason.startswith(says) for reason in reasons), reasons
    assert not (await verify(run.open())).divergences


async def test_why_no_action_was_chosen_is_in_the_row_of_what_was_played_instead(
    bdi: Agent, tmp_path: Path
) -> None:
    (tmp_path / "stuck.asl").write_text("!go. +!go <- .send(green_1, tell, lost); !fly.")
    stuck = bdi(tmp_path / "stuck.asl") | {"on_invalid": "noop"}
    others = {name: {"type": "passive"} for name in ("green_1", "blue_0", "blue_1")}
    log = await played({"green_0": stuck, **others}, PAIR, range(1))
    row = next(row for row in log.rows[0] if row["agent_id"] == "green_0")
    assert row["action_source"] == "noop"
    assert any("no applicable plan for +!fly" in reason for reason in row["bdi"]["failed"])
    assert "said" not in row  # what was to be said with an action that was not chosen is not said


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("!go.\n+!go <- left", "mind.asl, line"),
        (None, "mind.asl cannot be read"),
        ("+!go <- .fly.", "no such"),
        ("!go.\n+!go <- forwrd.", "line 2: (there is no action 'forwrd'|no such action forwrd,)"),
    ],
)
async def test_a_program_that_is_wrong_is_refused_before_anything_is_played(
    bdi: Agent, tmp_path: Path, text: str | None, says: str
) -> None:
    if text is not None:
        (tmp_path / "mind.asl").write_text(text)
    with pytest.raises(MosaicError, match=says):
        await played({"agent": bdi(tmp_path / "mind.asl")}, "MiniGrid-Empty-5x5-v0", range(1))


async def test_where_nothing_is_stated_as_facts_it_is_refused(bdi: Agent, tmp_path: Path) -> None:
    (tmp_path / "mind.asl").write_text("!go. +!go <- noop; !go.")
    with pytest.raises(MosaicError, match="needs facts"):
        resolve_operator(operator({"agent": bdi(tmp_path / "mind.asl")}, "mpe2/simple_v3"))


MANAGED = "MiniGrid-DoorKey-6x6-v0"
SKILLS = {"type": "baseline", "worker_id": "operators_worker", "settings": {"behavior": "minigrid_skills"}}


async def managed(bdi: Agent, program: Path, seeds: range, task: str = MANAGED) -> SessionLog:
    return await played({"agent": SKILLS}, task, seeds, {"agent": bdi(program)})


async def test_a_program_manages_scripted_skills(bdi: Agent) -> None:
    log = await managed(bdi, EXAMPLES / "doorkey_manager.asl", range(6), "MiniGrid-DoorKey-8x8-v0")
    assert all(episode["success"] for episode in log.episodes.values())
    (key, *_) = (row for row in log.rows[0] if row.get("option_arguments") == ["yellow key"])
    assert key["option"] == "pick up(yellow key)" and key["agent_id"] == "agent_0/goal"
    assert key["bdi"]["plan"].startswith("line 6: +!solve : can(pick_up, C, key)")


@pytest.mark.parametrize("call", ["go_to(yellow, key)", "go_to(yellow_key)", 'act("go to(yellow key)")'])
async def test_an_option_is_called_by_its_words(bdi: Agent, call: str, tmp_path: Path) -> None:
    (tmp_path / "mind.asl").write_text(
        f"!go. +!go : can(go_to, yellow, key) <- {call}; !go. +!go <- explore; !go."
    )
    log = await managed(bdi, tmp_path / "mind.asl", range(1))
    chosen = [row["option"] for row in log.rows[0] if row["agent_id"] == "agent_0/goal"]
    assert "go to(yellow key)" in chosen
    assert log.episodes[0]["status"] == "completed"


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("!go. +!go <- sing(a_song); !go.", "line 1: (there is no action 'sing'|no such action sing)"),
        ("!go. +!go <- go_to(red, whale); !go.", r"there is no action go_to\(red, whale\) here"),
        (
            "!go. +!go <- open(yellow, door); !go.",
            r"open\(yellow door\) cannot start: what can start now is explore",
        ),
    ],
)
async def test_a_skill_that_there_is_not_and_one_that_cannot_start(
    bdi: Agent, program: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "mind.asl").write_text(program)
    try:
        log = await managed(bdi, tmp_path / "mind.asl", range(1))
    except MosaicError as error:
        text = str(error)
    else:
        assert log.episodes[0]["status"] == "failed"
        text = str(log.episodes[0]["error"])
    assert re.search(said, text) and "\n" not in text.strip()
