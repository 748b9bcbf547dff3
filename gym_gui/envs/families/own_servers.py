"""Environments from the user's own servers.

A file ``server.toml`` in a folder of its own describes each server.
"""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from gym_gui.core.errors import UsageError
from gym_gui.core.paths import data_dir
from gym_gui.core.toml_positions import place_in_toml
from gym_gui.envs.families.served import ServedFamily
from gym_gui.envs.family import Family
from gym_gui.envs.spec import EnvSpec
from mosaic_worker.interfaces import APIS

if TYPE_CHECKING:
    from gym_gui.envs.remote_env import InstanceRequest, Place

FILE = "server.toml"
_KEYS = {
    *("title", "python", "path", "command", "address", "token_file", "tls_root", "begin_s", "step_s"),
    "one_at_a_time",
}
_ENV_KEYS = {"entry", "api", "arguments", "title", "summary", "max_episode_steps"}


def servers_dir() -> Path:
    """Return the folder that contains one folder with a ``server.toml`` per server of the user."""
    return data_dir() / "environment_servers"


@dataclass(frozen=True)
class ListedEnvironment:
    """Environment that a ``server.toml`` lists.

    Attributes:
        entry: Name by which the server makes the environment.
        api: Interface of the environment: ``gymnasium``, ``parallel`` or ``aec``.
        arguments: Keyword arguments that are always passed to the environment.
        title: Display name.
        summary: One sentence about the task.
        max_episode_steps: Step limit; ``None`` without one.
    """

    entry: str
    api: str = "gymnasium"
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    title: str = ""
    summary: str = ""
    max_episode_steps: int | None = None


@dataclass(frozen=True)
class Description:
    """Content of a ``server.toml``.

    Attributes:
        folder: Folder of the file; its name is the prefix of the environments' ids.
        title: Display name.
        python: Interpreter of the server; ``None`` for the interpreter of this process.
        path: Folders that the server imports from.
        command: Program and arguments of a server that exchanges JSON lines, in place of an interpreter.
        address: ``host:port`` of a server that is already running.
        token_file: File with the server's token.
        tls_root: Certificate that verifies the server's own.
        begin_s: Time limit in seconds for making an environment or starting an episode.
        step_s: Time limit in seconds for one step.
        one_at_a_time: Whether the server can run only one environment at a time, such as a simulator's.
        environments: Environments by the last part of their ids.
    """

    folder: Path
    title: str
    environments: Mapping[str, ListedEnvironment]
    python: Path | None = None
    path: tuple[Path, ...] = ()
    command: tuple[str, ...] = ()
    address: str = ""
    token_file: Path | None = None
    tls_root: Path | None = None
    begin_s: float = 300.0
    step_s: float = 60.0
    one_at_a_time: bool = False

    @property
    def name(self) -> str:
        """Name of the family, which is the name of the folder."""
        return self.folder.name


class OwnServerFamily(ServedFamily):
    """Family of the environments of one ``server.toml``, with ids ``<folder's name>/<id>``.

    Args:
        description: Content of the file.
    """

    title: ClassVar[str] = "Own servers"
    closed: ClassVar[bool] = True
    documented: ClassVar[bool] = False
    modes: ClassVar[tuple[str, ...] | None] = ("rgb_array",)

    def __init__(self, description: Description) -> None:
        self._description = description
        # Each description is a family of its own, named after its folder.
        self.name, self.title = description.name, description.title  # type: ignore[misc]
        self.prefixes = (f"{description.name}/",)  # type: ignore[misc]

    def specs(self) -> Sequence[EnvSpec]:
        return [
            self.spec(
                f"{self.name}/{end}",
                listed.entry,
                apis=(listed.api,),
                package=self.name,
                max_episode_steps=listed.max_episode_steps,
                traits={"described": repr(self._description)},
            )
            for end, listed in self._description.environments.items()
        ]

    def spec(self, env_id: str, entry_point: Any, **facts: Any) -> EnvSpec:
        apis: tuple[str, ...] = facts.pop("apis", self.apis)
        return EnvSpec(env_id, self.name, apis[0], apis, entry_point=entry_point, **facts)

    def place(self, spec: EnvSpec) -> Place:
        from gym_gui.envs.remote_env import LocalServer, RemoteServer

        told = self._description
        if told.address:
            return RemoteServer(self.name, told.address, _token(told), told.tls_root)
        return LocalServer(self.name, told.python, told.path, told.command)

    def wanted(self, spec: EnvSpec, arguments: Mapping[str, Any]) -> InstanceRequest:
        from gym_gui.envs.remote_env import InstanceRequest

        listed, told = self._listed(spec), self._description
        return InstanceRequest(
            listed.entry, {**listed.arguments, **arguments}, listed.api, told.begin_s, told.step_s
        )

    def world(self, spec: EnvSpec, env_kwargs: Mapping[str, Any]) -> str:
        """Return the server's name if it can run only one environment at a time, else an empty string."""
        return f"{self.name} (one at a time)" if self._description.one_at_a_time else ""

    def title_of(self, spec: EnvSpec) -> str:
        return self._listed(spec).title or super().title_of(spec).partition("/")[2]

    def summary(self, spec: EnvSpec) -> str:
        return self._listed(spec).summary

    def arguments(self, spec: EnvSpec) -> Mapping[str, Mapping[str, Any]]:
        return {}  # unknown here: the server checks them

    def _listed(self, spec: EnvSpec) -> ListedEnvironment:
        return self._description.environments[spec.id.removeprefix(self.prefixes[0])]


