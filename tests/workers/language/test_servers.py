"""Requests as servers get them, replies as they are understood, and every fault as a sentence."""

from __future__ import annotations

import asyncio
import email.utils
import json
import logging
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pydantic import ValidationError

from mosaic_llm_worker.chat_servers.providers import open_server
from mosaic_llm_worker.chat_servers.servers import (
    CallId,
    ChatServer,
    Completion,
    ReplyRequest,
    ServerError,
    Tool,
)
from mosaic_llm_worker.server_settings import BASE_URLS, ServerSettings, call_seed, errors_sentence
from tests.support.fake_model_server import FakeModelServer, Raw, Reply, Request, refusal

KEY = "sk-planted-0123456789abcdef"
ASK = [{"role": "user", "content": "Where to?"}]
FORM = {"type": "object", "properties": {"action": {"enum": ["left", "right"]}}, "required": ["action"]}
PIXEL = "data:image/png;base64,iVBORw0KGgo="
DIALOGUE: list[dict[str, Any]] = [
    {"role": "system", "content": "You play chess."},
    {
        "role": "user",
        "content": [{"type": "text", "text": "Look."}, {"type": "image_url", "image_url": {"url": PIXEL}}],
    },
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "moves", "arguments": '{"n": 2}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "e4 d4"},
    {"role": "user", "content": "Go on."},
]
MOVES = Tool("moves", "Lists moves.", {"type": "object", "properties": {"n": {"type": "integer"}}})
BOTH = pytest.mark.parametrize("client", ["openai", "anthropic"])


@pytest.fixture(scope="module")
def serving() -> Iterator[FakeModelServer]:
    with FakeModelServer() as server:
        yield server


@pytest.fixture
def fake(serving: FakeModelServer) -> FakeModelServer:
    serving.script, serving.models = (lambda request: "ok"), ("fake-model",)
    serving.requests.clear()
    serving.listed.clear()
    return serving


def settings(fake: FakeModelServer, client: str = "openai", **more: Any) -> ServerSettings:
    return ServerSettings.model_validate(
        {"client_name": client, "base_url": fake.url, "model_id": "m-1", "timeout_s": 60, **more}
    )


async def chat(
    fake: FakeModelServer, client: str, ask: ReplyRequest | None = None, **more: Any
) -> Completion:
    server = open_server(settings(fake, client, **more), KEY)
    try:
        return await server.chat(ASK, ask or ReplyRequest())
    finally:
        await server.aclose()


# -- requests ------------------------------------------------------------------------------


async def test_openai_gets_what_was_asked(fake: FakeModelServer) -> None:
    server = open_server(settings(fake, max_tokens=77, temperature=0.5), KEY)
    await server.chat(DIALOGUE, ReplyRequest(seed=9, tools=(MOVES,), stop=("END",)))
    await server.aclose()
    (request,) = fake.requests
    assert request.path == "/v1/chat/completions"
    assert request.key == KEY
    function = {"name": "moves", "description": "Lists moves.", "parameters": MOVES.schema}
    assert request.json == {
        "model": "m-1",
        "messages": DIALOGUE,
        "max_tokens": 77,
        "temperature": 0.5,
        "seed": 9,
        "stop": ["END"],
        "tools": [{"type": "function", "function": function}],
    }


async def test_anthropic_gets_the_dialogue_translated(fake: FakeModelServer) -> None:
    server = open_server(settings(fake, "anthropic", max_tokens=77, temperature=1.5), KEY)
    await server.chat(DIALOGUE, ReplyRequest(seed=9, tools=(MOVES,), stop=("END", "\n")))
    await server.aclose()
    (request,) = fake.requests
    assert request.path == "/v1/messages"
    assert request.key == KEY
    assert request.headers["anthropic-version"] == "2023-06-01"
    picture = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "e4 d4"}]}
    assert request.json == {
        "model": "m-1",
        "max_tokens": 77,
        "temperature": 1.0,
        "system": "You play chess.",
        "stop_sequences": ["END"],
        "tools": [{"name": "moves", "description": "Lists moves.", "input_schema": MOVES.schema}],
        "messages": [
            {
                "role": "user",
                "content": [{"type": "text", "text": "Look."}, {"type": "image", "source": picture}],
            },
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "c1", "name": "moves", "input": {"n": 2}}],
            },
            {"role": "user", "content": [result, {"type": "text", "text": "Go on."}]},
        ],
    }


