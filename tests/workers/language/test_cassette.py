"""A recorded run is played again without its server, and says where it would go another way."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mosaic_llm_worker.calls import Caller, FatalCallError, NoUsableReply
from mosaic_llm_worker.cassette import (
    Cassette,
    Mismatch,
    completion_of,
    digest,
    first_difference,
    kept_messages,
)
from mosaic_llm_worker.chat_servers.servers import CallId, Completion, ReplyRequest, Tool
from mosaic_llm_worker.images import data_of
from mosaic_llm_worker.server_settings import ServerSettings
from mosaic_worker.worker import LoadError
from tests.support.fake_model_server import FakeModelServer, Raw, Reply, Request, refusal

TOOL = Tool("moves", "Lists moves.", {"type": "object"})


def prompt(place: CallId) -> list[dict[str, Any]]:
    return [
        {"role": "system", "content": "You are an agent.\nReply with ACTION: and a word."},
        {"role": "user", "content": f"Step {place.step}.\nA wall is ahead.\nTry {place.attempt}."},
    ]


PLACES = [CallId(agent, episode, step) for agent in ("a", "b") for episode in (0, 1) for step in range(3)]
PLACES += [CallId("a", 0, 1, attempt=1), CallId("a", 0, 1, attempt=1, turn=1)]
FAILS = PLACES[4]


def script(request: Request) -> Reply | Raw | str:
    if request.words.count(f"Step {FAILS.step}.") and request.json["seed"] == PLACES.index(FAILS):
        return refusal(400, "context length exceeded")
    number = request.json["seed"]
    return Reply(
        f"ACTION: {number} é\n", f"I think {number}", [("moves", '{"n": 1}')], tokens=(50 + number, number)
    )


async def play(caller: Caller) -> list[Completion | str]:
    """What comes of every call, the errors as text."""

    async def one(number: int, place: CallId) -> Completion | str:
        try:
            return await caller.call(place, prompt(place), ReplyRequest(seed=number, tools=(TOOL,)))
        except NoUsableReply as error:
            return str(error)

    return await asyncio.gather(*[one(number, place) for number, place in enumerate(PLACES)])


class Recorder:
    """Writes ``calls.jsonl`` as a run folder holds it."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __call__(self, record: dict[str, Any]) -> None:
        with self.file.open("a") as lines:
            lines.write(json.dumps(record) + "\n")

    @property
    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.file.read_text().splitlines()]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[Completion | str]]]:
    file = tmp_path_factory.mktemp("run") / "calls.jsonl"

    async def record(url: str) -> list[Completion | str]:
        settings = ServerSettings(client_name="custom", base_url=url, model_id="m")
        async with aclosing(Caller(settings, {}, Recorder(file))) as caller:
            return await play(caller)

    with FakeModelServer(script) as server:
        came = asyncio.run(record(server.url))
    yield file, came


def replaying(file: Path, record: Any = lambda record: None) -> Caller:
    settings = ServerSettings(client_name="openai", model_id="m", cassette="replay", cassette_file=str(file))
    return Caller(settings, {}, record)


async def test_a_replay_gives_what_was_recorded_without_a_server_or_a_key(
    recorded: tuple[Path, list[Completion | str]], tmp_path: Path
) -> None:
    file, came = recorded
    assert [reply for reply in came if isinstance(reply, str)] == [came[PLACES.index(FAILS)]]
    again = Recorder(tmp_path / "calls.jsonl")
    caller = replaying(file, again)
    assert await play(caller) == came
    assert caller.spent.calls == 0
    # What it writes is the recording but for the price, and can be played in turn.
    was = {record["ref"]: record for record in Recorder(file).records}
    assert {r["ref"]: r for r in again.records} == {
        k: {**r, "usd": 0.0, "replayed": True} for k, r in was.items()
    }
    assert await play(replaying(again.file)) == came


async def test_another_prompt_is_an_error_with_place_and_line(
    recorded: tuple[Path, list[Completion | str]],
) -> None:
    asked = prompt(PLACES[1])
    asked[1]["content"] = asked[1]["content"].replace("A wall", "A ball")
    with pytest.raises(FatalCallError) as caught:
        await replaying(recorded[0]).call(PLACES[1], asked, ReplyRequest())
    assert str(caught.value) == (
        "call a/0/1/0/0 differs from the recorded call: message 2, line 3 was 'A wall is ahead.', "
        "is 'A ball is ahead.'"
    )


async def test_a_call_that_was_not_recorded_is_an_error_with_its_place(
    recorded: tuple[Path, list[Completion | str]],
) -> None:
    place = CallId("a", 0, 99)
    with pytest.raises(FatalCallError, match="the recording has no call a/0/99/0/0"):
        await replaying(recorded[0]).call(place, prompt(place), ReplyRequest())


