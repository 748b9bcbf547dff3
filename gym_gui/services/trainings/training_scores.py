"""Reads the scores and learning curves of groups of trainings, for reports on algorithms."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from gym_gui.analysis.findings.trainings import LearningCurve, MissingTraining, TrainedScores
from gym_gui.services.trainer.training_folder import EPISODES, RunFolder
from gym_gui.services.trainings.training_groups import TrainingGroup

_STEPS = "total_steps"


def scores_of(group: TrainingGroup) -> TrainedScores:
    """Return the scores and curves of the completed trainings, and why the other trainings have none.

    Raises:
        RunFormatError: The episodes of a training cannot be read.
    """
    done = {member.seed: member for member in group.completed}
    about = group.about
    settings = {name: value for name, value in about.given.items() if name != _STEPS}
    steps = about.settings.get(_STEPS, about.given.get(_STEPS))
    given = ", ".join(f"{name} {json.dumps(value)}" for name, value in settings.items())
    facts = {
        "Worker": about.worker,
        "Algorithm": about.algorithm,
        "Environment": group.env_id,
        "Settings": given or "defaults",
        "Steps": f"{steps:,}" if isinstance(steps, int) else "the worker's default",
        "Folders": ", ".join(dict.fromkeys(str(member.folder) for member in group.members)),
    }
    return TrainedScores(
        algorithm=group.label,
        group=group.name,
        env_id=group.env_id,
        scores={seed: float(m.score) for seed, m in done.items() if m.score is not None},
        steps=steps if isinstance(steps, int) else 0,
        missing=tuple(MissingTraining(m.seed, m.state, m.reason) for m in group.members if not m.completed),
        curves={seed: learning_curve(member.folder) for seed, member in done.items()},
        about=facts,
    )


def learning_curve(folder: Path) -> LearningCurve:
    """Return the returns of a training's episodes in the order of their steps.

    Episodes after a restart from a checkpoint replace the earlier episodes with larger steps.

    Raises:
        RunFormatError: The episodes cannot be read.
    """
    follower = RunFolder(folder).follow(EPISODES)
    steps: list[float] = []
    returns: list[float] = []
    while rows := follower.read():
        for row in rows:
            step, value = _number(row.get("step")), _number(row.get("return"))
            if step is None or value is None:
                continue
            while steps and steps[-1] > step:
                steps.pop()
                returns.pop()
            steps.append(step)
            returns.append(value)
    return LearningCurve(np.array(steps), np.array(returns))


def _number(value: Any) -> float | None:
    sound = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if sound else None