async def test_no_key_no_header(fake: FakeModelServer) -> None:
    server = open_server(settings(fake, "vllm", temperature=None), "")
    await server.chat(ASK, ReplyRequest())
    await server.aclose()
    (request,) = fake.requests
    assert request.key == ""
    assert request.json == {"model": "m-1", "messages": ASK, "max_tokens": 512}


async def test_a_proxy_is_not_asked_for_a_server_at_home(
    fake: FakeModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert (await chat(fake, "vllm")).text == "ok"


# -- replies -------------------------------------------------------------------------------


@BOTH
async def test_a_reply_is_the_same_whoever_speaks(fake: FakeModelServer, client: str) -> None:
    fake.script = lambda request: Reply(
        "Left.", "Hm, a wall.", [("moves", '{"n": 3}')], tokens=(21, 7), model="m-1-x"
    )
    reply = await chat(fake, client, ReplyRequest(tools=(MOVES,)))
    assert (reply.text, reply.thinking, reply.finish) == ("Left.", "Hm, a wall.", "tool_calls")
    assert (reply.input_tokens, reply.output_tokens, reply.model) == (21, 7, "m-1-x")
    ((name, arguments),) = [(call.name, json.loads(call.arguments_json)) for call in reply.tool_calls]
    assert (name, arguments) == ("moves", {"n": 3})
    assert reply.tool_calls[0].id


@BOTH
@pytest.mark.parametrize("finish", ["stop", "length", "content_filter"])
async def test_how_a_reply_ended_is_said_in_one_set_of_words(
    fake: FakeModelServer, client: str, finish: str
) -> None:
    fake.script = lambda request: Reply("x", finish=finish)
    assert (await chat(fake, client)).finish == finish


@pytest.mark.parametrize(
    ("more", "text", "thinking"),
    [
        ({"choices": [{"message": {"content": [{"type": "text", "text": "a"}, {"text": "b"}]}}]}, "ab", ""),
        ({"choices": [{"message": {"content": "a", "reasoning": "why"}}]}, "a", "why"),
        ({"choices": [{"message": {"content": "half \ud800"}}]}, "half ?", ""),
        ({"choices": [{"message": {"content": 7, "tool_calls": "none"}}]}, "", ""),
    ],
)
async def test_odd_replies_are_read(
    fake: FakeModelServer, more: dict[str, Any], text: str, thinking: str
) -> None:
    fake.script = lambda request: Reply(more=more)
    reply = await chat(fake, "openai")
    assert (reply.text, reply.thinking, reply.tool_calls) == (text, thinking, ())


async def test_arguments_may_come_as_an_object(fake: FakeModelServer) -> None:
    call = {"function": {"name": "moves", "arguments": {"n": 1}}}
    fake.script = lambda request: Reply(
        more={"choices": [{"message": {"content": "", "tool_calls": [call]}}]}
    )
    (made,) = (await chat(fake, "ollama")).tool_calls
    assert (made.id, made.name, made.arguments_json) == ("call_0", "moves", '{"n": 1}')


@BOTH
@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": -1, "input_tokens": "many"}, "none"])
async def test_tokens_are_estimated_where_the_server_does_not_count(
    fake: FakeModelServer, client: str, usage: object
) -> None:
    fake.script = lambda request: Reply("four words of text." * 10, more={"usage": usage})
    reply = await chat(fake, client)
    assert 1 <= reply.input_tokens < 20
    assert 40 <= reply.output_tokens < 60


async def test_openrouter_says_what_a_call_costs(fake: FakeModelServer) -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "cost": 0.0125}
    fake.script = lambda request: Reply(more={"usage": usage})
    assert (await chat(fake, "openrouter")).usd == 0.0125
    assert fake.requests[0].json["usage"] == {"include": True}
    assert (await chat(fake, "openai")).usd is None


# -- forms ---------------------------------------------------------------------------------


async def test_anthropic_gives_a_form_by_a_tool(fake: FakeModelServer) -> None:
    fake.script = lambda request: Reply("Sure.", tool_calls=[("answer", '{"action": "left"}')])
    reply = await chat(fake, "anthropic", ReplyRequest(form=FORM))
    assert (json.loads(reply.text), reply.tool_calls) == ({"action": "left"}, ())
    assert fake.requests[0].json["tool_choice"] == {"type": "tool", "name": "answer"}


