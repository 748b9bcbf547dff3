"""MOSAIC's own package in this worker's interpreter, where environments with several agents come from."""

from __future__ import annotations

import importlib.util
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path


class _Beside:
    """Finds ``gym_gui`` where this worker lies, and nothing else of that folder.

    Put on the path, the folder would bring what the other interpreter has installed as well.
    """

    def __init__(self, package: Path) -> None:
        self._package = package

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """See :class:`importlib.abc.MetaPathFinder`."""
        if name != self._package.name:
            return None
        return importlib.util.spec_from_file_location(
            name, self._package / "__init__.py", submodule_search_locations=[str(self._package)]
        )


def gym_gui_folder() -> Path | None:
    """The package: of the checkout, or of the wheel, that this worker is a part of."""
    worker = Path(__file__).resolve().parents[1]
    for package in (worker.parents[1] / "gym_gui", worker.parents[1]):
        if package.name == "gym_gui" and (package / "__init__.py").is_file():
            return package
    return None


def gym_gui_importable() -> None:
    """Make ``import gym_gui`` find it; its own requirements are among those of this worker."""
    if importlib.util.find_spec("gym_gui") is not None:
        return
    package = gym_gui_folder()
    if package is not None:
        sys.meta_path.append(_Beside(package))
