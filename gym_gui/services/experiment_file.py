"""Reads Python, YAML and JSON experiment files into checked :class:`Experiment` objects.

A file that is literal data is parsed and never executed. Any other Python file is evaluated in a
separate process (:mod:`gym_gui.services.experiments.experiment_process`), and only if the caller allows
it. ``docs/experiment_format.md`` describes the format.
"""

from __future__ import annotations

import difflib
import io
import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, cast

from gym_gui.core.config import Experiment, OperatorConfig
from gym_gui.core.errors import ExperimentError, FilePosition, MosaicError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.experiment.experiment_data import experiment_from_data, is_experiment_file
from gym_gui.core.experiment.experiment_text import describe
from gym_gui.core.experiment.matrix_expansion import PlacesOf, everybody
from gym_gui.core.experiment.tournament import Tournament, is_tournament_file, tournament_from_data
from gym_gui.core.experiment.tournament_pool import altered, assignments_of
from gym_gui.core.records import TOURNAMENT, check_run_format
from gym_gui.core.trusted.subjects import RequiredSubject, Subject
from gym_gui.core.trusted.trust import Origin
from gym_gui.core.trusted.user_code import hash_of
from gym_gui.core.validation import ConfigError, shown
from gym_gui.services.experiments.experiment_literal import NotLiteralError, literal_values, parse_python
from gym_gui.services.experiments.experiment_matrix import expanded, read_matrix
from gym_gui.services.experiments.experiment_positions import place_of_value
from gym_gui.services.experiments.experiment_process import NAMES, Limits, evaluate_file, missing_operators
from gym_gui.services.experiments.experiment_yaml import parse_yaml
from gym_gui.services.experiments.league_tournament import tournament_of_league
from gym_gui.services.policies.group_operators import members_of, pool_of
from gym_gui.services.policies.policy_library import PREFIX, PolicyLibrary
from gym_gui.services.secrets import resolve_secrets

# Imported for its side effect: it registers the types of workers that have a manifest.
from gym_gui.workers.discovery import find_workers
from gym_gui.workers.registry import WorkerTypeRegistry
from mosaic_worker.plain_files import read_file
from mosaic_worker.training import LEAGUE

__all__ = [
    "Limits",
    "describe",
    "file_settings",
    "find_problem",
    "is_tournament",
    "load_experiment",
    "load_tournament",
    "need_of_program",
    "needs_code",
    "players_of_pool",
    "resolve_secrets",
]

MAX_FILE_BYTES: Final = {".py": 2**20, ".yaml": 2**20, ".yml": 2**20, ".json": 16 * 2**20}
"""Largest file size by suffix. A JSON file may be larger, as a ``run.json`` may list a million seeds."""


def needs_code(path: str | Path) -> bool:
    """Return whether an experiment file can only be read by running it as a program.

    Raises:
        ExperimentError: The file cannot be read, or is not valid Python.
    """
    file = _locate(Path(path))
    if file.suffix != ".py":
        return False
    try:
        with _errors_with_place(file):
            literal_values(parse_python(_read_text(file), _label(file)))
    except NotLiteralError:
        return True
    return False


def need_of_program(path: str | Path) -> RequiredSubject:
    """Return the permission that is needed before a program is run to read its experiment."""
    file = _locate(Path(path)).resolve()
    return RequiredSubject(Subject("program", str(file), hash_of(file)), str(path), "is a program:")