def _picky(*unwanted: str) -> Callable[[Request], Reply | Raw | str]:
    """A server that refuses requests with any of these parameters, as OpenAI words it."""

    def answer(request: Request) -> Reply | Raw | str:
        for name in unwanted:
            if name in request.json:
                return refusal(400, f"Unsupported parameter: '{name}' is not supported with this model.")
        if "tool_choice" in request.json:
            return Reply(tool_calls=[("answer", '{"action": "right"}')])
        return '{"action": "left"}'

    return answer


@pytest.mark.parametrize(
    ("unwanted", "way", "action"),
    [((), "response_format", "left"), (("response_format",), "tool_choice", "right")],
)
async def test_a_form_comes_the_best_way_the_server_takes(
    fake: FakeModelServer, unwanted: tuple[str, ...], way: str, action: str
) -> None:
    fake.script = _picky(*unwanted)
    reply = await chat(fake, "custom", ReplyRequest(form=FORM))
    assert json.loads(reply.text) == {"action": action}
    assert way in fake.requests[-1].json


async def test_what_a_server_does_not_take_is_learnt_once_and_said_once(
    fake: FakeModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    fake.script = _picky("max_tokens", "seed", "temperature", "response_format", "tool_choice")
    server = open_server(settings(fake, "custom"), "")
    with caplog.at_level(logging.INFO, "mosaic_llm_worker"):
        replies = await asyncio.gather(*[server.chat(ASK, ReplyRequest(seed=1, form=FORM)) for _ in range(8)])
        sent = len(fake.requests)
        await server.chat(ASK, ReplyRequest(seed=1, form=FORM))
    await server.aclose()
    assert {reply.text for reply in replies} == {'{"action": "left"}'}
    assert len(fake.requests) == sent + 1
    assert fake.requests[-1].json == {"model": "m-1", "messages": ASK, "max_completion_tokens": 512}
    assert len(caplog.messages) == 5
    for word in ("limit of a reply", "accept seed", "accept temperature", "by schema:", "by tool:"):
        assert sum(word in line.split("(")[0] for line in caplog.messages) == 1


def _of_llama_cpp_python(*known: str) -> Callable[[Request], Reply | Raw | str]:
    """It says 500 to a form that it does not know, and knows another name for it."""

    def answer(request: Request) -> Reply | Raw | str:
        kind = request.json.get("response_format", {}).get("type")
        if kind and kind not in known:
            problem = {
                "type": "literal_error",
                "loc": ("body", "response_format", "type"),
                "msg": f"Input should be {' or '.join(map(repr, known))}",
                "input": kind,
            }
            where = 'File "/srv/llama_cpp/server/app.py", line 376, in create_chat_completion'
            return refusal(500, f"1 validation error:\n  {problem}\n\n  {where}")
        if "tool_choice" in request.json:
            return Reply(tool_calls=[("answer", '{"action": "right"} ')])
        return '{"action": "left"} '

    return answer


@pytest.mark.parametrize(
    ("known", "sent", "action"),
    [
        (("text", "json_schema"), ["json_schema"], "left"),
        (("text", "json_object"), ["json_schema", "json_object", "json_object"], "left"),
        (("text",), ["json_schema", "json_object", None, None], "right"),
    ],
)
async def test_llama_cpp_gets_a_form_by_either_of_its_names(
    fake: FakeModelServer, known: tuple[str, ...], sent: list[str | None], action: str
) -> None:
    fake.script = _of_llama_cpp_python(*known)
    server = open_server(settings(fake, "llamacpp"), "")
    replies = [await server.chat(ASK, ReplyRequest(form=FORM)) for _ in range(2 if len(sent) > 1 else 1)]
    await server.aclose()
    assert [json.loads(reply.text) for reply in replies] == [{"action": action}] * len(replies)
    formats = [request.json.get("response_format", {}) for request in fake.requests]
    assert [form.get("type") for form in formats] == sent
    assert all(form["schema"] == FORM for form in formats if form.get("type") == "json_object")


async def test_a_value_that_is_refused_with_500_is_not_sent_again(fake: FakeModelServer) -> None:
    fake.script = lambda request: refusal(500, "1 validation error:\n  'loc': ('body', 'messages', 0)")
    with pytest.raises(ServerError, match=r"refuses the request \(500\)") as caught:
        await chat(fake, "llamacpp", ReplyRequest(form=FORM))
    assert not caught.value.may_retry
    assert len(fake.requests) == 1


async def test_a_reply_that_llama_server_cannot_read_is_not_asked_for_again(fake: FakeModelServer) -> None:
    words = "The model produced output that does not match the expected peg-native format"
    fake.script = lambda request: refusal(500, words)
    with pytest.raises(ServerError, match=r"could not parse its model's reply.*more max_tokens") as caught:
        await chat(fake, "llamacpp", ReplyRequest(form=FORM))
    assert (caught.value.may_retry, caught.value.fatal) == (False, False)
    assert len(fake.requests) == 1


async def test_a_model_of_llama_server_without_eyes_is_asked_once(fake: FakeModelServer) -> None:
    fake.script = lambda request: refusal(500, "image input is not supported - hint: provide the mmproj")
    with pytest.raises(ServerError, match=r"accepts no images \(500\).*mmproj; serve one") as caught:
        await chat(fake, "llamacpp")
    assert caught.value.fatal
    assert len(fake.requests) == 1


async def test_anthropic_models_may_take_no_temperature(fake: FakeModelServer) -> None:
    fake.script = _picky("temperature")
    server = open_server(settings(fake, "anthropic"), KEY)
    for _ in range(2):
        await server.chat(ASK, ReplyRequest())
    await server.aclose()
    assert ["temperature" in request.json for request in fake.requests] == [True, False, False]


# -- faults --------------------------------------------------------------------------------

HTML = Raw(200, b"<html><h1>Welcome to the portal</h1></html>", content_type="text/html")
IN_50_MINUTES = "in 50 minutes"
"""Stands for the date: it is written when the test runs, which may be long after it was collected."""
FAULTS: dict[str, tuple[Raw, bool, bool, str]] = {
    # what is sent: the same may succeed later, nothing can succeed, what is said of it
    "busy": (refusal(429, "Slow down", retry_after="7"), True, False, "is busy (429): Slow down"),
    "failing": (refusal(500, "Oops"), True, False, "failed (500): Oops"),
    "overloaded": (refusal(529, "Overloaded"), True, False, "is busy (529)"),
    "cut": (Raw(body=b'{"choices": []}' * 9, cut_after=20), True, False, "closed the connection"),
    "stalled": (Raw(body=b'{"choices": []}' * 9, stall_after=20), True, False, "did not answer within 0.2 s"),
    "garbage": (Raw(body=b'{"choices": [{"mess'), True, False, "is not a JSON object (application/json)"),
    "nested": (Raw(body=b"[" * 200_000), True, False, "is not a JSON object"),
    "a list": (Raw(body=b"[1, 2]"), True, False, "is not a JSON object"),
    "a portal": (HTML, True, False, "is not a JSON object (text/html): '<html><h1>Welcome to the portal"),
    "a stream": (
        Raw(body=b"data: {}\n\n", content_type="text/event-stream"),
        True,
        False,
        "text/event-stream",
    ),
    "no message": (Raw(body=b'{"choices": [], "content": null}'), True, False, "contains no message"),
    "an inner fault": (Raw(body=b'{"error": {"message": "No luck", "code": 502}}'), True, False, "No luck"),
    "badly packed": (
        Raw(body=b"no gzip", headers={"Content-Encoding": "gzip"}),
        True,
        False,
        "cannot be read",
    ),
    "too large": (Raw(body=b" " * 9_000_000), False, False, "larger than 8 MB"),
    "a bad request": (
        refusal(400, "context length exceeded"),
        False,
        False,
        "refuses the request (400): context",
    ),
    "moderated": (refusal(403, "Your input was flagged"), False, False, "flagged"),
    "a wrong key": (refusal(401, "Incorrect API key"), False, True, "refuses the key (401)"),
    "no money": (
        refusal(429, "You exceeded your quota", code="insufficient_quota"),
        False,
        True,
        "requires payment",
    ),
    "no credits": (refusal(402, "Insufficient credits"), False, True, "requires payment (402)"),
    "no model": (refusal(404, "The model 'm-1' does not exist"), False, True, "does not have this model"),
    "a wrong address": (Raw(404, b'{"detail": "Not Found"}'), False, True, "base_url usually ends with /v1"),
    "elsewhere": (
        Raw(308, headers={"Location": "https://b.example/v1"}),
        False,
        True,
        "set base_url to that",
    ),
}


@BOTH
@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_is_an_error_that_says_what_to_do(
    fake: FakeModelServer, client: str, fault: str
) -> None:
    raw, may_retry, fatal, words = FAULTS[fault]
    fake.script = lambda request: raw
    with pytest.raises(ServerError) as caught:
        await chat(fake, client, timeout_s=0.2 if fault == "stalled" else 60)
    error = caught.value
    assert (error.may_retry, error.fatal) == (may_retry, fatal)
    assert words in error.reason
    assert len(error.reason) < 500
    assert "\n" not in error.reason


async def test_nobody_there() -> None:
    with FakeModelServer() as gone:
        pass
    with pytest.raises(ServerError, match=r"cannot be reached.*is it running") as caught:
        await chat(gone, "openai")
    assert caught.value.may_retry


@pytest.mark.parametrize(
    ("headers", "least", "most"),
    [
        ({"Retry-After": "7"}, 7, 7),
        ({"retry-after-ms": "250"}, 0.25, 0.25),
        ({"Retry-After": IN_50_MINUTES}, 2000, 3000),
        ({"Retry-After": "-3"}, 0, 0),
    ],
)
async def test_when_to_come_back(
    fake: FakeModelServer, headers: dict[str, str], least: float, most: float
) -> None:
    date = email.utils.formatdate(time.time() + 3000, usegmt=True)
    sent = {name: date if value == IN_50_MINUTES else value for name, value in headers.items()}
    fake.script = lambda request: Raw(429, b"{}", sent)
    with pytest.raises(ServerError) as caught:
        await chat(fake, "openai")
    assert caught.value.retry_after is not None
    assert least <= caught.value.retry_after <= most


@pytest.mark.parametrize("nonsense", ["soon", "nan", "inf", ""])
async def test_a_time_that_is_none_is_ignored(fake: FakeModelServer, nonsense: str) -> None:
    fake.script = lambda request: refusal(503, "no", retry_after=nonsense)
    with pytest.raises(ServerError) as caught:
        await chat(fake, "openai")
    assert caught.value.retry_after is None


# -- the key -------------------------------------------------------------------------------


@BOTH
async def test_no_error_and_no_log_repeats_the_key(
    fake: FakeModelServer, client: str, caplog: pytest.LogCaptureFixture
) -> None:
    echo = [
        refusal(401, f"Incorrect API key provided: {KEY}."),
        Raw(200, f"key={KEY}".encode(), content_type=f"text/{KEY}"),
        Raw(302, headers={"Location": f"/?key={KEY}"}),
        refusal(500, KEY * 100, code=KEY),
        Raw(400, json.dumps({KEY: KEY}).encode()),
    ]
    said: list[str] = []
    server: ChatServer = open_server(settings(fake, client), KEY)
    with caplog.at_level(logging.DEBUG):
        for raw in echo:
            fake.script = lambda request, raw=raw: raw
            with pytest.raises(ServerError) as caught:
                await server.chat(ASK, ReplyRequest())
            said += [str(caught.value), repr(caught.value), caught.value.reason]
    said += [repr(server), repr(vars(server)), caplog.text]
    await server.aclose()
    assert len(fake.requests) == len(echo)
    assert all(request.key == KEY for request in fake.requests)
    assert not [text for text in said if KEY in text]


@pytest.mark.parametrize("key", ["sk-two\nlines", "sk-with space", "sk-…"])
@BOTH
def test_a_key_that_cannot_be_one_is_refused_unseen(fake: FakeModelServer, client: str, key: str) -> None:
    with pytest.raises(ServerError, match="a key cannot have") as caught:
        open_server(settings(fake, client), key)
    assert caught.value.fatal
    assert key not in str(caught.value)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"api_key": KEY}, "never the key itself"),
        ({"base_url": f"https://me:{KEY}@host/v1"}, "keys go to api_key"),
        ({"base_url": f"https://host/v1?key={KEY}"}, "keys go to api_key"),
        ({"base_url": KEY}, "must begin with http"),
        ({"base_url": "http://host:port/v1"}, "is not a valid address"),
        ({"apikey": KEY}, "there is no setting 'apikey'"),
        ({"client_name": "custom"}, "needs base_url"),
        ({"cassette": "replay"}, "needs cassette_file"),
        ({"temperature": float("nan")}, "temperature"),
        ({"max_tokens": 0}, "max_tokens"),
    ],
)
def test_wrong_settings_are_said_without_their_values(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError) as caught:
        ServerSettings.model_validate(wrong)
    assert words in errors_sentence(caught.value)
    assert KEY not in errors_sentence(caught.value) + str(caught.value) + repr(caught.value)


