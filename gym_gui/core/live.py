"""Data that a session sends to a viewer while it plays, and questions to people.

A session host sends these structs to its client several times a second, so they are plain data without
arrays or environment objects. A frame (an RGB picture) is sent separately in shared memory; see
:mod:`gym_gui.host.frames`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct, field

from gym_gui.core.types import AgentID

OFF_BOARD: Final = (-1, -1)
"""Target of a move that ends on no square, such as a pass; the window shows such a move as a button."""


class Compiling(Struct, frozen=True):
    """Progress of compiling a package's functions.

    Attributes:
        title: Title of the environments that need the functions.
        functions: Names of the functions that are compiled, in order.
        total: Number of all functions.
    """

    title: str
    functions: tuple[str, ...]
    total: int


class Move(Struct, frozen=True):
    """A legal action of a board game, as squares on the board.

    Attributes:
        action: The environment's own action number.
        target: Square (row, column) on which the move ends; rows count from the top as drawn.
        source: Square from which the move starts; ``None`` if a piece is put on the board.
        label: The move in the game's own words, for example ``e2e4``.
        promotion: Letter of the piece to which a pawn is promoted, or ``""``.
    """

    action: int
    target: tuple[int, int]
    source: tuple[int, int] | None = None
    label: str = ""
    promotion: str = ""


class CapturedPieces(Struct, frozen=True):
    """Pieces that one side has captured.

    Attributes:
        agent: The agent that captured them.
        pieces: Captured pieces, as in :attr:`Board.cells`, the most valuable first.
        ahead: How many points the agent's pieces on the board are worth more than the opponent's, in the
            game's own points; at least 0.
    """

    agent: AgentID
    pieces: tuple[str, ...] = ()
    ahead: int = 0


class Board(Struct, frozen=True):
    """A board position that can be drawn without knowing the game's rules.

    Attributes:
        kind: ``chess``, ``connect_four``, ``tic_tac_toe``, ``go``, ``checkers``.
        rows: Rows of squares (points for go).
        columns: Columns of squares (points for go).
        cells: ``rows * columns`` one-letter pieces, row by row from the top, ``""`` for
            empty: FEN letters for chess; ``X`` (first player) and ``O`` (second) elsewhere;
            checkers' kings are doubled letters.
        moves: Legal moves of the agent on turn.
        last: The squares of the last move: (source, target) or (target,).
        turn: Agent on turn, ``""`` when the game is over.
        flipped: Whether to draw the board from the other side.
        line: The squares that won: four in Connect Four, three in tic-tac-toe.
        captured: Pieces that each side has captured, in games in which captures count.
        near: Agent whose side is drawn at the bottom; ``""`` if the board has no sides.
        fen: The position in Forsyth-Edwards notation, which chess programs read; ``""`` in other games.
    """

    kind: str
    rows: int
    columns: int
    cells: tuple[str, ...]
    moves: tuple[Move, ...] = ()
    last: tuple[tuple[int, int], ...] = ()
    turn: AgentID = ""
    flipped: bool = False
    line: tuple[tuple[int, int], ...] = ()
    captured: tuple[CapturedPieces, ...] = ()
    fen: str = ""
    near: AgentID = ""


class Pointing(Struct, frozen=True):
    """Actions that a person can choose by clicking on the picture.

    Attributes:
        rows: Number of cells from top to bottom.
        columns: Number of cells from left to right.
        moves: The action of each cell: ``target`` is the cell, ``label`` the action.
        part: Part of the picture that the cells cover: left, top, width and height, as fractions of the
            picture.
    """

    rows: int
    columns: int
    moves: tuple[Move, ...]
    part: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0)


class PlayedMove(Struct, frozen=True):
    """A move in the game's own notation.

    Attributes:
        agent: The agent that made the move.
        word: The move, such as ``Nf3``, ``column 4`` or ``D4``.
    """

    agent: AgentID
    word: str


class AgentView(Struct, frozen=True):
    """The last action of one agent, with its totals so far.

    Attributes:
        agent: The agent (seat).
        slot: Configured slot that plays the agent.
        action: The agent's last action as a word or short text; ``""`` before the first.
        number: The action's number in a ``Discrete`` space, else ``None``.
        source: How the action was chosen (an :class:`~gym_gui.core.enums.ActionSource`); ``""`` before the
            first.
        reward: The agent's reward in the last step.
        total: The agent's return (sum of rewards) so far.
        value: The policy's own value estimate, if it gives one.
        option: The option that the agent's manager chose, in hierarchical play; empty for managers.
        latency_ms: Time that the agent took to choose the action.
        unusable: Number of decisions so far whose last answer was unusable.
        by: The player that chose the action, if it is not the slot's present player: a player that has left
            the slot since, or in a record also one that took the slot over; else ``""``.
        option_since: Step in which the manager chose the option; ``None`` if unknown.
        refused: Why the agent's own answer could not be played, if another action was played; else ``""``.
        name: Name of the seat in this game (``White``); ``""`` if the game has no name for it.
        used_ms: Time that the agent took for all its actions so far.
        left_ms: Time left on the agent's clock; ``None`` if the game has no clock.
        clock_runs: Whether the agent's clock is running.
    """

    agent: AgentID
    slot: AgentID
    action: str = ""
    number: int | None = None
    source: str = ""
    reward: float = 0.0
    total: float = 0.0
    value: float | None = None
    option: str = ""
    latency_ms: float = 0.0
    unusable: int = 0
    by: str = ""
    option_since: int | None = None
    refused: str = ""
    name: str = ""
    used_ms: float = 0.0
    left_ms: float | None = None
    clock_runs: bool = False


class LiveView(Struct, frozen=True):
    """The state of an episode at one step.

    Attributes:
        episode: Index of the episode.
        seed: Environment seed of the episode.
        step: Environment steps taken.
        agents: The last action of each agent, in the environment's order.
        turn: Agents that are being asked now.
        over: ``""`` while the episode runs, else its status (``completed``, ``failed``, ``aborted``).
        error: Why the episode failed, or ``""``.
        scores: Score by team, as the environment counts it, or ``None``.
        outcome: Win, draw or loss by team at the end; ``None`` if no team can win.
        board: The position, in board games.
        text: The environment's own text rendering, if it was requested.
        frame: Sequence number of the picture of this step; 0 if there is none.
        kept_from: Seats played by people from which the game hides something.
        seen_from: The seats of ``kept_from`` whose view is shown; empty: everything is shown.
        pointing: Actions that a person who is asked may choose in the picture; ``None``: none.
        sent_ns: ``time.monotonic_ns()`` at the end of the step, to measure the delay until display.
        result: Sentence that says who won and how, at the end; ``""`` if the game has no words for it.
        moves: All moves so far in the game's own notation; empty if the game has none.
    """

    episode: int
    seed: int
    step: int
    agents: tuple[AgentView, ...]
    turn: tuple[AgentID, ...] = ()
    over: str = ""
    error: str = ""
    scores: Mapping[str, float] | None = None
    outcome: Mapping[str, str] | None = None
    board: Board | None = None
    text: str = ""
    frame: int = 0
    sent_ns: int = 0
    kept_from: tuple[AgentID, ...] = ()
    seen_from: tuple[AgentID, ...] = ()
    pointing: Pointing | None = None
    result: str = ""
    moves: tuple[PlayedMove, ...] = ()


class HumanQuestion(Struct, frozen=True):
    """A decision that a person has to make.

    Attributes:
        id: Number that the answer must repeat.
        episode: Episode index.
        step: Environment step.
        agent: The agent (seat).
        slot: Configured slot whose person is asked.
        legal: Numbers of the legal actions; ``None`` if all actions are legal.
        deadline_s: Time to answer; ``None``: no limit.
        attempt: 0 for the first question, then the number of the retry.
        reason: Why the previous answer was refused.
        space: The action space as JSON data (:mod:`mosaic_worker.spaces`).
    """

    id: int
    episode: int
    step: int
    agent: AgentID
    slot: AgentID
    legal: tuple[int, ...] | None = None
    deadline_s: float | None = None
    attempt: int = 0
    reason: str = ""
    space: Mapping[str, Any] = field(default_factory=dict[str, Any])
