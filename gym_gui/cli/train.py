"""``mosaic train``."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gym_gui.cli.errors import DONE, INTERRUPTED, tell
from gym_gui.cli.output import write_json, write_line
from gym_gui.cli.progress import train_progress
from gym_gui.core.errors import UsageError
from gym_gui.services.trainer import TrainResult, train
from gym_gui.services.worker_orchestrator import UnifiedRunConfig, WorkerOrchestrator
from gym_gui.services.worker_registry import WorkerCatalog
from gym_gui.workers.definition import WorkerTypeDefinition


def train_policy(
    worker: str,
    *,
    algo: str,
    env: str,
    seed: int = 1,
    out: Path | None = None,
    extra: Sequence[str] = (),
    as_json: bool = False,
) -> int:
    """Train a policy and say how it is used.

    Args:
        worker: Worker that trains; empty to have the best chosen.
        algo: One of its algorithms, in any case.
        env: Environment id.
        seed: The one seed of the training.
        out: Folder of the policy.
        extra: More arguments for the worker.
        as_json: Progress as JSON lines on stderr, one result object on stdout.

    Returns:
        Exit status.

    Raises:
        UsageError: Something the person can fix; nothing was trained.
        MosaicError: It went wrong while running.
    """
    _check_extra(extra)
    definition = _choose(worker, algo, env)
    if not as_json and not worker:
        sys.stderr.write(f"Worker: {definition.type_id}\n")
    with train_progress(f"{algo} in {env}", as_json=as_json) as show:
        result = train(definition, algo=algo, env=env, seed=seed, out=out, extra=extra, on_progress=show)
    if as_json:
        write_json(_result_row(result, definition))
    else:
        _say(result, definition, algo, env)
    if result.status != "completed":
        tell("stopped; the policy is kept as it was then")
        return INTERRUPTED
    return DONE


def _check_extra(extra: Sequence[str]) -> None:
    """What goes to the worker are options; a word alone is a slip of ours to report."""
    if extra and not extra[0].startswith("-"):
        raise UsageError(
            f"{extra[0]!r} is no option of mosaic train", fix="For example: mosaic train --env CartPole-v1"
        )


def _choose(worker: str, algo: str, env: str) -> WorkerTypeDefinition:
    catalog = WorkerCatalog()
    if worker:
        return catalog.registry.require(worker)
    trainers = [definition.train for definition in catalog.registry.all() if definition.train]
    spelled = {name.lower(): name for train in trainers for name in train.algorithms}
    config = UnifiedRunConfig(task=env, algorithm=spelled.get(algo.lower(), algo))
    return WorkerOrchestrator(catalog.registry).select_worker(config)


def _shown(path: Path) -> str:
    """Relative to here where that is shorter to read and to type."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def _slot(result: TrainResult, definition: WorkerTypeDefinition) -> dict[str, Any]:
    return {
        "type": definition.kind.value,
        "worker_id": definition.type_id,
        "checkpoint": _shown(result.out),
    }


def _result_row(result: TrainResult, definition: WorkerTypeDefinition) -> dict[str, Any]:
    return {
        "out": str(result.out),
        "status": result.status,
        "steps": result.step,
        "mean_return": result.mean_return,
        "wall_s": result.wall_s,
        "slot": _slot(result, definition),
    }


def _say(result: TrainResult, definition: WorkerTypeDefinition, algo: str, env: str) -> None:
    mean = "" if result.mean_return is None else f", mean return {result.mean_return:.1f} in its evaluation"
    write_line(f"Trained: {result.step:,} steps in {result.wall_s:.0f} s{mean}")
    write_line(f"Policy:  {shlex.quote(_shown(result.out))}")
    operator = {
        "id": algo.lower(),
        "task": env,
        "workers": {"agent": _slot(result, definition)},
    }
    write_line("\nAs an operator of an experiment file:")
    head, _, tail = json.dumps(operator, ensure_ascii=False).partition('"workers": ')
    write_line(f'  {head.rstrip()}\n   "workers": {tail}')
