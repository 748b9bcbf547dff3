"""The study of strangers in ``docs/examples/zero_shot``, shortened."""

from __future__ import annotations

import runpy
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.commands import ROOT, Mosaic

pytestmark = pytest.mark.usefixtures("sessions_here")

EXAMPLES = ROOT / "docs" / "examples" / "zero_shot"
SCRIPT = ROOT / "scripts" / "experiments" / "zero_shot.sh"
TALK = EXAMPLES / "talk"


def shortened(folder: Path, *, without: Sequence[str], held_out: Sequence[str], seeds: int) -> dict[str, Any]:
    """A tournament of the study with fewer policies and seeds."""
    tournament = yaml.safe_load((folder / "strangers.yaml").read_text())
    for name in without:
        del tournament["policies"][name]
    for player in tournament["policies"].values():
        for each in player.get("slots", {"": player}).values():
            if "checkpoint" in each:
                each["checkpoint"] = str(folder / each["checkpoint"])
    return tournament | {"held_out": held_out, "execution": {"seeds": f"range(0, {seeds})"}}


def played(mosaic: Mosaic, tournament: dict[str, Any]) -> str:
    """What is said of it."""
    file = mosaic.home / "strangers.yaml"
    file.write_text(yaml.safe_dump(tournament))
    done = mosaic("tournament", file)
    assert done.status == 0, done.err
    return done.out


@pytest.mark.full
def test_partnered_and_teams_meet_strangers(mosaic: Mosaic) -> None:
    without = ("seed1", "seed2", "seed3", "seed12", "seed13")
    told = played(mosaic, shortened(EXAMPLES, without=without, held_out=["seed11"], seeds=2))
    # The one of the pool with itself and with the stranger: both ways, each seat, each seed.
    assert "seed11 (held out)" in told


@pytest.mark.full
def test_who_says_other_words_is_not_understood(mosaic: Mosaic) -> None:
    without = ("seed2", "seed4", "deaf", "seed12", "seed13")
    told = played(mosaic, shortened(TALK, without=without, held_out=["seed11"], seeds=8))
    assert told.startswith("Self-play is better than cross-play by ")
    assert "seed11 (held out)" in told and "partnered" in told


@pytest.mark.parametrize(
    ("folder", "names"),
    [
        (EXAMPLES, ["partnered", "seed1", "seed3", "seed13"]),
        pytest.param(TALK, ["partnered", "deaf", "seed1", "seed4", "seed13"], marks=pytest.mark.full),
    ],
)
def test_the_whole_study_is_ready_to_be_played(mosaic: Mosaic, folder: Path, names: Sequence[str]) -> None:
    whole = mosaic("tournament", folder / "strangers.yaml", "--dry-run")
    assert whole.status == 0, whole.err
    for name in names:
        assert name in whole.out


def test_who_is_compared_has_played() -> None:
    """By the program that takes a run of it apart."""
    tournament = yaml.safe_load((TALK / "strangers.yaml").read_text())
    program = runpy.run_path(str(TALK / "who_listens.py"))
    held_out = set(tournament["held_out"])
    assert set(program["STRANGERS"]) == held_out
    met = {pair for pairs in program["GROUPS"].values() for pair in pairs}
    assert {name for pair in met for name in pair} == set(tournament["policies"])
    assert not any(held_out.issuperset(pair) for pair in met)
    assert {name for pair in program["COMPARED"] for name in pair} <= set(program["GROUPS"])


def test_what_the_script_takes_is_told() -> None:
    """Without playing anything."""
    done = subprocess.run(["bash", SCRIPT, "whisper"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "")
    assert "[spread|talk] --train" in done.stdout
