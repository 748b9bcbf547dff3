"""Ways of asking a model as settings of a matrix: each held against the first, with the seed as the unit."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from gym_gui.analysis import open_run, summarize
from gym_gui.analysis.statistics.summary_numbers import Estimate
from gym_gui.processes.tree import TAG
from tests.support.commands import ROOT, Mosaic
from tests.support.fake_model_server import FakeModelServer, Request
from tests.support.processes import Offspring

pytestmark = pytest.mark.usefixtures("all_sessions_here")

SEEDS = 12


def said(request: Request) -> str:
    """Asked for a word alone, it always goes right, and sometimes rambles; else to and fro."""
    number = re.findall(r"Step (\d+)\.", request.words)[-1]
    if "tags" in request.words:
        return f"<action>{'left' if int(number) % 2 else 'right'}</action>"
    return "well, well" if len(request.words) % 7 == 0 else "right"


def matrix(url: str, **changes: Any) -> dict[str, Any]:
    model = {"type": "llm", "client_name": "custom", "model_id": "m", "base_url": url, "on_invalid": "noop"}
    own = {"policies": {"model": {"settings": {"prompt_folder": "prompts"}}}}
    settings = {"robust": {}, "naive": {"policies": {"model": {"strategy": "naive"}}}, "own": own}
    asked = {"players": ["model", "random"], "task": "CartPole-v1", "max_steps": 14, "settings": settings}
    return {
        "policies": {"model": model},
        "matrix": {**asked, **changes},
        "execution": {"num_episodes": SEEDS, "seeds": 0, "processes": 1},
    }


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run, for all tests; started in another folder than that of its file and its prompts."""
    home = tmp_path_factory.mktemp("asked")
    study = home / "study"
    shutil.copytree(ROOT / "docs/examples/language/prompts", study / "prompts")
    mosaic = Mosaic(home, Offspring(f"asked-{os.getpid()}-{os.urandom(4).hex()}"))
    with tempfile.TemporaryDirectory(prefix="mt", dir="/tmp") as runtime, FakeModelServer(said) as server:
        (study / "study.yaml").write_text(yaml.safe_dump(matrix(server.url), sort_keys=False))
        started = {TAG: "tests", "MOSAIC_RUNTIME_DIR": runtime}
        done = mosaic("run", study / "study.yaml", "--trust", "--json", **started)
        assert done.status == 0, done.err
        told = "\n".join(request.words for request in server.requests)
    assert "What is in your way?" in told, "texts beside the file, from wherever it is played"
    return home / done.json()["run"]


def test_each_setting_stands_beside_the_first_with_what_it_is_worth_on_the_same_seeds(recorded: Path) -> None:
    summary = summarize(open_run(recorded))
    assert [(row.players, row.setting) for row in summary.settings] == [
        ("model", "robust"), ("model", "naive"), ("model", "own"),
    ]  # fmt: skip
    first, naive, own = summary.settings
    assert first.difference is None and first.better == ""
    assert naive.result and first.result and naive.difference and naive.result.value and first.result.value
    assert naive.difference.value == pytest.approx(naive.result.value - first.result.value)
    assert naive.difference.high is not None and naive.difference.high < 0 and naive.better == "worse"
    assert naive.difference.units == SEEDS
    pair = next(c for c in summary.comparisons if {c.first, c.second} == {first.operator, naive.operator})
    assert naive.p_adjusted == pair.p_adjusted, "one p, wherever it is told"
    assert own.better == "not decided", "other words, the same answers"
    assert naive.unusable and naive.unusable.value and naive.unusable.units == SEEDS


def _wider(e: Estimate | None, times: float) -> tuple[Any, ...]:
    assert e is not None and e.value is not None and e.low is not None and e.high is not None
    return tuple(pytest.approx(times * part) for part in (e.value, e.low, e.high))


def test_ten_times_as_many_calls_make_nothing_surer(recorded: Path, tmp_path: Path) -> None:
    """Calls of an episode are no sample: written down ten times each, all that is said of scores stays, and
    the interval of their tokens is ten times as wide.
    """
    many = Path(shutil.copytree(recorded, tmp_path / "many"))
    for path in many.glob("operators/*/calls.jsonl"):
        path.write_text("".join(line * 10 for line in path.read_text().splitlines(keepends=True)))
    before, after = summarize(open_run(recorded)), summarize(open_run(many))
    assert before.verdicts == after.verdicts and before.comparisons == after.comparisons
    for one, other in zip(before.settings, after.settings, strict=True):
        assert (one.result, one.difference, one.unusable) == (other.result, other.difference, other.unusable)
    tokens = before.settings[1].tokens
    found = after.settings[1].tokens
    assert found is not None and (found.value, found.low, found.high) == _wider(tokens, 10)
    assert tokens is not None and tokens.units == found.units == SEEDS


def test_nothing_else_that_is_told_of_calls_has_an_interval(recorded: Path) -> None:
    """Shares of decisions, times, tokens and prices are what they are: nothing counts calls as a sample."""
    data = json.loads((recorded / "summary.json").read_text())
    for operator in data["operators"]:
        for told in (operator["calls"], operator["decisions"], operator["unusable_causes"]):
            assert not told or not {"low", "high"} & set(told)


@pytest.mark.full
def test_the_table_is_wherever_a_report_is_read(mosaic: Mosaic, recorded: Path) -> None:
    printed = mosaic("report", recorded).out
    table = printed[printed.index("Settings, each compared with the first") :]
    assert "-4.08" in table and "worse" in table and "0.0029" in table
    assert "Settings, each compared with the first" in (recorded / "report.html").read_text()
    done = mosaic("report", recorded, "-o", mosaic.home / "report.md")
    assert done.status == 0, done.err
    assert "Tokens / ep." in (mosaic.home / "report.md").read_text()
    record = json.loads((recorded / "run.json").read_text())["experiment"]["matrix"]
    assert [row.get("setting") for row in record["rows"]][:3] == ["robust", "naive", "own"]
    folder = record["asked"]["matrix"]["settings"]["own"]["policies"]["model"]["settings"]["prompt_folder"]
    assert Path(folder).is_dir(), "the run can be resumed from anywhere"


@pytest.mark.full
def test_the_examples_are_played_without_a_model(mosaic: Mosaic) -> None:
    for name in ("variants", "memorised"):
        example = ROOT / f"docs/examples/language/{name}.yaml"
        text = (
            example.read_text()
            .replace("num_episodes: 30", "num_episodes: 1")
            .replace("40, seeds", "1, seeds")
        )
        folder = mosaic.home / name
        shutil.copytree(example.parent, folder)
        (folder / example.name).write_text(text)
        done = mosaic("run", folder / example.name, "--trust", "--dry-run")
        assert done.status == 0, done.err
        assert "model.own_words" in done.out or "rename=both" in done.out
