"""The program as a process: opens, survives mistakes, ends in order."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ENVIRONMENT = ("MOSAIC_DATA_DIR", "MOSAIC_RUNS_DIR", "MOSAIC_CACHE_DIR")
HEAVY = ("numpy", "grpc", "gymnasium", "pyqtgraph", "scipy", "torch", "superqt", "pydantic")

Run = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Starts a program that has a window without a screen, in folders of its own."""
    started: list[subprocess.Popen[str]] = []

    def start(*command: str, **variables: str) -> subprocess.Popen[str]:
        places = {name: str(tmp_path / name.lower()) for name in ENVIRONMENT}
        process = subprocess.Popen(
            [sys.executable, *command],
            env={**os.environ, "QT_QPA_PLATFORM": "offscreen", **places, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def script(body: str) -> str:
    return (
        "import logging, sys\n"
        "logging.basicConfig()\n"
        "from gym_gui.ui.app import create_window, end\n"
        "from PyQt6.QtCore import QTimer\n"
        "app, window = create_window(['mosaic'])\n"
        f"{body}\n"
        "window.show()\n"
        "status = app.exec()\n"
        "end(window)\n"
        "print('ended', status)\n"
    )


def test_nothing_heavy_is_imported_before_the_first_paint(run: Run) -> None:
    body = (
        "def painted():\n"
        f"    print('heavy', [name for name in {HEAVY!r} if name in sys.modules])\n"
        "    window.close()\n"
        "window.painted.connect(painted)"
    )
    output, errors = run("-c", script(body)).communicate(timeout=60)
    assert output.splitlines() == ["heavy []", "ended 0"], errors


def test_work_in_another_thread_hands_the_interpreter_over_at_once(run: Run) -> None:
    """A page that is built meanwhile waits for it again and again: Python's own 5 ms add up to a stall."""
    body = "print(sys.getswitchinterval() < 0.001)\nQTimer.singleShot(0, window.close)"
    output, errors = run("-c", script(body)).communicate(timeout=60)
    assert output.splitlines() == ["True", "ended 0"], errors


def test_a_mistake_in_a_slot_is_told_and_ends_nothing(run: Run) -> None:
    body = (
        "def mistake(): raise ValueError('by mistake')\n"
        "def look():\n"
        "    print(window.notices.texts)\n"
        "    window.close()\n"
        "QTimer.singleShot(0, mistake)\n"
        "QTimer.singleShot(200, look)"
    )
    process = run("-c", script(body))
    output, errors = process.communicate(timeout=60)
    assert output.splitlines() == [
        "['Something went wrong: by mistake. The log has the details']",
        "ended 0",
    ]
    assert "ValueError: by mistake" in errors
    assert process.returncode == 0


def test_what_the_person_can_mend_is_told_without_a_traceback(run: Run) -> None:
    """A setting that cannot be kept holds while the window is open."""
    body = (
        "from pathlib import Path\n"
        "window.context.settings.path = Path('/dev/null/settings.json')\n"
        "def look():\n"
        "    print(window.notices.texts, window.context.theme.dark)\n"
        "    window.close()\n"
        "QTimer.singleShot(0, window.switch_theme)\n"
        "QTimer.singleShot(200, look)"
    )
    output, errors = run("-c", script(body)).communicate(timeout=60)
    told = output.splitlines()[0]
    assert told.startswith("['Settings could not be saved in /dev/null") and told.endswith("] True"), output
    assert "MOSAIC_DATA_DIR" in told and "Traceback" not in errors and "could not be saved" in errors


PAINTED = """
import sys
from gym_gui.ui import app as program

create = program.create_window

def watched(argv=None):
    app, window = create(argv)
    window.painted.connect(lambda: print("painted", flush=True))
    return app, window

program.create_window = watched
sys.exit(program.main(["mosaic"]))
"""
"""The program, which also says when its window is there."""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_closes_the_window(run: Run, number: signal.Signals, tmp_path: Path) -> None:
    process = run("-c", PAINTED)
    assert process.stdout is not None and process.stdout.readline() == "painted\n"
    process.send_signal(number)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert output == ""
    assert "Traceback" not in errors
    assert (tmp_path / "mosaic_data_dir" / "window.ini").is_file()


def test_two_files_are_one_too_many(run: Run) -> None:
    process = run("-c", "from gym_gui.ui.app import main; main(['mosaic', 'a.py', 'b.py'])")
    _, errors = process.communicate(timeout=60)
    assert "opens one file at a time" in errors


@pytest.mark.skipif(shutil.which("xvfb-run") is None, reason="xvfb is not installed")
def test_it_opens_on_a_real_display(run: Run, tmp_path: Path) -> None:
    body = (
        "window.painted.connect(lambda: print('painted', app.platformName()))\n"
        "window.painted.connect(window.close)"
    )
    process = subprocess.run(
        ["xvfb-run", "-a", sys.executable, "-c", script(body)],
        env={
            **{k: v for k, v in os.environ.items() if k != "QT_QPA_PLATFORM"},
            "MOSAIC_DATA_DIR": str(tmp_path),
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert process.stdout.splitlines() == ["painted xcb", "ended 0"], process.stderr


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted in /proc")
def test_qt_scales_a_picture_in_the_thread_that_paints(run: Run) -> None:
    body = (
        "import os\n"
        "from PyQt6.QtCore import Qt\n"
        "from PyQt6.QtGui import QImage\n"
        "before = os.listdir('/proc/self/task')\n"
        "large = QImage(2000, 2000, QImage.Format.Format_RGB32)\n"
        "large.scaled(1500, 1500, transformMode=Qt.TransformationMode.SmoothTransformation)\n"
        "print(len(os.listdir('/proc/self/task')) - len(before), 'more threads')\n"
        "QTimer.singleShot(0, window.close)"
    )
    out, err = run("-c", script(body)).communicate(timeout=60)
    assert out.splitlines() == ["0 more threads", "ended 0"], err
