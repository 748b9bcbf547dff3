"""Experiment that a run folder records."""

from __future__ import annotations

from gym_gui.analysis.records.reader import Run
from gym_gui.core.config import Experiment
from gym_gui.core.experiment.experiment_data import experiment_from_data
from gym_gui.core.trusted.trust import Origin


def experiment_of(run: Run) -> Experiment:
    """Return the checked experiment of a run, without importing anything that the run names."""
    origin = Origin(str(run.path / "run.json"), str(run.path))
    return experiment_from_data(dict(run.record.experiment), complete=False, origin=origin)
