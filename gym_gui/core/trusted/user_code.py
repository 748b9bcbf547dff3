"""Finds, fingerprints and loads the user's own Python code.

A special loader loads a module in a folder. It accepts exactly the fingerprinted files: no byte code beside
them, no link, no file that has changed since. The folder is not added to ``sys.path``, so that nothing in
it can replace the standard library or an installed package. Other modules of the folder are found only by
names that nothing else has.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.abc import MetaPathFinder, SourceLoader
from importlib.machinery import EXTENSION_SUFFIXES, SOURCE_SUFFIXES, ExtensionFileLoader, ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from gym_gui.core.errors import UsageError

MAX_FILES: Final = 5_000
"""Largest number of code files of a package; more are hardly an environment and take seconds to hash."""
MAX_BYTES: Final = 512 * 2**20
_SUFFIXES: Final = (*SOURCE_SUFFIXES, *EXTENSION_SUFFIXES)


@dataclass(frozen=True)
class OwnModule:
    """A module of the user's own code, with its place and fingerprint.

    Attributes:
        name: Dotted name of the module.
        root: The folder in which the module is looked up; for an installed package its folder or its one
            file.
        installed: Whether an ordinary import finds the module.
        sha256: Fingerprint of all code below ``root``.
        files: SHA-256 of each code file, by its path below ``root``.
    """

    name: str
    root: Path
    installed: bool
    sha256: str
    files: Mapping[str, str]

    @property
    def package(self) -> str:
        """The first part of the module's name."""
        return self.name.partition(".")[0]

    def load(self) -> ModuleType:
        """Import the module.

        Raises:
            ModuleNotFoundError: The submodule, or a module that it imports, does not exist.
        """
        return importlib.import_module(self.name) if self.installed else _load(self)


def in_folder(module: str, folder: Path) -> OwnModule | None:
    """Return a module of a folder; ``None`` if the folder has no such module."""
    top = module.partition(".")[0]
    try:
        folder = folder.resolve(strict=True)
        names = [entry.name for entry in os.scandir(folder) if not entry.is_symlink()]
    except OSError:
        return None
    if top not in names and not any(f"{top}{suffix}" in names for suffix in _SUFFIXES):
        return None
    files = fingerprints(folder)
    if not any(path.startswith((f"{top}.", f"{top}/")) for path in files):
        return None
    return OwnModule(module, folder, False, digest(files), files)


def installed(module: str) -> OwnModule | None:
    """Return a module that an import would find, without importing it; ``None`` if there is none."""
    top = module.partition(".")[0]
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None
    if spec is None:
        return None
    places = list(spec.submodule_search_locations or ())
    if not places and spec.origin in (None, "built-in", "frozen"):
        return OwnModule(module, Path(top), True, "", {})
    root = Path(places[0] if places else str(spec.origin)).resolve()
    files = fingerprints(root, follow=True)
    return OwnModule(module, root, True, digest(files), files)


def is_standard(module: str) -> bool:
    """Return whether a module is part of Python's standard library."""
    return module.partition(".")[0] in sys.stdlib_module_names


def belongs(found: object, module: OwnModule, holder: ModuleType) -> bool:
    """Return whether an object found in a module was defined by the module's package and not imported by it.

    ``maze:subprocess.Popen`` does not belong to ``maze``, even if the user has allowed ``maze``.
    """
    if isinstance(found, ModuleType):
        return False
    if isinstance(found, partial):
        return True  # a partial is made in the module, whatever function its author chose
    home = getattr(found, "__module__", None) or getattr(type(found), "__module__", "")
    tops = {module.package, holder.__name__.partition(".")[0]}
    return str(home).partition(".")[0] in tops


# -- fingerprints -------------------------------------------------------------------------


def fingerprints(root: Path, *, follow: bool = False) -> dict[str, str]:
    """Return the SHA-256 of each importable code file below ``root``, by its path below ``root``.

    Args:
        root: A folder, or one file.
        follow: Whether to follow links, which an installer may have made.

    Raises:
        UsageError: There are more than :data:`MAX_FILES` files, or they are too large.
    """
    if root.is_file():
        return {root.name: hash_of(root)}
    result: dict[str, str] = {}
    size = 0
    for path in _code_files(root, follow):
        size += path.stat().st_size
        if len(result) >= MAX_FILES or size > MAX_BYTES:
            raise UsageError(
                f"{root} contains too much code to check (at most {MAX_FILES} files)",
                fix="Put the environment and the file that names it into a separate folder",
            )
        result[path.relative_to(root).as_posix()] = hash_of(path)
    return result


def _code_files(folder: Path, follow: bool, depth: int = 12) -> Iterator[Path]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    if any(entry.name == "pyvenv.cfg" for entry in entries):
        return
    for entry in entries:
        if entry.is_file(follow_symlinks=follow):
            if entry.name.endswith(_SUFFIXES):
                yield Path(entry.path)
        elif depth and _may_be_package(entry):
            yield from _code_files(Path(entry.path), follow, depth - 1)


