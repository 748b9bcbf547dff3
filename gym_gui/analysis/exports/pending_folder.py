"""Temporary folders and variables for libraries that write files under names of their own."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from gym_gui.core.errors import UsageError


@contextmanager
def pending_folder(folder: Path) -> Generator[Path]:
    """Create a temporary folder in ``folder``, and delete it with its contents at the end.

    Raises:
        UsageError: ``folder`` cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        place = tempfile.TemporaryDirectory(dir=folder, prefix=".new-", ignore_cleanup_errors=True)
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be written: {error.strerror}", fix="Choose another folder with -o"
        ) from error
    with place as name:
        yield Path(name).absolute()


@contextmanager
def environment_variables(given: Mapping[str, str], *, prefix: str) -> Generator[None]:
    """Replace all environment variables that begin with ``prefix`` by ``given``; restore them at the end."""
    before = {name: value for name, value in os.environ.items() if name.startswith(prefix)}
    _replace(prefix, given)
    try:
        yield
    finally:
        _replace(prefix, before)


def _replace(prefix: str, values: Mapping[str, str]) -> None:
    for name in [name for name in os.environ if name.startswith(prefix)]:
        del os.environ[name]
    os.environ.update(values)
