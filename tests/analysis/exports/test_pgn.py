"""Games of chess leave a run folder as PGN that other programs read."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import chess
import chess.pgn
import pytest

from gym_gui.analysis import open_run
from gym_gui.analysis.exports.pgn import write_pgn
from gym_gui.core.errors import RunFormatError, UsageError
from gym_gui.services.runs.run_analysis import main
from tests.support.runs import operator, played_here, slot


async def test_a_run_is_written_as_games(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    players = {"player_0": {"type": "random"}, "player_1": {"type": "random"}}
    experiment = {
        "operators": [
            {"id": "chess", "name": "Two at random", "task": "classic/chess_v6", "workers": players},
            operator("poles", slot("random")),
        ],
        "execution": {"num_episodes": 2, "seeds": [3, 4]},
    }
    recorded = await played_here(tmp_path / "runs", experiment)
    run = open_run(recorded.folder)
    file = tmp_path / "games.pgn"
    assert write_pgn(run, file) == 2
    read, stream = list[Any](), io.StringIO(file.read_text())
    while (game := chess.pgn.read_game(stream)) is not None:
        assert not game.errors
        read.append(game)
    episodes = {str(e.episode_index + 1): e for e in run.operators["chess"].episodes()}
    assert {game.headers["Round"] for game in read} == set(episodes)
    for game in read:
        episode, end = episodes[game.headers["Round"]], game.end().board()
        assert end.ply() == episode.length
        assert game.headers["Result"] == end.result(claim_draw=True) != "*"
        assert game.headers["Event"] == f"Two at random ({run.run_id})"
        assert game.headers["White"] == "random" and game.headers["Seed"] == str(episode.seed)

    again = tmp_path / "again.pgn"
    assert main(["games", str(recorded.folder), "--out", str(again)]) == 0
    assert again.read_text() == file.read_text() and capfd.readouterr().out == "2"

    # One of them on the clock, on which White ran out of time.
    lines = recorded.folder / "operators/chess/episodes.jsonl"
    kept = lines.read_text()
    written = [json.loads(line) for line in kept.splitlines()]
    written[0] |= {
        "time_control": {"seconds": 180, "increment_s": 2},
        "out_of_time": "player_0",
        "outcome": {"player_0": "loss", "player_1": "win"},
    }
    lines.write_text("".join(f"{json.dumps(line)}\n" for line in written))
    steps = recorded.folder / "operators/chess/steps.jsonl"
    rows = steps.read_text()
    steps.write_text(rows.replace('"action_source":', '"clock_s":171.5,"action_source":'))
    assert write_pgn(open_run(recorded.folder), again) == 2
    clocked = again.read_text()
    assert '[TimeControl "180+2"]' in clocked and '[Termination "time forfeit"]' in clocked
    assert clocked.count('[Result "0-1"]') >= 1 and "[%clk 0:02:51.5]" in clocked
    lines.write_text(kept)
    steps.write_text(rows)

    first, *rest = steps.read_text().splitlines()
    assert '"action":' in first
    for written, said in (("9999", "9999"), ('"e2e4"', "'e2e4'"), ("[1]", r"\[1\]")):
        steps.write_text("\n".join([first.replace('"action":', f'"action":{written},"was":'), *rest]) + "\n")
        with pytest.raises(RunFormatError, match=f"action {said} is no legal move of rnbqkbnr"):
            write_pgn(run, file)
    assert len(file.read_text()) > 1000, "a file is replaced as a whole or not at all"


async def test_a_run_without_chess_has_no_games(tmp_path: Path) -> None:
    experiment = {"operators": [operator("poles")], "execution": {"num_episodes": 1, "seeds": [1]}}
    run = open_run((await played_here(tmp_path, experiment)).folder)
    with pytest.raises(UsageError, match="has no games of chess"):
        write_pgn(run, tmp_path / "games.pgn")
