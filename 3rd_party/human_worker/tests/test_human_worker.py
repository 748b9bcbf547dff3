from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium.spaces as gs
import numpy as np
import pytest

from gym_gui.core.spaces import Codec, to_space
from human_worker.main import HumanWorker
from human_worker.script import Script, why_not
from mosaic_worker.link import PROTOCOL
from mosaic_worker.pb import worker_pb2 as pb
from mosaic_worker.worker import Batch, EpisodeEnd, EpisodeStart, Invalid, LoadError, Slot

SEES = gs.Discrete(10)
_FOLDERS = Path(__file__).resolve().parents[2]
WORDS = ("left", "right", "FORWARD")


def _slot(
    space: gs.Space[Any], noop: int | None = None, words: tuple[str, ...] = (), **settings: Any
) -> Slot:
    return Slot(0, "agent_0", "Some-v0", to_space(SEES), to_space(space), settings, words, noop)


def _loaded(space: gs.Space[Any], **kwargs: Any) -> tuple[HumanWorker, Slot]:
    worker, slot = HumanWorker(), _slot(space, **kwargs)
    assert worker.load(slot) == "script"
    return worker, slot


def _batch(slot: Slot, *where: tuple[int, int], masks: Any = None) -> Batch:
    """One decision per (episode, step)."""
    n = len(where)
    return Batch(
        slot,
        list(range(n)),
        [episode for episode, _ in where],
        [step for _, step in where],
        np.zeros(n, np.uint64),
        np.zeros(n, np.int64),
        None if masks is None else np.array(masks, np.bool_),
        [0] * n,
    )


def _played(worker: HumanWorker, slot: Slot, steps: range, episode: int = 0) -> list[Any]:
    return [worker.select_actions(_batch(slot, (episode, step))).actions[0] for step in steps]


def test_a_script_is_played_in_order_in_every_episode():
    worker, slot = _loaded(gs.Discrete(3), words=WORDS, script=[2, "left", "Forward", 1])
    assert _played(worker, slot, range(4)) == [2, 0, 2, 1]
    assert _played(worker, slot, range(4), episode=1) == [2, 0, 2, 1]


def test_episodes_may_be_interleaved_and_steps_may_skip():
    worker, slot = _loaded(gs.Discrete(3), script=[0, 1, 2])
    assert worker.select_actions(_batch(slot, (5, 0), (6, 0))).actions == [0, 0]
    assert worker.select_actions(_batch(slot, (6, 2))).actions == [1]
    assert worker.select_actions(_batch(slot, (6, 4), (5, 2))).actions == [2, 1]


def test_a_retry_is_not_a_new_line():
    worker, slot = _loaded(gs.Discrete(3), script=[0, 1, 2])
    assert [worker.select_actions(_batch(slot, (0, t))).actions[0] for t in (0, 0, 1, 1, 2)] == [
        0,
        0,
        1,
        1,
        2,
    ]


def test_an_episode_that_begins_again_begins_the_script_again():
    worker, slot = _loaded(gs.Discrete(3), script=[0, 1, 2])
    assert _played(worker, slot, range(2)) == [0, 1]
    worker.on_episode_end(slot, [EpisodeEnd(0, 0.0, 2, "aborted")])
    assert _played(worker, slot, range(1)) == [0]
    worker.reset(slot, [EpisodeStart(0, 1)])
    assert _played(worker, slot, range(5, 6)) == [0]


def test_scripted_actions_are_marked_as_the_persons():
    worker, slot = _loaded(gs.Discrete(3), script=[0], script_end="noop", noop=2)
    marks = [worker.select_actions(_batch(slot, (0, t))).extras for t in range(2)]
    assert marks == [[{"human": True}], [None]]


@pytest.mark.parametrize(("end", "later"), [("noop", [2, 2, 2]), ("repeat", [0, 1, 0])])
def test_what_follows_the_script(end: str, later: list[int]):
    worker, slot = _loaded(gs.Discrete(3), script=[0, 1], script_end=end, noop=2)
    assert _played(worker, slot, range(5)) == [0, 1, *later]


