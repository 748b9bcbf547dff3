"""Names of chess moves: people and models write ``Nf3`` for the move that programs write as ``g1f3``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

_UCI: Final = re.compile(r"([a-h][1-8])([a-h][1-8])([qrbn]?)")
_SAN: Final = re.compile(r"(?:[KQRBN]?[a-h]?[1-8]?x?[a-h][1-8](?:=?[QRBN])?|[O0]-[O0](?:-[O0])?)[+#]?")
_SQUARES: Final = re.compile(r"([a-z]\d{2})([a-z]\d{2})([a-z]?)")
_FEN: Final = re.compile(r"FEN:\s*((?:[pnbrqkPNBRQK1-8]{1,8}/){7}[pnbrqkPNBRQK1-8]{1,8})\s")
_NAMES: Final = {"N": "knight", "B": "bishop", "R": "rook", "Q": "queen", "K": "king", "P": "pawn"}


def spellings(words: Mapping[int, str], text: str) -> Iterator[tuple[str, int]]:
    """Yield other names of the legal moves of a chess position; nothing if the text has no such position.

    Args:
        words: The legal moves by action, in UCI notation.
        text: The observation as text; its FEN contains the position.

    Yields:
        Pairs of a name (without the signs of check and mate) and an action. A name that two moves
        share is yielded twice.
    """
    if _FEN.search(text) is None:
        yield from _other_squares(words)
        return
    moves = {action: _UCI.fullmatch(word) for action, word in words.items()}
    found = _FEN.search(text)
    if found is None or not all(moves.values()):
        return
    board = _pieces(found[1])
    for action, move in moves.items():
        if move is not None:
            for name in dict.fromkeys(_names(board, move[1], move[2], move[3])):
                yield name, action


def is_written_move(text: str, words: Iterable[str]) -> bool:
    """Return whether a text is a move in chess notation, legal or not; ``False`` if the words are no chess
    moves.
    """
    return _SAN.fullmatch(text.strip()) is not None and all(map(_UCI.fullmatch, words))


def _other_squares(words: Mapping[int, str]) -> Iterator[tuple[str, int]]:
    """Yield spellings of moves from square to square on boards with other names of squares, such as ``A1 to
    B2``.
    """
    moves = {action: _SQUARES.fullmatch(word) for action, word in words.items()}
    if all(moves.values()):
        for action, move in moves.items():
            start, end, promoted = move.groups() if move is not None else ("", "", "")
            joins = (f"{start}-{end}", f"{start} {end}", f"{start} to {end}", f"from {start} to {end}")
            yield from ((f"{joined}{promoted}", action) for joined in joins)


def _pieces(placement: str) -> dict[str, str]:
    board: dict[str, str] = {}
    for rank, row in zip("87654321", placement.split("/"), strict=True):
        cells = "".join("." * int(c) if c.isdigit() else c for c in row)
        board |= {f"{file}{rank}": piece for file, piece in zip("abcdefgh", cells, strict=False)}
    return board


def _names(board: Mapping[str, str], start: str, end: str, promoted: str) -> Iterator[str]:
    piece = board.get(start, ".").upper()
    takes = board.get(end, ".") != "." or (piece == "P" and start[0] != end[0])
    yield from _in_words(piece, start, end, promoted, takes)
    if piece == "K" and abs(ord(start[0]) - ord(end[0])) == 2:
        short = end[0] == "g"
        zeros = "0-0" if short else "0-0-0"
        yield from (zeros, zeros.replace("0", "O"), zeros.replace("0", "o"))
        yield from ("castle kingside", "castle short") if short else ("castle queenside", "castle long")
        return
    letter = "" if piece == "P" else piece
    tails = [f"={promoted.upper()}", promoted.upper(), promoted, f"={promoted}"] if promoted else [""]
    bodies = [f"{letter}{start}{cross}{end}" for cross in ("x", "-", "")]
    if piece != "P":
        heads = [piece, piece + start[0], piece + start[1]]
        bodies += [f"{head}{cross}{end}" for head in heads for cross in (("x", "") if takes else ("",))]
    elif takes:
        bodies += [f"{start[0]}x{end}", f"{start[0]}{end}"]
    else:
        bodies.append(end)
    yield from (f"{body}{tail}" for body in bodies for tail in tails)


def _in_words(piece: str, start: str, end: str, promoted: str, takes: bool) -> Iterator[str]:
    yield from (f"{start} {end}{promoted}", f"{start} to {end}{promoted}", f"from {start} to {end}{promoted}")
    name = _NAMES.get(piece, "piece")
    if not promoted:
        joins = ("takes ", "takes on ", "captures ", "x", "to ", "") if takes else ("to ", "")
        yield from (f"{name} {join}{end}" for join in joins)
        yield from (f"{name} from {start} to {end}", f"{name} {start} to {end}", f"{name} {start} {end}")
