"""Reads and checks ``worker.toml``, the description of a worker; the worker is not imported."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from gym_gui.core.declared_keys import Key
from gym_gui.core.enums import SteppingParadigm, WorkerKind
from gym_gui.core.errors import UsageError
from gym_gui.core.interpreters import interpreter_of
from gym_gui.core.paths import data_dir
from gym_gui.core.toml_positions import place_in_toml
from gym_gui.workers.bundled import worker_folder
from gym_gui.workers.capabilities import WorkerCapabilities
from gym_gui.workers.definition import BuildSpec, WorkerFile
from gym_gui.workers.manifest_keys import FILE, OPTION, SECTIONS, SETTING, TOP, Check, file_name
from gym_gui.workers.registry import (
    ImportSpec,
    LaunchSpec,
    ResourceLimits,
    Source,
    TrainSpec,
    WorkerInputs,
    WorkerTypeDefinition,
)
from gym_gui.workers.settings.settings_check import check_schema
from gym_gui.workers.settings.settings_schema import Setting, settings_from_schema
from gym_gui.workers.settings.settings_table import settings_from_tables

_SETTINGS, _SCHEMA, _FILES = "settings", "schema", "files"
_TABLES = {_SETTINGS: SETTING, _SCHEMA: SETTING, _FILES: FILE}
_MAX_BYTES = 256 * 1024


class ManifestError(UsageError):
    """Error in a ``worker.toml``; the message names the file and the key."""

    def __init__(self, path: Path, problem: str, *, fix: str = "") -> None:
        super().__init__(f"{path}: {problem}", fix=fix)
        self.path = path


def read_manifest(path: Path, *, source: Source = "code") -> WorkerTypeDefinition:
    """Read and check one ``worker.toml``.

    Args:
        path: The ``worker.toml``.
        source: Where the manifest was found, for the record.

    Raises:
        ManifestError: The file cannot be read, is not TOML, or a key is missing, unknown or wrong.
    """
    return parse_manifest(_read_text(path), path, source=source)


def parse_manifest(content: str, path: Path, *, source: Source = "code") -> WorkerTypeDefinition:
    """Return the worker type that a manifest's text defines, as :func:`read_manifest` does.

    ``path`` is the path of the manifest for messages and relative paths; the file need not exist.
    """
    try:
        return _parsed(content, path, source)
    except ManifestError as error:
        error.place = place_in_toml(str(path), content, error.message)
        raise


def _parsed(content: str, path: Path, source: Source) -> WorkerTypeDefinition:
    try:
        data = tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        raise ManifestError(path, f"not valid TOML: {error}") from error
    except RecursionError as error:
        raise ManifestError(path, "nested too deeply") from error
    _check(data, path)
    try:
        return _definition(data, path, source)
    except (OSError, RuntimeError) as error:  # a path no file system has, or ~ of an unknown user
        raise ManifestError(path, f"names an impossible path: {error}") from error


def _read_text(path: Path) -> str:
    try:
        # A pipe or device in place of the file would block, or never end.
        if path.exists() and not path.is_file():
            raise ManifestError(path, "is not a regular file")
        with path.open("rb") as file:
            raw = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise ManifestError(path, f"cannot be read: {error.strerror or error}") from error
    if len(raw) > _MAX_BYTES:
        raise ManifestError(path, f"larger than {_MAX_BYTES // 1024} kB")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ManifestError(path, f"not UTF-8 at byte {error.start}") from error


def _check(data: Mapping[str, Any], path: Path) -> None:
    for name, value in data.items():
        if name == _SETTINGS:
            _check_settings(value, path)
        elif name == _SCHEMA:
            _check_schema(value, data, path)
        elif name == _FILES:
            _check_files(value, path)
        elif name in SECTIONS:
            if not isinstance(value, dict):
                raise ManifestError(path, f"{name} should be a table", fix=f"Write it as [{name}]")
            for key, inner in cast("dict[str, Any]", value).items():
                _check_key(SECTIONS[name], key, inner, f"{name}.{key}", path)
        else:
            _check_key(TOP, name, value, name, path, also={**SECTIONS, **_TABLES})
    for name, key in TOP.items():
        if key.required and name not in data:
            raise ManifestError(path, f"key {name!r} is missing", fix=key.meaning)
    _check_launch(data.get("launch", {}), path)
    if "build" in data and not data["build"].get("command"):
        raise ManifestError(path, "build.command is missing", fix=SECTIONS["build"]["command"].meaning)


def _check_key(
    known: Mapping[str, Key[Check]],
    name: str,
    value: Any,
    shown: str,
    path: Path,
    *,
    also: Mapping[str, object] | None = None,
) -> None:
    key = known.get(name)
    if key is None:
        names = [*known, *(also or ())]
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
        fix = f"Did you mean {near[0]!r}?" if near else f"Known here: {', '.join(names)}"
        raise ManifestError(path, f"unknown key {shown!r}", fix=fix)
    if wrong := key.check(value):
        raise ManifestError(path, f"{shown} is {_short(value)}", fix=f"It should be {wrong}")


def _check_settings(settings: Any, path: Path) -> None:
    if not isinstance(settings, dict):
        raise ManifestError(path, "settings should be a table", fix="Write each as [settings.NAME]")
    for name, setting in cast("dict[str, Any]", settings).items():
        place = f"{_SETTINGS}.{name}"
        if not isinstance(setting, dict):
            raise ManifestError(path, f"{place} should be a table", fix=f"Write it as [{place}]")
        given = cast("dict[str, Any]", setting)
        _check_entry(SETTING, given, place, path)
        for i, option in enumerate(given.get("options", ())):
            _check_entry(OPTION, option, f"{place}.options[{i}]", path)


def _check_files(files: Any, path: Path) -> None:
    if not isinstance(files, dict):
        raise ManifestError(path, "files should be a table", fix="Write each as [files.NAME]")
    for name, file in cast("dict[str, Any]", files).items():
        if wrong := file_name(name):
            raise ManifestError(path, f"files has {_short(name)}", fix=f"It should be {wrong}")
        if not isinstance(file, dict):
            raise ManifestError(path, f"files.{name} should be a table", fix=f"Write it as [files.{name!r}]")
        _check_entry(FILE, cast("dict[str, Any]", file), f"files.{name}", path)


def _check_schema(schema: Any, data: Mapping[str, Any], path: Path) -> None:
    if not isinstance(schema, dict) or not isinstance(cast("dict[str, Any]", schema).get("properties"), dict):
        raise ManifestError(path, "schema has no properties", fix="Write each as [schema.properties.NAME]")
    if _SETTINGS in data:
        raise ManifestError(
            path, "both settings and schema are given", fix="Declare all settings under one of these keys"
        )
    if wrong := check_schema(cast("dict[str, Any]", schema)):
        raise ManifestError(path, f"schema is no JSON Schema: {wrong}")


def _check_entry(known: Mapping[str, Key[Check]], given: Mapping[str, Any], place: str, path: Path) -> None:
    for key, value in given.items():
        _check_key(known, key, value, f"{place}.{key}", path)
    for key, spec in known.items():
        if spec.required and key not in given:
            raise ManifestError(path, f"{place}.{key} is missing", fix=spec.meaning)


def _check_launch(launch: Mapping[str, Any], path: Path) -> None:
    if ("entry" in launch) == ("command" in launch):
        problem = "both launch.entry and launch.command are" if "entry" in launch else "no launch.entry is"
        raise ManifestError(
            path,
            f"{problem} given",
            fix='Give one: entry = "package.module:Class" for Python, command = ["…"] for any language',
        )
    if not launch.get("command", ["x"]):
        raise ManifestError(path, "launch.command is empty", fix="Name the program and its arguments")
    own = [key for key in ("python", "family") if key in launch]
    if "command" in launch and own:
        raise ManifestError(
            path, f"launch.{own[0]} needs launch.entry", fix="Name the interpreter in launch.command"
        )
    if len(own) > 1:
        raise ManifestError(
            path, "both launch.python and launch.family are given", fix="Keep only one of these keys"
        )
    if "command" in launch and launch.get("carrier", "jsonl") != "jsonl":
        raise ManifestError(
            path, "launch.command supports JSON lines only", fix='Remove launch.carrier, or set it to "jsonl"'
        )


def _definition(data: dict[str, Any], path: Path, source: Source) -> WorkerTypeDefinition:
    folder = path.parent.absolute()
    requires: dict[str, Any] = data.get("requires", {})
    defaults: dict[str, Any] = data.get("defaults", {})
    entry: str = data["launch"].get("entry", "")
    package = entry.partition(":")[0].partition(".")[0]
    requirements: str | None = requires.get("requirements")
    workers = tuple[str, ...](requires.get("workers", ()))
    return WorkerTypeDefinition(
        type_id=data["id"],
        display_name=data.get("name", data["id"]),
        description=data.get("description", ""),
        capabilities=_capabilities(data.get("capabilities", {}), data["id"], path),
        module_path=package,
        entry_point=entry,
        pip_dependencies=tuple(requires.get("pip", ())),
        bare_dependencies=tuple(requires.get("no_deps", ())),
        system_dependencies=tuple(requires.get("system", ())),
        required_workers=workers,
        files=_files(data.get(_FILES, {})),
        build=_build(data.get("build")),
        kind=WorkerKind(data["kind"]),
        version=data.get("version", "0"),
        aliases=tuple(data.get("aliases", ())),
        launch=_launch(data["launch"], folder, package, workers),
        train=_train(data.get("train"), folder, path),
        imports=_imports(data.get("import"), path),
        reread=data.get("record", {}).get("reread", ""),
        inputs=_inputs(data.get("inputs", {})),
        limits=ResourceLimits(**data.get("limits", {})),
        default_policy_id=defaults.get("policy_id", ""),
        default_settings=defaults.get("settings", {}),
        settings=_settings(data, path),
        extra=requires.get("extra", ""),
        requirements=folder / requirements if requirements else None,
        folder=folder,
        source=source,
    )


def _launch(launch: dict[str, Any], folder: Path, package: str, workers: tuple[str, ...]) -> LaunchSpec:
    python: str | None = launch.get("python")
    family: str = launch.get("family", "")
    others = [(there, name) for name in workers if (there := worker_folder(name, folder)) is not None]
    packages = [(folder, package), *others]
    return LaunchSpec(
        command=tuple(launch.get("command", ())),
        carrier=launch.get("carrier", "socket" if package else "jsonl"),
        python=_interpreter(folder / _own(python)) if python else _of_family(family),
        family=family,
        env=launch.get("env", {}),
        inherits=tuple(launch.get("inherits", ())),
        heartbeat_s=launch.get("heartbeat_s"),
        session_secret=launch.get("session_secret", False),
        python_path=tuple(dict.fromkeys(path for each in packages for path in _python_path(*each))),
    )


def _own(python: str) -> Path:
    """Return the path of a worker's own interpreter or environment, with ``{data}`` and ``~`` expanded."""
    return Path(python.replace("{data}", str(data_dir()))).expanduser()