def load_experiment(
    path: str | Path,
    *,
    allow_code: bool,
    episodes: int | None = None,
    limits: Limits | None = None,
    places_of: PlacesOf | None = None,
    anew: bool = False,
) -> Experiment:
    """Read an experiment file.

    Args:
        path: A ``.py``, ``.yaml``, ``.yml`` or ``.json`` file, a ``run.json``, or a run folder.
        allow_code: Whether a Python file that is a program may be run to read it.
        episodes: Number of episodes, which replaces ``num_episodes`` of the file.
        limits: Resource limits of the process that runs a program.
        places_of: Returns the slots of the environments of a matrix. By default, the environments are
            created to find their slots.
        anew: Whether to try again the rows of a run's matrix that could not be played when it began.

    Raises:
        ExperimentError: The file is invalid. The message says in one line what is wrong, where, and what
            to do.
    """
    file = _locate(Path(path))
    folder = file.absolute().parent
    with _errors_with_place(file):
        data = _data(file, allow_code, limits)
        if _has_matrix(data, anew=anew):
            anchored = partial(anchored_player, folder=folder)
            experiment = expanded(data, _origin(file), anchored, places_of, episodes)
        else:
            experiment = experiment_from_data(data, episodes=episodes, origin=_origin(file))
        return _anchored(experiment, folder)


def is_tournament(path: str | Path) -> bool:
    """Return whether a file is a tournament: YAML or JSON with a pool of policies. No code is run.

    Raises:
        ExperimentError: The file cannot be read.
    """
    file = _locate(Path(path))
    if file.suffix == ".py":
        return False
    with _errors_with_place(file):
        return is_tournament_file(_mapping_or_empty(_plain_data(file)))


def players_of_pool(path: str | Path, *, allow_code: bool) -> list[OperatorConfig] | None:
    """Return the players that a tournament file or a matrix names, to check what they need.

    No environment is created.

    Args:
        path: As for :func:`load_experiment`.
        allow_code: As for :func:`load_experiment`.

    Returns:
        One operator for each environment, with every player in a slot of its own. ``None`` if the file
        is neither a tournament nor has a matrix to expand.

    Raises:
        ExperimentError: As for :func:`load_experiment`.
    """
    file = _locate(Path(path))
    with _errors_with_place(file):
        data = _data(file, allow_code, None)
    if is_tournament_file(_mapping_or_empty(data)):
        tournament = load_tournament(path)
        listed = [each for player in tournament.policies.values() for each in assignments_of(player)]
        players = {f"{i}": player for i, player in enumerate(listed)}
        return [replace(tournament.operator, workers=players)]
    if not _has_matrix(data, anew=False):
        return None
    with _errors_with_place(file):
        anchored = partial(anchored_player, folder=file.absolute().parent)
        return everybody(read_matrix(data, _origin(file), anchored))


def load_tournament(path: str | Path) -> Tournament:
    """Read a tournament from a tournament file, from a run, or from a league of a training.

    The tournament of a league contains all of its members.

    Args:
        path: A ``.yaml``, ``.yml`` or ``.json`` file, a ``run.json``, or a run folder.

    Raises:
        ExperimentError: The file is invalid. The message says in one line what is wrong, where, and what
            to do.
    """
    file = _locate(Path(path))
    if file.suffix == ".py":
        raise ExperimentError(f"{_label(file)} is not a tournament file", fix="Write it as YAML or JSON")
    with _errors_with_place(file):
        data = _plain_data(file)
    written = _mapping_or_empty(data)
    if "run_id" in written:
        data = _recorded(written, file)
    elif file.name == LEAGUE:
        data = tournament_of_league(written, file)
    elif "operators" in written and "policies" not in written:
        raise ExperimentError(
            f"{_label(file)} is an experiment file, not a tournament", fix=f"Run: mosaic run {file}"
        )
    with _errors_with_place(file):
        tournament = tournament_from_data(data, origin=_origin(file), pool_of=pool_of)
    folder = file.absolute().parent
    anchored = partial(anchored_player, folder=folder)
    return replace(tournament, policies={n: altered(p, anchored) for n, p in tournament.policies.items()})