# -- models and seeds ----------------------------------------------------------------------


@BOTH
async def test_the_only_model_of_a_server_is_meant(fake: FakeModelServer, client: str) -> None:
    fake.models = ("just-me",)
    server = open_server(settings(fake, client, model_id=""), KEY)
    await asyncio.gather(*[server.chat(ASK, ReplyRequest()) for _ in range(4)])
    await server.aclose()
    assert len(fake.listed) == 1
    assert {request.json["model"] for request in fake.requests} == {"just-me"}


@pytest.mark.parametrize(
    ("models", "words"), [(("a", "b"), "set model_id to one of a, b"), ((), "lists no model")]
)
async def test_which_of_several_models_must_be_said(
    fake: FakeModelServer, models: tuple[str, ...], words: str
) -> None:
    fake.models = models
    with pytest.raises(ServerError, match=re.escape(words)) as caught:
        await chat(fake, "vllm", model_id="")
    assert caught.value.fatal


def test_every_client_but_custom_has_an_address() -> None:
    for client in ServerSettings.model_fields["client_name"].annotation.__args__:  # type: ignore[union-attr]
        more = {"base_url": "http://h/v1/"} if client == "custom" else {}
        url = ServerSettings.model_validate({"client_name": client, **more}).url
        assert url == BASE_URLS.get(client, "http://h/v1")


