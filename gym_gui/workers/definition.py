"""Definition of a worker type, as its manifest declares it; the worker is not imported."""

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
"""Slot settings that the engine itself reads, for every worker."""
_OLDER: Final = frozenset({"key_bindings"})
"""Settings of people's slots in older experiment files that are ignored, because the window sets the keys."""

Carrier = Literal["socket", "jsonl"]
Need = Literal["no", "optional", "required"]
Source = Literal["bundled", "user", "package", "code"]


@dataclass(frozen=True)
class LaunchSpec:
    """Declaration of how a worker's process is started.

    Attributes:
        command: Command line of a foreign worker; empty for a worker that uses the SDK.
        carrier: Transport of messages: ``socket`` (framed) or ``jsonl`` (stdin/stdout).
        python: Absolute path of the worker's own interpreter; ``None`` for the engine's.
        family: Family of environments to which the interpreter belongs, or ``""``.
        env: Variables added to the process's environment.
        inherits: Variables of the user's environment that the worker receives besides the usual ones.
        heartbeat_s: Seconds of silence after which the worker counts as hung.
        session_secret: Whether the worker's slots get a secret that all such workers of a session share.
        python_path: Folders from which the worker's package can be imported.
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
    """Declaration of how a training of the worker is started.

    Attributes:
        entry: Module run with ``python -m``.
        algorithms: Names accepted by ``--algo``.
        schema: Absolute path of the file that declares each algorithm's settings, or ``None``.
    """

    entry: str
    algorithms: tuple[str, ...] = ()
    schema: Path | None = None


@dataclass(frozen=True)
class ImportSpec:
    """Declaration of how the worker imports policies of another program.

    Attributes:
        entry: Module run with ``python -m``.
        formats: Suffixes of the files that the module reads, in lower case, such as ``.zip``.
    """

    entry: str
    formats: tuple[str, ...] = ()


@dataclass(frozen=True)
class WorkerFile:
    """File that a worker needs and ``mosaic workers install`` downloads.

    Attributes:
        name: Name of the file in the worker's folder of files.
        url: Address of the file.
        sha256: Expected SHA-256; ``published`` for the checksum published beside the file.
        version: Version of the file, or ``""``.
        holds: Members that the file must contain, if it is an archive.
        places: Paths at which operating systems install the file; a copy there makes a download needless.
        package: Package of the operating system that installs the file in one of ``places``.
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
    """Declaration of how a worker's program is built from its sources.

    Attributes:
        command: Command line, run in the worker's folder.
        sources: Source files and folders, relative to the worker's folder.
    """

    command: tuple[str, ...]
    sources: tuple[str, ...] = ()


@dataclass(frozen=True)
class WorkerInputs:
    """Inputs besides observation and mask that a worker needs: each ``no``, ``optional`` or ``required``."""

    text: Need = "no"
    image: Need = "no"
    messages: Need = "no"
    facts: Need = "no"
    state: Need = "no"
    legal_actions: Need = "no"

    @property
    def wanted(self) -> tuple[str, ...]:
        """Names of inputs that the worker gets if the slot has them."""
        return tuple(name for name, need in vars(self).items() if need != "no")

    @property
    def required(self) -> tuple[str, ...]:
        """Names of inputs without which the worker cannot play."""
        return tuple(name for name, need in vars(self).items() if need == "required")


@dataclass(frozen=True)
class ResourceLimits:
    """Resource limits of one worker process.

    Attributes:
        memory_mb: Resident memory in MB above which the process is ended; ``None`` for no limit.
        cpu_cores: Number of cores; ``None`` for no limit.
    """

    memory_mb: int | None = None
    cpu_cores: float | None = None


@dataclass(frozen=True)
class WorkerTypeDefinition:
    """Definition of a worker type: everything that MOSAIC knows about it without importing it.

    Attributes:
        type_id: The worker's id in experiment files.
        display_name: Name in the window and in reports.
        description: One sentence about the worker.
        capabilities: Environments in which the worker can train, and spaces that it can play.
        module_path: Package of the worker.
        entry_point: ``package.module:Class`` of an SDK worker; empty for a command.
        config_schema: Pydantic model that checks the worker's settings, or ``None``.
        pip_dependencies: Requirement strings.
        bare_dependencies: Requirement strings that are installed without their own dependencies.
        system_dependencies: Programs that must be on the path, as ``command`` or ``command:debian-package``.
        required_workers: Workers whose packages this worker imports.
        files: Files that the worker needs and no package installs.
        build: How the worker's program is built from its sources, or ``None``.
        kind: Kind of agent, shown as a badge.
        version: The worker's own version.
        aliases: Other accepted names.
        launch: How the worker's process is started.
        train: How training is started, or ``None``.
        imports: How policies of other programs are imported, or ``None``.
        reread: Module run with ``python -m`` that parses recorded replies again, or ``""``.
        inputs: Inputs that the worker needs besides observation and mask.
        limits: Resource limits of the worker's process.
        default_policy_id: Policy id that is registered for the worker, or ``""``.
        default_settings: Settings for slots that do not set them, which override the defaults of
            ``settings``; use :meth:`with_defaults`.
        extra: Extra of ``mosaic-gym-gui`` that installs the worker's dependencies, or ``""``.
        requirements: Absolute path of the worker's requirements file, or ``None``.
        folder: Folder of the worker's manifest, or ``None`` if it was registered from code.
        source: Where the worker was found: ``bundled``, ``user``, ``package`` or ``code``.
        settings: Settings that the worker's manifest declares; use :attr:`settings_schema`.
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
        """Settings of the worker: from its manifest, its model, or its default values; and its seed.

        Each setting has the default that applies, wherever the manifest gives it.
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
        """Return the settings of a slot, completed with the worker's defaults."""
        own = {each.name: each.default for each in self.settings_schema if each.default is not None}
        return {**own, **self.default_settings, **settings}

    def placed(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return settings for the process, with absolute paths if it is a command run in another folder."""
        if not self.launch.command:
            return dict(settings)
        files = {setting.name for setting in self.settings_schema if setting.kind in ("file", "program")}
        return {
            name: str(Path(value).absolute()) if name in files and value else value
            for name, value in settings.items()
        }

    def check_defaults(self) -> None:
        """Check that the default values of the worker's settings are valid.

        Raises:
            UsageError: A default is not valid; the message names the setting.
        """
        for setting in self.settings_schema:
            if setting.default is not None and (wrong := setting.problem(setting.default)):
                raise UsageError(
                    f"settings.{setting.name} of {self.type_id}: its default is not valid: {wrong}",
                    fix="Change the default or the limits",
                )
        self.check_settings(self.default_settings, "[defaults]")

    def check_settings(self, values: Mapping[str, Any], where: str) -> None:
        """Check that the worker has the given settings of a slot, and that their values are valid.

        A worker that does not declare its settings accepts all names.

        Args:
            values: The given settings; settings that are left out are not checked.
            where: Key path of the settings in their file, for the message.

        Raises:
            UsageError: A setting is unknown (the message suggests the nearest), or its value is not valid.
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
