"""Jason's interpreter for tests: where a file of it is named, installed once as a person does it."""

from __future__ import annotations

import os
import shutil
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import SkipTest

from gym_gui.cli.installing.install import install_worker

if TYPE_CHECKING:
    import pytest

JAR = "MOSAIC_JASON_JAR"
"""Names the interpreter's jar; ``scripts/test.sh`` sets it where there is one beside the checkout."""
JSON_CLASSES = Path("/usr/share/java/javax.json-api.jar")


@cache
def why_not() -> str:
    """What lacks for an agent of Jason's; empty where nothing does."""
    jar = os.environ.get(JAR, "")
    if not jar or not Path(jar).is_file():
        return f"jason_worker: {JAR} names no interpreter"
    if shutil.which("java") is None or shutil.which("javac") is None:
        return "jason_worker: there is no Java (default-jdk-headless)"
    return "" if JSON_CLASSES.is_file() else "jason_worker: there is no javax.json (libjsonp-java)"


def installed_jason(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """jason_worker is installed in a data folder of the test's own; skips by name where that cannot be."""
    if reason := why_not():
        raise SkipTest(reason)
    data = folder / "data-with-jason"
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(data))
    if not data.is_dir():
        assert install_worker("jason_worker", given=[Path(os.environ[JAR])]) == 0
