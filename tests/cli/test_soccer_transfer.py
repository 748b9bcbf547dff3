"""The transfer experiment in ``docs/examples/soccer_transfer``, shortened."""

from __future__ import annotations

import json
import shutil

import pytest
import yaml

from gym_gui.analysis import open_run
from tests.support.commands import ROOT, Mosaic
from tests.support.model_server import ModelServer

pytestmark = pytest.mark.usefixtures("sessions_here")

EXAMPLES = ROOT / "docs" / "examples" / "soccer_transfer"


def test_the_expert_scores_from_both_seats(mosaic: Mosaic) -> None:
    done = mosaic("run", EXAMPLES / "expert.yaml", "--episodes", 12, "--json")
    assert done.status == 0, done.err
    run = mosaic.home / done.json()["run"]
    lines = (run / "operators/expert/episodes.jsonl").read_text().splitlines()
    seats: dict[str, list[bool]] = {}
    for line in lines:
        episode = json.loads(line)
        (seat,) = (agent for agent, who in episode["agents"].items() if who["slot"] == "green_0")
        (team,) = (team for team in episode["teams"].values() if seat in team["agents"])
        seats.setdefault(seat, []).append(team["score"] >= 1)
    assert {seat: len(scored) for seat, scored in seats.items()} == {"green_0": 6, "blue_0": 6}
    assert sum(map(sum, seats.values())) >= 9


@pytest.mark.full
def test_every_row_is_ready_to_be_played(mosaic: Mosaic) -> None:
    done = mosaic("run", EXAMPLES / "transfer.yaml", "--trust", "--dry-run")
    assert done.status == 0, done.err
    assert "llm_vs_llm" in done.err + done.out
    assert "OPENAI_API_KEY" in done.err + done.out
    for row in ("solo_pair_vs_co_trained", "chaser_vs_crippled", "bdi_vs_co_trained"):
        assert row in done.out


@pytest.mark.full
def test_the_rows_with_a_language_model_are_played_on_any_server(
    mosaic: Mosaic, model_server: ModelServer
) -> None:
    """By a tiny model with random weights: that its rows are played is shown, not what a model is worth."""
    shutil.copytree(EXAMPLES, mosaic.home / "soccer_transfer")
    shutil.copytree(EXAMPLES.parent / "bdi", mosaic.home / "bdi")
    file = mosaic.home / "soccer_transfer/transfer.yaml"
    experiment = yaml.safe_load(file.read_text())
    experiment["policies"]["llm"] = {
        "type": "llm",
        "settings": {
            "client_name": "transformers",
            "base_url": model_server.url,
            "model_id": model_server.model,
            "max_tokens": 4,
        },
        "on_invalid": {"retry": 1, "then": "noop"},
    }
    experiment["matrix"]["rows"] = ["heterogeneous_vs_crippled"]
    experiment["execution"] |= {"num_episodes": 2, "max_steps": 6}
    file.write_text(yaml.safe_dump(experiment))
    done = mosaic("run", file, "--trust", "--json")
    assert done.status == 0, done.err
    (operator,) = open_run(mosaic.home / done.json()["run"]).operators.values()
    kinds = [{who.worker_type for who in episode.agents.values()} for episode in operator.episodes()]
    assert kinds == [{"rl", "llm", "baseline"}] * 2
