"""The benchmark of language models starts its own server."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "bench" / "bench_llm.py"


def test_its_server_says_where_it_is_and_ends_with_its_input() -> None:
    ended = subprocess.run(
        [sys.executable, str(SCRIPT), "--serve", "quick"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert (ended.returncode, ended.stdout[:17]) == (0, "http://127.0.0.1:"), ended.stderr
