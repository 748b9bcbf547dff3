"""What a viewer is shown of a session while it plays, and what a person is asked.

These travel from a session host to its client several times a second, so they are plain
data: no arrays, no environment objects. A frame (an RGB picture) travels beside them, in
shared memory; see :mod:`gym_gui.host.frames`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct, field

from gym_gui.core.types import AgentID

OFF_BOARD: Final = (-1, -1)
"""Target of a move that ends on no square, such as a pass; such a move is a button."""


class Compiling(Struct, frozen=True):
    """How far the compiling of a package's functions is.

    Attributes:
        title: Of the environments that need them, for people.
        functions: Names of those that are ready, in their order.
        total: How many there are.
    """

    title: str
    functions: tuple[str, ...]
    total: int


class Move(Struct, frozen=True):
    """A legal action of a board game, as places on the board.

    Attributes:
        action: The environment's own action number.
        target: Square (row, column) the move ends on, rows from the top as drawn.
        source: Square it starts from; ``None`` where a piece is put on the board.
        label: The move in the game's own words, for example ``e2e4``.
        promotion: Piece letter a pawn becomes, or ``""``.
    """

    action: int
    target: tuple[int, int]
    source: tuple[int, int] | None = None
    label: str = ""
    promotion: str = ""


class Captured(Struct, frozen=True):
    """What one side has taken of the other.

    Attributes:
        agent: Whose it is.
        pieces: What was taken, as in :attr:`Board.cells`, the most valuable first.
        ahead: By how much its own pieces are worth more than the other's, in the game's own points; not
            below 0.
    """

    agent: AgentID
    pieces: tuple[str, ...] = ()
    ahead: int = 0


class Board(Struct, frozen=True):
    """A board position that can be drawn without knowing the game's rules.

    Attributes:
        kind: ``chess``, ``connect_four``, ``tic_tac_toe``, ``go``, ``checkers``.
        rows: Rows of squares (points for go).
        columns: Columns of them.
        cells: ``rows * columns`` one-letter pieces, row by row from the top, ``""`` for
            empty: FEN letters for chess; ``X`` (first player) and ``O`` (second) elsewhere;
            checkers' kings are doubled letters.
        moves: Legal moves of the agent on turn.
        last: The squares of the last move: (source, target) or (target,).
        turn: Agent on turn, ``""`` when the game is over.
        flipped: Draw it from the other side.
        line: The squares that won: the four of connect four, the three of tic-tac-toe.
        captured: What each side has taken, in games in which that counts.
        near: Agent whose side is below as it is drawn; ``""`` where a board has no sides.
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
    captured: tuple[Captured, ...] = ()
    fen: str = ""
    near: AgentID = ""


class Pointing(Struct, frozen=True):
    """What a person may choose by pointing at the picture.

    Attributes:
        rows: Cells of the picture from top to bottom.
        columns: The same from left to right.
        moves: What each cell stands for: ``target`` is the cell, ``label`` what is chosen.
        part: Where these cells are, where they are not the whole picture: left, top, width and height, as
            shares of it.
    """

    rows: int
    columns: int
    moves: tuple[Move, ...]
    part: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0)


class PlayedMove(Struct, frozen=True):
    """A move in the game's own notation.

    Attributes:
        agent: Whose it was.
        word: ``Nf3``, ``column 4``, ``D4``.
    """

    agent: AgentID
    word: str


class AgentView(Struct, frozen=True):
    """What one agent did last.

    Attributes:
        agent: The agent (seat).
        slot: Configured slot that plays it.
        action: Its last action as a word, or as short text; ``""`` before the first.
        number: The action's number in a ``Discrete`` space, else ``None``.
        source: The kind of its chooser (an :class:`~gym_gui.core.enums.ActionSource`), ``""`` before.
        reward: The agent's reward of the last step.
        total: Its return (sum of rewards) so far.
        value: The policy's own estimate, where it gives one.
        option: The option that its manager chose, in hierarchical play; empty for managers.
        latency_ms: How long it took to choose.
        unusable: Decisions so far whose last reply was unusable.
        by: The player that chose the action, where that is not the slot's player: a player that has left the
            slot since, in a record also one that took it over; else ``""``.
        option_since: Step in which the manager chose the option; ``None`` where that is unknown.
        refused: Why its own answer could not be played, where another action was; else ``""``.
        name: What its seat is called in this game (``White``); ``""`` where it has no name but its own.
        used_ms: How long it took to choose all its actions so far.
        left_ms: How long it still has on its clock; ``None`` where it is on none.
        clock_runs: Whether its clock runs.
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
    """One look at an episode.

    Attributes:
        episode: Its index.
        seed: Its seed.
        step: Environment steps taken.
        agents: What each agent did last, in the environment's order.
        turn: Agents that are being asked now.
        over: ``""`` while the episode runs, else its status (``completed``, ``failed``, ``aborted``).
        error: Why it failed, or ``""``.
        scores: Score by team, as the environment keeps it, or ``None``.
        outcome: Win, draw or loss by team, once over; ``None`` where no team can win.
        board: The position, in board games.
        text: The environment's own text rendering, where that was asked for.
        frame: Sequence number of the picture that belongs to it; 0 where there is none.
        kept_from: Seats that people play and from which the game hides something.
        seen_from: Those of them whose view is shown; empty: everything is.
        pointing: What a person who is asked may choose in the picture; ``None``: nothing.
        sent_ns: ``time.monotonic_ns()`` when the step was done, to measure the way to the screen.
        result: Who won how, in a sentence, once over; ``""`` where the game has no words for it.
        moves: Everything that was played, in the game's own notation; empty where it has none.
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
        id: To be given back with the answer.
        episode: Episode index.
        step: Environment step.
        agent: The agent (seat).
        slot: Configured slot whose person is asked.
        legal: Numbers of the legal actions; ``None`` where all are.
        deadline_s: Time to answer, ``None`` for as long as it takes.
        attempt: 0 at the first ask, then counting retries.
        reason: Why the answer before was refused.
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
