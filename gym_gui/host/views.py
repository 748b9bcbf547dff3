"""What a viewer is shown, as messages, and back."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from gym_gui.core.live import AgentView, Board, HumanQuestion, LiveView, Move
from gym_gui.core.plain import to_plain
from gym_gui.host.service import pb

_OPTIONS = orjson.OPT_SERIALIZE_NUMPY


def view_to_json(view: LiveView) -> bytes:
    """A view as JSON; its picture travels beside it."""
    return orjson.dumps(view, default=to_plain, option=_OPTIONS)


def view_from_json(data: bytes) -> LiveView:
    """The view that :func:`view_to_json` was given."""
    fields: dict[str, Any] = orjson.loads(data)
    fields["agents"] = tuple(AgentView(**agent) for agent in fields["agents"])
    for name in ("turn", "kept_from", "eyes"):
        fields[name] = tuple(fields[name])
    if fields["board"] is not None:
        fields["board"] = _board(fields["board"])
    return LiveView(**fields)


def _board(fields: dict[str, Any]) -> Board:
    fields["cells"] = tuple(fields["cells"])
    fields["moves"] = tuple(_move(move) for move in fields["moves"])
    fields["last"] = tuple((row, column) for row, column in fields["last"])
    return Board(**fields)


def _move(fields: dict[str, Any]) -> Move:
    fields["target"] = tuple(fields["target"])
    if fields["source"] is not None:
        fields["source"] = tuple(fields["source"])
    return Move(**fields)


def question_to_json(question: HumanQuestion) -> str:
    """A question as JSON; spaces have bounds that are infinite, which orjson cannot say."""
    plain = {name: getattr(question, name) for name in HumanQuestion.__slots__}
    return json.dumps(plain)


def question_from_json(text: str) -> HumanQuestion:
    """The question that :func:`question_to_json` was given."""
    question = HumanQuestion(**json.loads(text))
    return question if question.legal is None else replace(question, legal=tuple(question.legal))


def packed(frame: NDArray[np.uint8], number: int) -> pb.Frame:
    """A picture that travels in the message itself, because both ends share no memory."""
    height, width = frame.shape[:2]
    return pb.Frame(number=number, height=height, width=width, pixels=zlib.compress(frame.tobytes(), 1))


def unpacked(frame: pb.Frame) -> NDArray[np.uint8]:
    """The picture of a message.

    Raises:
        ValueError: It is not as large as the message says.
    """
    pixels = bytearray(zlib.decompress(frame.pixels))
    return np.frombuffer(pixels, np.uint8).reshape(frame.height, frame.width, 3)