def _of_family(name: str) -> Path | None:
    return interpreter_of(name) if name else None


def _interpreter(path: Path) -> Path:
    """Return the interpreter if ``path`` is a virtual environment, else ``path``.

    The link to the base interpreter is not resolved, because that would leave the environment.
    """
    return path if path.is_file() else path / "bin" / "python"


def _python_path(folder: Path, package: str) -> tuple[Path, ...]:
    """Return the folder from which the package can be imported: the manifest's, its parent, or none."""
    if (folder / package).is_dir() or (folder / f"{package}.py").is_file():
        return (folder,) if package else ()
    if folder.name == package and (folder / "__init__.py").is_file():
        return (folder.parent,)
    return ()


def _train(train: dict[str, Any] | None, folder: Path, path: Path) -> TrainSpec | None:
    if train is None:
        return None
    if "entry" not in train:
        raise ManifestError(path, "train.entry is missing", fix=SECTIONS["train"]["entry"].meaning)
    schema = folder / train["schema"] if "schema" in train else None
    return TrainSpec(train["entry"], tuple(train.get("algorithms", ())), schema)


def _files(tables: Mapping[str, Mapping[str, Any]]) -> tuple[WorkerFile, ...]:
    return tuple(
        WorkerFile(
            name,
            table["url"],
            table["sha256"],
            table.get("version", ""),
            tuple(table.get("holds", ())),
            tuple(table.get("places", ())),
            table.get("package", ""),
        )
        for name, table in tables.items()
    )


