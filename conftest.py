"""Puts the worker packages of the checkout on the path, and says which child processes are measured."""

from __future__ import annotations

import gc
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes says something of the machine, not of the code.
settings.register_profile("mosaic", deadline=None)
settings.load_profile("mosaic")

_HOME = "MOSAIC_TESTS_HOME"
"""Names the folder of this run of the tests; set by the first process, and inherited by those it starts."""


def _own_places() -> Path | None:
    """Keep what the person at this machine has installed, allowed, chosen and written out of the tests.

    Called while this file is read: tests list environments as they are collected.

    Returns:
        The folder that holds the places, to be removed by this process; ``None`` where another process does.
    """
    # Keys would be used, places and styles would show in what commands print.
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "MOSAIC_RUNS_DIR", "MOSAIC_DEBUG"):
        os.environ.pop(name, None)
    for name in [each for each in os.environ if each.endswith("_API_KEY") or each == "HF_TOKEN"]:
        del os.environ[name]
    given = os.environ.get(_HOME)
    home = Path(given or tempfile.mkdtemp(prefix="mosaic-tests-"))
    os.environ[_HOME] = str(home)
    # What one process of a run allows or installs is no other's; the cache is of all of them: listing every
    # environment anew takes seconds.
    own = home / str(os.getpid())
    for name, place in (("DATA", own / "data"), ("CONFIG", own / "config"), ("CACHE", home / "cache")):
        os.environ[f"MOSAIC_{name}_DIR"] = str(place)
    # The desktop's trash is there, and the system's keyring. Tools keep their caches and configuration: pip's
    # index and uv's wheels are the machine's, not the person's choices for MOSAIC.
    os.environ["XDG_DATA_HOME"] = str(home / "share")
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
    return None if given else home


_made = _own_places()
# A shell's background jobs ignore Ctrl-C, and so would all programs that tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Thousands of small files wait for the disk otherwise; what a power cut would leave, no test can tell.
os.fsync = lambda _file: None
# Garbage is collected between two tests, in this thread: Qt objects of a test before must not be deleted in
# another thread, which ends the process now and then.
gc.disable()
# Networks of tests are small: a second thread costs more than it does, and takes the core of another test.
os.environ.setdefault("OMP_NUM_THREADS", "1")

_THIRD_PARTY = Path(__file__).resolve().parent / "3rd_party"

for _folder in sorted([_THIRD_PARTY / "mosaic_worker_sdk", *_THIRD_PARTY.glob("*_worker")]):
    if str(_folder) not in sys.path:
        sys.path.insert(0, str(_folder))

_MEASURED = tuple(f"tests/{folder}/" for folder in ("host", "processes", "services", "workers"))
"""Tests whose child processes count for coverage: tracing is a third of the time of those that play."""
_SWITCH = "COVERAGE_PROCESS_CONFIG"
_config = os.environ.get(_SWITCH)


_LONG_S = 1800
"""What a test that takes minutes may take on a machine with other work."""


_TORCH = re.compile(r"torch|cleanrl|sb3|stable_baselines|quickstart")
"""What a module of tests names that needs PyTorch, itself or through a worker."""


class _NeedsTorch(pytest.Module):
    """A module that is skipped, and named in the summary, where set-up found no PyTorch for this Python."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        # Named in the reason: a summary has one line for each reason.
        pytest.skip(f"{self.nodeid} needs torch, which is not installed", allow_module_level=True)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """Without PyTorch, go on without what needs it."""
    if find_spec("torch") is None and _TORCH.search(f"{module_path}\n{module_path.read_text('utf-8')}"):
        return _NeedsTorch.from_parent(parent, path=module_path)
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the long tests their time."""
    for item in items:
        if item.get_closest_marker("full") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(_LONG_S))


_file = ""


def _allow_nothing_of_before(file: str) -> None:
    """What tests of another file have allowed, as a command with ``--trust`` does, this one has not."""
    global _file
    if file != _file and (trust := sys.modules.get("gym_gui.core.trusted.trust")):
        trust.begin()
    _file = file


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Have the children of this test measured, or not (coverage reads the variable as they start)."""
    _allow_nothing_of_before(item.nodeid.partition("::")[0])
    if _config is not None:
        os.environ.pop(_SWITCH, None)
        if item.nodeid.startswith(_MEASURED):
            os.environ[_SWITCH] = _config


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Set aside all that stays: looking through modules and tests again and again is half a second a time."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Remove the places of this run."""
    if _made is not None:
        shutil.rmtree(_made, ignore_errors=True)


def pytest_runtest_logfinish() -> None:
    """Collect what is due."""
    due = (made > most for made, most in zip(gc.get_count(), gc.get_threshold(), strict=True))
    gc.collect(max((generation for generation, is_due in enumerate(due) if is_due), default=0))
