"""Build hook: a wheel carries the bundled workers, a copy of the worker SDK, examples to begin with,
and the pages that the window shows.

``3rd_party/<name>_worker`` becomes ``gym_gui/bundled/<name>_worker``, so that a new worker folder is
shipped without a line of configuration. The SDK, which is also a distribution of its own, is among
them: workers that run under an interpreter of their own get its folder as PYTHONPATH, and must not see
our site-packages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_EXAMPLES = ("quickstart.py", "checkpoints", "bdi")
"""What the window's first page starts, and programs to begin with; the rest is for reading."""
_PAGES = ("*.md", "*/*.md")
_NOT_BUNDLED = {"_build", "_written", "families"}
_PICTURE = re.compile(r"\]\(((?:\.\./)*images/[\w-]+\.webp)\)")
_LEFT_OUT = {"tests", "__pycache__", "node_modules", "build", "dist"}


class BundleWorkers(BuildHookInterface[BuilderConfig]):
    """Adds what lies outside the package and belongs into a wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Map each worker file to its place in the wheel; an editable install reads the checkout."""
        if version == "editable":
            return
        third_party = Path(self.root) / "3rd_party"
        folders = [path.parent for path in sorted(third_party.glob("*_worker/worker.toml"))]
        for folder in [*folders, third_party / "mosaic_worker_sdk"]:
            for file in self._shipped(folder):
                target = Path("gym_gui", "bundled", *file.relative_to(third_party).parts)
                build_data["force_include"][str(file)] = target.as_posix()

        # `mosaic envs install` holds versions to these, as the set-up of a checkout does.
        for name in ("constraints.txt", "overrides.txt"):
            build_data["force_include"][f"{self.root}/requirements/{name}"] = f"gym_gui/bundled/{name}"

        examples = Path(self.root) / "docs" / "examples"
        for name in _EXAMPLES:
            source = examples / name
            for file in self._shipped(source) if source.is_dir() else (source,):
                target = Path("gym_gui", "bundled", "examples", *file.relative_to(examples).parts)
                build_data["force_include"][str(file)] = target.as_posix()

        docs = Path(self.root) / "docs"
        found = [page for pattern in _PAGES for page in sorted(docs.glob(pattern))]
        pages = [page for page in found if page.parent.name not in _NOT_BUNDLED]
        guide = [page for page in pages if page.parent.name == "guide"]
        for file in {*pages, *(picture for page in guide for picture in _pictures(page))}:
            target = Path("gym_gui", "bundled", "docs", *file.relative_to(docs).parts)
            build_data["force_include"][str(file)] = target.as_posix()

    def _shipped(self, folder: Path) -> Iterator[Path]:
        """Files of ``folder`` without tests, caches, hidden files and what git ignores."""
        for file in sorted(folder.rglob("*")):
            inside = file.relative_to(folder)
            hidden = any(part.startswith(".") or part.endswith(".egg-info") for part in inside.parts)
            if not file.is_file() or hidden or _LEFT_OUT.intersection(inside.parts):
                continue
            if not self.build_config.path_is_excluded(file.relative_to(self.root).as_posix()):
                yield file


def _pictures(page: Path) -> Iterator[Path]:
    """Pictures that a page shows, in the light theme alone: a wheel holds at most 5 MB."""
    for name in _PICTURE.findall(page.read_text("utf-8")):
        if (page.parent / name).is_file():
            yield (page.parent / name).resolve()
