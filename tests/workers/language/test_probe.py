"""The probe that the window's Test button runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

import mosaic_llm_worker
import mosaic_worker
from mosaic_llm_worker.probe import check_server
from tests.support.fake_model_server import FakeModelServer, Raw, Reply, refusal

KEY = "sk-planted-0123456789abcdef"


@pytest.fixture(scope="module")
def serving() -> Iterator[FakeModelServer]:
    with FakeModelServer(models=("b", "a")) as server:
        yield server


@pytest.fixture
def fake(serving: FakeModelServer) -> FakeModelServer:
    serving.script = lambda request: Reply("Ready\n")
    serving.requests.clear()
    serving.listed.clear()
    return serving


def probe(fake: FakeModelServer, *, key: str = KEY, ask: bool = False, **settings: Any) -> dict[str, Any]:
    given = {"client_name": "openai", "base_url": fake.url, "model_id": "a", **settings}
    return dict(check_server(json.dumps({"settings": given, "key": key, "try": ask})))


def test_it_lists_the_models(fake: FakeModelServer) -> None:
    said = probe(fake)
    latency = said.pop("latency_ms")
    sentence = f"The server at {fake.url} answers and lists 2 models."
    assert said == {"ok": True, "sentence": sentence, "models": ["a", "b"]}
    assert latency > 0
    assert fake.listed[0].key == KEY
    assert not fake.requests


def test_a_model_that_is_not_there_is_told(fake: FakeModelServer) -> None:
    assert probe(fake, model_id="c")["sentence"].endswith("lists 2 models; 'c' is not among them.")


def test_it_asks_for_one_word(fake: FakeModelServer) -> None:
    # Settings of a whole worker may come: what is not the server's is left out, and nothing is replayed.
    said = probe(fake, ask=True, strategy="robust", cassette="replay", dry_run=True, client_name="anthropic")
    assert (said["ok"], said["sentence"]) == (True, f"a at {fake.url} answers: 'Ready'.")
    (request,) = fake.requests
    assert request.json["max_tokens"] == 16
    assert request.anthropic


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no JSON object"),
        ("[", "no JSON object"),
        ('{"settings": {"client_name": "anthropic"}}', "Anthropic needs a key."),
        ('{"settings": {"base_url": "nowhere"}}', "must begin with http"),
        ('{"settings": {"client_name": "custom"}}', "needs base_url"),
        ('{"settings": {"client_name": "nobody"}}', "The settings are wrong: client_name: "),
        (json.dumps({"key": f"{KEY}\n{KEY}"}), "a key cannot have"),
    ],
)
def test_what_cannot_be_tried_is_said_in_a_sentence(text: str, words: str) -> None:
    said = check_server(text)
    assert (said["ok"], said["models"], said["latency_ms"]) == (False, [], None)
    assert words in said["sentence"]
    assert KEY not in json.dumps(said)


def test_a_refused_key_is_said_without_it(fake: FakeModelServer) -> None:
    fake.script = lambda request: refusal(401, f"Incorrect API key provided: {KEY}")
    said = probe(fake, ask=True)
    assert not said["ok"]
    assert "refuses the key (401): Incorrect API key provided: [key]" in said["sentence"]


def test_nobody_there_is_said_with_what_to_look_at() -> None:
    with FakeModelServer() as gone:
        pass
    assert probe(gone)["sentence"].endswith("is it running, and is base_url right?")


def test_a_server_that_does_not_answer_is_given_up(fake: FakeModelServer) -> None:
    fake.script = lambda request: Raw(stall_after=0)
    assert "did not answer within 0.3 s" in probe(fake, ask=True, timeout_s=0.3)["sentence"]


def test_as_a_process_it_takes_the_key_from_stdin_alone(fake: FakeModelServer) -> None:
    started: list[list[str]] = []
    places = [
        str(Path(next(iter(package.__path__))).parent) for package in (mosaic_llm_worker, mosaic_worker)
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "mosaic_llm_worker.probe"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )

    def script(request: object) -> Reply:
        asked = psutil.Process(process.pid)
        started.append([*asked.cmdline(), *asked.environ().values()])
        return Reply("Ready")

    fake.script = script
    settings = {"client_name": "openai", "base_url": fake.url, "model_id": "a"}
    out, err = process.communicate(json.dumps({"settings": settings, "key": KEY, "try": True}), timeout=120)
    assert (process.returncode, err) == (0, "")
    (line,) = out.splitlines()
    assert json.loads(line)["ok"]
    assert fake.requests[0].key == KEY
    (shown,) = started
    assert not [text for text in [out, *shown] if KEY in text]
