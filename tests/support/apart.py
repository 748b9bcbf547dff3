"""A bundled worker as a person would drop it in: another name, an environment of its own."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from tests.support.commands import ROOT


def apart(name: str, workers: Path, pip: Sequence[str] | None = None) -> str:
    """Copy a worker into a folder of workers.

    Args:
        name: The bundled worker.
        workers: Where it is put.
        pip: What it asks for in place of its own requirements.

    Returns:
        The copy's id.
    """
    other = f"{name.removesuffix('_worker')}_apart_worker"
    folder = workers / other
    shutil.copytree(ROOT / "3rd_party" / name, folder, ignore=shutil.ignore_patterns("tests", "__pycache__"))
    manifest = folder / "worker.toml"
    text = manifest.read_text()
    text = re.sub(r"^(extra|aliases|policy_id) = .*\n", "", text, flags=re.M)
    text = text.replace(f'id = "{name}"', f'id = "{other}"')
    if pip is not None:
        text = re.sub(r"^pip = .*$", lambda _: f"pip = {json.dumps(list(pip))}", text, flags=re.M)
    manifest.write_text(text.replace("[launch]\n", '[launch]\npython = "env"\n'))
    return other
