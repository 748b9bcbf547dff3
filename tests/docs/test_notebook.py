"""The notebooks of docs/examples run from the first cell to the last, in Jupyter's own kernel."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from tests.support.commands import ROOT

EXAMPLES = ROOT / "docs" / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


def _read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def _printed(notebook: Any) -> str:
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return "\n".join(output.get("text") or output.get("data", {}).get("text/html", "") for output in outputs)


def test_there_is_one() -> None:
    assert [path.name for path in NOTEBOOKS] == ["evaluate.ipynb"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_stored_without_outputs(path: Path) -> None:
    for cell in _read(path).cells:
        assert not cell.get("outputs") and cell.get("execution_count") is None


def test_evaluate(tmp_path: Path, offspring: object) -> None:
    shutil.copytree(EXAMPLES / "checkpoints", tmp_path / "checkpoints")
    notebook = _read(EXAMPLES / "evaluate.ipynb")
    client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    printed = _printed(notebook)
    assert "completed completed completed" in printed
    assert "PPO (this checkpoint) is better than random by" in printed
    assert "<th>rule</th>" in printed
    assert "['episodes.jsonl', 'run.json', 'steps.jsonl']" in printed
    assert len(list((tmp_path / "runs").iterdir())) == 3