def test_a_seed_belongs_to_its_call() -> None:
    places = [
        CallId("a", 0, step, attempt, turn) for step in range(20) for attempt in range(3) for turn in range(3)
    ]
    drawn = [call_seed(2**63 + 5, place) for place in places]
    assert len(set(drawn)) == len(places)
    assert all(0 <= seed < 2**31 for seed in drawn)
    assert drawn == [call_seed(2**63 + 5, place) for place in places]
    assert drawn != [call_seed(2**63 + 6, place) for place in places]


async def test_a_call_of_a_tool_that_nobody_offered_is_part_of_what_was_said(fake: FakeModelServer) -> None:
    calls = [{"function": {"name": name, "arguments": '{"action": "left"}'}} for name in ("act", "play")]
    fake.script = lambda request: Reply(
        more={"choices": [{"message": {"content": "So:", "tool_calls": calls}}]}
    )
    reply = await chat(fake, "ollama")
    assert reply.text.startswith("So:")
    assert reply.text.count("left") == 2


# -- habits of servers ---------------------------------------------------------------------


def _events(*deltas: dict[str, Any], **last: Any) -> Raw:
    parts = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    end = {"model": "streamer", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], **last}
    lines = [f"data: {json.dumps(part)}\n\n" for part in (*parts, end)]
    return Raw(
        body=("".join(lines) + "data: [DONE]\n\n").encode(), content_type="text/event-stream; charset=utf-8"
    )


