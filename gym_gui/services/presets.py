"""Presets of operator configurations, and their export as experiment and tournament files."""

from __future__ import annotations

import pprint
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

from gym_gui.core.config import ExecutionConfig, Experiment, OperatorConfig
from gym_gui.core.declared_keys import usual_record
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.experiment.experiment_data import experiment_from_data
from gym_gui.core.experiment.tournament import Tournament
from gym_gui.core.experiment.tournament_pool import altered
from gym_gui.core.trusted.trust import Origin
from gym_gui.core.validation import ConfigError, Plain
from gym_gui.services.preset_store import PresetError, PresetKind, write_text


def _to_data(name: str, config: OperatorConfig) -> dict[str, Any]:
    saved_at = datetime.now(UTC).isoformat(timespec="seconds")
    return {"name": name, "saved_at": saved_at, "operator": config.to_record()}


def _from_data(path: Path, content: Mapping[str, Any]) -> OperatorConfig:
    try:
        # Incomplete configurations may be saved too.
        data = {"operators": [content.get("operator")]}
        origin = Origin(str(path), str(path.absolute().parent))
        return experiment_from_data(data, complete=False, origin=origin).operators[0]
    except ConfigError as error:
        place = error.where.removeprefix("operators[0].")
        raise PresetError(f"{path.name}: {place}: {error.problem}", fix=error.fix) from None


CONFIGURATIONS: Final = PresetKind[OperatorConfig](
    ".preset.json",
    "mosaic_preset",
    _to_data,
    _from_data,
    lambda config: config.task,
    "Open experiment files under Script on the Operators page",
)


# -- experiments -------------------------------------------------------------------------


def export_experiment(
    path: Path,
    *operators: OperatorConfig,
    execution: ExecutionConfig | None = None,
    heading: str = "",
) -> Experiment:
    """Write operators as an experiment file.

    Paths of policies beside or below the file are written relative to the file's folder, others in full. So
    they are found from the file.

    Args:
        path: A ``.yaml``, ``.yml`` or ``.py`` file; Python is written as literal data.
        operators: Operators in order.
        execution: Number of episodes and seeds; by default, one episode with seed 0.
        heading: Comment line at the top of the file.

    Returns:
        The experiment as written.

    Raises:
        PresetError: The file's suffix is not supported, or the file cannot be written.
        ConfigError: The configuration of an operator is not complete.
    """
    for config in operators:
        config.check_complete()
    folder = path.absolute().parent
    experiment = Experiment([_anchored(config, folder) for config in operators], execution)
    record = experiment.to_record()
    writers: dict[str, Callable[[dict[str, Plain]], str]] = {".yaml": _yaml, ".yml": _yaml, ".py": _python}
    writer = writers.get(path.suffix.lower())
    if writer is None:
        raise PresetError(f"{path.name} has no known suffix", fix="Use a name that ends in .yaml or .py")
    write_text(path, (f"# {heading}\n" if heading else "") + writer(_plainer(record)))
    return experiment


def export_tournament(path: Path, tournament: Tournament, heading: str = "") -> None:
    """Write a tournament file, with paths of policies as in :func:`export_experiment`.

    Args:
        path: A ``.yaml`` or ``.yml`` file.
        tournament: Tournament to write.
        heading: Comment line at the top of the file.

    Raises:
        PresetError: The file cannot be written.
    """
    folder = path.absolute().parent
    policies = {name: altered(p, partial(_player_at, folder)) for name, p in tournament.policies.items()}
    record = replace(tournament, policies=policies).to_record()
    written = cast("dict[str, dict[str, Plain]]", record["policies"])
    execution = cast("dict[str, Plain]", record["execution"])
    usual = {k: v for k, v in ExecutionConfig(1).to_record().items() if k not in ("num_episodes", "seeds")}
    kept = {key: value for key, value in execution.items() if key not in usual or usual[key] != value}
    seeds = list(tournament.execution.seeds)
    if seeds == list(range(seeds[0], seeds[-1] + 1)):
        kept["seeds"] = f"range({seeds[0]}, {seeds[-1] + 1})"
    pool: dict[str, Plain] = {name: _player(p) for name, p in written.items()}
    about: dict[str, Plain] = {**record, "policies": pool, "execution": kept}
    write_text(path, (f"# {heading}\n" if heading else "") + _yaml(about))


def _place_at(folder: Path, written: str) -> str:
    there = Path(written).expanduser().absolute()
    if not written or not there.exists():
        return written
    return str(there.relative_to(folder)) if there.is_relative_to(folder) else str(there)


def _player_at(folder: Path, row: WorkerAssignment) -> WorkerAssignment:
    checkpoint = row.settings.get("checkpoint")
    if not isinstance(checkpoint, str):
        return row
    return replace(row, settings={**row.settings, "checkpoint": _place_at(folder, checkpoint)})


def _anchored(config: OperatorConfig, folder: Path) -> OperatorConfig:
    player = partial(_player_at, folder)
    links = [replace(g, policy_path=_place_at(folder, g.policy_path)) for g in config.link_groups]
    return replace(
        config,
        workers={agent: player(row) for agent, row in config.workers.items()},
        manager={agent: player(row) for agent, row in config.manager.items()},
        link_groups=links,
    )


def _plainer(record: dict[str, Plain]) -> dict[str, Plain]:
    """Return a record without empty settings and without values that equal their defaults."""
    operators = [_operator(cast("dict[str, Plain]", o)) for o in cast("list[Plain]", record["operators"])]
    execution = cast("dict[str, Plain]", record["execution"])
    usual = ExecutionConfig(1).to_record()
    kept = {k: v for k, v in execution.items() if k in ("num_episodes", "seeds") or v != usual[k]}
    return {"operators": cast("list[Plain]", operators), "execution": kept}


def _operator(operator: dict[str, Plain]) -> dict[str, Plain]:
    result = _chosen(operator, OperatorConfig)
    for key in ("workers", "manager"):
        if key in result:
            players = cast("dict[str, dict[str, Plain]]", result[key])
            lean: dict[str, Plain] = {agent: _player(player) for agent, player in players.items()}
            result[key] = lean
    return result


def _player(player: dict[str, Plain]) -> Plain:
    return _chosen(player, WorkerAssignment)


def _chosen(record: Mapping[str, Plain], of: type) -> dict[str, Plain]:
    """Return a record without the keys whose values equal their defaults."""
    usual = usual_record(of)
    return {key: value for key, value in record.items() if key not in usual or usual[key] != value}


def _yaml(record: dict[str, Plain]) -> str:
    import yaml  # imported only when a YAML file is written

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
