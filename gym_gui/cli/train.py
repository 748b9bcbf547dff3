"""``mosaic train``."""

from __future__ import annotations

import json
import shlex
import signal
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gym_gui.cli.errors import DONE, INTERRUPTED, tell
from gym_gui.cli.output import write_json, write_line
from gym_gui.cli.progress import train_progress
from gym_gui.core.errors import UsageError
from gym_gui.services.trainer import TrainRequest, TrainResult, carry_out
from gym_gui.services.trainer.service import resumed
from gym_gui.services.worker_orchestrator import UnifiedRunConfig, WorkerOrchestrator
from gym_gui.services.worker_registry import WorkerCatalog
from gym_gui.workers.definition import WorkerTypeDefinition

_ALGORITHM, _SEED = "ppo", 1


def train_policy(
    worker: str = "",
    *,
    algo: str = "",
    env: str = "",
    seed: int | None = None,
    steps: int | None = None,
    settings: Sequence[str] = (),
    out: Path | None = None,
    resume: Path | None = None,
    overwrite: bool = False,
    background: bool = False,
    priority: int = 0,
    extra: Sequence[str] = (),
    as_json: bool = False,
) -> int:
    """Train a policy and say how it is used.

    Args:
        worker: Worker that trains; empty to have the best chosen.
        algo: One of its algorithms, in any case.
        env: Environment id.
        seed: The one seed of the training.
        steps: Environment steps in all.
        settings: Further settings, each ``name=value``.
        out: The run folder.
        resume: Run folder of a training to go on with; it says what the first four are.
        overwrite: Replace a policy that is in ``out``.
        background: Hand it to the trainer daemon and return at once.
        priority: In the background: higher runs first.
        extra: Further settings, as command-line options.
        as_json: Progress as JSON lines on stderr, one result object on stdout.

    Returns:
        Exit status.

    Raises:
        UsageError: Something the person can fix; nothing was trained.
        MosaicError: It went wrong while running.
    """
    _check_extra(extra)
    if background:
        _check_background(out, overwrite=overwrite)
    texts = _assignments(settings) | ({} if steps is None else {"total_steps": str(steps)})
    if resume is not None:
        _check_resume(worker=worker, algo=algo, env=env, seed=seed, out=out, overwrite=overwrite, extra=extra)
        request = resumed(resume, texts, WorkerCatalog().registry)
    else:
        request = _new_request(
            worker, algo or _ALGORITHM, env, seed=seed, out=out, texts=texts, extra=extra, overwrite=overwrite
        )
        if not as_json and not worker:
            sys.stderr.write(f"Worker: {request.definition.type_id}\n")
    if background:
        from gym_gui.cli.background import queue_training  # gRPC, which the foreground can do without

        return queue_training(request, priority=priority, as_json=as_json)
    return _ended(_trained(request, as_json=as_json), request, as_json=as_json)


def _new_request(worker: str, algo: str, env: str, *, seed: int | None, **more: Any) -> TrainRequest:
    """A new training, by the worker that is named or fits best."""
    definition = _choose(worker, algo, env)
    return TrainRequest.checked(definition, algo=algo, env=env, seed=_SEED if seed is None else seed, **more)


def _trained(request: TrainRequest, *, as_json: bool) -> TrainResult:
    """Train in the foreground, and show how far it is."""
    with (
        _sigterm_as_ctrl_c(),
        train_progress(f"{request.algo} in {request.env_id}", as_json=as_json) as show,
    ):
        return carry_out(
            request,
            on_progress=show,
            on_warning=_warn_json if as_json else _warn,
            on_stopping=_nothing_more if as_json else _say_stopping,
        )


def _ended(result: TrainResult, request: TrainRequest, *, as_json: bool) -> int:
    """Say what came of it; the exit status."""
    if as_json:
        write_json(_result_row(result, request.definition))
    else:
        _print_result(result, request)
    if result.status == "completed":
        return DONE
    if not as_json:
        tell("stopped; the policy is kept as it was then")
    return INTERRUPTED


def _warn(text: str) -> None:
    tell(f"warning: {text}")


def _warn_json(text: str) -> None:
    sys.stderr.write(json.dumps({"event": "warning", "message": text}) + "\n")


def _say_stopping() -> None:
    tell("stopping, and keeping what was learnt; Ctrl-C once more ends it at once")


def _nothing_more() -> None:
    """The result will say it."""


def _check_extra(extra: Sequence[str]) -> None:
    """What goes to the worker are options; a word alone is a slip of ours to report."""
    if extra and not extra[0].startswith("-"):
        raise UsageError(
            f"{extra[0]!r} is no option of mosaic train", fix="For example: mosaic train --env CartPole-v1"
        )


def _check_background(out: Path | None, *, overwrite: bool) -> None:
    if out is not None or overwrite:
        raise UsageError(
            "in the background a training has a run folder of its own, so --out and --overwrite mean nothing",
            fix="Leave them out, or leave out --background",
        )


def _check_resume(**given: Any) -> None:
    named = {"algo": "--algo", "env": "--env", "worker": "--worker", "seed": "--seed", "out": "--out"}
    named |= {"overwrite": "--overwrite", "extra": "other options"}
    twice = [named[name] for name, value in given.items() if value not in ("", None, False, (), [])]
    if twice:
        raise UsageError(
            f"--resume goes on with what its folder says, so {twice[0]} cannot be given beside it",
            fix="Change settings with --steps and --set",
        )


def _assignments(settings: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"--set {setting} is no setting", fix="For example: --set learning_rate=0.001")
        found[name.strip().replace("-", "_")] = value.strip()
    return found


def _choose(worker: str, algo: str, env: str) -> WorkerTypeDefinition:
    if not env:
        raise UsageError("an environment is needed", fix="For example: mosaic train --env CartPole-v1")
    catalog = WorkerCatalog()
    if worker:
        return catalog.registry.require(worker)
    trainers = [definition.train for definition in catalog.registry.all() if definition.train]
    spelled = {name.lower(): name for train in trainers for name in train.algorithms}
    config = UnifiedRunConfig(task=env, algorithm=spelled.get(algo.lower(), algo))
    return WorkerOrchestrator(catalog.registry).select_worker(config)


@contextmanager
def _sigterm_as_ctrl_c() -> Generator[None]:
    """Within, being asked to end keeps what was learnt, as Ctrl-C does."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


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


def _result_row(result: TrainResult, definition: WorkerTypeDefinition) -> Mapping[str, Any]:
    return {
        "out": str(result.out),
        "status": result.status,
        "steps": result.step,
        "mean_return": result.mean_return,
        "wall_s": result.wall_s,
        "slot": _slot(result, definition),
    }


def _print_result(result: TrainResult, request: TrainRequest) -> None:
    mean = "" if result.mean_return is None else f", mean return {result.mean_return:.1f} in its evaluation"
    write_line(f"Trained: {result.step:,} steps in {result.wall_s:.0f} s{mean}")
    write_line(f"Policy:  {shlex.quote(_shown(result.out))}")
    operator = {
        "id": request.algo.lower(),
        "task": request.env_id,
        "workers": {"agent": _slot(result, request.definition)},
    }
    write_line("\nAs an operator of an experiment file:")
    head, _, tail = json.dumps(operator, ensure_ascii=False).partition('"workers": ')
    write_line(f'  {head.rstrip()}\n   "workers": {tail}')
