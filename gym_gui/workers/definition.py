"""What is known of a worker type without importing it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, cast

from gym_gui.core.enums import WorkerKind
from gym_gui.core.errors import ExperimentError, UnknownNameError, UsageError
from gym_gui.core.experiment.prompt_inputs import VIEW_SETTINGS
from gym_gui.core.seeding import check_seed
from gym_gui.workers.capabilities import WorkerCapabilities
from gym_gui.workers.settings.settings_check import nearest
from gym_gui.workers.settings.settings_schema import (
    SEED_OF_SLOT,
    Setting,
    settings_from_schema,
    settings_from_values,
)

ENGINE_SETTINGS: Final = frozenset({"gpu", "address", "token", "tls_root"})
"""Settings that the engine acts on, whichever worker plays."""
_OLDER: Final = frozenset({"key_bindings"})
"""Settings of people in older experiment files: here the keys are the player's own, set in the window."""

Carrier = Literal["socket", "jsonl"]
Need = Literal["no", "optional", "required"]
Source = Literal["bundled", "user", "package", "code"]


@dataclass(frozen=True)
class LaunchSpec:
    """How a worker's process is started.

    Attributes:
        command: Command line of a foreign worker; empty for one written with the SDK.
        carrier: How messages travel: ``socket`` (framed) or ``jsonl`` (stdin/stdout).
        python: Interpreter of its own, absolute; ``None`` for the engine's.
        family: The family of environments whose interpreter that is; empty where it belongs to no family.
        env: Variables added to the process's environment.
        inherits: Variables of the user's environment that it gets besides the usual ones.
        heartbeat_s: Seconds of silence after which the worker counts as hung.
        session_secret: Its slots get a secret that such workers of a session share.
        python_path: Folders that make its package importable.
    """

    command: tuple[str, ...] = ()
    carrier: Carrier = "socket"
    python: Path | None = None
    family: str = ""
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    inherits: tuple[str, ...] = ()
    heartbeat_s: float | None = None
    session_secret: bool = False
    python_path: tuple[Path, ...] = ()


@dataclass(frozen=True)
class TrainSpec:
    """How training is started.

    Attributes:
        entry: Module run with ``python -m``.
        algorithms: Names accepted by ``--algo``.
        schema: File that declares the settings of each algorithm, absolute, or ``None``.
    """

    entry: str
    algorithms: tuple[str, ...] = ()
    schema: Path | None = None


@dataclass(frozen=True)
class ImportSpec:
    """How policies that another program has written are taken over.

    Attributes:
        entry: Module run with ``python -m``.
        formats: Endings of the files that it reads, in lower case, as ``.zip``.
    """

    entry: str
    formats: tuple[str, ...] = ()


@dataclass(frozen=True)
class WorkerFile:
    """A file that ``mosaic workers install`` fetches.

    Attributes:
        name: Its name in the worker's folder of files.
        url: Where it is published.
        sha256: What it has to be, or ``published``.
        version: Which one it is.
        holds: Members that it has, where it is an archive.
        places: Where systems keep it; taken from there before it is fetched.
        package: The system's package that brings it there.
    """

    name: str
    url: str
    sha256: str
    version: str = ""
    holds: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    package: str = ""


@dataclass(frozen=True)
class BuildSpec:
    """How a worker's program is made from its sources.

    Attributes:
        command: Command line, run in the worker's folder.
        sources: Files and folders that it is made from, relative to the worker's folder.
    """

    command: tuple[str, ...]
    sources: tuple[str, ...] = ()


@dataclass(frozen=True)
class WorkerInputs:
    """What a worker wants in a decision beside observation and mask."""

    text: Need = "no"
    image: Need = "no"
    messages: Need = "no"
    facts: Need = "no"
    state: Need = "no"
    legal_actions: Need = "no"

    @property
    def wanted(self) -> tuple[str, ...]:
        """Names of inputs that are sent where the slot has them."""
        return tuple(name for name, need in vars(self).items() if need != "no")

    @property
    def required(self) -> tuple[str, ...]:
        """Names of inputs without which the worker cannot play."""
        return tuple(name for name, need in vars(self).items() if need == "required")


@dataclass(frozen=True)
class ResourceLimits:
    """Limits of one worker process.

    Attributes:
        memory_mb: Resident memory in MB, watched; ``None`` for no limit.
        cpu_cores: Cores it may use; ``None`` for no limit.
    """

    memory_mb: int | None = None
    cpu_cores: float | None = None


