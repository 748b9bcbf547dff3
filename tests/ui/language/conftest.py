"""Language players over a model server of which every reply is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import keyring
import orjson
import pytest

from gym_gui.core.config import OperatorConfig, WorkerAssignment
from gym_gui.core.experiment.assignment import OnInvalid
from gym_gui.ui.context import AppContext
from gym_gui.ui.live.live_operator import LiveOperator
from gym_gui.workers.definition import WorkerTypeDefinition
from gym_gui.workers.manifest import read_manifest
from tests.services.test_api_keys import Wallet
from tests.support.fake_model_server import FakeModelServer
from tests.support.no_processes import local_session, looks_here, plays_here
from tests.ui.conftest import PATIENCE_MS

__all__ = ["looks_here", "plays_here"]

WAIT = PATIENCE_MS
LLM = Path(__file__).parents[3] / "3rd_party/mosaic_llm_worker/worker.toml"
PROBE, PREVIEW = "mosaic_llm_worker.probe", "mosaic_llm_worker.preview"


@pytest.fixture(scope="session")
def worker() -> WorkerTypeDefinition:
    """The language worker, with the controls that the window has for its settings."""
    definition = read_manifest(LLM)
    kinds: dict[str, dict[str, Any]] = {
        "model_id": {"x-kind": "model", "x-module": PROBE},
        "base_url": {"x-kind": "server", "x-module": PROBE},
        "api_key": {"x-provider": "client_name"},
        "prompt_folder": {"x-kind": "prompts", "x-module": PREVIEW, "x-advanced": True},
        "retries": {"x-advanced": True},
    }
    settings = tuple(replace(s, schema={**s.schema, **kinds.get(s.name, {})}) for s in definition.settings)
    return replace(definition, settings=settings)


@pytest.fixture
def server() -> Iterator[FakeModelServer]:
    """Says an action and why, the first time of each episode's step without one."""

    def say(request: Any) -> str:
        return (
            "I am not sure." if request.number == 0 else "It looks <b>free</b> there.\n<action>right</action>"
        )

    with FakeModelServer(say, models=("tiny-1", "tiny-2")) as running:
        yield running


@pytest.fixture
def wallet() -> Iterator[Wallet]:
    """A keyring of its own."""
    before, held = keyring.get_keyring(), Wallet()
    keyring.set_keyring(held)
    yield held
    keyring.set_keyring(before)


def player(server: FakeModelServer, **settings: Any) -> WorkerAssignment:
    given = {"client_name": "custom", "base_url": server.url, "model_id": "tiny-1", **settings}
    return WorkerAssignment("mosaic_llm_worker", "llm", given, on_invalid=OnInvalid(1, "noop"))


def lake(server: FakeModelServer, **settings: Any) -> OperatorConfig:
    """A language model on the ice."""
    who = player(server, **settings)
    who = replace(who, on_invalid=OnInvalid(1, "random_legal"))
    return OperatorConfig("reader", "Reader", "", "FrozenLake-v1", {"agent_0": who}, max_steps=3)


@pytest.fixture
def live(context: AppContext, finish: Any) -> Iterator[Callable[[OperatorConfig], LiveOperator]]:
    """Makes live operators whose sessions are in this process; they are closed at the end."""
    made: list[LiveOperator] = []

    def make(config: OperatorConfig) -> LiveOperator:
        made.append(LiveOperator(context, config, open_session=local_session))
        return made[-1]

    yield make
    for operator in made:
        finish(operator.player.close())
        operator.deleteLater()
    made.clear()


def call_line(step: int, agent: str = "agent_0", *, attempt: int = 0, episode: int = 0, **more: Any) -> bytes:
    """A line of ``calls.jsonl``."""
    call = {
        "kind": "chat",
        "ref": f"{agent}/{episode}/{step}/{attempt}/0",
        "agent": agent,
        "episode": episode,
        "step": step,
        "attempt": attempt,
        "turn": 0,
        "provider": "custom",
        "model": "tiny-1",
        "model_reported": "tiny-1",
        "messages": [
            {"role": "system", "content": f"You are {agent}."},
            {"role": "user", "content": f"Step {step}.\nYou see a door."},
        ],
        "reply": f"Let me see.\n<action>move {step}</action>",
        "finish": "stop",
        "tokens": {"input": 100, "output": 10},
        "usd": 0.001,
        "latency_ms": 35.0,
        "error": "",
        "retries": 0,
        "replayed": False,
    }
    return orjson.dumps({**call, **more})