def find_problem(path: Path, source: str) -> MosaicError | None:
    """Return the first problem in the text of an experiment or tournament file, or ``None``.

    A program is not run: it is only checked for Python syntax.

    Args:
        path: The file that contains or will contain the text.
        source: Text to check.
    """
    try:
        with _errors_with_place(path, source):
            if path.suffix == ".py":
                values: object = literal_values(parse_python(source, _label(path)))
                data: object = {
                    name: value for name, value in _mapping_or_empty(values).items() if name in NAMES
                }
                if not is_experiment_file(_mapping_or_empty(data)):
                    return missing_operators(_label(path), list(_mapping_or_empty(values)))
            else:
                data = _parsed(source, path)
            if is_tournament_file(_mapping_or_empty(data)):
                tournament_from_data(data, origin=_origin(path), pool_of=pool_of)
            elif not _has_matrix(data, anew=False):
                experiment_from_data(data, origin=_origin(path))
    except NotLiteralError:
        return None
    except MosaicError as error:
        return error
    return None


@contextmanager
def _errors_with_place(file: Path, source: str | None = None) -> Generator[None]:
    """Add the file and, if known, the line to an error about the file's contents."""
    try:
        yield
    except ConfigError as error:
        place = place_of_value(file, error.where, source)
        raise ExperimentError(f"{_label(file)}: {error.message}", fix=error.fix, place=place) from None
    except ExperimentError as error:
        if error.place is not None:
            error.place = error.place._replace(file=str(file.absolute()))
        raise


def _data(file: Path, allow_code: bool, limits: Limits | None) -> object:
    """Return the contents of an experiment file."""
    if file.suffix == ".py":
        return _python_data(file, _read_text(file), allow_code, limits or Limits())
    return _plain_data(file)


def _mapping_or_empty(data: object) -> dict[str, object]:
    return cast("dict[str, object]", data) if isinstance(data, dict) else {}


def _has_matrix(data: object, *, anew: bool) -> bool:
    """Return whether there is a matrix to expand. The matrix of a run is expanded only if ``anew``."""
    content = _mapping_or_empty(data)
    content = _mapping_or_empty(content.get("experiment")) or content
    return "matrix" in content and (anew or "asked" not in _mapping_or_empty(content["matrix"]))


def _recorded(run: dict[str, object], file: Path) -> dict[str, object]:
    about = _mapping_or_empty(run.get(TOURNAMENT))
    if not about:
        raise ExperimentError(
            f"{file.parent} is not a tournament", fix="Resume the run with: mosaic run --resume RUN"
        )
    return {key: value for key, value in about.items() if key not in ("sides", "seats", "pairings", "rounds")}


def _origin(file: Path) -> Origin:
    return Origin(str(file), str(file.absolute().parent))


def _plain_data(file: Path) -> object:
    """Return the contents of a YAML or JSON file."""
    return _parsed(_read_text(file), file)


def _parsed(source: str, file: Path) -> object:
    if file.suffix != ".json":
        return parse_yaml(source, _label(file))
    data = _parse_json(source, _label(file))
    check_run_format(data, str(file))
    return data


def _anchored(experiment: Experiment, folder: Path) -> Experiment:
    """Replace library names and paths relative to the experiment file by paths that can be opened.

    Raises:
        UnknownNameError: The library has no policy of that name.
    """
    written = [each for operator in experiment.operators for each in members_of(operator)]
    operators = [
        replace(
            operator,
            workers={agent: anchored_player(a, folder) for agent, a in operator.workers.items()},
            manager={agent: anchored_player(a, folder) for agent, a in operator.manager.items()},
            link_groups=[
                replace(g, policy_path=_path_beside(g.policy_path, folder)) for g in operator.link_groups
            ],
        )
        for operator in written
    ]
    return replace(experiment, operators=operators)


def anchored_player(assignment: WorkerAssignment, folder: Path) -> WorkerAssignment:
    """Return a player whose paths of files and library policies can be opened.

    A relative path is tried from the working directory first, then from ``folder``. So an experiment and
    the files that it names can be moved together.

    Raises:
        UnknownNameError: The library has no policy of that name.
    """
    given = {name: assignment.settings.get(name) for name in file_settings(assignment.worker_id)}
    found = {name: _path_beside(path, folder) for name, path in given.items() if isinstance(path, str)}
    if all(given[name] == there for name, there in found.items()):
        return assignment
    return replace(assignment, settings={**assignment.settings, **found})


