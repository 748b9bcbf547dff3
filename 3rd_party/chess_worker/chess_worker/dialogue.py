"""The dialogue about one move: the prompt, the model's commands, and their results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import chess

from chess_worker.commands import BOARD, MOVE, MOVES, TOOLS, Command, UnreadableError, read_call, read_text
from mosaic_llm_worker.chat_servers.servers import Completion, Message, Tool
from stockfish_worker.position import Position

_LEGAL_LINE: Final = "Legal moves:"
_CUT: Final = frozenset({"length", "max_tokens", "model_length"})
_SHOWN: Final = 20
"""Characters of an illegal move that are repeated in the answer."""

_RULES: Final = """You play chess as {side}. It is your turn. {how}
{asking}
{move} MOVE: {move_does} MOVE is from and to square with the piece a pawn becomes, such as e2e4 or e7e8q.
You have {turns} for this move, and it must be legal."""
_BY_TEXT: Final = (
    "Each of your replies ends with one command, alone on its line, and you are told what it brings. "
    "The commands:"
)
_BY_TOOLS: Final = "Use the tools, one at a time:"


@dataclass
class Tally:
    """Counts of the replies and errors in a dialogue.

    Attributes:
        turns: Number of the model's replies.
        illegal: Illegal moves that the model tried, as it wrote them.
        unreadable: Number of replies without a readable command.
    """

    turns: int = 0
    illegal: list[str] = field(default_factory=list[str])
    unreadable: int = 0

    def record(self) -> dict[str, Any]:
        """Return the counts for the row of the move."""
        return {
            "turns": self.turns,
            "illegal_attempts": len(self.illegal),
            "illegal_moves": self.illegal,
            "unreadable_replies": self.unreadable,
        }

    def words(self) -> str:
        """Return the errors so far as part of a sentence."""
        parts: list[str] = []
        if self.illegal:
            s = "s" if len(self.illegal) > 1 else ""
            parts.append(f"{len(self.illegal)} illegal move{s}: {', '.join(self.illegal[:5])}")
        if self.unreadable:
            ies = "ies" if self.unreadable > 1 else "y"
            parts.append(f"{self.unreadable} repl{ies} without a command")
        return "; ".join(parts)


class Dialogue:
    """A dialogue with the model about one move.

    Args:
        position: Position in which the model must move.
        text: The host's description of the position.
        tools: Whether the model calls functions instead of writing commands.
        max_turns: Largest number of the model's replies.
        show: Whether the first message has the board and the legal moves.
        hide_legal: Whether the legal moves are never listed and no command asks for them.
        reason: Why the engine refused the previous attempt, if this is a retry.

    Attributes:
        messages: Messages so far, in OpenAI's format.
        tally: Counts of replies and errors so far.
    """

    def __init__(
        self,
        position: Position,
        text: str,
        *,
        tools: bool,
        max_turns: int,
        show: bool = False,
        hide_legal: bool = False,
        reason: str = "",
    ) -> None:
        self._position, self._tools, self._hides = position, tools, hide_legal
        self._board = "\n".join(line for line in text.splitlines() if not line.startswith(_LEGAL_LINE))
        self.tally = Tally()
        self.messages: list[Message] = [{"role": "system", "content": self._rules(max_turns)}]
        opening = ["It is your move."]
        if reason:
            opening.append(f"Your answer before could not be used: {reason}")
        if show:
            opening += [self._board] if hide_legal else [self._board, self._moves()]
        self.messages.append({"role": "user", "content": "\n".join(opening)})

    def _rules(self, turns: int) -> str:
        does = {tool.name: tool.description for tool in TOOLS}
        return _RULES.format(
            side="white" if self._position.board.turn else "black",
            how=_BY_TOOLS if self._tools else _BY_TEXT,
            asking="\n".join(f"{name}: {does[name]}" for name in self._asking),
            move=MOVE,
            move_does=does[MOVE],
            turns=f"{turns} replies" if turns > 1 else "one reply",
        )

    @property
    def _asking(self) -> tuple[str, ...]:
        """Names of the commands that ask for information."""
        return (BOARD,) if self._hides else (BOARD, MOVES)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Tools that the model may call."""
        return tuple(tool for tool in TOOLS if tool.name == MOVE or tool.name in self._asking)

    def _moves(self) -> str:
        return f"{_LEGAL_LINE} {', '.join(sorted(move.uci() for move in self._position.actions))}"

    def receive(self, reply: Completion) -> chess.Move | None:
        """Add the model's reply and the answer to it to the dialogue.

        Returns:
            The model's move, or ``None`` if the dialogue goes on.
        """
        self.tally.turns += 1
        if self._tools and reply.tool_calls:
            return self._by_tools(reply)
        said: Message = {"role": "assistant", "content": reply.text or "(nothing)"}
        self.messages.append(said)
        try:
            command = read_text(reply.text, cut=reply.finish in _CUT)
        except UnreadableError as error:
            self.tally.unreadable += 1
            how = (
                "Call one of the tools."
                if self._tools
                else f"End with {', '.join(self._asking)} or {MOVE} MOVE."
            )
            self.messages.append({"role": "user", "content": f"{_sentence(str(error))} {how}"})
            return None
        move, answer = self._carry_out(command)
        if move is None:
            self.messages.append({"role": "user", "content": answer})
        return move

    def _by_tools(self, reply: Completion) -> chess.Move | None:
        """Answer every tool call, as servers require, until a legal move ends the dialogue."""
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments_json},
            }
            for call in reply.tool_calls
        ]
        self.messages.append({"role": "assistant", "content": reply.text or None, "tool_calls": calls})
        unread = 0
        for call in reply.tool_calls:
            try:
                move, answer = self._carry_out(read_call(call))
            except UnreadableError as error:
                move, answer, unread = None, _sentence(str(error)), 1
            if move is not None:
                return move
            self.messages.append({"role": "tool", "tool_call_id": call.id, "content": answer})
        self.tally.unreadable += unread
        return None

    def _carry_out(self, command: Command) -> tuple[chess.Move | None, str]:
        if command.name == BOARD:
            return None, self._board
        if command.name == MOVES:
            return None, "Which moves are legal you are not told." if self._hides else self._moves()
        move = read_move(self._position.board, command.move)
        if move is not None:
            return move, ""
        written = command.move[:_SHOWN]
        self.tally.illegal.append(written)
        listed = "" if self._hides else f" {MOVES} lists those that are."
        return None, f"{written} is not a legal move here.{listed}"


def read_move(board: chess.Board, text: str) -> chess.Move | None:
    """Read a legal move in the notation of programs (``e2e4``) or players (``e4``, ``exd5``, ``O-O``).

    Return ``None`` if the text is no legal move.
    """
    for read, written in (
        (board.parse_uci, text.lower().replace("=", "").replace("-", "")),
        (board.parse_san, text),
        (board.parse_san, text.replace("0", "O").replace("o", "O")),
    ):
        try:
            move = read(written)
        except ValueError:
            continue
        if move:
            return move
    return None


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
