"""What packages compile is compiled by set-up, in one call that tells what it does."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gym_gui.cli.progress import compile_progress
from gym_gui.core.live import Compiling
from gym_gui.envs import make
from gym_gui.envs.compiling import compile_environment

NAMES = ("see_behind", "get_vis_mask", "gen_obs_grid")
STATES = [Compiling("MultiGrid", NAMES[:ready], 3) for ready in range(4)]
_SOCCER = "MosaicMultiGrid-S-2v2-IndAgObs-v1"
_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def shown(monkeypatch: pytest.MonkeyPatch, stream: io.TextIOBase, states: list[Compiling]) -> None:
    """Have the display write to a stream what these states look like."""
    monkeypatch.setattr(sys, "stderr", stream)
    with compile_progress("Compiling MultiGrid") as show:
        for state in states:
            show(state)


def in_terminal(monkeypatch: pytest.MonkeyPatch, states: list[Compiling]) -> str:
    """All that a terminal is sent."""
    main, side = pty.openpty()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    try:
        with os.fdopen(side, "w") as stream:
            shown(monkeypatch, stream, states)
            print("end", file=stream, flush=True)
            said = b""
            while b"end" not in said:
                said += os.read(main, 1 << 16)
    finally:
        os.close(main)
    return said.decode()


def test_a_terminal_has_one_line_that_is_redrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    said = in_terminal(monkeypatch, STATES)
    last = [line for line in re.split(r"[\r\n]+", _CODES.sub("", said)) if "Compiling MultiGrid" in line][-1]
    assert "3/3 functions" in last
    assert not any(name in said for name in NAMES)
    lines = _CODES.sub("", said).split("\n")
    assert len([line for line in lines if "Compiling MultiGrid" in line]) == 1


def test_elsewhere_each_function_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    shown(monkeypatch, stream, [*STATES[:1], *STATES])  # one that calls another begins before it
    first, *each = stream.getvalue().splitlines()
    assert "3 functions" in first
    assert [line.split()[2] for line in each] == list(NAMES)


def test_where_all_is_compiled_there_is_nothing_to_show(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_environment(make(_SOCCER))
    told: list[Compiling] = []
    compile_environment(make(_SOCCER), told.append)
    assert told == []
    assert "Compiling" not in in_terminal(monkeypatch, told)


def test_set_up_calls_it_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gym_gui.cli.warm_up"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for title in ("MOSAIC MultiGrid", "INI MultiGrid"):
        assert f"{title} is ready" in done.stdout


@pytest.mark.full
def test_what_takes_long_says_how_far_it_is(tmp_path: Path) -> None:
    """With an empty cache each function is told as it is ready, as many as were said to come."""
    done = subprocess.run(
        [sys.executable, "-m", "gym_gui.cli.warm_up"],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    for title in ("MOSAIC MultiGrid", "INI MultiGrid"):
        head = f"Compiling {title}: "
        first, *told = [line for line in done.stderr.splitlines() if line.startswith(head)]
        names = [line.removeprefix(head).partition(" ")[0] for line in told]
        assert len(names) > 3 and len(names) == len(set(names))
        assert f"{len(names)} functions" in first
