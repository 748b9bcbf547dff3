"""Finds what experiment files and trainings name that needs permission."""

from __future__ import annotations

from pathlib import Path

from gym_gui.controllers.engine.resolved_operator import needs_of
from gym_gui.core.errors import UsageError
from gym_gui.core.trusted.subjects import Subject
from gym_gui.services.experiment_file import load_experiment, need_of_program, needs_code, players_of_pool
from gym_gui.services.trainer.request import KeptRequest, arguments_subject
from gym_gui.services.trainer.training_folder import REQUEST
from gym_gui.workers.discovery import discover


def subjects_of_training(folder: Path) -> list[Subject]:
    """Return the arguments that a training passes to its worker; empty if the folder has none."""
    arguments = KeptRequest.read(folder).arguments if (folder / REQUEST).is_file() else ()
    return [arguments_subject(folder, arguments)] if arguments else []


def subjects_of_experiment(path: Path) -> list[Subject]:
    """Return everything that an experiment file or a run names and that needs permission.

    Raises:
        UsageError: It names nothing that needs permission.
    """
    discover()
    allow_code = path.suffix == ".py"
    # A matrix and a tournament create environments to find their slots: these may not be allowed yet.
    operators = players_of_pool(path, allow_code=allow_code)
    if operators is None:
        operators = load_experiment(path, allow_code=allow_code).operators
    needs = [need for operator in operators for need in needs_of(operator)]
    if needs_code(path):
        needs.append(need_of_program(path))
    subjects = [need.subject for need in needs]
    if not subjects:
        raise UsageError(f"{path} names nothing that has to be allowed", fix="Run it as it is")
    return list(dict.fromkeys(subjects))