def own_servers() -> Iterator[Family | UsageError]:
    """Yield a family for each valid ``server.toml``, and an error for each invalid one."""
    folder = servers_dir()
    for file in sorted(folder.glob(f"*/{FILE}")) if folder.is_dir() else ():
        try:
            yield OwnServerFamily(read_description(file))
        except UsageError as error:
            yield error


def read_description(file: Path) -> Description:
    """Read a ``server.toml``; relative paths in the file start at its folder.

    Raises:
        UsageError: The file cannot be read or is invalid; the message names the key.
    """
    try:
        source = file.read_text("utf-8")
    except (OSError, ValueError) as error:
        raise UsageError(f"{file}: {error}") from None
    return parse_description(source, file)


def parse_description(source: str, file: Path) -> Description:
    """Return the content of a ``server.toml``, given as text.

    Args:
        source: Text of the file.
        file: Path of the file, for relative paths and messages.

    Raises:
        UsageError: The text is invalid; the message names the key.
    """
    try:
        return _description(source, file)
    except UsageError as error:
        error.place = place_in_toml(str(file), source, error.message)
        raise


def _description(source: str, file: Path) -> Description:
    try:
        table = tomllib.loads(source)
    except ValueError as error:
        raise UsageError(f"{file}: {error}") from None
    listed = table.pop("environments", None)
    _check_keys(file, table, _KEYS | {"environments"}, "")
    if not isinstance(listed, dict) or not listed:
        raise UsageError(
            f"{file}: [environments] lists no environment", fix='Write for example "Maze-v0" = "maze:make"'
        )
    if sum(key in table for key in ("python", "command", "address")) > 1:
        raise UsageError(f"{file}: only one of python, command and address can be given")
    if "address" in table and "token_file" not in table:
        raise UsageError(f"{file}: a server at an address needs a token_file")
    entries = cast("dict[str, Any]", listed)
    return Description(
        file.parent,
        str(table.get("title") or file.parent.name),
        {end: _listed(file, end, value) for end, value in entries.items()},
        python=_python(file, table),
        path=tuple(_path_from(file, text) for text in _texts(file, table, "path")),
        command=_texts(file, table, "command"),
        address=str(table.get("address", "")),
        token_file=_path_from(file, table["token_file"]) if "token_file" in table else None,
        tls_root=_path_from(file, table["tls_root"]) if "tls_root" in table else None,
        begin_s=_seconds(file, table, "begin_s", 300.0),
        step_s=_seconds(file, table, "step_s", 60.0),
        one_at_a_time=_flag(file, table, "one_at_a_time"),
    )


def _listed(file: Path, end: str, value: Any) -> ListedEnvironment:
    if isinstance(value, str):
        value = {"entry": value}
    if not isinstance(value, dict) or not isinstance(cast("dict[str, Any]", value).get("entry"), str):
        raise UsageError(f"{file}: {end!r} has no entry", fix='Write "module:factory", or a table with entry')
    table = cast("dict[str, Any]", value)
    _check_keys(file, table, _ENV_KEYS, f" of {end!r}")
    api = table.get("api", "gymnasium")
    if api not in APIS:
        raise UsageError(f"{file}: api {api!r} of {end!r} is none of {', '.join(APIS)}")
    return ListedEnvironment(**table)


def _check_keys(file: Path, table: Mapping[str, Any], keys: set[str], where: str) -> None:
    strange = sorted(set(table) - keys)
    if strange:
        raise UsageError(
            f"{file}: unknown key {strange[0]!r}{where}", fix=f"Known: {', '.join(sorted(keys))}"
        )


def _path_from(file: Path, text: Any) -> Path:
    return file.parent / Path(str(text)).expanduser()


def _python(file: Path, table: Mapping[str, Any]) -> Path | None:
    """Return the interpreter at a path, which may be a virtual environment's; ``None`` without a path."""
    if "python" not in table:
        return None
    path = _path_from(file, table["python"])
    return path / "bin" / "python" if path.is_dir() else path


def _texts(file: Path, table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(each, str) for each in cast("list[Any]", value)):
        raise UsageError(f"{file}: {key} is not a list of strings")
    return tuple(cast("list[str]", value))


def _flag(file: Path, table: Mapping[str, Any], key: str) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        raise UsageError(f"{file}: {key} must be true or false, not {value!r}")
    return value


def _seconds(file: Path, table: Mapping[str, Any], key: str, default: float) -> float:
    value = table.get(key, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
        raise UsageError(f"{file}: {key} must be a number of seconds above 0")
    return float(value)


def _token(told: Description) -> str:
    """Return the content of the token file, which other users must not be able to read.

    Raises:
        UsageError: The file cannot be read, or other users can read it.
    """
    file = told.token_file
    assert file is not None
    try:
        if os.stat(file).st_mode & (stat.S_IRWXG | stat.S_IRWXO):  # noqa: PTH116
            raise UsageError(f"{file} can be read by others", fix=f"Run: chmod 600 {file}")
        return file.read_text("utf-8").strip()
    except OSError as error:
        raise UsageError(f"the token of {told.name} cannot be read: {error}") from None
