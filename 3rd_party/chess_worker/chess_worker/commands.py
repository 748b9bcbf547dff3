"""Commands that a model may give for its move, and how they are read from its replies."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, cast

from mosaic_llm_worker.chat_servers.servers import Tool, ToolCall
from mosaic_llm_worker.parsing.cleaning import without_markup, without_thinking

BOARD: Final = "get_current_board"
MOVES: Final = "get_legal_moves"
MOVE: Final = "make_move"

TOOLS: Final = (
    Tool(
        BOARD,
        "Shows the board, the position as FEN and the opponent's last move.",
        {"type": "object", "properties": {}},
    ),
    Tool(MOVES, "Lists your legal moves.", {"type": "object", "properties": {}}),
    Tool(
        MOVE,
        "Makes your move, which ends your turn.",
        {
            "type": "object",
            "properties": {
                "move": {"type": "string", "description": "From and to square, such as e2e4 or e7e8q."}
            },
            "required": ["move"],
        },
    ),
)

# A move in the notation of programs or players; characters between the command and the move are skipped.
_WRITTEN: Final = r"(?:[KQRBN]?[a-h]?[1-8]?[x-]?[a-h][1-8](?:=?[QRBN])?|[O0]-[O0](?:-[O0])?)[+#]?(?![\w-])"
_BETWEEN: Final = r"(?:[\s:=,(\[{\"'<]|\barguments\b|\bmove\b)*"
_COMMAND: Final = re.compile(
    rf"(?<!\w)(?:(?P<board>{BOARD})|(?P<moves>{MOVES})|{MOVE}\b(?:{_BETWEEN}(?P<move>{_WRITTEN}))?)",
    re.IGNORECASE,
)
_EMPTY: Final = "the reply is empty"


class Command(NamedTuple):
    """One command of the model.

    Attributes:
        name: ``get_current_board``, ``get_legal_moves`` or ``make_move``.
        move: Move of ``make_move`` as the model wrote it; empty for the other commands.
    """

    name: str
    move: str = ""


class UnreadableError(Exception):
    """A reply has no readable command; the message tells the model what is wrong."""


def read_text(reply: str, *, cut: bool = False) -> Command:
    """Return the command in the text of a reply.

    A command alone on its line takes precedence, because others may be part of a sentence about
    commands. Several different commands are ambiguous.

    Args:
        reply: Text of the reply.
        cut: Whether the reply was cut off because it was too long.

    Raises:
        UnreadableError: The reply has no command, or several different ones.
    """
    cleaned = without_thinking(reply)
    if cleaned.open:
        raise UnreadableError("the reply ended while you were still thinking; think less")
    text = without_markup(cleaned.text)
    if not text.strip():
        raise UnreadableError(_EMPTY)
    alone = [command for line in text.splitlines() for command in _alone(line)]
    found = list(dict.fromkeys(alone or _commands(text)))
    if len(found) > 1:
        names = " and ".join(f"{c.name} {c.move}".strip() for c in found[:3])
        raise UnreadableError(f"the reply has several commands ({names}); give one at a time")
    if found:
        return found[0]
    if cut:
        raise UnreadableError("the reply was cut off before a command")
    if MOVE in text.lower():
        raise UnreadableError(f"{MOVE} needs a move behind it, such as e2e4")
    raise UnreadableError("the reply has no command")


def _commands(text: str) -> Iterator[Command]:
    for match in _COMMAND.finditer(text):
        if match["board"]:
            yield Command(BOARD)
        elif match["moves"]:
            yield Command(MOVES)
        elif match["move"]:
            yield Command(MOVE, match["move"])


def _alone(line: str) -> Sequence[Command]:
    match = _COMMAND.match(stripped := line.strip(" \t-*>.:`'\""))
    if match is None or re.search(r"\w", stripped[match.end() :]):
        return ()
    return list(_commands(stripped))


def read_call(call: ToolCall) -> Command:
    """Return the command of a tool call.

    Raises:
        UnreadableError: There is no such tool, or its arguments cannot be read.
    """
    if call.name not in (BOARD, MOVES, MOVE):
        raise UnreadableError(f"there is no tool {call.name[:40]!r}; there are {BOARD}, {MOVES} and {MOVE}")
    if call.name != MOVE:
        return Command(call.name)
    try:
        given = json.loads(call.arguments_json)
    except (ValueError, RecursionError):
        given = None
    move = cast("dict[str, object]", given).get("move") if isinstance(given, dict) else None
    if not isinstance(move, str) or not move.strip():
        raise UnreadableError(f'{MOVE} takes a move as text, such as {{"move": "e2e4"}}')
    return Command(MOVE, move.strip())