async def test_a_fatal_call_is_fatal_again(tmp_path: Path) -> None:
    record = Recorder(tmp_path / "calls.jsonl")
    with FakeModelServer(lambda request: refusal(401, "no")) as server:
        settings = ServerSettings(client_name="custom", base_url=server.url, model_id="m")
        async with aclosing(Caller(settings, {}, record)) as caller:
            with pytest.raises(FatalCallError) as first:
                await caller.call(PLACES[0], prompt(PLACES[0]), ReplyRequest())
    with pytest.raises(FatalCallError) as second:
        await replaying(record.file).call(PLACES[0], prompt(PLACES[0]), ReplyRequest())
    assert str(first.value) == str(second.value)


# -- the file ------------------------------------------------------------------------------


def line(place: CallId, reply: str, **more: Any) -> str:
    return (
        json.dumps({"kind": "chat", "ref": place.ref, "messages": prompt(place), "reply": reply, **more})
        + "\n"
    )


def test_of_an_episode_that_was_begun_again_the_later_calls_count(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    dry = json.dumps({"kind": "dry", "ref": PLACES[0].ref, "messages": []}) + "\n"
    file.write_text(line(PLACES[0], "old") + line(PLACES[1], "other") + line(PLACES[0], "new") + dry)
    assert Cassette(file).find(PLACES[0], prompt(PLACES[0]))["reply"] == "new"


def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    file.write_text(line(PLACES[0], "whole") + line(PLACES[1], "cut")[:-20])
    cassette = Cassette(file)
    assert cassette.find(PLACES[0], prompt(PLACES[0]))["reply"] == "whole"
    with pytest.raises(Mismatch, match="has no call"):
        cassette.find(PLACES[1], prompt(PLACES[1]))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "holds no recorded call"),
        ("no json\n[]\n", "holds no recorded call"),
        (json.dumps({"kind": "chat", "ref": "a/0/0/0/0", "tokens": {}}) + "\n", "cassette 'off'"),
    ],
)
def test_a_file_without_calls_is_refused_at_load(tmp_path: Path, content: str, words: str) -> None:
    file = tmp_path / "calls.jsonl"
    file.write_text(content)
    with pytest.raises(LoadError, match=words):
        replaying(file)


def test_a_file_that_changes_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    file.write_text(line(PLACES[0], "x"))
    cassette = Cassette(file)
    file.write_text("other")
    with pytest.raises(Mismatch, match="has changed"):
        cassette.find(PLACES[0], prompt(PLACES[0]))


# -- comparing -----------------------------------------------------------------------------


def test_pictures_are_compared_by_their_bytes() -> None:
    def seen(data: str) -> list[dict[str, Any]]:
        picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
        return kept_messages([{"role": "user", "content": [{"type": "text", "text": "Look."}, picture]}])

    assert first_difference(seen("AAAA"), seen("AAAA")) == ""
    assert "message 1, line 3" in first_difference(seen("AAAA"), seen("AAAB"))
    assert seen("AAAA")[0]["content"][1]["image"]["sha256"] == hashlib.sha256(bytes(3)).hexdigest()
    assert data_of("data:image/png;base64,AAAA") == bytes(3)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: m[:1], "2 messages were recorded, but the prompt has 1"),
        (lambda m: [m[0], {**m[1], "role": "tool"}], "message 2, line 1 was 'role user', is 'role tool'"),
        (lambda m: [m[0], {**m[1], "content": m[1]["content"] + "\nmore"}], "message 2 had 4 lines, has 5"),
        (lambda m: [m[0], {**m[1], "tool_call_id": "c"}], "message 2 had 4 lines, has 5"),
        (
            lambda m: [m[0], {**m[1], "content": m[1]["content"] + "\n"}],
            "message 2 had 4 lines, has 5",
        ),
        (lambda m: [{**m[0], "content": "x" * 1000}, m[1]], "…"),
    ],
)
def test_every_difference_is_found(change: Any, words: str) -> None:
    was = prompt(PLACES[0])
    assert words in first_difference(was, change(was))


_TEXT = st.text(st.characters(codec="utf-8"), max_size=40)
_MESSAGES = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["system", "user", "assistant"]), "content": _TEXT}),
    max_size=4,
)


@given(_MESSAGES, _MESSAGES)
def test_two_prompts_are_the_same_exactly_when_nothing_differs(one: list[Any], other: list[Any]) -> None:
    through_a_file = json.loads(json.dumps(kept_messages(one)))
    assert first_difference(through_a_file, kept_messages(one)) == ""
    assert bool(first_difference(through_a_file, kept_messages(other))) == (one != other)
    assert (digest(one) == digest(other)) == (one == other)


@pytest.mark.parametrize("record", [{}, {"tokens": None, "tool_calls": None, "reply": None}])
def test_a_record_that_lacks_things_is_an_empty_reply(record: dict[str, Any]) -> None:
    assert completion_of(record) == Completion("", "")
