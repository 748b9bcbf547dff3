"""A dry run says beforehand what would end the run at its start."""

from __future__ import annotations

import json

import pytest

from tests.support.commands import Mosaic

pytestmark = pytest.mark.usefixtures("sessions_here")


def test_a_program_that_cannot_be_read_is_refused(mosaic: Mosaic) -> None:
    program = mosaic.home / "solve.asl"
    program.write_text("+!decide <- forward(\n")
    player = {"worker_id": "spade_bdi_worker", "type": "bdi", "settings": {"program": str(program)}}
    operators = [{"id": "a", "task": "MiniGrid-DoorKey-5x5-v0", "workers": {"agent_0": player}}]
    experiment = mosaic.home / "x.json"
    experiment.write_text(json.dumps({"operators": operators, "execution": {"num_episodes": 1}}))
    refused = mosaic.refused("run", experiment, "--dry-run", "--trust")
    assert "operator 'a'" in refused and "solve.asl, line" in refused
    program.write_text("+!decide <- forward.\n")
    assert mosaic("run", experiment, "--dry-run", "--trust").status == 0


def test_of_a_tournament_too(mosaic: Mosaic) -> None:
    wrong = {"worker_id": "openspiel_worker", "settings": {"game": "chess"}}
    file = mosaic.home / "pool.json"
    pool = {"policies": {"wrong": wrong, "random": {"type": "random"}}, "execution": {"seeds": "range(0, 3)"}}
    file.write_text(json.dumps({"task": "tictactoe_v3", **pool}))
    assert "the setting game is 'chess'" in mosaic.refused("tournament", file, "--dry-run")