def test_by_default_the_end_of_the_script_is_said():
    worker, slot = _loaded(gs.Discrete(3), script=[0])
    first, second = _played(worker, slot, range(2))
    assert first == 0
    assert second == Invalid("the script of 1 action has ended. Set script_end to ask, noop or repeat")


@pytest.mark.parametrize(
    ("space", "action", "mask", "legal"),
    [
        (gs.Discrete(3, start=1), 2, [0, 1, 0], True),
        (gs.Discrete(3, start=1), 2, [1, 0, 1], False),
        (gs.MultiDiscrete([2, 3], start=[0, 4]), [1, 6], [0, 1, 0, 0, 1], True),
        (gs.MultiDiscrete([2, 3], start=[0, 4]), [1, 6], [0, 1, 1, 1, 0], False),
    ],
)
def test_a_scripted_action_that_is_not_legal_is_not_played(
    space: gs.Space[Any], action: Any, mask: list[int], legal: bool
):
    worker, slot = _loaded(space, script=[action])
    answer = worker.select_actions(_batch(slot, (0, 0), masks=[mask])).actions[0]
    assert isinstance(answer, Invalid) != legal
    if not legal:
        assert "entry 0 of the script" in answer.reason


@pytest.mark.parametrize(
    ("space", "action"),
    [
        (gs.Box(-1.0, 1.0, (2,)), [0.5, -1]),
        (gs.MultiBinary(2), [1, 0]),
        (gs.Dict({"a": gs.Discrete(2), "b": gs.Box(0.0, 1.0, (1,))}), {"a": 1, "b": [0.5]}),
        (gs.Tuple((gs.Discrete(2), gs.Discrete(3))), [1, 2]),
        (gs.Text(3, charset="ab"), "ab"),
    ],
    ids=str,
)
def test_actions_of_any_space_can_be_scripted(space: gs.Space[Any], action: Any):
    worker, slot = _loaded(space, script=[action])
    codec = Codec(to_space(space))
    columns = codec.columns(worker.select_actions(_batch(slot, (0, 0))).actions, 1)
    assert space.contains(codec.unstack(columns, 1)[0])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"script": []}, "script must be a list of at least one action"),
        ({"script": "left"}, "script must be a list"),
        ({"script": [0, 3]}, "script entry 1: 3 is not in the action space: it must be from 0 to 2"),
        ({"script": ["lft"]}, "script entry 0: no action is called 'lft'. Did you mean 'left'?"),
        ({"script": [0.5]}, "script entry 0: 0.5 is not in the action space"),
        ({"script": [None]}, "script entry 0: None is not in the action space"),
        ({"script": [0], "script_end": "stop"}, "it must be one of ask, noop, repeat, error"),
        ({"script": [0], "script_end": "noop"}, "'Some-v0' has no no-op action"),
        ({"script_end": "ask"}, "script_end is set, but there is no script"),
    ],
)
def test_a_script_that_cannot_be_played_is_refused(settings: dict[str, Any], message: str):
    with pytest.raises(LoadError) as refused:
        Script.read(_slot(gs.Discrete(3), words=WORDS, **settings))
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("space", "value"),
    [
        (gs.Box(-1.0, 1.0, (2,)), [0.0, 2.0]),
        (gs.Box(-1.0, 1.0, (2,)), [0.0]),
        (gs.Box(-1.0, 1.0, (1,)), [float("nan")]),
        (gs.MultiDiscrete([2, 3]), [0, 3]),
        (gs.MultiBinary(2), [0, 2]),
        (gs.Dict({"a": gs.Discrete(2)}), {"b": 0}),
        (gs.Dict({"a": gs.Discrete(2)}), {"a": 5}),
        (gs.Tuple((gs.Discrete(2),)), [0, 0]),
        (gs.Dict({"a": gs.Discrete(2)}), 3),
    ],
    ids=str,
)
def test_values_outside_a_space_are_told(space: gs.Space[Any], value: Any):
    assert why_not(to_space(space), value)


