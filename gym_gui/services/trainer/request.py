"""Training requests: checks all that can be known before a training is launched."""

from __future__ import annotations

import json
import platform
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from gym_gui.core.clock import new_ulid
from gym_gui.core.errors import UnknownNameError, UsageError
from gym_gui.core.experiment.named_training_groups import group_name
from gym_gui.core.formats import check_format
from gym_gui.core.trusted.subjects import RequiredSubject, Subject
from gym_gui.core.trusted.trust import TYPED, Origin, require
from gym_gui.core.validation import folder_name
from gym_gui.envs import needs_of, resolve
from gym_gui.services.compatibility import known_paradigm, training_incompatibilities
from gym_gui.services.trainer.settings_flags import flags_of, texts_of_flags
from gym_gui.services.trainer.training_folder import POLICY, REQUEST, RunFolder
from gym_gui.services.trainer.training_records import RunLimits
from gym_gui.services.trainer.training_settings import AlgorithmSchema, agents_incompatibility, read_schemas
from gym_gui.version import __version__
from gym_gui.workers.named_resources import is_local_address
from gym_gui.workers.registry import TrainSpec, WorkerTypeDefinition
from mosaic_worker.checkpoint import holds_checkpoint, read_description
from mosaic_worker.worker import LoadError

REQUEST_FORMAT = 1
"""Format of ``train.json``."""

_OWN_FLAGS = {
    "algo": "Give the algorithm once, as --algo",
    "env_id": "Give the environment once, as --env",
    "seed": "Give the seed once, as --seed",
    "out": "Give the folder once, as --out",
    "resume": "Name the run folder once, as --resume",
}


