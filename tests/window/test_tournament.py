"""A user opens a tournament file, has it played, and reads the standings."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.window.conftest import Start

TOURNAMENT = """\
task: tictactoe_v3
policies:
  random: {type: random}
  cycle: {type: baseline, behavior: cycle}
  other: {type: random}
execution: {seeds: "range(0, 6)"}
"""
GAMES = 36


@pytest.mark.full
def test_a_tournament_from_its_file_to_its_ratings(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "club.yaml"
    path.write_text(TOURNAMENT)
    window = start("gui", path)
    window.until_page("operators")
    window.until_text("script-name", lambda text: text == path.name, "the file is shown")
    window.until_text("script-about", lambda text: f"{GAMES} games in all" in text, "it says what it plays")
    window.click("script-run")
    window.until_text("message-ok", lambda text: text == f"Done: {GAMES} games.", "all games are played")
    window.until_text("results-verdict", bool, "who stands where is said beside what played it")
    window.click("message-action", within="message-ok")
    window.until_page("results")
    verdict = window.until_text("results-verdict", bool, "there is a verdict")
    assert "best" in verdict or "not decided" in verdict.lower()
    (folder,) = window.run_folders()
    assert '"status": "completed"' in (folder / "run.json").read_text()
    assert len(window.episodes()) == GAMES
