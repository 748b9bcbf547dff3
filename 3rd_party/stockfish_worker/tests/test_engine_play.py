"""The engine itself: what it plays, that it repeats, that it ends."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import chess
import psutil
import pytest

from mosaic_worker.spaces import Space
from mosaic_worker.worker import LoadError
from stockfish_worker.engine import Engine, EngineFailedError, Strength, find_engine
from stockfish_worker.main import StockfishWorker
from stockfish_worker.position import NoPositionError

MATES = {
    "back rank": ("6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1", "e1e8"),
    "for black": ("k3r3/8/8/8/8/8/5PPP/6K1 b - - 0 1", "e8e1"),
    "by a pawn": ("7k/5P1p/6pP/8/8/8/8/K5R1 w - - 0 1", "f7f8q"),
}


@pytest.mark.parametrize("name", MATES)
def test_it_mates_in_one(name: str, seats: Callable[..., Any]):
    fen, mate = MATES[name]
    seat = seats(depth=4)
    answer = seat.ask(chess.Board(fen))
    assert seat.move(chess.Board(fen)) == mate
    assert answer.values == [1.0]


def test_who_is_lost_expects_to_lose(seats: Callable[..., Any]):
    (value,) = seats(nodes=2000).ask(chess.Board("7k/8/8/8/8/8/1Q4R1/K7 b - - 0 1")).values
    assert -1.0 <= value < -0.9


def test_a_repetition_is_known_from_the_history():
    """The rook's best move was played twice before: a third time it would be a draw."""
    told = chess.Board("8/8/8/k7/8/4RK2/8/8 w - - 0 1")
    for move in ["e3e1", "a5b6", "e1e3", "b6a5"] * 2:
        told.push_uci(move)
    engine, strength = Engine(find_engine(), 16), Strength.of({"depth": 6})
    try:
        without = engine.think(chess.Board(told.fen()), strength, 0, 0)
        knowing = engine.think(told, strength, 0, 0)
    finally:
        engine.close()
    assert without.move == chess.Move.from_uci("e3e1")
    assert knowing.move != without.move and knowing.value > 0.9


@pytest.mark.parametrize("settings", [{"depth": 6}, {"nodes": 3000}, {"skill": 3, "depth": 6}])
def test_a_position_is_answered_alike_whatever_came_before(settings: Any, seats: Callable[..., Any]):
    italian, other = chess.Board(), chess.Board()
    for move in ("e4", "e5", "Nf3", "Nc6", "Bc4", "Bc5"):
        italian.push_san(move)
    for move in ("d4", "Nf6", "c4", "e6"):
        other.push_san(move)
    one, two = seats(**settings), seats(**settings)
    first = [one.ask(italian, seed=seed, episode=seed) for seed in range(3)]
    for seed in range(5, 8):
        two.ask(other, seed=seed, episode=seed)
    second = [two.ask(italian, seed=seed, episode=seed) for seed in range(3)]
    assert [(a.actions, a.values) for a in first] == [(a.actions, a.values) for a in second]


def test_below_full_skill_seeds_play_differently_and_worse(seats: Callable[..., Any]):
    board = chess.Board("r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/2N2N2/PPPP1PPP/R1BQK2R w KQkq - 6 5")
    weak, strong = seats(skill=0), seats(depth=8)
    assert len({weak.move(board, seed=seed, episode=seed) for seed in range(20)}) > 1
    assert len({strong.move(board, seed=seed, episode=seed) for seed in range(3)}) == 1


def test_an_engine_that_dies_fails_its_decision_and_the_next_has_another(seats: Callable[..., Any]):
    seat, board = seats(depth=4), chess.Board()
    (process,) = [p for p in psutil.Process().children() if p.name().startswith("stockfish")]
    os.kill(process.pid, signal.SIGKILL)
    with pytest.raises(EngineFailedError, match=r"chess engine Stockfish .* failed"):
        seat.ask(board)
    assert seat.move(board) in {move.uci() for move in board.legal_moves}


def test_nothing_is_left_when_the_worker_is_closed(seats: Callable[..., Any]):
    seat = seats()
    assert any(p.name().startswith("stockfish") for p in psutil.Process().children())
    seat.worker.close()
    assert not any(p.name().startswith("stockfish") for p in psutil.Process().children())


def test_what_is_no_chess_fails_with_a_sentence(seats: Callable[..., Any]):
    seat = seats(depth=1)
    with pytest.raises(NoPositionError, match="no chess position"):
        seat.ask(chess.Board(), text="You are at (3, 4).")


def test_a_missing_engine_is_named_with_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, new_slot: Callable[..., Any]
):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("stockfish_worker.engine.GAMES", str(tmp_path))
    with pytest.raises(LoadError, match="apt-get install stockfish, or name a chess engine in engine_path"):
        StockfishWorker().load(new_slot())


def test_another_game_is_refused_before_it_begins(new_slot: Callable[..., Any]):
    with pytest.raises(LoadError, match=r"CartPole-v1 is not known to be chess"):
        StockfishWorker().load(replace(new_slot(), env_id="CartPole-v1"))
    continuous = Space.from_json({"kind": "Box", "dtype": "float32", "shape": [1], "low": 0, "high": 1})
    with pytest.raises(LoadError, match="discrete actions"):
        StockfishWorker().load(replace(new_slot(), action_space=continuous))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"engine_path": "/nowhere/engine"}, "'/nowhere/engine' is not an executable program"),
        ({"engine_path": "/bin/cat"}, "/bin/cat does not start"),
        ({"engine_path": 3}, "must be the path"),
        ({"skill": 21}, "skill is 21, but must be an integer from 0 to 20"),
        ({"depth": True}, "depth is True"),
        ({"nodes": -1}, "nodes is -1"),
        ({"time_s": "long"}, "time_s is 'long'"),
        ({"hash_mb": 0}, "hash_mb is 0"),
    ],
)
def test_settings_that_cannot_be_are_refused(
    settings: Any, words: str, monkeypatch: pytest.MonkeyPatch, new_slot: Callable[..., Any]
):
    monkeypatch.setattr("stockfish_worker.engine.START_S", 2.0)
    with pytest.raises(LoadError, match=words):
        StockfishWorker().load(new_slot(**settings))


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({}, "depth 10"),
        ({"time_s": 0.5}, "0.5 s"),
        ({"skill": 5}, "skill 5, depth 6"),
        ({"skill": 5, "depth": 3, "nodes": 100}, "skill 5, depth 3, 100 nodes"),
    ],
)
def test_it_is_called_by_its_strength(settings: Any, name: str, seats: Callable[..., Any]):
    assert seats(**settings).policy.startswith("Stockfish ")
    assert seats(**settings).policy.endswith(f"({name})")