@dataclass(frozen=True)
class TrainRequest:
    """A checked training request. Create it with :meth:`checked`.

    Attributes:
        definition: The worker that trains.
        spec: The worker's training section.
        algo: Name of the algorithm.
        env_id: Canonical id of the environment.
        seed: The only seed.
        out: The run folder, absolute.
        settings: Settings that the user has given.
        defaults: Values of the other settings in the worker's schema; empty without a schema.
        extra: More arguments, for a worker without a schema.
        resume: Whether to resume the training in ``out``.
        overwrite: Whether to replace a policy in ``out``.
        title: Title for people.
        run_id: Id of the training.
        group: Name of the group of trainings that differ only in their seed; empty for none.
    """

    definition: WorkerTypeDefinition
    spec: TrainSpec
    algo: str
    env_id: str
    seed: int
    out: Path
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])
    extra: tuple[str, ...] = ()
    resume: bool = False
    overwrite: bool = False
    title: str = ""
    run_id: str = field(default_factory=new_ulid)
    group: str = ""

    @classmethod
    def checked(
        cls,
        definition: WorkerTypeDefinition,
        *,
        algo: str,
        env: str,
        seed: int = 1,
        out: Path | None = None,
        settings: Mapping[str, Any] | None = None,
        texts: Mapping[str, str] | None = None,
        extra: Sequence[str] = (),
        resume: bool = False,
        overwrite: bool = False,
        title: str = "",
        run_id: str = "",
        group: str = "",
        action: str = "",
        observation: str = "",
        origin: Origin = TYPED,
    ) -> TrainRequest:
        """Check a request and return it.

        Args:
            definition: The worker.
            algo: Name of the algorithm, in any case.
            env: The environment, under any name :func:`gym_gui.envs.resolve` accepts.
            seed: The only seed of the training.
            out: The run folder; by default ``runs/<algo>_<env>_seed<seed>``, and in a group
                ``runs/<group>_<env>/seed<seed>``.
            settings: Settings for the worker.
            texts: More settings, as a person types them.
            extra: More settings, as command-line options.
            resume: Whether to resume the training in ``out``.
            overwrite: Whether to replace a policy in ``out``.
            title: Title for people.
            run_id: Id of the training; a new one by default.
            group: Name of the group.
            action: Kind of the environment's actions (``discrete``, ``continuous``, …), if known.
            observation: Kind of its observations (``vector``, ``image``), if known.
            origin: The file that names the environment, if a file does.

        Raises:
            UnknownNameError: The algorithm, environment or setting is unknown. The message names the
                nearest.
            UsageError: The worker does not train, or not in this kind of environment, or a setting is out
                of range or of the wrong type.
        """
        if definition.train is None:
            raise UsageError(
                f"worker {definition.type_id} does not train", fix="`mosaic workers list` shows which do"
            )
        name = _algorithm(definition, definition.train, algo)
        spec = resolve(env, origin=origin)
        require([*needs_of(spec, {}), *_needs_of_record(settings or {}, extra, out)], origin)
        schemas = read_schemas(definition)
        schema = schemas.get(name)
        wrong = training_incompatibilities(definition, spec)
        if schema is not None and (reason := schema.incompatibility(action, observation)):
            wrong = [*wrong, f"{schema.title or name}: {reason}"]
        if wrong:
            raise UsageError(f"{definition.type_id} cannot train in {spec.id}: {'; '.join(wrong)}")
        if other := agents_incompatibility(name, schemas, spec.id, known_paradigm(spec)):
            raise UsageError(other)
        if seed < 0:
            raise UsageError(f"the seed is {seed}, but must not be negative")
        given, rest = _settings(schema, settings or {}, texts or {}, extra)
        defaults = {} if schema is None else schema.defaults
        if group:
            folder = Path(group_name(folder_name(group, "the name of a group"), spec.id)) / f"seed{seed}"
        else:
            folder = Path(re.sub(r"[^\w.-]+", "_", f"{name}_{spec.id}_seed{seed}"))
        return cls(
            definition,
            definition.train,
            name,
            spec.id,
            seed,
            (out or Path("runs") / folder).expanduser().absolute(),
            settings=given,
            defaults={key: value for key, value in defaults.items() if key not in (*given, "env_id", "seed")},
            extra=rest,
            resume=resume,
            overwrite=overwrite,
            title=title,
            run_id=run_id or new_ulid(),
            group=group,
        )

    def arguments(self) -> list[str]:
        """Return the command-line arguments of the worker's training entry."""
        own = {"--algo": self.algo, "--env-id": self.env_id, "--seed": str(self.seed), "--out": str(self.out)}
        resume = ["--resume"] if self.resume else []
        return (
            [part for pair in own.items() for part in pair] + resume + flags_of(self.settings) + [*self.extra]
        )

    @property
    def train_json(self) -> SavedRequest:
        """Content of ``train.json`` for the request."""
        return SavedRequest(
            self.run_id,
            self.definition.type_id,
            self.algo,
            self.env_id,
            self.seed,
            self.title,
            self.settings,
            {**self.defaults, **self.settings},
            self.extra,
            self.group,
        )

    def memory_mb(self, share_mb: int) -> int | None:
        """Return the memory in MB that the training may use if the user sets no limit.

        It is the worker's own limit plus the memory of the replay buffer, up to ``share_mb``. The worker
        refuses a buffer that does not fit before it trains, because only the worker knows the size of
        observations.

        Args:
            share_mb: Share of the machine's memory that belongs to the training's cores.

        Returns:
            The memory in MB, or ``None`` if the worker sets no limit.
        """
        own = self.definition.limits.memory_mb
        schema = read_schemas(self.definition).get(self.algo)
        if own is None or schema is None:
            return own
        return max(own, min(own + schema.remembered_mb(self.settings), share_mb))

    def row(self, limits: RunLimits | None = None) -> dict[str, Any]:
        """Return the content of ``train.json``."""
        return {
            "format_version": REQUEST_FORMAT,
            "run_id": self.run_id,
            "title": self.title,
            "group": self.group,
            "worker": self.definition.type_id,
            "algorithm": self.algo,
            "env_id": self.env_id,
            "seed": self.seed,
            "given": dict(self.settings),
            "settings": {**self.defaults, **self.settings},
            "arguments": list(self.extra),
            "limits": None if limits is None else asdict(limits),
            "resumed": self.resume,
            "versions": {
                "mosaic": __version__,
                "python": platform.python_version(),
                self.definition.type_id: self.definition.version,
            },
            "launched_at": time.time(),
        }


_RUN_ID = re.compile(r"[0-9A-Za-z_-][0-9A-Za-z_.-]{0,63}")


def run_id_of(written: object) -> str:
    """Return a training's id from a record, after a check that it can be a file name.

    Raises:
        ValueError: The value is not an id.
    """
    if not isinstance(written, str) or _RUN_ID.fullmatch(written) is None:
        raise ValueError(f"{str(written)[:80]!r} is not a training id")
    return written