def _build(build: dict[str, Any] | None) -> BuildSpec | None:
    return None if build is None else BuildSpec(tuple(build["command"]), tuple(build.get("sources", ())))


def _imports(imports: dict[str, Any] | None, path: Path) -> ImportSpec | None:
    if imports is None:
        return None
    if "entry" not in imports:
        raise ManifestError(path, "import.entry is missing", fix=SECTIONS["import"]["entry"].meaning)
    return ImportSpec(imports["entry"], tuple(ending.lower() for ending in imports.get("formats", ())))


def _settings(data: Mapping[str, Any], path: Path) -> tuple[Setting, ...]:
    if _SCHEMA in data:
        return settings_from_schema(data[_SCHEMA])
    try:
        return settings_from_tables(data.get(_SETTINGS, {}))
    except UsageError as error:
        raise ManifestError(path, error.message, fix=error.fix) from error


def _inputs(inputs: dict[str, Any]) -> WorkerInputs:
    words: dict[Any, Any] = {True: "required", False: "no", "optional": "optional"}
    return WorkerInputs(**{name: words[value] for name, value in inputs.items()})


def _capabilities(given: dict[str, Any], worker_id: str, path: Path) -> WorkerCapabilities:
    values: dict[str, Any] = {"worker_type": worker_id, **given}
    if "paradigm" in values:
        values["paradigm"] = SteppingParadigm[values["paradigm"]]
    if "supported_paradigms" in values:
        values["supported_paradigms"] = [SteppingParadigm[name] for name in values["supported_paradigms"]]
        values.setdefault(
            "paradigm", next(iter(values["supported_paradigms"]), SteppingParadigm.SINGLE_AGENT)
        )
    try:
        return WorkerCapabilities(**values)
    except ValueError as error:
        raise ManifestError(path, f"capabilities: {error}") from error


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}…"
