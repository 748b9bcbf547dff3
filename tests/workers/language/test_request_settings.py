"""What is said of sampling, thinking and further parameters, as it arrives at servers of either kind."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import ValidationError

from chess_worker.settings import ChessSettings
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.validation import ConfigError
from mosaic_llm_worker.chat_servers.providers import open_server
from mosaic_llm_worker.chat_servers.servers import ReplyRequest, ServerError, Tool
from mosaic_llm_worker.server_settings import ServerSettings, errors_sentence
from mosaic_llm_worker.settings import LlmSettings
from tests.support.commands import ROOT
from tests.support.fake_model_server import FakeModelServer, Request, refusal
from vlm_worker.settings import VlmSettings

KEY = "sk-planted-0123456789abcdef"
ASK = [{"role": "system", "content": "Play."}, {"role": "user", "content": "Where to?"}]
FORM = {"type": "object", "properties": {"action": {"enum": ["left", "right"]}}, "required": ["action"]}
TOOL = Tool("moves", "Lists moves.", {"type": "object", "properties": {}})


@pytest.fixture(scope="module")
def serving() -> Iterator[FakeModelServer]:
    with FakeModelServer() as server:
        yield server


@pytest.fixture
def fake(serving: FakeModelServer) -> FakeModelServer:
    serving.script = lambda request: "ok"
    serving.requests.clear()
    return serving


def settings(url: str, client: str, **more: Any) -> ServerSettings:
    return ServerSettings.model_validate({"client_name": client, "base_url": url, "model_id": "m", **more})


async def sent(fake: FakeModelServer, client: str, ask: ReplyRequest | None = None, **more: Any) -> Request:
    """The one request that these settings make."""
    server = open_server(settings(fake.url, client, **more), KEY)
    try:
        await server.chat(ASK, ask or ReplyRequest())
    finally:
        await server.aclose()
    (request,) = fake.requests
    return request


def refused(client: str, **more: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        settings("http://localhost:1/v1", client, **more)
    return errors_sentence(caught.value)


@pytest.mark.parametrize(
    ("client", "given", "body"),
    [
        (
            "openai",
            {"top_p": 0.9, "temperature": 0.7, "reasoning_effort": "high", "extra_body": {"top_k": 5}},
            b'{"model": "m", "messages": [{"role": "system", "content": "Play."}, {"role": "user", '
            b'"content": "Where to?"}], "max_tokens": 512, "temperature": 0.7, "top_p": 0.9, '
            b'"reasoning_effort": "high", "top_k": 5}',
        ),
        (
            "openrouter",
            {"reasoning_tokens": 2000, "extra_body": {"provider": {"order": ["a"]}}},
            b'{"model": "m", "messages": [{"role": "system", "content": "Play."}, {"role": "user", '
            b'"content": "Where to?"}], "max_tokens": 2512, "temperature": 0.0, '
            b'"usage": {"include": true}, "reasoning": {"max_tokens": 2000}, '
            b'"provider": {"order": ["a"]}}',
        ),
        (
            "anthropic",
            {"top_p": 0.95, "reasoning_tokens": 2000, "extra_body": {"service_tier": "auto"}},
            b'{"model": "m", "max_tokens": 2512, "messages": [{"role": "user", "content": [{"type": "text", '
            b'"text": "Where to?"}]}], "system": "Play.", "top_p": 0.95, "thinking": {"type": "enabled", '
            b'"budget_tokens": 2000}, "service_tier": "auto"}',
        ),
    ],
)
async def test_what_is_set_is_what_is_sent(
    fake: FakeModelServer, client: str, given: dict[str, Any], body: bytes
) -> None:
    assert (await sent(fake, client, **given)).body == body


async def test_effort_has_the_name_that_each_provider_gives_it(fake: FakeModelServer) -> None:
    for client, name, value in (
        ("vllm", "reasoning_effort", "low"),
        ("openrouter", "reasoning", {"effort": "low"}),
        ("anthropic", "output_config", {"effort": "low"}),
    ):
        assert (await sent(fake, client, reasoning_effort="low")).json[name] == value
        fake.requests.clear()


async def test_without_them_nothing_of_them_is_sent(fake: FakeModelServer) -> None:
    for client in ("openai", "anthropic"):
        names = (await sent(fake, client)).json.keys()
        assert not names & {"top_p", "reasoning_effort", "reasoning", "thinking", "output_config"}
        fake.requests.clear()


async def test_beside_top_p_a_temperature_of_0_is_left_to_the_server(fake: FakeModelServer) -> None:
    for given in ({}, {"temperature": 0}, {"temperature": None}):
        assert "temperature" not in (await sent(fake, "openai", top_p=0.5, **given)).json
        fake.requests.clear()
    assert (await sent(fake, "openai", top_p=0.5, temperature=0.1)).json["temperature"] == 0.1


async def test_the_end_of_what_stays_the_same_is_marked_for_the_cache(fake: FakeModelServer) -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    request = await sent(fake, "anthropic", prompt_caching=True)
    assert request.body == (
        b'{"model": "m", "max_tokens": 512, "messages": [{"role": "user", "content": [{"type": "text", '
        b'"text": "Where to?"}]}], "system": [{"type": "text", "text": "Play.", "cache_control": '
        b'{"type": "ephemeral"}}], "temperature": 0.0}'
    )
    fake.requests.clear()
    request = await sent(fake, "anthropic", ReplyRequest(stable=2), prompt_caching=True)
    assert request.json["system"] == "Play."
    assert request.json["messages"][0]["content"] == [{"type": "text", "text": "Where to?", **mark}]
    fake.requests.clear()
    request = await sent(fake, "openrouter", prompt_caching=True)
    assert request.messages[0]["content"] == [{"type": "text", "text": "Play.", **mark}]
    assert request.messages[1] == ASK[1]
    fake.requests.clear()
    for client, caching in (("openai", True), ("vllm", True), ("openrouter", False)):
        assert (await sent(fake, client, prompt_caching=caching)).messages == ASK
        fake.requests.clear()


async def test_a_thinking_model_is_not_made_to_call_a_tool(fake: FakeModelServer) -> None:
    request = await sent(fake, "anthropic", ReplyRequest(form=FORM), reasoning_tokens=1024)
    assert request.json["tool_choice"] == {"type": "auto"}


async def test_a_server_that_takes_no_such_thing_says_so(fake: FakeModelServer) -> None:
    """Unlike a temperature, which has a default, these were asked for: without them it were another study."""
    fake.script = lambda request: refusal(400, "Unsupported parameter: 'reasoning_effort'")
    with pytest.raises(ServerError, match="reasoning_effort"):
        await sent(fake, "openai", reasoning_effort="low")
    assert len(fake.requests) == 1


@pytest.mark.parametrize(
    ("client", "given", "sentence"),
    [
        ("openai", {"reasoning_tokens": 2000}, "set reasoning_effort instead"),
        ("openrouter", {"reasoning_tokens": 2000, "reasoning_effort": "low"}, "set only one of them"),
        ("anthropic", {"reasoning_tokens": 100}, "from 1024"),
        ("anthropic", {"reasoning_effort": "minimal"}, "it has low, medium, high"),
        ("anthropic", {"reasoning_tokens": 2000, "temperature": 0.7}, "leave temperature out"),
        ("openai", {"top_p": 0}, "top_p: Input should be greater than 0"),
        ("openai", {"extra_body": {"reasoning": {}}, "reasoning_effort": "low"}, "use one of them"),
        ("openai", {"extra_body": {"a": "x" * 70_000}}, "64 KiB"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(client: str, given: dict[str, Any], sentence: str) -> None:
    assert sentence in refused(client, **given)


async def test_nothing_that_a_request_says_can_be_overridden(fake: FakeModelServer) -> None:
    said_by_itself: set[str] = set()
    for client in ("openai", "openrouter", "anthropic"):
        for ask in (ReplyRequest(1, stop=("END",), tools=(TOOL,)), ReplyRequest(1, FORM)):
            said_by_itself |= (await sent(fake, client, ask, top_p=0.5, temperature=1)).json.keys()
            fake.requests.clear()
    assert len(said_by_itself) > 10
    for name in sorted(said_by_itself | {"models", "stream", "n"}):
        said = refused("openai", extra_body={name: "other-model"})
        assert f"{name!r} cannot be an extra parameter" in said, name


@pytest.mark.parametrize(
    "extra",
    [
        {"metadata": {"owner": KEY}},
        {"plugins": ["a", {"id": KEY}]},
        {"api_key": "hunter2"},
        {"provider": {"access_key": "hunter2"}},
        {"user": "env:HUNTER2"},
    ],
)
def test_no_secret_goes_into_further_parameters(extra: dict[str, Any]) -> None:
    sentence = refused("openai", extra_body=extra)
    assert "api_key" in sentence
    assert KEY not in sentence and "hunter2" not in sentence.lower()
    if "env:" not in json.dumps(extra):
        with pytest.raises(ConfigError, match="a secret must not be written"):
            WorkerAssignment("mosaic_llm_worker", "llm", {"extra_body": extra})


def test_what_is_added_is_on_record_with_the_experiment() -> None:
    given = {"extra_body": {"provider": {"order": ["a"]}}, "top_p": 0.9}
    slot = WorkerAssignment("mosaic_llm_worker", "llm", given)
    assert slot.to_record()["settings"] == given


def test_chess_with_thoughts_is_played_in_words() -> None:
    thinks = {"client_name": "anthropic", "model_id": "m", "reasoning_tokens": 2000}
    assert not ChessSettings.model_validate(thinks).tools
    assert ChessSettings.model_validate({**thinks, "reasoning_tokens": 0}).tools
    with pytest.raises(ValidationError) as caught:
        ChessSettings.model_validate({**thinks, "dialogue": "tools"})
    assert "set dialogue to text" in errors_sentence(caught.value)


@pytest.mark.parametrize(
    ("worker", "model"),
    [("mosaic_llm_worker", LlmSettings), ("vlm_worker", VlmSettings), ("chess_worker", ChessSettings)],
)
def test_a_manifest_offers_what_its_worker_takes_with_the_same_defaults(
    worker: str, model: type[ServerSettings]
) -> None:
    manifest = tomllib.loads((ROOT / "3rd_party" / worker / "worker.toml").read_text())["settings"]
    fields = model.model_fields
    assert set(manifest) == set(fields)
    given = {"client_name": "ollama", "cassette_file": "calls.jsonl"}
    for name, setting in manifest.items():
        if "default" in setting:
            assert setting["default"] == fields[name].default, name
        for option in setting.get("options", ()):
            more = {"base_url": "http://localhost:1/v1"} if name == "client_name" else {}
            model.model_validate({**given, **more, name: option["value"]})
