"""What is shown where: bars in a terminal, plain lines elsewhere, JSON for programs."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from gym_gui.services.experiment_file import load_experiment
from gym_gui.services.submissions.bundle import write_bundle
from gym_gui.services.submissions.submission_record import Submission
from tests.support.commands import COMMAND, Done, Mosaic, experiment
from tests.support.seldom import some_of

pytestmark = pytest.mark.usefixtures("sessions_here")

_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_COLORS = re.compile(r"\x1b\[[0-9;]*(3[0-7]|4[0-7]|9[0-7])m")


def in_terminal(
    mosaic: Mosaic, *arguments: str, columns: int = 80, apart: bool = False, typed: str = "", **env: str
) -> tuple[int, str]:
    """Run a command in a terminal of so many columns; its status and all it wrote there.

    Args:
        mosaic: The command line.
        arguments: What stands behind ``mosaic``.
        columns: Width of the terminal.
        apart: Run it in a process of its own.
        typed: What a person types, ahead.
        env: More for its environment.
    """
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    said = bytearray()
    os.write(main, typed.encode())
    reader = threading.Thread(target=_read_all, args=(main, said))
    reader.start()
    try:
        if apart:
            status = _run_apart(mosaic, side, arguments, env)
        else:
            status = mosaic.in_terminal(side, *arguments, **env)
    finally:
        os.close(side)
        reader.join(60)
        os.close(main)
    return status, said.decode()


def _run_apart(mosaic: Mosaic, side: int, arguments: Sequence[str], env: Mapping[str, str]) -> int:
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=mosaic.home,
        env={**mosaic.env, **env},
        stdin=side,
        stdout=side,
        stderr=side,
        start_new_session=True,
        timeout=90,
        check=False,
    ).returncode


def _read_all(main: int, said: bytearray) -> None:
    # Linux says EIO when the last writer is gone.
    with contextlib.suppress(OSError):
        while piece := os.read(main, 65536):
            said += piece


def widest(text: str) -> int:
    """Columns of the widest line that the terminal was sent, codes left out."""
    lines = re.split(r"[\r\n]+", _CODES.sub("", text))
    return max(sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in line) for line in lines)


@pytest.mark.parametrize("columns", [60, 120])
def test_a_run_shows_bars_that_fit_and_respects_no_color(mosaic: Mosaic, columns: int) -> None:
    short = [] if columns == 120 else [{"name": "Short"}]
    path = experiment(mosaic.home, {"name": "An operator of quite some name, in truth"}, *short)
    env = {} if columns == 120 else {"NO_COLOR": "1"}
    status, said = in_terminal(mosaic, "run", str(path), columns=columns, apart=columns == 60, **env)
    assert status == 0
    assert "2/2" in said
    assert "━" in said
    bars = [line for line in re.split(r"[\r\n]+", said) if "━" in line]
    assert widest("\n".join(bars)) <= columns
    assert bool(_COLORS.search(said)) == (columns == 120)


def test_lists_fit_a_narrow_terminal(mosaic: Mosaic, played: Path) -> None:
    header = json.loads((played / "run.json").read_text())
    header["experiment"]["operators"][0]["name"] = "A long name " * 6
    (played / "run.json").write_text(json.dumps(header))
    for arguments in (("workers", "list"), ("envs", "list"), ("runs", "list")):
        status, said = in_terminal(mosaic, *arguments, columns=60)
        assert status == 0
        head = said.partition("\r\n\r\n")[0]  # below follow lines to copy, which are never wrapped
        assert widest(head) <= 60
        assert "…" not in head, "something was cut off"


def test_elsewhere_lines_are_plain(mosaic: Mosaic) -> None:
    done = mosaic("run", experiment(mosaic.home, {"name": "Random"}, {"name": "Other"}))
    assert done.status == 0
    assert "Random: 2 of 2 episodes\n" in done.err
    assert "Other: 2 of 2 episodes\n" in done.err
    assert "━" not in done.err
    assert "Random" in done.out
    assert done.out.splitlines()[-1].startswith("Run:  runs/")


def test_json_is_one_object_and_progress_in_lines(mosaic: Mosaic) -> None:
    done = mosaic("run", experiment(mosaic.home, num_episodes=30), "--json")
    told = done.json()
    assert set(told) == {"run", "status", "episodes", "failed", "verdicts", "report", "problem"}
    assert "30 episodes" in told["verdicts"][0]
    assert (mosaic.home / told["report"]).is_file()
    progress = [json.loads(line)["progress"] for line in done.err.splitlines()]
    assert progress[-1][0] == {
        "operator_id": "op_0",
        "done": 30,
        "total": 30,
        "failed": 0,
        "steps": progress[-1][0]["steps"],
    }
    counts = [row[0]["done"] for row in progress]
    assert counts == sorted(counts)


def test_help_is_there_for_every_command(mosaic: Mosaic) -> None:
    top = mosaic("--help")
    assert top.status == 0
    assert top.err == ""
    commands = ["run", "verify", "report", "train", "gui", "workers", "envs", "runs"]
    assert all(f"\n  {command} " in top.out for command in commands)
    for group in ("workers", "envs", "runs"):
        assert mosaic(group).out == mosaic(group, "-h").out != ""
    assert mosaic("--version") == mosaic.process("--version") == Done(0, "mosaic 0.1.0\n", "")


def test_interrupted_while_dataclasses_are_made_it_ends_with_130(mosaic: Mosaic, tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("exec('raise KeyboardInterrupt')")
    env = {**mosaic.env, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "gym_gui", "--help"], env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (130, "mosaic: interrupted\n")


def test_a_command_ends_its_process_without_freeing_what_it_has_imported(mosaic: Mosaic) -> None:
    code = (
        "import atexit, sys; from gym_gui.__main__ import main\n"
        "sys.argv = ['mosaic', '--version']; atexit.register(print, 'at exit'); main(); print('went on')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=mosaic.env, capture_output=True, text=True, check=True
    )
    assert done.stdout == "mosaic 0.1.0\nat exit\n"


def test_help_imports_nothing_heavy(mosaic: Mosaic) -> None:
    code = "import sys; from gym_gui.cli.app import run; run(['--help']); print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], env=mosaic.env, capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in done.stdout.splitlines()[-1].split()}
    heavy = {
        "numpy",
        "rich",
        "pydantic",
        "gymnasium",
        "grpc",
        "google",
        "scipy",
        "yaml",
        "pygments",
        "asyncio",
    }
    assert not loaded & heavy


@pytest.mark.parametrize(("answer", "status"), [("y", 0), ("n", 2)])
def test_a_submission_of_another_person_is_confirmed_in_a_terminal(
    mosaic: Mosaic, answer: str, status: int
) -> None:
    runs = mosaic.home / "runs"
    found = Submission(
        runs / "submissions" / "01M8H83KEBJ7758D9XJK3WVK24",
        "local",
        {"setup": ["rm -rf x"]},
        "run",
        1,
        2,
        runs,
    )
    write_bundle(found.bundle, load_experiment(experiment(mosaic.home), allow_code=False), [])
    found.save()
    ended, said = in_terminal(mosaic, "runs", "confirm", str(found.folder), typed=f"{answer}\n")
    assert (ended, "rm -rf x" in said) == (status, True), said
    assert (mosaic("runs", "confirm", found.folder).status == 0) == (answer == "y"), "it is asked once"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
@pytest.mark.parametrize(
    "arguments",
    some_of(
        [["--version"], ["--help"], ["runs", "list"], ["envs", "list"], ["workers", "list", "--json"]],
        *(["--help"], ["runs", "list"]),
    ),
    ids=" ".join,
)
def test_output_without_room_ends_in_a_sentence(mosaic: Mosaic, arguments: list[str]) -> None:
    mosaic.env.pop("PYTHONUNBUFFERED", None)
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*COMMAND, *arguments],
            cwd=mosaic.home,
            env=mosaic.env,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert "cannot be written: No space left on device" in done.stderr
        both = subprocess.run(
            [*COMMAND, *arguments], cwd=mosaic.home, env=mosaic.env, stdout=full, stderr=full, check=False
        )
    assert both.returncode == 2
