"""The messages that docs/worker_protocol shows, and their lines as the carrier makes them."""

from __future__ import annotations

import asyncio
import io
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

from gym_gui.core.spaces import Codec, Space, space_to_spec, to_space
from gym_gui.wire import JsonChannel, add_columns, pb
from mosaic_worker.link import JsonLink

NODE_WORKER = Path(__file__).resolve().parents[2] / "docs/examples/node_worker"
SEES = gym.spaces.Box(-1.0, 1.0, (2,), np.float32)
DOES = gym.spaces.Discrete(3)


def to_worker() -> dict[str, pb.ToWorker]:
    """Host to worker, by name."""
    load = pb.Load(
        slot=0,
        agent="agent_0",
        env="Example-v0",
        observation_space=json.dumps(space_to_spec(SEES)),
        action_space=json.dumps(space_to_spec(DOES)),
        settings='{"style": "calm"}',
        action_meanings=["left", "stay", "right"],
        noop=1,
        secrets={"api_key": "…"},
    )
    work = pb.Work(slot=0)
    work.starts.add(episode=0, seed=7077249234411236393, agent="agent_0")
    work.starts.add(episode=1, seed=42, agent="agent_0")
    q = work.questions
    q.ids.extend([1, 2])
    q.episodes.extend([0, 1])
    q.steps.extend([0, 0])
    q.seeds.extend([7077249234411236393, 42])
    observation_codec = Codec(to_space(SEES))
    rows = [observation_codec.encode(np.array(v, np.float32)) for v in ([0.5, -1.0], [0.0, 0.25])]
    add_columns(q.observation, observation_codec.join(rows))
    q.masks = bytes([1, 1, 0, 0, 1, 0])
    retry = pb.Work(slot=0)
    retry.questions.CopyFrom(q)
    again = retry.questions
    for field in (again.ids, again.episodes, again.steps, again.seeds):
        del field[1:]
    again.ids[:] = [3]
    del again.observation[:]
    add_columns(again.observation, observation_codec.join(rows[:1]))
    again.masks = bytes([1, 1, 0])
    again.attempts.append(1)
    again.reasons.append("action 2 is not legal now")
    news = pb.Work(slot=0)
    news.results.episodes.append(0)
    news.results.steps.append(0)
    add_columns(news.results.observation, observation_codec.join(rows[1:]))
    add_columns(news.results.action, Codec(to_space(DOES)).columns([1], 1))
    news.results.rewards.append(0.5)
    news.results.terminated.append(True)
    news.results.truncated.append(False)
    news.ends.add(episode=0, total_reward=0.5, steps=1, status="completed")
    human = pb.HumanAction(slot=0, id=2)
    add_columns(human.action, Codec(to_space(DOES)).columns([1], 1))
    return {
        "hello": pb.ToWorker(hello=pb.Hello(protocol=1, host="mosaic/0.1.0", heartbeat_s=10.0, notes=True)),
        "load": pb.ToWorker(load=load),
        "work": pb.ToWorker(work=work),
        "retry": pb.ToWorker(work=retry),
        "news": pb.ToWorker(work=news),
        "human": pb.ToWorker(human=human),
        "noted": pb.ToWorker(noted=pb.Noted(number=7)),
        "shutdown": pb.ToWorker(shutdown=pb.Shutdown()),
    }


def from_worker() -> dict[str, pb.FromWorker]:
    """Worker to host, by name."""
    welcome = pb.Welcome(
        protocol=1, worker="example_worker", version="1.0.0", pid=4711, alive=True, inputs=["text"]
    )
    action_codec = Codec(to_space(DOES))
    replies = pb.Replies(slot=0, ids=[2], values=[0.75])
    add_columns(replies.action, action_codec.columns([1], 1))
    replies.extras.add(id=2, json='{"tokens": {"input": 120, "output": 4}}')
    replies.problems.add(id=1, reason="the model's reply names no action", raw="I would rather not.")
    return {
        "welcome": pb.FromWorker(welcome=welcome),
        "loaded": pb.FromWorker(loaded=pb.Loaded(slot=0, policy="calm")),
        "refused": pb.FromWorker(
            loaded=pb.Loaded(slot=0, error="the setting checkpoint is missing: give a file")
        ),
        "replies": pb.FromWorker(replies=replies),
        "ask_human": pb.FromWorker(ask_human=pb.HumanRequest(slot=0, id=2)),
        "alive": pb.FromWorker(alive=pb.Alive()),
        "log": pb.FromWorker(log=pb.Log(level=30, logger="model", text="the server is slow")),
        "call": pb.FromWorker(call=pb.Call(json='{"model": "m-1", "usd": 0.002}')),
        "announce": pb.FromWorker(announce=pb.Announce(number=7, slot=0, episode=3, tokens=1180, usd=0.0037)),
        "failed": pb.FromWorker(failed=pb.Failed(reason="the model server refused the key")),
    }


