"""llama.cpp's own servers, with random weights: a grammar makes every reply a legal action.

Skipped where none is installed. To run it, either have ``llama-server`` on the path, or::

    python -m venv V && V/bin/pip install "llama-cpp-python[server]"
    MOSAIC_LLAMA_CPP_PYTHON=V/bin/python pytest tests/workers/language/test_llama_cpp.py
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from gym_gui.core.spaces import to_space
from mosaic_llm_worker.calls import Caller, NoUsableReply
from mosaic_llm_worker.chat_servers.providers import open_server
from mosaic_llm_worker.chat_servers.servers import CallId, Completion, ReplyRequest
from mosaic_llm_worker.forms import schema
from mosaic_llm_worker.parsing import Reader
from mosaic_llm_worker.server_settings import ServerSettings
from mosaic_worker.spaces import Space
from tests.support.tiny_gguf import write_tiny_llama
from tests.support.waiting import eventually
from tests.workers.language.test_language_worker import played

WORDS = ("noop", "left", "right", "forward", "pick up", "drop")
ASK = [{"role": "system", "content": "You are the agent."}, {"role": "user", "content": "The goal is left."}]
DISCRETE = Space.from_json({"kind": "Discrete", "dtype": "int64", "n": len(WORDS), "start": 0})
SPACES: dict[str, tuple[Space, tuple[str, ...]]] = {
    "words": (DISCRETE, WORDS),
    "numbers": (DISCRETE, ()),
    "a list": (to_space(spaces.Box(-(2**62), 2**62, (2,), np.int64)), ()),
}
SEEDS = 12
_RUNNING = re.compile(r"(?:running|listening) on http://127\.0\.0\.1:(\d+)")
_INTERPRETER = os.environ.get("MOSAIC_LLAMA_CPP_PYTHON", "")


def _command(kind: str) -> list[str] | None:
    """How a server is started; ``None`` where it is not installed."""
    if kind == "llama-server":
        found = shutil.which(kind)
        return [found, "--ctx-size", "8192", "--parallel", "1"] if found else None
    return [_INTERPRETER, "-m", "llama_cpp.server", "--n_ctx", "8192"] if _INTERPRETER else None


@pytest.fixture(scope="module", params=["llama-server", "llama-cpp-python"])
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where one of the two serves a tiny random Llama."""
    command = _command(request.param)
    if command is None:
        pytest.skip(f"no {request.param} is installed: this file says how to run it")
    folder = tmp_path_factory.mktemp("llama")
    model, log = write_tiny_llama(folder / "tiny.gguf"), folder / "log.txt"
    command += ["--model", str(model), "--host", "127.0.0.1", "--port", "0"]
    with log.open("wb") as words:
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=words, stderr=words)
    try:
        found = eventually(
            lambda: _RUNNING.search(log.read_text(errors="replace")) or server.poll() is not None,
            f"{request.param} runs",
        )
        assert isinstance(found, re.Match), log.read_text(errors="replace")[-4000:]
        yield f"http://127.0.0.1:{found[1]}/v1"
    finally:
        server.kill()
        server.wait()


def given(url: str, **more: Any) -> dict[str, Any]:
    """Settings of a slot."""
    # Hot, so that the weights choose among all that the grammar leaves.
    return {"client_name": "llamacpp", "base_url": url, "temperature": 2.0, "max_tokens": 200, **more}


async def asked(url: str, asks: list[ReplyRequest], messages: Any = ASK, **more: Any) -> list[Completion]:
    """The replies of one caller."""
    settings = ServerSettings.model_validate(given(url, retries=0, **more))
    caller = Caller(settings, {}, lambda call: None)
    try:
        return [await caller.call(CallId("agent", 0, step), messages, ask) for step, ask in enumerate(asks)]
    finally:
        await caller.aclose()


async def test_the_server_lists_its_model(url: str) -> None:
    server = open_server(ServerSettings.model_validate(given(url)), "")
    (model,) = await server.models()
    await server.aclose()
    assert model.endswith("tiny.gguf")
    (reply,) = await asked(url, [ReplyRequest(1)], max_tokens=8)
    assert reply.model == model
    assert reply.finish in ("length", "stop")
    assert reply.input_tokens > 0 and reply.output_tokens > 0


@pytest.mark.parametrize("name", SPACES)
async def test_a_grammar_leaves_legal_actions_alone(url: str, name: str) -> None:
    space, meanings = SPACES[name]
    reader = Reader(space, meanings, "any")
    vocabulary = reader.vocabulary() if space.kind == "Discrete" else None
    form = schema(space, vocabulary, talk=False)
    replies = await asked(url, [ReplyRequest(seed, form) for seed in range(SEEDS)])
    readings = [reader.read(reply.text) for reply in replies]
    assert [reading.problem for reading in readings] == [""] * SEEDS, [reply.text for reply in replies]
    assert len({str(reading.action) for reading in readings}) > 1, "the weights have a say"


async def test_without_a_form_the_same_weights_say_nothing_that_can_be_played(url: str) -> None:
    reader = Reader(DISCRETE, WORDS, "any")
    replies = await asked(url, [ReplyRequest(seed) for seed in range(4)], max_tokens=30)
    assert all(reader.read(reply.text, cut=True).problem for reply in replies)


async def test_a_reply_cut_within_its_form_is_unusable_at_once(url: str) -> None:
    """llama-server says 500 to some of them, which looks like a fault that passes."""
    form = schema(DISCRETE, Reader(DISCRETE, WORDS, "any").vocabulary(), talk=True)
    reader, calls = Reader(DISCRETE, WORDS, "any"), list[dict[str, Any]]()
    caller = Caller(ServerSettings.model_validate(given(url, max_tokens=64)), {}, calls.append)
    for seed in range(SEEDS):
        try:
            reply = await caller.call(CallId("agent", 0, seed), ASK, ReplyRequest(seed, form))
        except NoUsableReply as error:
            assert "could not parse its model's reply (500)" in str(error)
        else:
            assert reply.finish == "length" and reader.read(reply.text, cut=True).problem
    await caller.aclose()
    assert [call["retries"] for call in calls] == [0] * SEEDS


async def test_a_seed_repeats_a_reply(url: str) -> None:
    replies = await asked(url, [ReplyRequest(seed) for seed in (1, 2, 1)], max_tokens=30)
    assert replies[0].text == replies[2].text != replies[1].text


async def test_a_prompt_that_is_too_long_is_an_unusable_reply_that_says_so(url: str) -> None:
    long = [{"role": "user", "content": "x y " * 9000}]
    with pytest.raises(NoUsableReply, match=r"refuses the request \(400\).*(context|exceed)"):
        await asked(url, [ReplyRequest(1)], long, max_tokens=8)


async def test_every_action_of_an_episode_is_the_models_own(url: str) -> None:
    settings = given(url, strategy="structured")
    player = {
        "worker_id": "mosaic_llm_worker", "type": "llm", "settings": settings, "on_invalid": "error",
    }  # fmt: skip
    sheet = await played({"agent": player}, "FrozenLake-v1", [1, 2], 8)
    for index in (0, 1):
        assert sheet.episodes[index]["status"] == "completed", sheet.episodes[index]["error"]
        assert set(sheet.column(index, "action_source")) == {"policy"}
    calls = sheet.calls
    assert calls and not [call["error"] for call in calls if call["error"]]
