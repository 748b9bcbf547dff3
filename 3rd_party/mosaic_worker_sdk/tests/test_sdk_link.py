"""Messages arrive whole, however the bytes were cut, and damage has a name."""

from __future__ import annotations

import io
import socket
import struct
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mosaic_worker.link import MAX_FRAME, JsonLink, SocketLink
from mosaic_worker.pb import worker_pb2 as pb

MESSAGES = st.lists(
    st.one_of(
        st.builds(lambda s: pb.ToWorker(hello=pb.Hello(host=s)), st.text(max_size=20)),
        st.builds(lambda n: pb.ToWorker(work=pb.Work(slot=n)), st.integers(0, 2**32 - 1)),
        st.builds(lambda d: pb.ToWorker(human=pb.HumanAction(action=[pb.Column(data=d)])), st.binary()),
    ),
    max_size=6,
)


def framed(message: pb.ToWorker) -> bytes:
    data = message.SerializeToString()
    return struct.pack("<I", len(data)) + data


@pytest.fixture
def pair():
    host, worker = socket.socketpair()
    with host, worker:
        yield host, SocketLink(worker, pb.ToWorker)


@settings(max_examples=60, deadline=None)
@given(MESSAGES, st.data())
def test_frames_arrive_however_they_are_cut(messages: list[pb.ToWorker], data: st.DataObject) -> None:
    stream = b"".join(map(framed, messages))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=5)))
    host, worker = socket.socketpair()
    with host, worker:
        for begin, end in zip([0, *cuts], [*cuts, len(stream)]):
            host.sendall(stream[begin:end])
        host.shutdown(socket.SHUT_WR)
        link = SocketLink(worker, pb.ToWorker)
        assert [link.receive() for _ in messages] == messages
        assert link.receive() is None


def test_what_has_arrived_is_there_at_once_and_nothing_is_waited_for(
    pair: tuple[socket.socket, SocketLink],
) -> None:
    host, link = pair
    messages = [pb.ToWorker(work=pb.Work(slot=n)) for n in range(3)]
    host.sendall(framed(messages[0]) + framed(messages[1]) + framed(messages[2])[:5])
    assert link.arrived() is None, "nothing was looked for yet"
    assert link.receive() == messages[0]
    assert [link.arrived(), link.arrived()] == [messages[1], None]
    host.sendall(framed(messages[2])[5:])
    assert link.receive() == messages[2]


def test_several_messages_leave_in_one_piece(pair: tuple[socket.socket, SocketLink]) -> None:
    host, link = pair
    replies = [pb.FromWorker(replies=pb.Replies(slot=n)) for n in range(3)]
    link.send_all(replies)
    assert host.recv(1000) == b"".join([link.encode(each) for each in replies])


def test_half_a_frame_is_the_end(pair: tuple[socket.socket, SocketLink]) -> None:
    host, link = pair
    host.sendall(framed(pb.ToWorker(hello=pb.Hello(host="mosaic")))[:-1])
    host.close()
    assert link.receive() is None


def test_a_frame_over_the_limit_is_refused_before_it_is_read(pair: tuple[socket.socket, SocketLink]) -> None:
    host, link = pair
    host.sendall(struct.pack("<I", MAX_FRAME + 1))
    with pytest.raises(ValueError, match="over the limit"):
        link.receive()


def test_messages_of_several_threads_do_not_mix(pair: tuple[socket.socket, SocketLink]) -> None:
    host, link = pair
    texts = [f"{i}:" + "x" * 5000 for i in range(4)]

    def shout(text: str) -> None:
        for _ in range(50):
            link.send(pb.FromWorker(log=pb.Log(text=text)))

    threads = [threading.Thread(target=shout, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    reader, heard = host.makefile("rb"), list[str]()
    for _ in range(200):
        (size,) = struct.unpack("<I", reader.read(4))
        heard.append(pb.FromWorker.FromString(reader.read(size)).log.text)
    for thread in threads:
        thread.join()
    assert sorted(heard) == sorted(texts * 50)


def test_sending_to_nobody_is_an_os_error(pair: tuple[socket.socket, SocketLink]) -> None:
    host, link = pair
    host.close()
    with pytest.raises(OSError):
        link.send(pb.FromWorker(alive=pb.Alive()))
        link.send(pb.FromWorker(alive=pb.Alive()))


@settings(max_examples=60)
@given(MESSAGES)
def test_lines_arrive(messages: list[pb.ToWorker]) -> None:
    from google.protobuf import json_format

    lines = [json_format.MessageToJson(m, indent=None).encode() + b"\n" for m in messages]
    link = JsonLink(io.BytesIO(b"".join(lines)), io.BytesIO(), pb.ToWorker)
    assert [link.receive() for _ in messages] == messages
    assert link.receive() is None


@pytest.mark.parametrize("line", [b"hello\n", b"[1]\n", b'{"hello": 3}\n', b'{"work": [}\n', b"\xff\xfe\n"])
def test_a_line_that_is_no_message_is_named(line: bytes) -> None:
    with pytest.raises(ValueError, match="no message"):
        JsonLink(io.BytesIO(line), io.BytesIO(), pb.ToWorker).receive()


def test_what_a_later_host_adds_is_left_alone() -> None:
    lines = b'{"hello": {"host": "m", "color": "red"}}\n{"weather": {}}\n'
    link = JsonLink(io.BytesIO(lines), io.BytesIO(), pb.ToWorker)
    assert link.receive() == pb.ToWorker(hello=pb.Hello(host="m"))
    assert link.receive() == pb.ToWorker()


def test_a_line_without_end_is_the_end() -> None:
    assert JsonLink(io.BytesIO(b'{"shutdown": {}}'), io.BytesIO(), pb.ToWorker).receive() is None


def test_a_sent_message_is_one_line_of_ascii() -> None:
    out = io.BytesIO()
    JsonLink(io.BytesIO(), out, pb.ToWorker).send(pb.FromWorker(log=pb.Log(text="ü\n\u2028 and more")))
    assert out.getvalue().count(b"\n") == 1 and out.getvalue().isascii()
