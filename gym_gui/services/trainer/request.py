"""What a training is asked for with, and what it says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gym_gui.core.errors import UnknownNameError, UsageError
from gym_gui.envs import resolve
from gym_gui.workers.registry import TrainSpec, WorkerTypeDefinition

_OWN_FLAGS = {
    "--algo": "Give the algorithm once, as --algo",
    "--env-id": "Give the environment once, as --env",
    "--seed": "Give the seed once, as --seed",
    "--out": "Give the folder once, as --out",
    "--json": "Leave it out; the training always reports to MOSAIC in JSON",
}


@dataclass(frozen=True)
class TrainRequest:
    """A training that was checked: everything that can be known before it is launched.

    Attributes:
        definition: The worker that trains.
        spec: How the worker trains.
        algo: One of its algorithms.
        env_id: The environment's canonical id.
        seed: The one seed.
        out: Folder of the policy.
        extra: More arguments for the worker, passed on as they are.
    """

    definition: WorkerTypeDefinition
    spec: TrainSpec
    algo: str
    env_id: str
    seed: int
    out: Path
    extra: tuple[str, ...] = ()

    @classmethod
    def checked(
        cls,
        definition: WorkerTypeDefinition,
        *,
        algo: str,
        env: str,
        seed: int = 1,
        out: Path | None = None,
        extra: Sequence[str] = (),
    ) -> TrainRequest:
        """Check a training.

        Args:
            definition: The worker.
            algo: Its algorithm, in any case.
            env: The environment, under any name :func:`gym_gui.envs.resolve` accepts.
            seed: The one seed of the training.
            out: Folder of the policy; ``runs/<algo>_<env>_seed<seed>`` by default.
            extra: More arguments for the worker.

        Raises:
            UnknownNameError: No such algorithm or environment; names the nearest.
            UsageError: The worker does not train at all, or not in this kind of environment.
        """
        if definition.train is None:
            raise UsageError(
                f"worker {definition.type_id} does not train", fix="`mosaic workers list` shows which do"
            )
        algorithms = {name.lower(): name for name in definition.train.algorithms}
        if algo.lower() not in algorithms:
            raise UnknownNameError(
                f"algorithm of {definition.type_id}",
                algo,
                definition.train.algorithms,
                hint=_known(algorithms),
            )
        spec = resolve(env)
        wrong = definition.capabilities.mismatches(paradigm=spec.paradigm, env_type=spec.env_type)
        if wrong:
            raise UsageError(f"{definition.type_id} cannot train in {spec.id}: {'; '.join(wrong)}")
        if seed < 0:
            raise UsageError(f"the seed is {seed}, but must not be negative")
        _check_extra(extra)
        name = re.sub(r"[^\w.-]+", "_", f"{algorithms[algo.lower()]}_{spec.id}_seed{seed}")
        return cls(
            definition,
            definition.train,
            algorithms[algo.lower()],
            spec.id,
            seed,
            (out or Path("runs") / name).expanduser().absolute(),
            tuple(extra),
        )

    def arguments(self) -> list[str]:
        """What follows ``python -m ENTRY``."""
        own = {"--algo": self.algo, "--env-id": self.env_id, "--seed": str(self.seed), "--out": str(self.out)}
        return [part for pair in own.items() for part in pair] + ["--json", *self.extra]


@dataclass(frozen=True)
class TrainProgress:
    """How far a training is.

    Attributes:
        step: Environment steps so far.
        total_steps: Steps in all.
        mean_return: Mean return of the last finished episodes, or ``None`` before the first.
        steps_per_s: Speed.
        elapsed_s: Seconds since it began.
        remaining_s: Estimated seconds until it ends.
    """

    step: int
    total_steps: int
    mean_return: float | None
    steps_per_s: float
    elapsed_s: float
    remaining_s: float

    @classmethod
    def from_event(cls, event: Mapping[str, Any]) -> TrainProgress:
        """Read a ``progress`` event.

        Raises:
            KeyError: A field is missing.
        """
        return cls(**{name: event[name] for name in cls.__dataclass_fields__})


@dataclass(frozen=True)
class TrainResult:
    """A training that is over, its policy kept.

    Attributes:
        out: Folder of the policy.
        status: ``completed``, or ``stopped`` by a person.
        step: Environment steps trained.
        mean_return: Mean return of the evaluation that follows a completed training.
        wall_s: Seconds it took.
    """

    out: Path
    status: str
    step: int
    mean_return: float | None
    wall_s: float


def _known(algorithms: Mapping[str, str]) -> str:
    return f"Known: {', '.join(algorithms.values())}" if algorithms else "It names none in its worker.toml"


def _check_extra(extra: Sequence[str]) -> None:
    """Arguments that are given separately must not come twice and contradict."""
    for argument in extra:
        flag = argument.partition("=")[0].replace("_", "-").replace("--no-", "--")
        if flag in _OWN_FLAGS:
            raise UsageError(f"{argument} is not passed on to the worker", fix=_OWN_FLAGS[flag])
