"""Exports episodes as offline runs of Weights & Biases, one per operator, for ``wandb sync``.

The library ``wandb`` writes the runs in a process that it starts and ends. It gets only the data to write,
and nothing about the user's account or a server; its auxiliary files are deleted.

Source:
    `wandb <https://docs.wandb.ai>`_. Its file is a log like that of `LevelDB
    <https://github.com/google/leveldb/blob/main/doc/log_format.md>`_, after a header of 7 bytes and with a
    plain CRC-32; each record is one protobuf message.
"""

from __future__ import annotations

import re
import shutil
import zlib
from collections.abc import Generator, Iterator, Mapping
from contextlib import chdir, contextmanager
from glob import escape
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from struct import Struct
from typing import Any, Final

from gym_gui.analysis.columns.result_columns import file_row
from gym_gui.analysis.compute.summary_builder import summarize
from gym_gui.analysis.exports.episode_curves import (
    completed_episodes,
    curve_points,
    ended_at,
    nothing_to_write,
)
from gym_gui.analysis.exports.pending_folder import environment_variables, pending_folder
from gym_gui.analysis.findings.summary import OperatorSummary
from gym_gui.analysis.records.reader import OperatorRun, Run
from gym_gui.core.errors import MissingDependencyError, UsageError
from gym_gui.core.records import EpisodeRecord

PROJECT: Final = "mosaic"
_BLOCK, _FIRST = 1 << 15, 7
_HEAD = Struct("<IHB")
_FULL, _LAST = 1, 4
_LONGEST_TAG = 64


def write_wandb_runs(run: Run, folder: Path) -> dict[str, int]:
    """Write one offline run of Weights & Biases per operator that has completed episodes.

    Each point of the curves is an episode, with the episode's index as the step. The summary of the run is
    the operator's row of the comparison.

    Args:
        run: The run.
        folder: Folder to pass to ``wandb sync``; existing contents stay.

    Returns:
        Number of episodes by the name of the folder that contains them.

    Raises:
        UsageError: A row is damaged, no episode is completed, the folder already contains such a run, or the
            folder cannot be written.
        MissingDependencyError: wandb is not installed.
    """
    found = find_spec("wandb")
    if found is None or found.origin is None:  # a folder of runs has the same name
        raise MissingDependencyError("Weights & Biases", "mosaic install wandb")
    played = {key: done for key, each in run.operators.items() if (done := completed_episodes(each))}
    if not played:
        raise nothing_to_write()
    for key in played:
        if there := next(folder.glob(f"offline-run-*-{escape(_run_id(run, key))}"), None):
            raise UsageError(f"{there} exists already", fix="Choose another folder with -o")
    summaries = {each.operator_id: each for each in summarize([run]).operators}
    target = folder.absolute()
    with pending_folder(folder) as pending, _isolated_wandb(pending) as wandb:
        try:
            try:
                for key, episodes in played.items():
                    _write(wandb, run, run.operators[key], summaries[key], episodes)
            finally:
                wandb.teardown()
            made = {place.name: place for place in sorted((pending / "wandb").glob("offline-run-*"))}
            written = {name: _count_points(place) for name, place in made.items()}
            for name, place in made.items():
                place.rename(target / name)
        except (OSError, wandb.Error, SystemExit) as error:  # wandb exits if its process was killed
            raise UsageError(
                f"{folder} cannot be written: {error}", fix="Choose another folder with -o"
            ) from error
    return written


@contextmanager
def _isolated_wandb(pending: Path) -> Generator[Any]:
    """Import wandb without the user's settings: without its environment variables and local files."""
    with environment_variables(_variables(pending), prefix="WANDB_"), chdir(pending):
        yield import_module("wandb")


def _variables(pending: Path) -> Mapping[str, str]:
    """Return environment variables that make wandb write into a folder and send nothing over the network."""
    places = ("WANDB_DIR", "WANDB_CACHE_DIR", "WANDB_CONFIG_DIR", "WANDB_DATA_DIR", "WANDB_ARTIFACT_DIR")
    return {
        **dict.fromkeys(places, str(pending)),
        "WANDB_MODE": "offline",
        "WANDB_ERROR_REPORTING": "false",
        "WANDB_SILENT": "true",
    }


def _write(
    wandb: Any,
    run: Run,
    operator: OperatorRun,
    summary: OperatorSummary,
    episodes: list[EpisodeRecord],
) -> None:
    tags = ("mosaic", *summary.kinds, operator.task)
    written = wandb.init(
        mode="offline",
        project=PROJECT,
        id=_run_id(run, operator.operator_id),
        name=operator.name,
        group=run.run_id,
        job_type="evaluation",
        tags=list(dict.fromkeys(tag[:_LONGEST_TAG] for tag in tags if tag)),
        config=_config(run, operator),
        reinit="create_new",
        settings=wandb.Settings(
            console="off",
            silent=True,
            symlink=False,
            # No data about this machine or the folder in which the program was started.
            host="",
            disable_code=True,
            disable_git=True,
            save_code=False,
            x_disable_machine_info=True,
            x_disable_meta=True,
            x_disable_stats=True,
            x_save_requirements=False,
        ),
    )
    # By default, wandb's summary would be the values of the last episode.
    written.define_metric("*", summary="none")
    for episode in episodes:
        point = dict(curve_points(episode))
        if episode.seed is not None:
            point["episode/seed"] = episode.seed
        written.log({**point, "_timestamp": ended_at(episode)}, step=episode.episode_index)
    written.summary.update({name: value for name, value in file_row(summary).items() if value is not None})
    written.finish()


def _config(run: Run, operator: OperatorRun) -> dict[str, Any]:
    record = run.record
    return {
        "run_id": run.run_id,
        "operator_id": operator.operator_id,
        "task": operator.task,
        "operator": dict(operator.config),
        "execution": record.experiment.get("execution"),
        "seeds": list(record.seeds),
        "versions": dict(record.versions),
        "commit": record.commit,
        "started_at": record.started_at,
        "finished_at": record.finished_at,
    }


def _run_id(run: Run, operator_id: str) -> str:
    """Return the id of an operator's run, which is always the same, so that repeated uploads make one run."""
    name = re.sub(r"[^\w.-]", lambda found: f"-{ord(found[0]):x}-", operator_id)
    return f"{run.run_id}-{name}"


def _count_points(place: Path) -> int:
    """Return the number of points in a written run, and delete its logs.

    Raises:
        OSError: The file is incomplete, for example because the disk is full.
    """
    messages: Any = import_module("wandb.proto.wandb_internal_pb2")
    (file,) = place.glob("*.wandb")
    points, last = 0, ""
    for record in wandb_records(file):
        last = messages.Record.FromString(record).WhichOneof("record_type")
        points += last == "history"
    if last != "exit":
        raise OSError(f"{file.name} is incomplete")
    for aside in ("logs", "tmp"):
        shutil.rmtree(place / aside, ignore_errors=True)
    return points


def wandb_records(file: Path) -> Iterator[bytes]:
    """Yield the records of a ``.wandb`` file, up to the first incomplete or damaged record."""
    data, at, record = file.read_bytes(), _FIRST, b""
    while at + _HEAD.size <= len(data):
        if (left := _BLOCK - at % _BLOCK) < _HEAD.size:
            at += left  # a header never crosses the end of a block
            continue
        checksum, length, kind = _HEAD.unpack_from(data, at)
        part = data[at + _HEAD.size : at + _HEAD.size + length]
        if zlib.crc32(bytes([kind]) + part) != checksum:
            return
        at += _HEAD.size + length
        record += part
        if kind in (_FULL, _LAST):
            yield record
            record = b""