class _Person:
    """The host of a real worker process; its person answers from a list."""

    def __init__(self, answers: list[int | None]) -> None:
        here, there = socket.socketpair()
        folders = (str(_FOLDERS / name) for name in ("mosaic_worker_sdk", "human_worker"))
        self._worker = subprocess.Popen(
            [
                *(sys.executable, "-m", "mosaic_worker", "human_worker"),
                *("--entry", "human_worker.main:HumanWorker", "--fd", str(there.fileno())),
            ],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)},
            pass_fds=[there.fileno()],
        )
        there.close()
        self._link, self._frames = here, here.makefile("rb")
        self._answers = iter(answers)
        self._codec = Codec(to_space(gs.Discrete(3)))
        self._send(pb.ToWorker(hello=pb.Hello(protocol=PROTOCOL)))
        self._until("welcome")

    def load(self, **settings: Any) -> str:
        """The policy's name."""
        spaces = {
            "observation_space": json.dumps(to_space(SEES).to_json()),
            "action_space": json.dumps(to_space(gs.Discrete(3)).to_json()),
        }
        load = pb.Load(slot=0, agent="agent_0", env="Some-v0", settings=json.dumps(settings), **spaces)
        self._send(pb.ToWorker(load=load))
        return self._until("loaded").loaded.policy

    def decide(self, ids: list[int], step: int = 0) -> pb.Replies:
        """Ask for one decision per id, each of the episode of that number."""
        n = len(ids)
        seen = Codec(to_space(SEES)).columns(np.zeros(n, np.int64), n)
        questions = pb.Questions(ids=ids, episodes=ids, steps=[step] * n, seeds=[1] * n)
        for column in seen:
            questions.observation.add(data=column.data, sizes=column.sizes)
        self._send(pb.ToWorker(work=pb.Work(slot=0, questions=questions)))
        return self._until("replies").replies

    def close(self) -> None:
        self._send(pb.ToWorker(shutdown=pb.Shutdown()))
        assert self._worker.wait(timeout=20) == 0
        self._frames.close()
        self._link.close()

    def _send(self, message: pb.ToWorker) -> None:
        data = message.SerializeToString()
        self._link.sendall(len(data).to_bytes(4, "little") + data)

    def _until(self, body: str) -> Any:
        """The next message of that kind; on the way there, questions to the person are answered."""
        while True:
            size = int.from_bytes(self._frames.read(4), "little")
            message = pb.FromWorker.FromString(self._frames.read(size))
            kind = message.WhichOneof("body")
            if kind == body:
                return message
            if kind == "ask_human":
                human = pb.HumanAction(slot=0, id=message.ask_human.id)
                action = next(self._answers)
                if action is not None:
                    for column in self._codec.columns([action], 1):
                        human.action.add(data=column.data, sizes=column.sizes)
                self._send(pb.ToWorker(human=human))


@pytest.fixture
def person() -> Any:
    made: list[_Person] = []

    def make(*answers: int | None) -> _Person:
        made.append(_Person(list(answers)))
        return made[-1]

    yield make
    for one in made:
        one.close()


def _actions(replies: pb.Replies) -> dict[int, int]:
    codec = Codec(to_space(gs.Discrete(3)))
    values = codec.unstack(list(replies.action), len(replies.ids)) if replies.ids else []
    return dict(zip(replies.ids, values, strict=True))


def test_without_a_script_the_person_is_asked(person: Callable[..., _Person]):
    host = person(2, 0)
    assert host.load() == "keyboard"
    replies = host.decide([4, 9])
    assert _actions(replies) == {4: 2, 9: 0}
    assert [(extra.id, json.loads(extra.json)) for extra in replies.extras] == [
        (4, {"human": True}),
        (9, {"human": True}),
    ]


def test_a_person_who_does_not_act_in_time_is_said_so(person: Callable[..., _Person]):
    host = person(None)
    host.load()
    replies = host.decide([4])
    assert [(p.id, p.reason, p.fatal) for p in replies.problems] == [
        (4, "the person did not choose an action in time", False)
    ]


def test_after_the_script_the_person_goes_on(person: Callable[..., _Person]):
    host = person(2)
    assert host.load(script=[1], script_end="ask") == "script"
    assert _actions(host.decide([7])) == {7: 1}
    assert _actions(host.decide([7], step=1)) == {7: 2}
