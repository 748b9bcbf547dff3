"""The study of ``docs/examples/study``: its order is known, and found where the seeds carry it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.commands import ROOT, Mosaic

pytestmark = pytest.mark.usefixtures("all_sessions_here")

STUDY = ROOT / "docs/examples/study/study.yaml"
BETTER = {
    (first, second)
    for first, others in {
        "feedback": ("lean", "random", "passive"),
        "twin": ("lean", "random", "passive"),
        "lean": ("random", "passive"),
        "random": ("passive",),
    }.items()
    for second in others
}
"""Who is better than whom, by how they are made: all but the twins."""


def _judged(mosaic: Mosaic, folder: Path, episodes: int) -> dict[tuple[str, str], Any]:
    """What the report says of each two."""
    study = yaml.safe_load(STUDY.read_text())
    study["execution"] = {"num_episodes": episodes, "seeds": f"range(0, {episodes})"}
    folder.mkdir()
    (folder / "study.yaml").write_text(yaml.safe_dump(study))
    done = mosaic("run", folder / "study.yaml", "--out", folder / "runs", "--json")
    assert done.status == 0, done.err
    summary = json.loads((Path(mosaic.home) / done.json()["run"] / "summary.json").read_text())
    return {(c["first"], c["second"]): c for c in summary["comparisons"]}


def test_the_report_finds_the_order_that_is_known(mosaic: Mosaic, tmp_path: Path) -> None:
    judged = _judged(mosaic, tmp_path / "enough", 12)
    found = {
        pair if c["verdict"] == "first" else pair[::-1]
        for pair, c in judged.items()
        if c["verdict"] in ("first", "second")
    }
    assert found == BETTER
    twins = judged["feedback", "twin"]
    assert (
        twins["difference"]["value"] == 0
        and "both sides had the same results on all seeds" in twins["detail"]
    )


def test_with_three_seeds_nobody_is_called_better(mosaic: Mosaic, tmp_path: Path) -> None:
    judged = _judged(mosaic, tmp_path / "few", 3)
    assert len(judged) == 10
    assert all("better" not in c["claim"] for c in judged.values())
    ahead = judged["feedback", "passive"]
    assert ahead["difference"]["value"] > 100 and ahead["p"] >= 0.05