_ACTION = ({"role": "assistant"}, {"content": "<action>"}, {"content": "right"}, {"content": "</action>"})


async def test_a_server_that_streams_unasked_is_understood(fake: FakeModelServer) -> None:
    fake.script = lambda request: _events(*_ACTION, usage={"prompt_tokens": 12, "completion_tokens": 5})
    reply = await chat(fake, "custom")
    assert (reply.text, reply.finish, reply.model) == ("<action>right</action>", "stop", "streamer")
    assert (reply.input_tokens, reply.output_tokens, reply.doubt) == (12, 5, "")


async def test_a_call_that_streams_is_put_together(fake: FakeModelServer) -> None:
    pieces = ({"name": "moves", "arguments": ""}, {"arguments": '{"n": '}, {"arguments": "2}"})
    fake.script = lambda request: _events(
        *(
            {"tool_calls": [{"index": 0, **({"id": "c9"} if n == 0 else {}), "function": p}]}
            for n, p in enumerate(pieces)
        )
    )
    (call,) = (await chat(fake, "custom", ReplyRequest(tools=(MOVES,)))).tool_calls
    assert (call.id, call.name, call.arguments_json) == ("c9", "moves", '{"n": 2}')


@pytest.mark.parametrize(
    "words",
    [
        "This model only support stream mode, please enable the stream parameter.",
        "Streaming is required for this model",
        "parameter stream must be set to true",
    ],
)
async def test_a_server_that_only_streams_is_asked_to(fake: FakeModelServer, words: str) -> None:
    def script(request: Request) -> Raw:
        return _events(*_ACTION) if request.json.get("stream") else refusal(400, words)

    fake.script = script
    server = open_server(settings(fake, "custom"), KEY)
    assert [(await server.chat(ASK, ReplyRequest())).text for _ in range(2)] == ["<action>right</action>"] * 2
    await server.aclose()
    assert len(fake.requests) == 3, "it is learnt once"


