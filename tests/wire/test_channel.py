"""Carriers: whatever arrives, in whatever pieces, there are messages or one sentence, never an exception."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from google.protobuf import json_format
from hypothesis import example, given
from hypothesis import strategies as st

from gym_gui.wire import pb
from gym_gui.wire.channel import MAX_LINE, Frames, JsonChannel, Lines, Receiver, SocketChannel
from tests.support.waiting import in_time

_U32 = st.integers(0, 2**32 - 1)
_FLOAT = st.floats(allow_nan=False)
_TEXT = st.text(max_size=20)
_COLUMN = st.builds(pb.Column, data=st.binary(max_size=30), sizes=st.lists(_U32, max_size=4))
_REPLIES = st.builds(
    pb.Replies,
    slot=_U32,
    ids=st.lists(_U32, max_size=5),
    action=st.lists(_COLUMN, max_size=3),
    values=st.lists(_FLOAT, max_size=5),
    extras=st.lists(st.builds(pb.Extra, id=_U32, json=_TEXT), max_size=2),
    problems=st.lists(
        st.builds(pb.Problem, id=_U32, reason=_TEXT, raw=_TEXT, fatal=st.booleans()), max_size=2
    ),
)
_MESSAGE = st.one_of(
    st.builds(pb.FromWorker, replies=_REPLIES),
    st.builds(pb.FromWorker, welcome=st.builds(pb.Welcome, protocol=_U32, worker=_TEXT, alive=st.booleans())),
    st.builds(pb.FromWorker, loaded=st.builds(pb.Loaded, slot=_U32, policy=_TEXT, error=_TEXT)),
    st.builds(pb.FromWorker, log=st.builds(pb.Log, level=_U32, logger=_TEXT, text=_TEXT)),
    st.builds(pb.FromWorker, alive=st.builds(pb.Alive)),
    st.builds(pb.FromWorker, failed=st.builds(pb.Failed, reason=_TEXT, traceback=_TEXT)),
)


def frames(messages: Iterable[pb.FromWorker]) -> bytes:
    return b"".join(struct.pack("<I", m.ByteSize()) + m.SerializeToString() for m in messages)


def lines(messages: Iterable[pb.FromWorker]) -> bytes:
    texts = [json_format.MessageToJson(m, indent=None, preserving_proto_field_name=True) for m in messages]
    return "".join(f"{text}\n" for text in texts).encode()


RECEIVERS: dict[str, type[Receiver]] = {"frames": Frames, "lines": Lines}


class Heard:
    """What a carrier made of the bytes that came in."""

    def __init__(self, carrier: str) -> None:
        self.messages: list[pb.FromWorker] = []
        self.ends: list[str] = []
        self.receiver = RECEIVERS[carrier](self.messages.append, self.ends.append)

    def feed(self, *pieces: bytes) -> Heard:
        for piece in pieces:
            self.receiver.data_received(piece)
        return self

    def end(self) -> Heard:
        self.receiver.connection_lost(None)
        return self

    @property
    def problem(self) -> str:
        """The one sentence."""
        assert len(self.ends) == 1
        return self.ends[0]


def cut(data: bytes, at: Sequence[int]) -> list[bytes]:
    places = [0, *sorted(place % (len(data) + 1) for place in at), len(data)]
    return [data[a:b] for a, b in pairwise(places)]


ENCODE: dict[str, Any] = {"frames": frames, "lines": lines}
CARRIERS = pytest.mark.parametrize("carrier", ["frames", "lines"])


@CARRIERS
@given(messages=st.lists(_MESSAGE, max_size=5), at=st.lists(st.integers(0, 10**6), max_size=12))
def test_any_split_of_a_stream_gives_the_same_messages(
    carrier: str, messages: list[pb.FromWorker], at: list[int]
):
    heard = Heard(carrier).feed(*cut(ENCODE[carrier](messages), at)).end()
    assert heard.messages == messages
    assert heard.problem == ""


@CARRIERS
@given(messages=st.lists(_MESSAGE, min_size=1, max_size=3))
def test_byte_by_byte(carrier: str, messages: list[pb.FromWorker]):
    data = ENCODE[carrier](messages)
    assert Heard(carrier).feed(*(bytes([b]) for b in data)).messages == messages


@CARRIERS
@given(before=st.lists(_MESSAGE, max_size=2), last=_MESSAGE, keep=st.integers(1, 10**6))
def test_a_message_that_breaks_off(carrier: str, before: list[pb.FromWorker], last: pb.FromWorker, keep: int):
    half = ENCODE[carrier]([last])
    half = half[: 1 + keep % (len(half) - 1)]
    heard = Heard(carrier).feed(ENCODE[carrier](before) + half).end()
    assert heard.messages == before
    assert heard.problem == f"it stopped in the middle of a message ({len(half)} bytes)"


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=8,
)
_FIELDS = st.dictionaries(
    st.sampled_from(
        ["replies", "welcome", "loaded", "log", "alive", "failed", "call", "ask_human", "askHuman"]
    ),
    st.dictionaries(
        st.sampled_from(["slot", "ids", "action", "values", "level", "text", "protocol", "data", "extras"]),
        _JSON,
        max_size=3,
    )
    | _JSON,
    max_size=2,
)
_GARBAGE = st.one_of(
    st.binary(max_size=200),
    st.builds(lambda data: struct.pack("<I", len(data)) + data, st.binary(max_size=80)),
    st.builds(lambda value: (json.dumps(value) + "\n").encode(), _JSON | _FIELDS),
    st.builds(lambda text: text.encode("utf-8", "surrogatepass") + b"\n", st.text(st.characters())),
)


@CARRIERS
@given(before=st.lists(_MESSAGE, max_size=2), garbage=st.lists(_GARBAGE, max_size=4))
@example(before=[], garbage=[b"[" * 100_000 + b"\n"])
@example(before=[], garbage=[b'{"log": {"text": "\\ud800"}}\n'])
@example(before=[], garbage=[b'{"log": ' * 5_000 + b"\n"])
@example(before=[], garbage=[b'{"replies": {"ids": [1e400]}}\n'])
@example(before=[], garbage=[b'{"replies": {"action": [{"data": "!"}]}}\n'])
@example(before=[], garbage=[b'{"loaded": {"slot": 1}, "loaded": {"slot": 2}}\n'])
@example(before=[], garbage=[b'{"loaded": {"slot": 1}, "alive": {}}\n'])
@example(before=[], garbage=[b"null\n"])
@example(before=[], garbage=[b'{"loaded": null}\n'])
def test_garbage_ends_in_one_sentence_or_is_still_incomplete(
    carrier: str, before: list[pb.FromWorker], garbage: list[bytes]
):
    heard = Heard(carrier).feed(ENCODE[carrier](before), *garbage).end()
    assert heard.messages[: len(before)] == before
    assert all(m.WhichOneof("body") is not None for m in heard.messages)
    assert "\n" not in heard.problem and len(heard.problem) < 250


@CARRIERS
def test_after_the_sentence_nothing_more_is_said_or_kept(carrier: str):
    heard = Heard(carrier).feed(b"\xff" * 40 + b"\n")
    said = heard.problem
    heard.feed(*[b"\xff" * 65536] * 4, ENCODE[carrier]([pb.FromWorker(alive=pb.Alive())])).end()
    assert heard.problem == said and not heard.messages
    assert heard.receiver.pending < 65536


def test_the_sentences():
    assert Heard("frames").feed(b"Hello, world").problem == (
        "it announced a message of 1819043144 bytes: this is no MOSAIC worker's output"
    )
    assert Heard("frames").feed(b"\x03\0\0\0abc").problem == "it sent 3 bytes that are no message"
    assert Heard("frames").feed(bytes(4)).problem == "it sent 0 bytes that are no message"
    assert Heard("lines").feed(b"Loading model...\n").problem == (
        "it printed a line that is no message: 'Loading model...'"
    )
    assert Heard("lines").feed(b"{}\n").problem == "it printed a line that is no message: '{}'"
    assert (
        Heard("lines").feed(b"\xff\xfe\n").problem == "it printed a line that is no message: '\ufffd\ufffd'"
    )
    assert Heard("lines").feed(b"x" * MAX_LINE, b"x").problem == "it sent a line that does not end"


def test_empty_lines_are_passed_over():
    heard = Heard("lines").feed(b"\n  \n" + lines([pb.FromWorker(alive=pb.Alive())]) + b"\r\n").end()
    assert len(heard.messages) == 1 and heard.problem == ""


@CARRIERS
def test_a_listener_that_closes_in_the_middle_of_a_batch_hears_no_more(carrier: str):
    heard: list[pb.FromWorker] = []

    def on_message(message: pb.FromWorker) -> None:
        heard.append(message)
        receiver.close()

    receiver = RECEIVERS[carrier](on_message, lambda problem: pytest.fail(problem))
    receiver.data_received(ENCODE[carrier]([pb.FromWorker(alive=pb.Alive())] * 3))
    receiver.connection_lost(None)
    assert len(heard) == 1


# -- over real sockets and pipes ------------------------------------------------------------


async def test_socket_channel_both_ways():
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    messages: list[pb.FromWorker] = []
    ends: list[str] = []
    channel = await SocketChannel.open(ours, messages.append, ends.append)
    with theirs:
        large = pb.FromWorker(call=pb.Call(json="x" * 3_000_000))
        sending = asyncio.to_thread(theirs.sendall, frames([large, pb.FromWorker(alive=pb.Alive())]))
        await sending
        await in_time(lambda: len(messages) == 2, "both messages")
        assert messages[0] == large
        channel.send(pb.ToWorker(shutdown=pb.Shutdown()))
        data = await asyncio.to_thread(theirs.recv, 100)
        assert pb.ToWorker.FromString(data[4:]).WhichOneof("body") == "shutdown"
    await in_time(lambda: ends == [""], "the plain end")
    channel.send(pb.ToWorker(shutdown=pb.Shutdown()))  # dropped
    channel.close()


async def test_what_is_sent_leaves_in_one_piece_when_flushed_or_by_itself():
    ours, theirs = socket.socketpair()
    channel = await SocketChannel.open(ours, lambda _: None, lambda _: None)
    theirs.settimeout(10)
    with theirs:
        work = [pb.ToWorker(work=pb.Work(slot=slot)) for slot in range(3)]
        for message in work:
            channel.send(message)
        channel.flush()
        assert theirs.recv(1000) == frames(work)
        channel.send(work[0])
        channel.send(work[1])
        assert await asyncio.to_thread(theirs.recv, 1000) == frames(work[:2]), "no caller has flushed"
        channel.send(work[2])
        channel.close()
        assert theirs.recv(1000) == frames(work[2:]), "what was sent before the end arrives"


async def test_what_is_asked_on_an_answer_leaves_with_it():
    ours, theirs = socket.socketpair()
    asked = pb.ToWorker(work=pb.Work(slot=1))
    channel = await SocketChannel.open(ours, lambda _: channel.send(asked), lambda _: None)
    theirs.settimeout(10)
    with theirs:
        theirs.sendall(frames([pb.FromWorker(alive=pb.Alive())] * 2))
        channel.pump()
        assert theirs.recv(1000) == frames([asked, asked])
        channel.close()


async def test_a_peer_that_reads_late_gets_all_of_it():
    ours, theirs = socket.socketpair()
    channel = await SocketChannel.open(ours, lambda _: None, lambda _: None)
    theirs.settimeout(10)
    with theirs:
        large = [pb.ToWorker(load=pb.Load(settings="x" * 1_000_000, slot=slot)) for slot in range(3)]
        for message in large:
            channel.send(message)
            channel.flush()
        wanted = frames(large)

        def read() -> bytes:
            data = b""
            while len(data) < len(wanted):
                data += theirs.recv(1 << 20)
            return data

        assert await asyncio.to_thread(read) == wanted
        channel.close()


async def test_json_channel_both_ways():
    our_in, their_out = os.pipe()
    their_in, our_out = os.pipe()
    messages: list[pb.FromWorker] = []
    ends: list[str] = []
    channel = await JsonChannel.open(
        os.fdopen(our_out, "wb", 0), os.fdopen(our_in, "rb", 0), messages.append, ends.append
    )
    with os.fdopen(their_in, "rb", 0) as stdin, os.fdopen(their_out, "wb", 0) as stdout:
        stdout.write(lines([pb.FromWorker(loaded=pb.Loaded(slot=0))]))
        await in_time(lambda: messages, "the message")
        assert messages[0].loaded.slot == 0
        channel.send(pb.ToWorker(work=pb.Work(slot=0)))
        assert json.loads(await asyncio.to_thread(stdin.readline))["work"]["slot"] == 0, "zeros are written"
    await in_time(lambda: ends == [""], "the plain end")
    channel.send(pb.ToWorker(shutdown=pb.Shutdown()))  # dropped
    channel.close()


async def test_close_is_silent():
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    ends: list[str] = []
    channel = await SocketChannel.open(ours, lambda _: None, ends.append)
    channel.close()
    assert await asyncio.to_thread(theirs.recv, 1) == b""
    theirs.close()
    assert ends == []


def test_a_log_entry_that_is_too_long_is_passed_over_as_it_comes() -> None:
    messages: list[pb.FromWorker] = []
    ends: list[str] = []
    receiver = Frames(messages.append, ends.append)
    text = pb.FromWorker(log=pb.Log(text="x" * 3_000_000))
    data = frames([text, pb.FromWorker(alive=pb.Alive()), text, text])
    held = 0
    for at in range(0, len(data), 1 << 16):
        receiver.data_received(data[at : at + (1 << 16)])
        held = max(held, receiver.pending)
    assert [message.WhichOneof("body") for message in messages] == ["log", "alive", "log", "log"]
    assert "3,000,0" in messages[0].log.text and "left out" in messages[0].log.text
    assert held <= 1 << 17 and not ends


def test_the_record_of_a_call_that_is_too_long_ends_the_connection() -> None:
    ends: list[str] = []
    receiver = Frames(lambda _: None, ends.append)
    receiver.data_received(frames([pb.FromWorker(call=pb.Call(json="x" * (9 << 20)))])[:1000])
    assert len(ends) == 1 and "record of a call" in ends[0]
