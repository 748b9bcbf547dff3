"""Describes an experiment as text for ``mosaic run --dry-run``."""

from __future__ import annotations

import json

from gym_gui.core.config import ExecutionConfig, Experiment, OperatorConfig
from gym_gui.core.declared_keys import chosen_of, names_of, said_of
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.experiment.matrix_table import MatrixTable, missing_in_words

_OF_THE_WORKER = ("worker_id", "type", "settings")
"""Keys of a slot whose values stand at the beginning of its line."""
_OF_THE_OPERATOR = ("env_name", "max_steps")
"""Keys of the environment whose values the operator's own line contains."""


def describe(experiment: Experiment) -> str:
    """Return several lines: the schedule, then each operator with its slots.

    Secrets appear as references, as in the settings.
    """
    lines = [_schedule(experiment.execution, len(experiment.operators))]
    for operator in experiment.operators:
        lines.append("")
        lines.append(_operator_line(operator, experiment.max_steps(operator)))
        slots = operator.resolved_slots()
        width = max(len(agent) for agent in slots)
        lines += [f"  {agent:<{width}}  {_slot(player)}" for agent, player in slots.items()]
        lines += [f"  {line}" for line in _extras(operator)]
    if experiment.matrix is not None:
        lines += ["", *_rows(experiment.matrix)]
    return "\n".join(lines)


def _rows(table: MatrixTable) -> list[str]:
    """Return the lines for a matrix's rows, each with its players or the reason why it is not played."""
    lines = [f"{len(table.rows)} row{'s' * (len(table.rows) != 1)} of the matrix:"]
    width = max(len(row.name) for row in table.rows)
    several = len({row.task for row in table.rows}) > 1
    for row in table.rows:
        task = f", {row.task}" if several else ""
        same = f" (the same as {row.operator})" if row.operator not in ("", row.name) else ""
        lines.append(f"  {row.name:<{width}}  {'not played' if row.problem else row.players + task + same}")
    return [*lines, *(f"Not played: {line}." for line in missing_in_words(table.rows))]


def _schedule(run: ExecutionConfig, operators: int) -> str:
    decided = run.until == "decided"
    parts = [
        f"{operators} operator{'s' * (operators != 1)}",
        f"{'at most ' if decided else ''}{run.num_episodes} episode{'s' * (run.num_episodes != 1)} each",
        f"{run.environment_mode} seeds {_seeds(run.seeds)}",
    ]
    return ", ".join([*parts, *said_of(run)])


def _seeds(seeds: tuple[int, ...]) -> str:
    first, last = seeds[0], seeds[-1]
    if len(set(seeds)) == 1:
        return str(first)
    if seeds == tuple(range(first, last + 1)):
        return f"{first} to {last}"
    shown = ", ".join(str(seed) for seed in seeds[:6])
    return shown if len(seeds) <= 6 else f"{shown}, … ({len(seeds)})"


def _operator_line(operator: OperatorConfig, max_steps: int | None) -> str:
    name = "" if operator.display_name == operator.operator_id else f" ({operator.display_name})"
    family = f" of {operator.env_name}" if operator.env_name else ""
    limit = f", at most {max_steps} steps" if max_steps is not None else ""
    return f"{operator.operator_id}{name}: {operator.task}{family}{limit}"


def _slot(player: WorkerAssignment) -> str:
    parts = [player.worker_type, player.worker_id]
    parts += [f"{key}={short_value(value)}" for key, value in player.settings.items()]
    own = {key: value for key, value in chosen_of(player).items() if key not in _OF_THE_WORKER}
    parts += [f"{key}={short_value(value)}" for key, value in own.items()]
    return "  ".join(parts)


def _extras(operator: OperatorConfig) -> list[str]:
    """Return what an operator declares in words, then its other non-default environment keys."""
    lines = [line for words in said_of(operator) for line in words.split("\n")]
    own = names_of(OperatorConfig, of=lambda key: key.environment and not key.said)
    values = sorted((key, value) for key, value in chosen_of(operator).items() if key in own)
    return lines + [f"{key}: {short_value(value)}" for key, value in values if key not in _OF_THE_OPERATOR]


def short_value(value: object) -> str:
    """Return a setting as text of at most 60 characters."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "..."
