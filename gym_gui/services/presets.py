"""Configurations under a name: saved, loaded, shared as a file, exported as an experiment."""

from __future__ import annotations

import json
import pprint
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

from gym_gui.core.assignment import WorkerAssignment
from gym_gui.core.checks import ConfigError, Plain, folder_name
from gym_gui.core.config import ExecutionConfig, Experiment, OperatorConfig
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment_data import experiment_from_data
from gym_gui.core.trust import Origin
from mosaic_worker.plain_files import read_file, replace_file

SUFFIX: Final = ".preset.json"
FORMAT: Final = 1
_MAX_BYTES: Final = 2**20
_KEY: Final = "mosaic_preset"

Trash = Callable[[Path], object]
"""Throws a file away so that it can be had back."""


class PresetError(UsageError):
    """A preset that cannot be saved, read or found."""


@dataclass(frozen=True)
class Preset:
    """A saved configuration.

    Attributes:
        name: As people call it.
        path: Its file.
        task: Its environment.
        saved_at: When; ``None`` where the file does not say.
        problem: Why it cannot be loaded, as a sentence; empty when it can.
    """

    name: str
    path: Path
    task: str = ""
    saved_at: datetime | None = None
    problem: str = ""


class PresetStore:
    """The presets in a folder, one file each.

    Args:
        folder: Where they are; made when the first is saved.
        trash: What :meth:`delete` does with a file; without one it is removed.
    """

    def __init__(self, folder: Path, trash: Trash | None = None) -> None:
        self.folder = folder
        self._trash: Trash = trash or Path.unlink

    def presets(self) -> list[Preset]:
        """All of them, by name; those that cannot be read say why."""
        found = [_described(path) for path in self.folder.glob(f"*{SUFFIX}")]
        return sorted(found, key=lambda preset: preset.name.casefold())

    def path_of(self, name: str) -> Path:
        """The file of a preset, there or not.

        Raises:
            PresetError: No file can be called so.
        """
        try:
            return self.folder / f"{folder_name(name.strip(), 'name')}{SUFFIX}"
        except ConfigError as error:
            problem = error.problem.removesuffix("; it names a folder of the run")
            raise PresetError(f"a preset cannot be called so: {problem}", fix=error.fix) from None

    def save(self, name: str, config: OperatorConfig, *, replace_it: bool = False) -> Preset:
        """Save a configuration.

        Args:
            name: What to call it.
            config: The configuration.
            replace_it: Whether one of that name may be replaced.

        Raises:
            PresetError: There is one of that name, or it cannot be written.
        """
        path = self.path_of(name)
        if path.exists() and not replace_it:
            raise PresetError(
                f"there is a preset {name.strip()!r} already", fix="Replace it, or choose another name"
            )
        self.write(path, config, name.strip())
        return _described(path)

    def write(self, path: Path, config: OperatorConfig, name: str) -> None:
        """Write a preset to any file, to be passed on.

        Raises:
            PresetError: It cannot be written.
        """
        content = {
            _KEY: FORMAT,
            "name": name,
            "saved_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "operator": config.to_record(),
        }
        write_text(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")

    def load(self, name: str) -> OperatorConfig:
        """The configuration of that name.

        Raises:
            PresetError: There is none, or it cannot be read.
        """
        return read_preset(self.path_of(name))[1]

    def import_file(self, path: Path) -> Preset:
        """Take over a preset that somebody else has saved; a name that is taken gets a number.

        Raises:
            PresetError: It is no preset, or cannot be kept.
        """
        name, config = read_preset(path)
        taken = {preset.name.casefold() for preset in self.presets()}
        wanted, number = name, 2
        while wanted.casefold() in taken or self.path_of(wanted).exists():
            wanted, number = f"{name} {number}", number + 1
        return self.save(wanted, config)

    def delete(self, name: str) -> None:
        """Throw a preset away.

        Raises:
            PresetError: There is none.
        """
        path = self.path_of(name)
        if not path.exists():
            raise PresetError(f"there is no preset {name!r}")
        try:
            self._trash(path)
        except OSError as error:
            raise PresetError(f"{path} cannot be thrown away: {error.strerror or error}") from error


def read_preset(path: Path) -> tuple[str, OperatorConfig]:
    """Name and configuration of a preset file.

    Raises:
        PresetError: It cannot be read, is no preset, or of a later version.
    """
    content = _content(path)
    try:
        # A configuration on the way to being complete is kept as well.
        data = {"operators": [content.get("operator")]}
        origin = Origin(str(path), str(path.absolute().parent))
        experiment = experiment_from_data(data, complete=False, origin=origin)
    except ConfigError as error:
        place = error.where.removeprefix("operators[0].")
        raise PresetError(f"{path.name}: {place}: {error.problem}", fix=error.fix) from None
    name = content.get("name")
    return (name if isinstance(name, str) and name else _stem(path)), experiment.operators[0]


def _content(path: Path) -> dict[str, Any]:
    try:
        text = read_file(path, links=True, limit=_MAX_BYTES).decode("utf-8-sig")
        data: Any = json.loads(text)
    except OSError as error:
        raise PresetError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise PresetError(f"{path.name} is no preset", fix=f"A preset's name ends in {SUFFIX}") from None
    if not isinstance(data, dict) or _KEY not in data:
        raise PresetError(f"{path.name} is no preset", fix="Experiment files open in Operators, Script")
    content = cast("dict[str, Any]", data)
    if content[_KEY] != FORMAT:
        raise PresetError(f"{path.name} was saved by a later version of MOSAIC", fix="Install that version")
    return content


def _described(path: Path) -> Preset:
    try:
        content = _content(path)
        name, config = read_preset(path)
    except PresetError as error:
        return Preset(_stem(path), path, problem=str(error))
    try:
        saved = datetime.fromisoformat(str(content.get("saved_at")))
    except ValueError:
        saved = None
    # The file's name is what it is found by; whoever renames the file renames the preset.
    return Preset(_stem(path) or name, path, config.task, saved)


def _stem(path: Path) -> str:
    return path.name.removesuffix(SUFFIX)


# -- experiments -------------------------------------------------------------------------


def export_experiment(
    path: Path, config: OperatorConfig, execution: ExecutionConfig | None = None
) -> Experiment:
    """Write a configuration as an experiment file of its own.

    Paths of policies are written so that they are found from where the file lies: relative
    to it where they lie beside or below it, else in full.

    Args:
        path: A ``.yaml``, ``.yml`` or ``.py`` file; Python is written as literal data.
        config: The operator.
        execution: How often and with which seeds; one episode with seed 0 by default.

    Returns:
        What was written.

    Raises:
        PresetError: The name says no format, or the file cannot be written.
        ConfigError: The configuration is not complete.
    """
    config.check_complete()
    experiment = Experiment([_anchored(config, path.absolute().parent)], execution)
    record = experiment.to_record()
    writers: dict[str, Callable[[dict[str, Plain]], str]] = {".yaml": _yaml, ".yml": _yaml, ".py": _python}
    writer = writers.get(path.suffix.lower())
    if writer is None:
        raise PresetError(f"{path.name} says no format", fix="Let its name end in .yaml or .py")
    write_text(path, writer(_plainer(record)))
    return experiment


def _anchored(config: OperatorConfig, folder: Path) -> OperatorConfig:
    def place(written: str) -> str:
        there = Path(written).expanduser().absolute()
        if not written or not there.exists():
            return written
        return str(there.relative_to(folder)) if there.is_relative_to(folder) else str(there)

    def player(row: WorkerAssignment) -> WorkerAssignment:
        checkpoint = row.settings.get("checkpoint")
        if not isinstance(checkpoint, str):
            return row
        return replace(row, settings={**row.settings, "checkpoint": place(checkpoint)})

    return replace(
        config,
        workers={agent: player(row) for agent, row in config.workers.items()},
        manager={agent: player(row) for agent, row in config.manager.items()},
        link_groups=[replace(g, policy_path=place(g.policy_path)) for g in config.link_groups],
    )


def _plainer(record: dict[str, Plain]) -> dict[str, Plain]:
    """Leaves out what says nothing: empty settings, and values that hold anyway."""
    operators = [_operator(cast("dict[str, Plain]", o)) for o in cast("list[Plain]", record["operators"])]
    execution = cast("dict[str, Plain]", record["execution"])
    usual = ExecutionConfig(1).to_record()
    kept = {k: v for k, v in execution.items() if k in ("num_episodes", "seeds") or v != usual[k]}
    return {"operators": cast("list[Plain]", operators), "execution": kept}


def _operator(operator: dict[str, Plain]) -> dict[str, Plain]:
    result: dict[str, Plain] = {
        k: v for k, v in operator.items() if v not in ("", None) and (k, v) != ("seats", "fixed")
    }
    for key in ("workers", "manager"):
        if key in result:
            players = cast("dict[str, dict[str, Plain]]", result[key])
            lean: dict[str, Plain] = {agent: _player(player) for agent, player in players.items()}
            result[key] = lean
    return result


def _player(player: dict[str, Plain]) -> Plain:
    return {k: v for k, v in player.items() if v != {} and (k, v) != ("on_invalid", "error")}


def _yaml(record: dict[str, Plain]) -> str:
    import yaml  # only where a YAML file is written

    def dump(readable: bool) -> str:
        return yaml.safe_dump(record, sort_keys=False, allow_unicode=readable, width=100)

    text = dump(True)
    # PyYAML writes some line separators (U+0085) as they are and then reads them as spaces.
    return text if yaml.safe_load(text) == record else dump(False)


def _python(record: dict[str, Plain]) -> str:
    parts = [
        f"{name} = {pprint.pformat(value, width=100, sort_dicts=False)}\n" for name, value in record.items()
    ]
    return "\n".join(parts)


def write_text(path: Path, content: str) -> None:
    """Write beside it and rename: a file is whole, or as it was.

    Raises:
        PresetError: It cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, content.encode(), sync=False)
    except OSError as error:
        reason = error.strerror or str(error)
        raise PresetError(f"{path} cannot be written: {reason}", fix="Choose another folder") from error