@dataclass(frozen=True)
class SavedRequest:
    """Content of ``train.json`` of a launched training.

    Attributes:
        run_id: Id of the training.
        worker: Id of the worker.
        algorithm: Name of the algorithm.
        env_id: Canonical id of the environment.
        seed: The only seed.
        title: Title for people.
        given: Settings that the user has given.
        settings: All settings that are known.
        arguments: More arguments, for a worker without a schema.
        group: Name of the group; empty for none.
    """

    run_id: str
    worker: str
    algorithm: str
    env_id: str
    seed: int
    title: str
    given: Mapping[str, Any]
    settings: Mapping[str, Any]
    arguments: tuple[str, ...]
    group: str = ""

    @classmethod
    def read(cls, folder: Path) -> SavedRequest:
        """Read ``train.json`` of a run folder or, for a training without one, its ``policy.json``.

        Raises:
            UsageError: Both files are missing, or the file is damaged.
        """
        row = RunFolder(folder).read(REQUEST)
        if row is not None:
            check_format(str(folder / REQUEST), row.get("format_version"), REQUEST_FORMAT)
        if row is None and holds_checkpoint(folder):
            return cls._of_policy(folder)
        if row is None:
            raise UsageError(
                f"{folder} is not the run folder of a training: it contains neither {REQUEST} nor {POLICY}"
            )
        try:
            return cls(
                run_id=run_id_of(row["run_id"]),
                worker=str(row["worker"]),
                algorithm=str(row["algorithm"]),
                env_id=str(row["env_id"]),
                seed=int(row["seed"]),
                title=str(row.get("title", "")),
                given=dict(row.get("given", {})),
                settings=dict(row.get("settings", {})),
                arguments=tuple(map(str, row.get("arguments", ()))),
                group=str(row.get("group", "")),
            )
        except (KeyError, TypeError, ValueError) as error:
            what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            raise UsageError(f"{folder / REQUEST} is damaged: {what}") from error

    @classmethod
    def _of_policy(cls, folder: Path) -> SavedRequest:
        try:
            policy = read_description(folder)
        except LoadError as error:
            raise UsageError(str(error)) from error
        return cls(
            new_ulid(),
            policy.worker,
            policy.algorithm,
            policy.env_id,
            policy.seed,
            "",
            {},
            policy.config,
            (),
        )


def _algorithm(definition: WorkerTypeDefinition, spec: TrainSpec, algo: str) -> str:
    algorithms = {name.lower(): name for name in spec.algorithms}
    found = algorithms.get(algo.lower().replace("-", "_"), algorithms.get(algo.lower()))
    if found is None:
        known = f"Known: {', '.join(spec.algorithms)}" if algorithms else "Its worker.toml names none"
        raise UnknownNameError(f"algorithm of {definition.type_id}", algo, spec.algorithms, hint=known)
    return found


def _needs_of_record(
    settings: Mapping[str, Any], extra: Sequence[str], folder: Path | None
) -> Iterator[RequiredSubject]:
    """Yield the permissions that a resumed training needs because of its record."""
    address = settings.get("address")  # of a cluster, which may run code and make others run code
    if isinstance(address, str) and address and not is_local_address(address):
        yield RequiredSubject(Subject("server", address), address, "trains on a cluster at")
    pool = settings.get("pool")
    for entry in map(str.strip, pool.split(",")) if isinstance(pool, str) else ():
        if _is_path(entry):
            yield RequiredSubject(
                Subject("file", str(Path(entry).expanduser().resolve())), entry, "meets policies of"
            )
    if extra:
        yield RequiredSubject(
            arguments_subject(folder or Path(), extra), " ".join(extra)[:200], "passes to its worker"
        )


def _is_path(entry: str) -> bool:
    """Return whether an entry of a pool is a path of a policy or tournament, not the name of a behavior."""
    if not entry or entry.startswith("library:"):
        return False
    return "/" in entry or Path(entry).suffix != "" or Path(entry).expanduser().exists()


def arguments_subject(folder: Path, arguments: Sequence[str]) -> Subject:
    """Return the permission that is needed to pass recorded arguments to a training's worker.

    Args:
        folder: The run folder. The permission to use its files does not include the arguments.
        arguments: The arguments.
    """
    told = sha256(json.dumps([*arguments]).encode()).hexdigest()
    return Subject("arguments", str(folder.expanduser().resolve()), told)


def _settings(
    schema: AlgorithmSchema | None,
    settings: Mapping[str, Any],
    texts: Mapping[str, str],
    extra: Sequence[str],
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the checked settings from all sources, and the arguments that only the worker can check."""
    _check_own((*settings, *texts), extra)
    if schema is None:
        given = {**settings, **texts}
        flags_of(given)
        return given, tuple(extra)
    typed = schema.checked_texts({**texts, **texts_of_flags(extra, schema.properties)})
    return {**schema.checked(settings), **typed}, ()


def _check_own(names: Sequence[str], extra: Sequence[str]) -> None:
    """Refuse settings that have separate options, because two values could contradict."""
    flags = {word: word[2:].partition("=")[0].replace("-", "_") for word in extra if word.startswith("--")}
    for shown, name in {**{name: name for name in names}, **flags}.items():
        fix = _OWN_FLAGS.get(name, _OWN_FLAGS.get(name.removeprefix("no_"), ""))
        if fix:
            raise UsageError(f"{shown} is not passed on to the worker", fix=fix)
