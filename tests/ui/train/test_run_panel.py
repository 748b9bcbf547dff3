"""The panel of one training: a failure leads to the line of the file, and from there back to the training."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PyQt6.QtWidgets import QPushButton

from gym_gui.services.trainer.training_records import TrainingRecord
from gym_gui.ui.context import AppContext
from gym_gui.ui.editor.file_request import FileRequest
from gym_gui.ui.train.run_panel import RunPanel
from tests.support.named import named


@pytest.mark.parametrize(("step", "resumes"), [(400, True), (0, False)])
def test_a_failed_training_is_resumed_after_its_file_was_corrected(
    context: AppContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int, resumes: bool
) -> None:
    """Only from a checkpoint: one that failed before its first step has none."""
    program = tmp_path / "policy.py"
    program.write_text("x = 1\ny = 1 / 0\n", encoding="utf-8")
    failed = TrainingRecord("a", "mine_worker", "mine", "CartPole-v1", 1, tmp_path, 0.0, state="failed")
    requests: list[FileRequest] = []
    monkeypatch.setattr(context, "edit", requests.append)
    panel = RunPanel(context)
    asked: list[tuple[str, str]] = []
    panel.action_requested.connect(lambda run_id, action: asked.append((run_id, action)))
    reason = f"ZeroDivisionError: division by zero ({program}, line 2)"
    panel.show_run(replace(failed, step=step, reason=reason), "Mine")
    named(panel, QPushButton, "message-place").click()
    again = requests[0].again
    assert (again is not None) == resumes
    if again is not None:
        again[1]()
    assert asked == ([("a", "continue")] if resumes else [])
    panel.deleteLater()
