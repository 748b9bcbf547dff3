"""A language model at the chess board: with a server whose replies are known, and with a real model."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import chess
import chess.pgn

from gym_gui.analysis import open_run
from gym_gui.analysis.exports.pgn import write_pgn
from tests.support.fake_model_server import FakeModelServer, Reply, Request
from tests.support.model_server import ModelServer
from tests.support.runs import Recorded, played_here

FOOLS_MATE = {1: ("f2f3", "e7e5"), 2: ("g2g4", "d8h4")}
"""By number of the move: white's, black's."""


def player(url: str, **settings: Any) -> dict[str, Any]:
    server = {"client_name": "custom", "base_url": url, "model_id": "m", **settings}
    return {"worker_id": "chess_worker", "type": "llm", "settings": server}


def match(white: Mapping[str, Any], black: Mapping[str, Any], seeds: int = 1, **more: Any) -> dict[str, Any]:
    players = {"player_0": dict(white), "player_1": dict(black)}
    return {
        "operators": [{"id": "chess", "task": "classic/chess_v6", "workers": players}],
        "execution": {"num_episodes": seeds, "seeds": list(range(seeds)), **more},
    }


def pgn(recorded: Recorded, folder: Path) -> list[chess.pgn.Game]:
    file = folder / "games.pgn"
    write_pgn(open_run(recorded.folder), file)
    stream, found = io.StringIO(file.read_text()), list[chess.pgn.Game]()
    while (game := chess.pgn.read_game(stream)) is not None:
        assert game.errors == []
        found.append(game)
    return found


def position_in(request: Request) -> chess.Board | None:
    """The board that the dialogue has shown, if it has."""
    shown = re.search(r"FEN: (.+)", request.words)
    return chess.Board(shown[1]) if shown else None


def fools_mate(request: Request) -> Reply:
    """Looks at the board, tries something illegal as white's first move, then plays the game of two moves."""
    tools, board = "tools" in request.json, position_in(request)
    if board is None:
        name, move = "get_current_board", ""
    else:
        name, move = "make_move", FOOLS_MATE[board.fullmove_number][0 if board.turn else 1]
        if board.ply() == 0 and "not a legal move" not in request.words:
            move = "e2e5"
    if tools:
        return Reply(tool_calls=[(name, json.dumps({"move": move} if move else {}))])
    return Reply(f"I think it over.\n\n{name} {move}")


async def test_a_game_of_dialogues_is_played_counted_and_written_as_pgn(tmp_path: Path) -> None:
    with FakeModelServer(fools_mate) as server:
        white = player(server.url, dialogue="text")
        recorded = await played_here(tmp_path / "runs", match(white, player(server.url, dialogue="tools")))
    run = recorded.open().operators["chess"]
    (episode,), steps, calls = list(run.episodes()), list(run.steps()), list(run.calls())
    assert (episode.status, episode.returns) == ("completed", {"player_0": -1.0, "player_1": 1.0})
    assert not any(episode.invalid_actions.values())
    assert {agent: each.policy for agent, each in episode.agents.items()} == {
        "player_0": "m:text",
        "player_1": "m:tools",
    }
    dialogues = [step.extra["dialogue"] for step in steps]
    assert [d["turns"] for d in dialogues] == [3, 2, 2, 2]
    assert dialogues[0]["illegal_moves"] == ["e2e5"] and dialogues[0]["illegal_attempts"] == 1
    assert [step.tokens.input for step in steps if step.tokens] == [300, 200, 200, 200]
    assert len(calls) == len(server.requests) == 9
    refs = {call["ref"] for call in calls}
    assert "player_0/0/0/0/2" in refs and {step.call_ref for step in steps} <= refs
    asked = next(call for call in calls if call["ref"] == "player_1/0/1/0/0")
    assert asked["tool_calls"][0]["name"] == "get_current_board"
    (game,) = pgn(recorded, tmp_path)
    assert [move.uci() for move in game.mainline_moves()] == ["f2f3", "e7e5", "g2g4", "d8h4"]
    assert game.headers["Result"] == "0-1" and game.end().board().is_checkmate()
    assert next(iter(game.mainline())).comment == "after 1 illegal attempt"
    tape = {"cassette": "replay", "cassette_file": str(run.path / "calls.jsonl")}
    again = match(player(server.url, dialogue="text", **tape), player(server.url, dialogue="tools", **tape))
    (replayed,) = (await played_here(tmp_path / "again", again)).open().operators["chess"].episodes()
    assert replayed.trajectory_sha256 == episode.trajectory_sha256 and replayed.status == "completed"
    assert len(server.requests) == 9, "the server is gone; the replies came from the record"


async def test_a_model_that_makes_no_legal_move_is_asked_again_then_the_rule_plays(
    tmp_path: Path,
) -> None:
    def never(request: Request) -> str:
        return "make_move e2e5" if "could not be used" in request.words else "I resign."

    with FakeModelServer(never) as server:
        stubborn = player(server.url, dialogue="text", max_turns=2, max_illegal=1, show_position=True)
        stubborn["on_invalid"] = {"retry": 1, "then": "random_legal"}
        experiment = match(stubborn, {"type": "random"}, max_steps=1)
        recorded = await played_here(tmp_path, experiment)
    assert [len(request.messages) for request in server.requests] == [2, 4, 2]
    assert chess.STARTING_FEN in server.requests[0].words and "b1c3" in server.requests[0].words
    again = server.requests[2].words
    assert "no legal move was made in 2 replies (2 replies without a command)" in again
    (step,) = recorded.open().operators["chess"].steps()
    assert step.action_source == "random_legal"
    (game,) = pgn(recorded, tmp_path)
    assert game.headers["Result"] == "*"
    assert next(iter(game.mainline())).comment == "not the player's own: random_legal"


async def test_a_tiny_model_plays_stockfish_to_the_end(tmp_path: Path, model_server: ModelServer) -> None:
    """It knows no chess: nearly all of its moves are the fallback's, which the record says."""
    tiny = player(
        model_server.url,
        client_name="transformers",
        model_id=model_server.model,
        max_turns=1,
        max_tokens=8,
        temperature=1.0,
    )
    tiny["on_invalid"] = {"retry": 0, "then": "random_legal"}
    strong = {"worker_id": "stockfish_worker", "type": "baseline", "settings": {"depth": 4}}
    recorded = await played_here(tmp_path, match(tiny, strong, seeds=2))
    games = pgn(recorded, tmp_path)
    assert len(games) == 2
    run = recorded.open().operators["chess"]
    episodes, calls = list(run.episodes()), list(run.calls())
    for game in games:
        assert game.headers["Result"] == "0-1" == game.end().board().result()
        assert game.headers["Black"].startswith("Stockfish")
    assert all(episode.invalid_actions["player_0"] for episode in episodes)
    assert all(call["reply"] or call["error"] for call in calls)
    mine = [step for step in run.steps() if step.agent_id == "player_0"]
    assert len(calls) == len(mine)
