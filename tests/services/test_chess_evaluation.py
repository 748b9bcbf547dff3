"""A real Stockfish says who is ahead, over UCI; what it cannot say is a sentence."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from gym_gui.core.errors import UsageError
from gym_gui.services.chess_evaluation import ChessEngine, Evaluation, find_stockfish

here = pytest.mark.skipif(not find_stockfish(), reason="Stockfish is not installed")


@pytest.fixture
async def engine() -> AsyncIterator[ChessEngine]:
    made = ChessEngine()
    yield made
    await made.close()


@here
async def test_positions_are_judged_from_whites_side(engine: ChessEngine) -> None:
    mates = [
        ("6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1", "M1", 1.0),
        ("6k1/8/8/8/8/8/5PPP/r5K1 w - - 0 1", "mate", 0.0),  # White has been mated
        ("r3k3/8/8/8/8/8/5PPP/6K1 b q - 0 1", "-M1", 0.0),
    ]
    for fen, words, share in mates:
        found = await engine.evaluate(fen)
        assert (found.words, found.share) == (words, share)
    start = await engine.evaluate("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")
    assert start.pawns is not None and abs(start.pawns) < 1
    for side in "wb":  # a queen ahead, whichever side is to move
        found = await engine.evaluate(f"rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR {side} KQkq - 0 1")
        assert found.pawns is not None and found.pawns > 4 and 0.8 < found.share < 1


async def test_what_is_no_position_reaches_no_engine(engine: ChessEngine) -> None:
    with pytest.raises(UsageError, match="is not a chess position"):
        await engine.evaluate("8/8/8/8 w - - 0 1\nquit")


async def test_without_stockfish_the_line_that_installs_it(
    engine: ChessEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gym_gui.services.chess_evaluation.find_stockfish", str)
    with pytest.raises(UsageError, match="apt-get install stockfish"):
        await engine.evaluate("6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1")


def test_numbers_in_words() -> None:
    assert [Evaluation(pawns=p).words for p in (1.34, -0.5, 0.0)] == ["+1.3", "-0.5", "+0.0"]
    assert Evaluation(pawns=0.0).share == 0.5