@pytest.mark.parametrize(
    "words", ["System role not supported", "messages[0].role 'system' is not supported with this model"]
)
async def test_the_systems_words_go_to_the_question_where_there_is_no_such_role(
    fake: FakeModelServer, words: str
) -> None:
    def script(request: Request) -> Reply | Raw:
        bad = any(message["role"] == "system" for message in request.messages)
        return refusal(400, words) if bad else Reply("<action>right</action>")

    fake.script = script
    server = open_server(settings(fake, "custom"), KEY)
    for dialogue in ([{"role": "system", "content": "You walk."}, *ASK], DIALOGUE):
        assert (await server.chat(dialogue, ReplyRequest())).text == "<action>right</action>"
    await server.aclose()
    assert fake.requests[1].messages == [{"role": "user", "content": "You walk.\n\nWhere to?"}]
    pictured = fake.requests[2].messages[0]["content"]
    assert [part["type"] for part in pictured] == ["text", "text", "image_url"]


async def test_parameters_of_the_address_stand_behind_every_path(fake: FakeModelServer) -> None:
    given = f"{fake.url}/deployments/m-1/?api-version=2024-10-21"
    server = open_server(settings(fake, "custom", base_url=given), KEY)
    await server.chat(ASK, ReplyRequest())
    await server.models()
    await server.aclose()
    assert fake.requests[0].path == "/v1/deployments/m-1/chat/completions?api-version=2024-10-21"
    assert fake.requests[0].headers["api-key"] == KEY, "as Azure wants it"
    assert fake.listed[0].path == "/v1/deployments/m-1/models?api-version=2024-10-21"


@pytest.mark.parametrize("query", ["api_key=abc", "key=abc", "access_token=abc", f"x={KEY}", "sig=abc"])
def test_an_address_holds_no_secret(fake: FakeModelServer, query: str) -> None:
    with pytest.raises(ValidationError, match="keys go to api_key"):
        settings(fake, "custom", base_url=f"{fake.url}?{query}")


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
@pytest.mark.parametrize(
    ("thought", "finish", "text"),
    [
        ("I should go right. <action>right</action>", "stop", "<action>right</action>"),
        ("<action>left</action> would be wrong", "stop", "<think>…</think>"),
        ("left, left and then", "length", "<think>…"),
    ],
)
async def test_thoughts_alone_are_an_answer_only_where_they_end_in_one(
    fake: FakeModelServer, field: str, thought: str, finish: str, text: str
) -> None:
    message = {"role": "assistant", "content": "", field: thought}
    fake.script = lambda request: Reply(more={"choices": [{"message": message, "finish_reason": finish}]})
    reply = await chat(fake, "custom")
    assert (reply.text, reply.thinking) == (text, thought)


@pytest.mark.parametrize(
    ("said_instead", "finish", "reason"),
    [
        ("blocked", "content_filter", r"content filter of .* withheld the reply: blocked"),
        (None, "content_filter", r"content filter of .* withheld the reply$"),
        ("I will not.", "stop", r"the model refuses to answer: I will not\.$"),
    ],
)
async def test_what_is_held_back_is_told_as_that(
    fake: FakeModelServer, said_instead: str | None, finish: str, reason: str
) -> None:
    message = {"role": "assistant", "content": None, "refusal": said_instead}
    fake.script = lambda request: Reply(more={"choices": [{"message": message, "finish_reason": finish}]})
    with pytest.raises(ServerError, match=reason) as caught:
        await chat(fake, "custom")
    assert not caught.value.may_retry and caught.value.used is not None
