"""Finds code and programs that experiment files and trainings name and that the user must allow."""

from __future__ import annotations

from pathlib import Path

from gym_gui.controllers.engine.resolved_operator import needs_of
from gym_gui.core.errors import UsageError
from gym_gui.core.trusted.subjects import Subject
from gym_gui.services.experiment_file import load_experiment, need_of_program, needs_code, players_of_pool
from gym_gui.services.trainer.request import SavedRequest, arguments_subject
from gym_gui.services.trainer.training_folder import REQUEST
from gym_gui.workers.discovery import discover


def subjects_of_training(folder: Path) -> list[Subject]:
    """Return the training's arguments for its worker, as one item to allow; empty if there are none."""
    arguments = SavedRequest.read(folder).arguments if (folder / REQUEST).is_file() else ()
    return [arguments_subject(folder, arguments)] if arguments else []


def subjects_of_experiment(path: Path) -> list[Subject]:
    """Return everything that an experiment file or a run names and that needs permission.

    Raises:
        UsageError: The file or run names nothing that needs permission.
    """
    discover()
    allow_code = path.suffix == ".py"
    # For a matrix or tournament, load only the pool: finding slots would create environments not yet allowed.
    operators = players_of_pool(path, allow_code=allow_code)
    if operators is None:
        operators = load_experiment(path, allow_code=allow_code).operators
    needs = [need for operator in operators for need in needs_of(operator)]
    if needs_code(path):
        needs.append(need_of_program(path))
    subjects = [need.subject for need in needs]
    if not subjects:
        raise UsageError(f"{path} names nothing that needs permission", fix="Run it without")
    return list(dict.fromkeys(subjects))