@dataclass(frozen=True)
class WorkerTypeDefinition:
    """Static definition of a worker type: everything known without importing it.

    Attributes:
        type_id: The worker's id, as experiment files write it.
        display_name: Name shown to people.
        description: One sentence.
        capabilities: What it can be trained on, and the spaces it can play.
        module_path: Its package.
        entry_point: ``package.module:Class`` of an SDK worker; empty for a command.
        config_schema: Pydantic model that checks its settings, if it has one.
        pip_dependencies: Requirement strings.
        bare_dependencies: Requirement strings, installed without what their own metadata asks for.
        system_dependencies: ``command`` or ``command:debian-package``.
        required_workers: Workers whose packages it imports.
        files: Files that it needs and no package brings.
        build: How its program is made from its sources, or ``None``.
        kind: The badge it wears.
        version: Its own version.
        aliases: Other names that are accepted.
        launch: How its process is started.
        train: How training is started, or ``None``.
        imports: How policies of other programs are taken over, or ``None``.
        reread: Module run with ``python -m`` that reads recorded replies anew, or empty.
        inputs: What it wants beside observation and mask.
        limits: Limits of its process.
        default_policy_id: Policy id that is registered for it, or empty.
        default_settings: Settings where the experiment gives none, over the defaults of ``settings``; ask
            :meth:`with_defaults`.
        extra: Extra of ``mosaic-gym-gui`` that brings its dependencies, or empty.
        requirements: Requirements file, absolute, or ``None``.
        folder: Where its manifest lies, or ``None`` when registered from code.
        source: Where it was found.
        settings: What its manifest says of its settings; ask :attr:`settings_schema`.
    """

    type_id: str
    display_name: str
    description: str
    capabilities: WorkerCapabilities
    module_path: str = ""
    entry_point: str = ""
    config_schema: type | None = None
    pip_dependencies: Sequence[str] = ()
    bare_dependencies: Sequence[str] = ()
    system_dependencies: Sequence[str] = ()
    required_workers: Sequence[str] = ()
    files: tuple[WorkerFile, ...] = ()
    build: BuildSpec | None = None
    kind: WorkerKind = WorkerKind.BASELINE
    version: str = "0"
    aliases: Sequence[str] = ()
    launch: LaunchSpec = field(default_factory=LaunchSpec)
    train: TrainSpec | None = None
    imports: ImportSpec | None = None
    inputs: WorkerInputs = WorkerInputs()
    limits: ResourceLimits = ResourceLimits()
    default_policy_id: str = ""
    default_settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    extra: str = ""
    requirements: Path | None = None
    folder: Path | None = None
    source: Source = "code"
    settings: tuple[Setting, ...] = ()
    reread: str = ""

    def __post_init__(self) -> None:
        for name in (
            *("pip_dependencies", "bare_dependencies", "system_dependencies"),
            *("required_workers", "aliases"),
        ):
            object.__setattr__(self, name, tuple(getattr(self, name)))

    @cached_property
    def settings_schema(self) -> tuple[Setting, ...]:
        """Its settings: as its manifest says, or its model, or as its default values show; and its seed.

        Each has the default that holds, wherever the manifest gives it.
        """
        given = self.default_settings
        if self.settings:
            own = self.settings
        elif self.config_schema is not None:
            own = settings_from_schema(cast("Any", self.config_schema).model_json_schema())
        else:
            own = settings_from_values(given)
        own = tuple(each.with_default(given[each.name]) if each.name in given else each for each in own)
        if self.kind is WorkerKind.HUMAN or any(setting.name == SEED_OF_SLOT.name for setting in own):
            return own
        return (*own, SEED_OF_SLOT)

    def with_defaults(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """What a slot is set to: what it gives, and the worker's default for whatever it leaves out."""
        own = {each.name: each.default for each in self.settings_schema if each.default is not None}
        return {**own, **self.default_settings, **settings}

    def placed(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Settings as its process gets them: a command runs in a folder of its own, with absolute paths."""
        if not self.launch.command:
            return dict(settings)
        files = {setting.name for setting in self.settings_schema if setting.kind in ("file", "program")}
        return {
            name: str(Path(value).absolute()) if name in files and value else value
            for name, value in settings.items()
        }

    def check_defaults(self) -> None:
        """Refuse a description whose own defaults do not fit it.

        Raises:
            UsageError: Names the setting.
        """
        for setting in self.settings_schema:
            if setting.default is not None and (wrong := setting.problem(setting.default)):
                raise UsageError(
                    f"settings.{setting.name} of {self.type_id}: its default does not fit: {wrong}",
                    fix="Change the default or the limits",
                )
        self.check_settings(self.default_settings, "[defaults]")

    def check_settings(self, values: Mapping[str, Any], where: str) -> None:
        """Refuse settings of a slot that the worker does not have or cannot take.

        A worker that does not say which settings it has is given whatever stands there.

        Args:
            values: Those that are given; what is left out is the worker's own business.
            where: In what they stand, for the message.

        Raises:
            UsageError: One is unknown (the nearest is named) or its value is none of its values.
        """
        schema = self.settings_schema
        if self.settings or self.config_schema is not None:
            known = {setting.name for setting in schema} | {SEED_OF_SLOT.name}
            read = {*known, *ENGINE_SETTINGS, *(VIEW_SETTINGS if self.inputs.wanted else ())}
            if self.kind is WorkerKind.HUMAN:
                read |= _OLDER
            for name in values:
                if name not in read:
                    raise UnknownNameError(f"setting of {self.type_id}", name, known, where=where)
        for setting in (*schema, SEED_OF_SLOT):
            value = values.get(setting.name)
            if value is not None and (wrong := setting.problem(value)):
                fix = nearest(setting.schema, value) or "Change it, or leave it out"
                raise ExperimentError(f"{where}, {self.type_id}: {wrong}", fix=fix)
        if values.get(SEED_OF_SLOT.name) is not None:
            check_seed(values[SEED_OF_SLOT.name])