def _path_beside(written: str, folder: Path) -> str:
    if written.startswith(PREFIX):
        return PolicyLibrary().path_of(written)
    beside = folder / written
    return str(beside) if written and not Path(written).exists() and beside.exists() else written


def file_settings(worker_id: str) -> list[str]:
    """Return the names of a worker's settings that are paths of files or folders to read."""
    find_workers([worker_id])
    definition = WorkerTypeRegistry.get(worker_id)
    schema = () if definition is None else definition.settings_schema
    return ["checkpoint", *(s.name for s in schema if s.kind in ("policy", "file", "prompts"))]


def _locate(path: Path) -> Path:
    """Return the file that a path stands for.

    A run folder stands for its ``run.json``, and a training with a league for its league file.
    """
    try:
        file = path
        if path.is_dir():
            file = path / (LEAGUE if (path / LEAGUE).is_file() else "run.json")
        if not file.is_file():
            problem = "is not a file" if file.exists() else "does not exist"
            raise ExperimentError(f"{shown(str(file))} {problem}", fix=_instead(file))
    except (OSError, ValueError) as error:  # a name too long, or with a NUL in it
        raise ExperimentError(f"{shown(str(path))} cannot be opened: {error}") from None
    if file.suffix not in MAX_FILE_BYTES:
        raise ExperimentError(
            f"{_label(file)} is not an experiment file",
            fix=f"Choose a file whose name ends in one of {', '.join(MAX_FILE_BYTES)}",
        )
    return file


def _instead(file: Path) -> str:
    """Return advice after a wrong path: a file with a similar name, or the accepted kinds of files."""
    folder = file.parent
    beside = [p.name for p in folder.iterdir() if p.suffix in MAX_FILE_BYTES] if folder.is_dir() else []
    near = difflib.get_close_matches(file.name, beside, n=1, cutoff=0.6)
    if near and near[0] != file.name:
        return f"Did you mean {shown(str(folder / near[0]))}?"
    return f"Give the path of an experiment file ({', '.join(MAX_FILE_BYTES)})"


def _label(file: Path) -> str:
    """Return the file's name for messages, as ASCII with escapes if it has unprintable characters."""
    return file.name if file.name.isprintable() else ascii(file.name)


def _read_text(file: Path) -> str:
    try:
        # A run.json may not be a link. A file that a person has named may be one.
        raw = read_file(file, links=file.name != "run.json", limit=MAX_FILE_BYTES[file.suffix])
        return io.TextIOWrapper(io.BytesIO(raw), "utf-8-sig").read()
    except UnicodeDecodeError as error:
        raise ExperimentError(f"{_label(file)} is not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise ExperimentError(f"{shown(str(file))} cannot be read: {error.strerror}") from None


def _python_data(file: Path, source: str, allow_code: bool, limits: Limits) -> dict[str, object]:
    try:
        values = literal_values(parse_python(source, _label(file)))
    except NotLiteralError as program:
        if allow_code:
            return evaluate_file(file, source, limits, _label(file))
        raise ExperimentError(
            f"{_label(file)}:{program.line}: is a program, not plain data",
            fix="Allow it to be run, or write it with literal values only",
        ) from None
    found = {name: values[name] for name in NAMES if name in values}
    if not is_experiment_file(found):
        raise missing_operators(_label(file), list(values))
    return found


def _parse_json(source: str, name: str) -> object:
    try:
        return json.loads(source, object_pairs_hook=_no_double_keys)
    except json.JSONDecodeError as error:
        place = FilePosition(name, error.lineno, error.colno)
        raise ExperimentError(f"{name}:{error.lineno}: not valid JSON: {error.msg}", place=place) from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits; a thousand brackets
        raise ExperimentError(f"{name}: cannot be read: {error}") from None


def _no_double_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result: dict[str, object] = {}
    for key, value in pairs:
        if key in result:
            raise ValueError(f"key {shown(key)} is given twice")
        result[key] = value
    return result
