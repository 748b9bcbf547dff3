"""Converts data for people who watch a session to messages and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gym_gui.core.agent_observation import AgentObservation
from gym_gui.core.drawing.packed_picture import PackedPicture, pack, unpack
from gym_gui.core.live import (
    OFF_BOARD,
    AgentView,
    Board,
    CapturedPieces,
    HumanQuestion,
    LiveView,
    Move,
    PlayedMove,
    Pointing,
)
from gym_gui.host.service_names import pb


def view_message(view: LiveView, frame: pb.Frame | None = None) -> pb.View:
    """Return a live view as a message; ``frame`` holds its picture or the picture's position in memory."""
    return pb.View(
        episode=view.episode,
        seed=view.seed,
        step=view.step,
        agents=map(_agent_message, view.agents),
        turn=view.turn,
        over=view.over,
        error=view.error,
        scores=scores_message(view.scores),
        outcome=None if view.outcome is None else pb.Outcomes(teams=texts(view.outcome)),
        board=board_message(view.board),
        text=view.text,
        picture=view.frame,
        frame=frame,
        kept_from=view.kept_from,
        seen_from=view.seen_from,
        sent_ns=view.sent_ns,
        pointing=_pointing_message(view.pointing),
        result=view.result,
        moves=[pb.NamedText(name=move.agent, text=move.word) for move in view.moves],
    )


def view_of(message: pb.View) -> LiveView:
    """Return the live view from a message."""
    return LiveView(
        episode=message.episode,
        seed=message.seed,
        step=message.step,
        agents=tuple(map(_agent_of, message.agents)),
        turn=tuple(message.turn),
        over=message.over,
        error=message.error,
        scores=scores_of(message.scores) if message.HasField("scores") else None,
        outcome=text_by_name(message.outcome.teams) if message.HasField("outcome") else None,
        board=board_of(message.board) if message.HasField("board") else None,
        text=message.text,
        frame=message.picture,
        sent_ns=message.sent_ns,
        kept_from=tuple(message.kept_from),
        seen_from=tuple(message.seen_from),
        pointing=_pointing_of(message.pointing) if message.HasField("pointing") else None,
        result=message.result,
        moves=tuple(PlayedMove(move.name, move.text) for move in message.moves),
    )


def _agent_message(view: AgentView) -> pb.AgentView:
    return pb.AgentView(
        agent=view.agent,
        slot=view.slot,
        action=view.action,
        number=view.number,
        source=view.source,
        reward=view.reward,
        total=view.total,
        value=view.value,
        option=view.option,
        latency_ms=view.latency_ms,
        unusable=view.unusable,
        by=view.by,
        option_since=view.option_since,
        refused=view.refused,
        name=view.name,
        used_ms=view.used_ms,
        left_ms=view.left_ms,
        clock_runs=view.clock_runs,
    )


def _agent_of(message: pb.AgentView) -> AgentView:
    return AgentView(
        message.agent,
        message.slot,
        message.action,
        message.number if message.HasField("number") else None,
        message.source,
        message.reward,
        message.total,
        message.value if message.HasField("value") else None,
        message.option,
        message.latency_ms,
        message.unusable,
        message.by,
        message.option_since if message.HasField("option_since") else None,
        message.refused,
        message.name,
        message.used_ms,
        message.left_ms if message.HasField("left_ms") else None,
        message.clock_runs,
    )


# -- boards ---------------------------------------------------------------------------------


def board_message(board: Board | None, *, moves: bool = True) -> pb.Board | None:
    """Return a board position as a message; viewers that only watch need no ``moves``."""
    if board is None:
        return None
    columns = board.columns
    return pb.Board(
        kind=board.kind,
        rows=board.rows,
        columns=columns,
        cells=board.cells,
        moves=[_move_message(move, columns) for move in board.moves] if moves else (),
        last=[row * columns + column for row, column in board.last],
        turn=board.turn,
        flipped=board.flipped,
        line=[row * columns + column for row, column in board.line],
        captured=[pb.Captured(agent=c.agent, pieces=c.pieces, ahead=c.ahead) for c in board.captured],
        fen=board.fen,
        near=board.near,
    )


def board_of(message: pb.Board) -> Board:
    """Return the board position from a message."""
    columns = message.columns
    return Board(
        message.kind,
        message.rows,
        columns,
        tuple(message.cells),
        tuple(_move_of(move, columns) for move in message.moves),
        tuple(divmod(square, columns) for square in message.last),
        message.turn,
        message.flipped,
        tuple(divmod(square, columns) for square in message.line),
        tuple(CapturedPieces(each.agent, tuple(each.pieces), each.ahead) for each in message.captured),
        message.fen,
        message.near,
    )


def _pointing_message(pointing: Pointing | None) -> pb.Pointing | None:
    if pointing is None:
        return None
    moves = [_move_message(move, pointing.columns) for move in pointing.moves]
    cells = {"rows": pointing.rows, "columns": pointing.columns}
    return pb.Pointing(**cells, moves=moves, part=pointing.part)


