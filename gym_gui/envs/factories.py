"""Environments named ``module:factory``: search, permission and import of the factory."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from gym_gui.core.errors import UsageError
from gym_gui.core.trusted import user_code
from gym_gui.core.trusted.subjects import RequiredSubject, Subject
from gym_gui.core.trusted.trust import (
    Origin,
    RefusedError,
    allow,
    granted,
    is_allowed,
    is_asked,
    is_enforced,
    require,
)
from gym_gui.core.trusted.user_code import OwnModule
from gym_gui.envs.index import is_installed


@dataclass(frozen=True)
class Factory:
    """Factory of an environment, named ``module:factory``.

    Attributes:
        point: ``module:factory``.
        origin: Source of the name: the user, or a file that names the factory.
    """

    point: str
    origin: Origin

    @property
    def module(self) -> str:
        """Dotted name of the module."""
        return self.point.partition(":")[0]

    @cached_property
    def _typed(self) -> Subject:
        return Subject("name", self.point)

    @cached_property
    def _is_typed_by_user(self) -> bool:
        """Whether the user named the factory, here or in the process that this process acts for."""
        if not is_asked(self.origin):
            return True
        own = self.origin.folder and user_code.in_folder(self.module, Path(self.origin.folder))
        return not own and is_allowed(self._typed)

    def locate(self) -> None:
        """Check that the factory's module exists, without importing it.

        Raises:
            UsageError: The module does not exist; the message names the searched folders.
        """
        if self._is_typed_by_user:
            _append_working_directory()
            if not is_installed(self.module.partition(".")[0], namespace=True):
                raise self._missing(["the installed packages"])
        elif self._own_module is None:
            raise self._missing([str(folder) for folder in self._folders])

    @cached_property
    def _own_module(self) -> OwnModule | None:
        within = (user_code.in_folder(self.module, folder) for folder in self._folders)
        return next((found for found in within if found), None) or user_code.installed(self.module)

    @property
    def _folders(self) -> Iterator[Path]:
        """Folders in which the module is searched: the experiment's folder, then the working directory."""
        here = [Path(self.origin.folder)] if self.origin.folder else []
        with suppress(FileNotFoundError):
            here.append(Path.cwd())
        yield from dict.fromkeys(folder.resolve() for folder in here)

    def _missing(self, places: list[str], module: str = "") -> UsageError:
        package = module or self.module.partition(".")[0]
        with suppress(FileNotFoundError):
            places = list(dict.fromkeys([*places, str(Path.cwd())]))
        where = " nor in ".join(dict.fromkeys([*places, "the installed packages"]))
        return UsageError(
            f"there is no module {package!r}, needed for {self.point!r}: not in {where}",
            fix="Put it beside the experiment file, or install its package",
        )

    def needs(self) -> list[RequiredSubject]:
        """Return the code that the user must allow before the factory is imported.

        Raises:
            RefusedError: The module is part of Python itself, which has no environment.
            UsageError: There is no such module.
        """
        if self._is_typed_by_user:
            subjects = [self._typed] if is_enforced() else [self._typed, *self._place()]
            return [RequiredSubject(subject, self.point, "imports") for subject in subjects]
        found = self._own_module
        if found is None:
            self.locate()
            raise AssertionError("it was found just now")
        if found.installed and user_code.is_standard(self.module):
            raise RefusedError(
                f"{self.origin.file} names {self.point!r}, and {found.package} is a part of Python itself",
                fix="Name a function or class of your own that makes an environment",
            )
        kind = "package" if found.installed else "folder"
        return [RequiredSubject(Subject(kind, str(found.root), found.sha256), self.point, "imports")]

    def _place(self) -> Iterator[Subject]:
        """Yield the folder from which this process imports the module, so that child processes may, too."""
        spec = importlib.util.find_spec(self.module.partition(".")[0])
        if spec is not None and spec.origin is not None and spec.has_location:
            folder = Path(spec.origin).parent
            place = folder.parent if spec.submodule_search_locations else folder
            if str(place) in sys.path and "site-packages" not in place.parts:
                yield Subject("path", str(place))

    def load(self) -> Callable[..., Any]:
        """Import and return the factory.

        Raises:
            NotAllowedError: A file names the factory, and the user has not allowed that.
            UsageError: The factory does not exist or is not callable.
        """
        if self._is_typed_by_user:
            _append_working_directory()
            allow([self._typed, *self._place()])  # in this process, files may name it, too
            return self._resolved(lambda: importlib.import_module(self.module), None)
        require(self.needs(), self.origin)
        found = self._own_module
        assert found is not None
        return self._resolved(found.load, found)

    def _resolved(self, load: Callable[[], Any], own: OwnModule | None) -> Callable[..., Any]:
        try:
            module = load()
        except ModuleNotFoundError as error:
            if error.name and self.module.startswith(error.name):
                raise self._missing([] if own is None else [str(own.root)], error.name) from error
            raise
        found: Any = module
        path = self.point.partition(":")[2]
        for part in path.split("."):
            if not hasattr(found, part):
                raise UsageError(f"module {self.module} defines no {path!r}")
            found = getattr(found, part)
            if own is not None and not user_code.belongs(found, own, module):
                raise RefusedError(
                    f"{self.origin.file} names {self.point!r}, which {self.module} imports from elsewhere",
                    fix=f"Name what {self.module} itself defines",
                )
        if not callable(found):
            raise UsageError(f"{self.point!r} is no function or class")
        return found


def _append_working_directory() -> None:
    """Add the working directory to the end of the import path, so that it hides no other module.

    In a process that acts for another one, that process's own folders come before installed packages, as they
    do there, and after Python's own modules.
    """
    for subject in granted():
        packages = next((n for n, place in enumerate(sys.path) if "site-packages" in place), len(sys.path))
        if subject.kind == "path" and subject.name not in sys.path[:packages]:
            sys.path.insert(packages, subject.name)
    with suppress(FileNotFoundError):
        here = str(Path.cwd())
        if here not in sys.path:
            sys.path.append(here)


def path_needs(env_kwargs: Mapping[str, Any]) -> list[RequiredSubject]:
    """Return permissions needed for paths among an environment's arguments that may leave its folder."""
    return [
        RequiredSubject(Subject("file", str(Path(text).expanduser().resolve())), text, "passes on")
        for text in _texts(env_kwargs)
        if _is_path(text)
    ]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (Mapping, list, tuple)):
        inner: Iterable[Any] = cast("Any", value.values() if isinstance(value, Mapping) else value)
        for each in inner:
            yield from _texts(each)


def _is_path(text: str) -> bool:
    if not text or "\n" in text or "\0" in text or len(text) > 4096:
        return False
    path = Path(text)
    if path.is_absolute() or text.startswith(("~", "\\\\")) or ".." in path.parts:
        return True
    return len(path.parts) > 1 and path.exists()
