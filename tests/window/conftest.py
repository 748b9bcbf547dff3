"""A display, the program on it, and proof that it leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.caches import share_environments
from tests.support.commands import ROOT
from tests.support.processes import abandoned, strangers
from tests.support.waiting import eventually
from tests.window.desktop import Desktop, missing
from tests.window.program import Places, Program

_SHARED_MEMORY = Path("/dev/shm")

Start = Callable[..., Program]

EXPERIMENT = """
operators:
  - {id: random, name: Random, env_name: gymnasium, task: CartPole-v1, workers: {agent: {type: random}}}
  - {id: passive, name: Passive, env_name: gymnasium, task: CartPole-v1, workers: {agent: {type: passive}}}
execution: {num_episodes: 8, seeds: [0, 1, 2, 3, 4, 5, 6, 7]}
"""
"""Two that need no library to play, on the same eight seeds."""


@pytest.fixture(scope="session")
def desktop() -> Iterator[Desktop]:
    """A screen for all tests of this process."""
    if absent := missing():
        pytest.skip(f"not installed: {', '.join(absent)} (xvfb, openbox, xdotool, x11-utils, imagemagick)")
    result = Desktop()
    yield result
    result.close()


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What can be made again, with the list of environments, for which many packages are imported once."""
    result = tmp_path_factory.mktemp("cache")
    share_environments(result)
    listed = [sys.executable, "-m", "gym_gui", "envs", "list", "--json"]
    subprocess.run(
        listed,
        cwd=ROOT,
        env={**os.environ, "MOSAIC_CACHE_DIR": str(result), "MOSAIC_DATA_DIR": str(result / "data")},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return result


@pytest.fixture
def start(desktop: Desktop, cache: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Start]:
    """Starts the program with arguments; returns when its window has the keyboard.

    At the end it is closed. A process, socket or piece of shared memory that is left then,
    or a complaint on the terminal, fails the test; a failed test keeps a picture of the screen.
    """
    programs = request.node.stash[_PROGRAMS] = []
    before = strangers(_SHARED_MEMORY)
    with tempfile.TemporaryDirectory(prefix="mw", dir="/tmp") as short:

        def run(*arguments: object) -> Program:
            number = len(programs)
            places = Places(tmp_path / "home", cache, Path(short) / f"r{number}")
            programs.append(Program(desktop, places, map(str, arguments)))
            programs[-1].arrive()
            return programs[-1]

        yield run
        for program in programs:
            program.close()
        for program in programs:
            program.offspring.assert_none()
            runtime = program.runtime
            eventually(lambda at=runtime: not strangers(at), f"sockets are gone: {strangers(runtime)}")
            assert "Traceback" not in program.log, program.log
    # Games that other tests play meanwhile have memory of their own.
    eventually(lambda: not abandoned(strangers(_SHARED_MEMORY) - before), "shared memory is gone")


@pytest.fixture
def window(start: Start) -> Program:
    """The program, started without arguments, as a new user does."""
    return start()


_PROGRAMS = pytest.StashKey[list[Program]]()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[pytest.TestReport]:
    """Keep a picture of the screen of a failed test, before any fixture closes the program."""
    report = yield  # type: ignore[misc]
    programs = item.stash.get(_PROGRAMS, [])
    if report.when == "call" and report.failed and programs:
        picture = item.funcargs["tmp_path"] / "screen.png"  # pyright: ignore[reportAttributeAccessIssue]
        programs[-1].desktop.photograph(picture)
        report.sections.append(("Screen", str(picture)))
        report.sections += [("Terminal", program.log) for program in programs]
    return report