def _pointing_of(message: pb.Pointing) -> Pointing:
    moves = tuple(_move_of(move, message.columns) for move in message.moves)
    left, top, width, height = message.part
    return Pointing(message.rows, message.columns, moves, (left, top, width, height))


def _move_message(move: Move, columns: int) -> pb.Move:
    (row, column), source = move.target, move.source
    return pb.Move(
        action=move.action,
        target=row * columns + column if row >= 0 else None,
        source=None if source is None else source[0] * columns + source[1],
        label=move.label,
        promotion=move.promotion,
    )


def _move_of(message: pb.Move, columns: int) -> Move:
    source = divmod(message.source, columns) if message.HasField("source") else None
    target = divmod(message.target, columns) if message.HasField("target") else OFF_BOARD
    return Move(message.action, target, source, message.label, message.promotion)


# -- questions ------------------------------------------------------------------------------


def question_message(question: HumanQuestion) -> pb.Question:
    """Return a question to a person as a message."""
    return pb.Question(
        id=question.id,
        episode=question.episode,
        step=question.step,
        agent=question.agent,
        slot=question.slot,
        legal=None if question.legal is None else pb.Actions(numbers=question.legal),
        deadline_s=question.deadline_s,
        attempt=question.attempt,
        reason=question.reason,
        space=json.dumps(question.space).encode(),
    )


def question_of(message: pb.Question) -> HumanQuestion:
    """Return the question to a person from a message."""
    space: dict[str, Any] = json.loads(message.space)
    return HumanQuestion(
        message.id,
        message.episode,
        message.step,
        message.agent,
        message.slot,
        tuple(message.legal.numbers) if message.HasField("legal") else None,
        message.deadline_s if message.HasField("deadline_s") else None,
        message.attempt,
        message.reason,
        space,
    )


# -- pictures -------------------------------------------------------------------------------


def pixels_message(packed: PackedPicture) -> pb.Pixels:
    """Return a packed picture as a part of a message."""
    return pb.Pixels(rgb=packed.pixels, height=packed.height, width=packed.width)


def packed_of(message: pb.Pixels) -> PackedPicture:
    """Return the picture from a message, still packed."""
    return PackedPicture(message.rgb, message.height, message.width)


def frame_with(picture: NDArray[np.uint8]) -> pb.Frame:
    """Return a frame message that contains its picture, for a client without shared memory."""
    return pb.Frame(pixels=pixels_message(pack(picture)))


def picture_in(frame: pb.Frame) -> NDArray[np.uint8]:
    """Return the unpacked picture from a frame message.

    Raises:
        ValueError: The picture does not have the size that the message states.
    """
    return unpack(packed_of(frame.pixels))


def observation_message(observed: AgentObservation) -> pb.AgentObservation:
    """Return an agent's observation as a message."""
    return pb.AgentObservation(
        agent=observed.agent,
        step=observed.step,
        text=observed.text,
        fed=observed.fed,
        preprocessing=observed.preprocessing,
        legal=observed.legal,
        caption=observed.caption,
        picture=None if observed.picture is None else pixels_message(observed.picture),
    )


def observation_of(message: pb.AgentObservation) -> AgentObservation:
    """Return the agent's observation from a message."""
    return AgentObservation(
        message.agent,
        message.step,
        message.text,
        message.fed,
        message.preprocessing,
        tuple(message.legal),
        message.caption,
        packed_of(message.picture) if message.HasField("picture") else None,
    )


# -- mappings whose order is kept -------------------------------------------------------------


def scores_message(scores: Mapping[str, float] | None) -> pb.Scores | None:
    """Return the scores by team as a message; ``None`` without scores."""
    if scores is None:
        return None
    return pb.Scores(teams=[pb.NamedNumber(name=name, number=value) for name, value in scores.items()])


def scores_of(message: pb.Scores) -> dict[str, float]:
    """Return the scores by team from a message."""
    return {entry.name: entry.number for entry in message.teams}


def texts(values: Mapping[str, str]) -> list[pb.NamedText]:
    """Return a mapping of texts as a list of messages in the same order."""
    return [pb.NamedText(name=name, text=value) for name, value in values.items()]


def text_by_name(entries: Sequence[pb.NamedText]) -> dict[str, str]:
    """Return the mapping of texts from messages: the inverse of :func:`texts`."""
    return {entry.name: entry.text for entry in entries}


def words(values: Mapping[str, Sequence[str]]) -> list[pb.NamedWords]:
    """Return a mapping of lists of words as a list of messages in the same order."""
    return [pb.NamedWords(name=name, words=value) for name, value in values.items()]


def words_by_name(entries: Sequence[pb.NamedWords]) -> dict[str, tuple[str, ...]]:
    """Return the mapping of lists of words from messages: the inverse of :func:`words`."""
    return {entry.name: tuple(entry.words) for entry in entries}
