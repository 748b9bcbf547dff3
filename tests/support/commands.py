"""The real command line, as a person starts it, and what it leaves behind."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.in_process import run_here, run_on
from tests.support.processes import Offspring

ROOT = Path(__file__).resolve().parents[2]
MOSAIC = Path(sys.executable).parent / "mosaic"
COMMAND = [str(MOSAIC)] if MOSAIC.exists() else [sys.executable, "-m", "gym_gui"]
ESCAPE = "\x1b"


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    status: int
    out: str
    err: str

    def json(self) -> Any:
        """Standard output as one JSON value."""
        return json.loads(self.out)

    @property
    def line(self) -> str:
        """The one line on stderr."""
        assert self.err.count("\n") == 1, self.err
        return self.err.rstrip("\n")


class Mosaic:
    """Runs ``mosaic ARGUMENTS`` in a folder of the test's own.

    Attributes:
        home: The folder.
        env: Environment of each command.
    """

    def __init__(self, home: Path, started: Offspring) -> None:
        self.home, self._started = home, started
        kept = {
            k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "TERM")
        }
        own = {"MOSAIC_DATA_DIR": str(home / "data"), "MOSAIC_CONFIG_DIR": str(home / "config")}
        self.env = {**kept, **started.variables, **own, "TERM": "xterm"}

    def __call__(self, *arguments: str | Path, **env: str) -> Done:
        """Run a command in this process; no traceback, and no control codes, whatever it is."""
        return _sound(Done(*run_here([*map(str, arguments)], self.home, {**self.env, **env})))

    def in_terminal(self, side: int, *arguments: str | Path, **env: str) -> int:
        """Run a command in this process with a terminal for its streams; returns its status."""
        return run_on((side, side, side), [*map(str, arguments)], self.home, {**self.env, **env})

    def process(self, *arguments: str | Path, timeout: float = 90, **env: str) -> Done:
        """Run a command in a process of its own, as a person does."""
        done = subprocess.run(
            [*COMMAND, *map(str, arguments)],
            cwd=self.home,
            env={**self.env, **env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        return _sound(Done(done.returncode, done.stdout, done.stderr))

    def refused(self, *arguments: str | Path, **env: str) -> str:
        """The one line with which something is refused before anything is launched or written."""
        before = sorted(self.home.rglob("*"))
        return self.is_refused(self(*arguments, **env), before)

    def is_refused(self, done: Done, before: Sequence[Path]) -> str:
        """The one line of a command that was refused and left the folder as it was."""
        assert done.status == 2, (done.out, done.err)
        assert done.line.startswith("mosaic: "), done.err
        assert done.out == ""
        assert sorted(self.home.rglob("*")) == before, "something was written"
        self._started.assert_none()
        return done.line.removeprefix("mosaic: ")


_OUR_LINE = re.compile(r'File "[^"]*/(gym_gui|mosaic_worker)/')


def _sound(done: Done) -> Done:
    # What a person's own environment raised is told from their own line on.
    assert not _OUR_LINE.search(done.err), done.err
    assert ESCAPE not in done.out + done.err, "control codes without a terminal"
    return done


def experiment(
    home: Path, *operators: Mapping[str, Any], name: str = "experiment.json", **execution: Any
) -> Path:
    """Write an experiment file.

    An operator plays CartPole at random where it does not say otherwise, and has one session process.
    """
    listed = [
        {"id": f"op_{i}", "task": "CartPole-v1", "workers": {"agent": {"type": "random"}}, **operator}
        for i, operator in enumerate(operators or ({},))
    ]
    path = home / name
    how = {"num_episodes": 2, "seeds": 1, "processes": 1, **execution}
    path.write_text(json.dumps({"operators": listed, "execution": how}))
    return path