def host_lines() -> dict[str, str]:
    """Lines of :func:`to_worker`, read from a pipe that the host's carrier has written to."""

    async def travel() -> list[str]:
        child_in, our_out = os.pipe()
        our_in, child_out = os.pipe()
        ends = os.fdopen(our_out, "wb", 0), os.fdopen(our_in, "rb", 0)  # the carrier closes them
        channel = await JsonChannel.open(*ends, lambda _: None, lambda _: None)
        for message in to_worker().values():
            channel.send(message)
        channel.close()
        with os.fdopen(child_in, encoding="utf-8") as arrived:
            lines = await asyncio.to_thread(arrived.read)
        os.close(child_out)
        return lines.splitlines()

    return dict(zip(to_worker(), asyncio.run(travel()), strict=True))


def worker_lines() -> dict[str, str]:
    """Lines of :func:`from_worker`, as the SDK's link writes them."""
    link = JsonLink(io.BytesIO(), io.BytesIO(), pb.ToWorker)
    return {name: link.encode(message).decode().rstrip("\n") for name, message in from_worker().items()}


def value_rows() -> list[tuple[str, Any, Any]]:
    """(what is special, space, value) of the table of encodings."""
    s = gym.spaces
    vector = s.Box(-1.0, 1.0, (2,), np.float32)
    short = s.Text(4, charset="abc")
    return [
        ("", s.Discrete(3), 2),
        ("counts from `start`", s.Discrete(3, start=-1), -1),
        ("", vector, np.array([0.5, -1.0], np.float32)),
        ("row by row", s.Box(0, 255, (2, 2), np.uint8), np.array([[1, 2], [3, 255]], np.uint8)),
        ("", s.MultiDiscrete([3, 2]), np.array([2, 1])),
        ("", s.MultiBinary(3), np.array([1, 0, 1], np.int8)),
        ("", s.Text(8, charset="abcé"), "abé"),
        (
            "two leaves",
            s.Dict({"at": s.Discrete(4), "to": vector}),
            {"at": 3, "to": np.array([0.5, -1.0], np.float32)},
        ),
        ("two leaves", s.Tuple((s.Discrete(2), short)), (1, "ab")),
        ("count, then elements", s.Sequence(s.Discrete(3)), (1, 2)),
        ("each element after its size", s.Sequence(short), ("ab", "c")),
        ("index, then the value", s.OneOf((s.Discrete(2), vector)), (0, 1)),
        ("", Space("Custom", name="MissionSpace"), "go to the red ball"),
    ]


def graph_example() -> tuple[Any, Any]:
    """A Graph space and a value of it."""
    space = gym.spaces.Graph(gym.spaces.Box(0.0, 1.0, (1,), np.float32), gym.spaces.Discrete(2))
    nodes, edges, links = np.array([[0.5], [1.0]], np.float32), np.array([1]), np.array([[0, 1]])
    return space, gym.spaces.GraphInstance(nodes, edges, links)


def graph_bytes() -> str:
    """Its bytes, an array a line."""
    space, value = graph_example()
    encoded = Codec(to_space(space)).encode(value)[0]
    lines = list[str]()
    for array in value:
        size = 1 + 3 + 1 + 4 * array.ndim + array.nbytes
        lines.append(encoded[:size].hex(" "))
        encoded = encoded[size:]
    assert not encoded
    return "\n".join(lines)


ASKED = {
    "hello": "hello",
    "load": "load",
    "work": "work: starts, questions",
    "retry": "work: a question again",
    "news": "work: results, ends",
    "shutdown": "shutdown",
}
"""What the host says in the whole conversation: names of :func:`to_worker`, and how the page calls them."""


def conversation() -> str:
    """The host's lines (``>``) by name, and what the Node.js example answers (``<``), one after the other."""
    wanted = host_lines()
    worker = subprocess.Popen(
        ["node", "worker.js"], cwd=NODE_WORKER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert worker.stdin is not None and worker.stdout is not None
    lines = list[str]()
    try:
        for name, title in ASKED.items():
            line = wanted[name]
            worker.stdin.write(line + "\n")
            worker.stdin.flush()
            lines.append(f"> {title}")
            if '"questions"' in line or '"hello"' in line or '"load"' in line:
                answer = worker.stdout.readline().rstrip("\n")
                lines.append(f"< {answer.replace(str(worker.pid), '4711')}")
        assert worker.wait(10) == 0
    finally:
        worker.kill()
        worker.communicate()
    return "\n".join(lines)
