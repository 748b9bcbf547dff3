"""Implements ``mosaic train``: checks the arguments and starts one training or a group of trainings."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gym_gui.cli.errors import DONE, INTERRUPTED, print_message
from gym_gui.cli.output import write_json
from gym_gui.cli.training.in_foreground import print_result, result_row, trained
from gym_gui.cli.training.train_group import train_group
from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.errors import UsageError
from gym_gui.services.bootstrap import bootstrap_default_services
from gym_gui.services.compatibility import known_paradigm
from gym_gui.services.trainer import TrainRequest, TrainResult
from gym_gui.services.trainer.foreground import resumed
from gym_gui.services.trainer.training_settings import usual_algorithm
from gym_gui.services.worker_orchestrator import UnifiedRunConfig
from gym_gui.workers.definition import WorkerTypeDefinition

if TYPE_CHECKING:
    from gym_gui.cli.running.executor_commands import ExecutorOptions

_ALGORITHM, _SEED = "ppo", 1
MOST_SEEDS = 1000
"""Largest number of trainings in a group."""


def train_policy(
    worker: str = "",
    *,
    algo: str = "",
    env: str = "",
    seed: int | None = None,
    seeds: str = "",
    group: str = "",
    steps: int | None = None,
    settings: Sequence[str] = (),
    out: Path | None = None,
    resume: Path | None = None,
    overwrite: bool = False,
    background: bool = False,
    priority: int = 0,
    elsewhere: ExecutorOptions | None = None,
    extra: Sequence[str] = (),
    as_json: bool = False,
) -> int:
    """Train a policy or a group of policies, and print how to use the result.

    Args:
        worker: Id of the worker that trains; empty to choose the best one.
        algo: One of the worker's algorithms, in any case. By default PPO, or for several agents the
            worker's first algorithm that trains several.
        env: Environment id.
        seed: Seed of a single training.
        seeds: Seeds of a group of trainings instead: their number, or a list (``1,2,5``).
        group: Name of the group; its algorithm by default.
        steps: Environment steps in total.
        settings: Further settings, each ``name=value``.
        out: Run folder, or folder of the group.
        resume: Run folder of a training to resume; worker, algo, env and seed are read from it.
        overwrite: Whether to replace a policy in ``out``.
        background: Whether to queue the training at the trainer daemon and return at once.
        priority: Priority in the background; higher numbers start first.
        elsewhere: Other machines to train on, or the submission to resume there.
        extra: Options of the command line that are settings of the algorithm.
        as_json: Whether to write progress as JSON lines on stderr and one result object on stdout.

    Returns:
        Exit status.

    Raises:
        UsageError: The user can fix the problem; nothing was trained.
        MosaicError: The training failed.
    """
    _check_extra(extra)
    if background:
        _check_background(out, overwrite=overwrite)
    if group and not seeds:
        raise UsageError("--group needs a group of trainings", fix="Add the number of trainings: --seeds 5")
    texts = _assignments(settings) | ({} if steps is None else {"total_steps": str(steps)})
    if resume is not None:
        asked: dict[str, Any] = {"worker": worker, "algo": algo, "env": env, "seed": seed, "seeds": seeds}
        _check_resume(**asked, out=out, overwrite=overwrite, extra=extra, texts=elsewhere and texts)
        if elsewhere is not None:
            from gym_gui.cli.training.remote_train import go_on_training

            return go_on_training(elsewhere, as_json=as_json)
        requests = [resumed(resume, texts, bootstrap_default_services().workers.registry)]
    else:
        definition, algo = _choose(worker, algo, env)
        about: dict[str, Any] = {"algo": algo, "env": env, "texts": texts, "extra": extra}
        requests = _new_requests(definition, seed, seeds, group, out, overwrite=overwrite, **about)
        if not as_json and not worker:
            sys.stderr.write(f"Worker: {definition.type_id}\n")
    if elsewhere is not None:
        from gym_gui.cli.training.remote_train import submit_trainings

        given = [part for name, value in texts.items() for part in ("--set", f"{name}={value}")]
        return submit_trainings(requests, elsewhere, [*given, *extra], as_json=as_json)
    if background:
        from gym_gui.cli.training.background import (
            queue_trainings,  # imports gRPC, not needed in the foreground
        )

        return queue_trainings(requests, priority=priority, as_json=as_json)
    if seeds:
        return train_group(requests, as_json=as_json)
    return _print_ended(trained(requests[0], as_json=as_json), requests[0], as_json=as_json)


def _new_requests(
    definition: WorkerTypeDefinition,
    seed: int | None,
    seeds: str,
    group: str,
    out: Path | None,
    *,
    algo: str,
    **about: Any,
) -> list[TrainRequest]:
    """Return the request for one training, or one request per seed for a group."""
    if not seeds:
        one = _SEED if seed is None else seed
        return [TrainRequest.checked(definition, algo=algo, seed=one, out=out, **about)]
    places = {each: None if out is None else out / f"seed{each}" for each in seeds_of(seeds, seed)}
    about |= {"algo": algo, "group": group or algo.lower()}
    return [TrainRequest.checked(definition, seed=each, out=place, **about) for each, place in places.items()]


def seeds_of(written: str, first: int | None) -> list[int]:
    """Return the seeds of a group: ``5`` means five seeds from ``first`` (default 1) on, ``1,2,5`` is a list.

    Raises:
        UsageError: ``written`` is neither number nor list, or is a list beside ``first``.
    """
    parts = [part.strip() for part in written.split(",") if part.strip()]
    if not parts or not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        raise UsageError(
            f"--seeds {written} is no number of seeds", fix="Give a number (5) or a list (1,2,5)"
        )
    if "," not in written:
        if not 1 <= int(parts[0]) <= MOST_SEEDS:
            raise UsageError(f"a group has 1 to {MOST_SEEDS:,} trainings, not {int(parts[0]):,}")
        first = _SEED if first is None else first
        return list(range(first, first + int(parts[0])))
    if first is not None:
        raise UsageError("--seed cannot be combined with a list of --seeds", fix="Leave --seed out")
    found = [int(part) for part in parts]
    if len(set(found)) < len(found) or len(found) > MOST_SEEDS:
        raise UsageError(f"--seeds {written} names a seed twice", fix="Name each seed once")
    return found


def _print_ended(result: TrainResult, request: TrainRequest, *, as_json: bool) -> int:
    """Print the result of a training; return the exit status."""
    if as_json:
        write_json(result_row(result, request.definition))
    else:
        print_result(result, request.algo, request.env_id, request.definition)
    if result.status == "completed":
        return DONE
    if not as_json:
        print_message("stopped; the policy of the last step is kept")
    return INTERRUPTED


def _check_extra(extra: Sequence[str]) -> None:
    """Raise an error if the arguments for the worker begin with a word instead of an option."""
    if extra and not extra[0].startswith("-"):
        raise UsageError(
            f"{extra[0]!r} is no option of mosaic train", fix="For example: mosaic train --env CartPole-v1"
        )


def _check_background(out: Path | None, *, overwrite: bool) -> None:
    if out is not None or overwrite:
        raise UsageError(
            "--out and --overwrite cannot be combined with --background, which chooses a new run folder",
            fix="Leave them out, or leave out --background",
        )


def _check_resume(**given: Any) -> None:
    named = {"algo": "--algo", "env": "--env", "worker": "--worker", "seed": "--seed", "out": "--out"}
    named |= {"seeds": "--seeds", "overwrite": "--overwrite", "extra": "other options"}
    named |= {"texts": "a setting"}
    twice = [named[name] for name, value in given.items() if value not in ("", None, False, (), [], {})]
    if twice:
        raise UsageError(
            f"--resume reads the training from its folder, so {twice[0]} cannot be given",
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


def _choose(worker: str, algo: str, env: str) -> tuple[WorkerTypeDefinition, str]:
    """Return the worker that trains and the name of the algorithm, with defaults for empty arguments."""
    if not env:
        raise UsageError("an environment is needed", fix="For example: mosaic train --env CartPole-v1")
    services = bootstrap_default_services()
    registry, orchestrator = services.workers.registry, services.new_orchestrator()
    turns = None if algo else known_paradigm(orchestrator.environment(UnifiedRunConfig(env)))
    if turns is not None and turns is not SteppingParadigm.SINGLE_AGENT:
        definition = registry.require(worker) if worker else orchestrator.select_worker(UnifiedRunConfig(env))
        return definition, usual_algorithm(definition, turns)
    algo = algo or _ALGORITHM
    if worker:
        return registry.require(worker), algo
    trainers = [definition.train for definition in registry.all() if definition.train]
    spelled = {name.lower(): name for train in trainers for name in train.algorithms}
    config = UnifiedRunConfig(task=env, algorithm=spelled.get(algo.lower(), algo))
    return orchestrator.select_worker(config), algo
