"""The worker protocol's pages say what the code does: every line, every byte, every field, every limit."""

from __future__ import annotations

import json
import re
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import json_format

from gym_gui.controllers.sessions.bind_workers import DEFAULT_DEADLINE_S
from gym_gui.core.spaces import Codec, Space, to_space
from gym_gui.wire import grpc_channel, pb
from gym_gui.wire.channel import MAX_LINE
from gym_gui.workers import connection, launch, supervisor
from gym_gui.workers.process import WorkerProcess
from mosaic_worker.link import MAX_FRAME, PROTOCOL
from mosaic_worker.remote import METHOD, SERVICE, TOKEN_VARIABLE
from tests.docs.protocol_examples import (
    NODE_WORKER,
    conversation,
    from_worker,
    graph_bytes,
    host_lines,
    to_worker,
    value_rows,
    worker_lines,
)

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = (DOCS / "worker_protocol.md", *sorted((DOCS / "worker_protocol").glob("*.md")))
PAGE = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
ROW = re.compile(r"^\| `(\{.*?\})`(?: \(.*?\))? \| `(.*?)` \| (.*) \|$", re.MULTILINE)


def shown_lines() -> list[Any]:
    return [json.loads(block) for block in re.findall(r"```json\n(.*)\n```", PAGE)]


@pytest.mark.parametrize(("name", "line"), {**host_lines(), **worker_lines()}.items())
def test_message_is_shown_as_it_travels(name: str, line: str):
    assert json.loads(line) in shown_lines(), f"the line of {name} is now: {line}"


def test_every_shown_line_is_a_message():
    known = [json.loads(line) for line in (*host_lines().values(), *worker_lines().values())]
    assert all(line in known for line in shown_lines())
    assert len(shown_lines()) == len(known)


def test_every_kind_of_message_has_an_example():
    for examples, message in ((to_worker(), pb.ToWorker), (from_worker(), pb.FromWorker)):
        kinds = {m.WhichOneof("body") for m in examples.values()}
        assert kinds == {field.name for field in message.DESCRIPTOR.fields}


def test_every_field_is_named():
    words = set(re.findall(r"`\"?(\w+)\"?`", PAGE)) | set(re.findall(r'"(\w+)":', PAGE))
    messages = pb.DESCRIPTOR.message_types_by_name.values()
    fields = {field.name for message in messages for field in message.fields}
    assert fields - words == set()


def plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, tuple) else value


def test_value_table_is_what_the_codec_does():
    rows = [(json.loads(a), json.loads(b), re.findall(r"`([0-9a-f ]+)`", c)) for a, b, c in ROW.findall(PAGE)]
    expected: list[Any] = []
    for _, space, value in value_rows():
        described = to_space(space)
        parts = Codec(described).encode(value)
        expected.append((described.to_json(), plain(value), [part.hex(" ") for part in parts]))
    assert rows == expected


def test_value_table_can_be_read_back():
    for _, space, value in value_rows():
        codec = Codec(Space.from_json(to_space(space).to_json()))
        assert plain(codec.decode(codec.encode(value))) == plain(value)


def test_table_of_kinds_is_complete():
    section = PAGE.partition("## Spaces")[2].partition("## Values")[0]
    from mosaic_worker.spaces import KINDS

    assert set(KINDS) <= set(re.findall(r"`(\w+)`", section))


def test_graph_is_what_the_codec_does():
    assert f"```text\n{graph_bytes()}\n```" in PAGE


def turns(text: str) -> list[Any]:
    return [json.loads(line[2:]) if line.startswith("<") else line for line in text.splitlines()]


def test_conversation_repeats_itself():
    shown = re.search(r"^# A whole conversation.*?```text\n(.*?)\n```", PAGE, re.DOTALL | re.MULTILINE)
    assert shown is not None
    assert turns(shown[1]) == turns(conversation())
    for answer in turns(shown[1]):
        if not isinstance(answer, str):
            json_format.ParseDict(answer, pb.FromWorker())


@pytest.mark.parametrize(
    "words",
    [
        f"Within {launch.START_TIMEOUT_S:g} s. Answer",
        f"{connection.LOAD_TIMEOUT_S:g} s.\n4.",
        f"({connection.PATIENCE_S:g} s, or the manifest's `heartbeat_s`)",
        f"After {signature(WorkerProcess.stop).parameters['grace_s'].default:g} s comes SIGTERM",
        f"at most {MAX_LINE >> 20} MiB. A line",
        f"at most {MAX_FRAME >> 20} MiB. The messages",
        f"it is {DEFAULT_DEADLINE_S:g} s, and for people",
        f"This is protocol {PROTOCOL}.",
        f"`/{SERVICE}/{METHOD}`",
        TOKEN_VARIABLE,
    ],
)
def test_limits_are_those_of_the_code(words: str):
    assert words in PAGE


def test_restarts_are_those_of_the_code():
    assert supervisor.MAX_RESTARTS == 5 and "After five ends in a row" in PAGE
    assert f"/{SERVICE}/{METHOD}" == grpc_channel.METHOD


def test_node_example_is_short_and_needs_no_package():
    code = (NODE_WORKER / "worker.js").read_text(encoding="utf-8")
    count = len(code.splitlines())
    assert count < 80 and f"{count} lines of JavaScript" in PAGE
    assert all(name.startswith("node:") for name in re.findall(r'require\("(.+?)"\)', code))
    assert {path.name for path in NODE_WORKER.iterdir()} == {"worker.toml", "worker.js"}
