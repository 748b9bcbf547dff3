"""Recorded episodes as a slot would have been shown them: by whom they were played does not matter."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gym_gui import evaluate
from gym_gui.analysis import open_run
from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.controllers.engine.session_interface import SessionSettings
from gym_gui.controllers.replays.demonstrations import MOST_TURNS, with_turns
from gym_gui.controllers.runs.model_slots import dry
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.core.config import Experiment
from gym_gui.core.errors import UsageError
from gym_gui.core.trusted.trust import NotAllowedError, Origin
from gym_gui.workers.discovery import discover
from gym_gui.workers.named_resources import needs_of_settings
from gym_gui.workers.registry import WorkerTypeRegistry
from tests.controllers.engine.test_session_workers import operator
from tests.support.engine import plans
from tests.support.fake_model_server import FakeModelServer
from tests.support.session_log import SessionLog
from tests.support.waiting import in_time

LAKE = "FrozenLake-v1"
CALM = {"is_slippery": False}
PATH = (1, 1, 2, 2, 1, 2)
WORDS = ("down", "down", "right", "right", "down", "right")


class Walker:
    """Goes to the goal as a planner would; an object for each episode."""

    def __init__(self) -> None:
        self._steps = iter(PATH)

    def select_action(self, seen: Any) -> int:
        return next(self._steps)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs")
    return evaluate(LAKE, {"agent": Walker}, seeds=2, env_kwargs=CALM, out=out).folder


def slot(demonstrations: Any, url: str = "http://127.0.0.1:9/v1", **settings: Any) -> dict[str, Any]:
    given = {"client_name": "custom", "base_url": url, "model_id": "m", **settings}
    given["demonstrations"] = demonstrations
    return {"worker_id": "mosaic_llm_worker", "type": "llm", "settings": given}


def told(demonstrations: Any, task: str = LAKE, **more: Any) -> Sequence[Sequence[dict[str, Any]]]:
    """The turns that the worker of a slot gets."""
    more.setdefault("env_kwargs", CALM)
    resolved = resolve_operator(operator({"agent_0": slot(demonstrations)}, task, **more))
    return with_turns(resolved, "agent_0", resolved.assignments["agent_0"].settings)["demonstrations"][
        "episodes"
    ]


def test_each_turn_has_what_was_seen_what_was_done_and_what_that_earned(run: Path) -> None:
    first, second = told({"run": str(run), "episode": [0, 1]})
    assert [turn["action"] for turn in first] == list(PATH) == [turn["action"] for turn in second]
    assert [turn["reward"] for turn in first] == [0, 0, 0, 0, 0, 1]
    assert all(turn["text"] for turn in first) and len({turn["text"] for turn in first}) == len(PATH)
    json.dumps(first)
    (short,) = told({"run": str(run), "turns": 2})
    assert short == first[:2]


async def test_the_model_is_shown_the_episode_before_its_own(run: Path) -> None:
    listener = SessionLog()
    with FakeModelServer(lambda request: "<action>down</action>") as server:
        player = slot({"run": str(run)}, server.url, prompt_caching=True)
        session = LocalSession(
            resolve_operator(operator({"agent_0": player}, LAKE, env_kwargs=CALM)),
            SessionSettings(1, 2),
            listener,
        )
        try:
            await session.start()
            session.play(plans([0]))
            await in_time(lambda: listener.episodes, "the episode is over")
        finally:
            await session.close()
    first, second = (request.messages for request in server.requests)
    roles = ["system", *["user", "assistant"] * len(PATH), "user"]
    assert [message["role"] for message in first] == roles
    answers = [message["content"] for message in first if message["role"] == "assistant"]
    assert answers == [f"<action>{word}</action>" for word in WORDS]
    assert first[1]["content"].startswith("Example episode 1 of 1")
    assert "The examples end here." in first[-1]["content"]
    assert "Your last action brought a reward of 1." in first[-1]["content"]
    assert first[:-1] == second[:-1], "what is shown stays the same, so that servers can keep it"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"episode": 0}, "does not have the expected form"),
        ({"run": "RUN", "episode": -1}, "does not have the expected form"),
        ({"run": "RUN", "epsiode": 0}, "has no key 'epsiode'"),
        ({"run": "RUN", "episodes": [[]]}, "has no key 'episodes'"),
        ({"run": "RUN", "episode": 7}, "no completed episode 7 .* It has: 0, 1"),
        ({"run": "RUN", "operator": "nobody"}, "has no operator 'nobody'"),
        ({"run": "RUN", "agent": "agent_9"}, "no agent of FrozenLake-v1 is called 'agent_9'"),
        ({"run": "/nowhere/at/all"}, "nowhere"),
    ],
)
def test_what_cannot_be_shown_is_said_in_a_sentence(run: Path, given: dict[str, Any], sentence: str) -> None:
    named = {key: str(run) if value == "RUN" else value for key, value in given.items()}
    with pytest.raises(UsageError, match=sentence):
        told(named)


@pytest.mark.parametrize(("task", "kwargs"), [(LAKE, {"is_slippery": True}), ("CliffWalking-v1", {})])
def test_episodes_of_another_environment_are_refused(run: Path, task: str, kwargs: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="was played in another environment"):
        told({"run": str(run)}, task, env_kwargs=kwargs)


def test_one_in_which_moves_were_taken_back_is_nobodys_demonstration(run: Path, tmp_path: Path) -> None:
    back = tmp_path / "back"
    shutil.copytree(run, back)
    (lines,) = back.rglob("episodes.jsonl")
    first, *rest = (json.loads(line) for line in lines.read_text().splitlines())
    rows = [first | {"taken_back": {"episode": 0, "step": 1}}, *rest]
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(UsageError, match=r"episode 0 .* moves that were taken back"):
        told({"run": str(back), "episode": 0})
    assert told({"run": str(back), "episode": 1})
    with pytest.raises(UsageError, match=r"It has: 1$"):
        told({"run": str(back), "episode": 7})


def test_an_episode_that_does_not_play_out_as_recorded_is_refused(run: Path, tmp_path: Path) -> None:
    forged = tmp_path / "forged"
    for file in run.rglob("*"):
        if file.is_file():
            copy = forged / file.relative_to(run)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(file.read_bytes())
    (steps,) = forged.rglob("steps.jsonl")
    steps.write_text(steps.read_text().replace('"action":2', '"action":1', 1))
    with pytest.raises(UsageError, match="differs from its record when it is replayed"):
        told({"run": str(forged)})
    own = open_run(run).operators.popitem()[1].path.name  # pyright: ignore[reportAttributeAccessIssue]
    for name in ("episodes.jsonl", "steps.jsonl"):
        file = forged / "operators" / own / name
        file.unlink()
        file.symlink_to(run / "operators" / own / name)
    with pytest.raises(Exception, match="is a link"):
        told({"run": str(forged)})


def test_too_long_ones_are_refused_with_the_way_to_shorten_them(tmp_path: Path) -> None:
    long = evaluate(
        "CartPole-v1", lambda seen: int(seen[2] + 0.5 * seen[3] > 0), seeds=3, max_steps=200, out=tmp_path
    )
    given: dict[str, Any] = {"run": str(long.folder), "episode": [0, 1, 2]}
    with pytest.raises(UsageError, match=rf"600 turns .* {MOST_TURNS} turns .*turns: 50"):
        told(given, "CartPole-v1", env_kwargs={}, max_steps=200)
    assert [len(turns) for turns in told({**given, "turns": 50}, "CartPole-v1", env_kwargs={})] == [50] * 3


def test_a_run_that_a_file_names_has_to_be_allowed_and_a_dry_run_keeps_it(run: Path) -> None:
    discover()
    definition = WorkerTypeRegistry.require("mosaic_llm_worker")
    (need,) = needs_of_settings(definition, {"demonstrations": {"run": str(run)}})
    assert (need.subject.kind, need.subject.name) == ("file", str(run.resolve()))
    named = operator({"agent_0": slot({"run": str(run)})}, LAKE, env_kwargs=CALM)
    object.__setattr__(named, "origin", Origin("theirs.yaml", str(run.parent)))
    with pytest.raises(NotAllowedError, match="shows its worker"):
        resolve_operator(named)
    (rehearsed,) = dry(Experiment([operator({"agent_0": slot({"run": str(run)})}, LAKE)])).operators
    assert rehearsed.workers["agent_0"].settings["demonstrations"] == {"run": str(run)}