def _may_be_package(entry: os.DirEntry[str]) -> bool:
    named = entry.name.isidentifier() and entry.name != "__pycache__"
    return named and entry.is_dir(follow_symlinks=False)


def hash_of(path: Path) -> str:
    """Return the SHA-256 of a file as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest(files: Mapping[str, str]) -> str:
    """Return one fingerprint of several files."""
    text = "".join(f"{path}\0{sha}\n" for path, sha in sorted(files.items()))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


# -- loading ------------------------------------------------------------------------------


class _Loader(SourceLoader):
    """Loads the source of one fingerprinted file; byte code is neither read nor written."""

    def __init__(self, path: Path, sha256: str) -> None:
        self._path, self._sha256 = path, sha256

    def get_filename(self, fullname: str) -> str:
        return str(self._path)

    def get_data(self, path: str) -> bytes:  # pyright: ignore[reportIncompatibleMethodOverride]
        data = Path(path).read_bytes()
        if Path(path) == self._path and hashlib.sha256(data).hexdigest() != self._sha256:
            raise ImportError(f"{path} was changed while it was being loaded")
        return data


class _Folder:
    """Makes the import specs of the modules in one folder of user code."""

    def __init__(self, module: OwnModule) -> None:
        self.root, self.files = module.root, module.files

    def spec(self, name: str, place: str) -> ModuleSpec | None:
        """Return the spec of a module at the path ``place`` (``maze/levels``) in the folder, or ``None``."""
        for path, is_package in ((f"{place}/__init__", True), (place, False)):
            for suffix in _SUFFIXES:
                sha = self.files.get(path + suffix)
                if sha is not None:
                    return self._of_file(name, self.root / (path + suffix), sha, is_package)
        if any(path.startswith(f"{place}/") for path in self.files):
            spec = ModuleSpec(name, None, is_package=True)  # a namespace package
            spec.submodule_search_locations = [str(self.root / place)]
            return spec
        return None

    def _of_file(self, name: str, path: Path, sha: str, is_package: bool) -> ModuleSpec | None:
        loader: Any
        if path.name.endswith(tuple(SOURCE_SUFFIXES)):
            loader = _Loader(path, sha)
        else:
            if hash_of(path) != sha:
                raise ImportError(f"{path} was changed while it was being loaded")
            loader = ExtensionFileLoader(name, str(path))
        places = [str(path.parent)] if is_package else None
        return importlib.util.spec_from_file_location(
            name, path, loader=loader, submodule_search_locations=places
        )


class _Submodules(MetaPathFinder):
    """Finds submodules of packages that were loaded from folders; called before all other finders."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        top, _, rest = fullname.partition(".")
        if not rest or top not in _homes:
            return None
        folder, place = _homes[top]
        return folder.spec(fullname, f"{place}/{rest.replace('.', '/')}")


class _Neighbors(MetaPathFinder):
    """Finds other modules of folders from which a module was loaded; called after all other finders."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if "." in fullname:
            return None
        for folder in _folders.values():
            spec = folder.spec(fullname, fullname)
            if spec is not None:
                _homes[fullname] = folder, fullname
                return spec
        return None


_folders: dict[tuple[Path, str], _Folder] = {}
_homes: dict[str, tuple[_Folder, str]] = {}
"""Folder of each top-level module and the module's path in it, by the module's name in ``sys.modules``."""
_finders: tuple[_Submodules, _Neighbors] = (_Submodules(), _Neighbors())


def _load(module: OwnModule) -> ModuleType:
    folder = _folders.setdefault((module.root, module.sha256), _Folder(module))
    if _finders[0] not in sys.meta_path:
        sys.meta_path.insert(0, _finders[0])
        sys.meta_path.append(_finders[1])
    top, _, rest = module.name.partition(".")
    name = _name_for(top, folder, module)
    if name not in sys.modules:
        _homes[name] = folder, top
        spec = folder.spec(name, top)
        if spec is None:
            raise ModuleNotFoundError(f"No module named {top!r}", name=top)
        _import(spec)
    return importlib.import_module(f"{name}.{rest}") if rest else sys.modules[name]


def _name_for(top: str, folder: _Folder, module: OwnModule) -> str:
    """Return the name under which a module is imported: its own, or a unique name if its own is in use."""
    home = _homes.get(top)
    if home is not None:
        taken = home[0] is not folder
    else:
        taken = top in sys.modules or _found_elsewhere(top, module.root)
    return f"{top}__{module.sha256[:12]}" if taken else top


def _found_elsewhere(top: str, root: Path) -> bool:
    for finder in sys.meta_path:
        if finder in _finders:
            continue
        spec = finder.find_spec(top, None)
        if spec is not None:
            place = next(iter(spec.submodule_search_locations or ()), spec.origin)
            return place is None or Path(place).resolve().parent != root
    return False


def _import(spec: ModuleSpec) -> None:
    found = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = found
    try:
        if spec.loader is not None:
            spec.loader.exec_module(found)
    except BaseException:
        sys.modules.pop(spec.name, None)
        _homes.pop(spec.name, None)
        raise
