"""What the first click will need is imported in the background."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gym_gui.ui.context import AppContext
from gym_gui.ui.preload import ENGINE, Preloader, modules


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], str]]:
    """Writes a module that can be imported, and returns its name."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)

    def write(name: str, text: str) -> str:
        (tmp_path / f"{name}.py").write_text(text)
        return name

    yield write
    for name in set(sys.modules) - before:
        if name.startswith("ahead_"):
            del sys.modules[name]


def test_modules_come_in_a_thread_and_one_that_fails_stops_nothing(
    context: AppContext, package: Callable[[str, str], str], qtbot: object, caplog: pytest.LogCaptureFixture
) -> None:
    names = [
        package("ahead_one", "import threading\nthread = threading.current_thread().name"),
        package("ahead_two", "raise RuntimeError('no such luck')"),
        package("ahead_three", ""),
    ]
    preloader = Preloader(context.spawn, names)
    with caplog.at_level(logging.INFO):
        preloader.start()
        qtbot.waitUntil(lambda: "ahead_three" in sys.modules and not context.busy)  # type: ignore[attr-defined]
    assert sys.modules["ahead_one"].thread != "MainThread"
    assert "ahead_two" not in sys.modules
    assert "ahead_two could not be imported ahead: no such luck" in caplog.text


def test_nothing_more_is_imported_once_it_is_stopped(
    context: AppContext, package: Callable[[str, str], str], qtbot: object
) -> None:
    slow = package("ahead_slow", "import time\nbegun = True\ntime.sleep(0.3)")
    preloader = Preloader(context.spawn, [slow, package("ahead_never", "")])
    preloader.start()
    qtbot.waitUntil(lambda: hasattr(sys.modules.get(slow), "begun"))  # type: ignore[attr-defined]
    preloader.stop()
    qtbot.waitUntil(lambda: not context.busy)  # type: ignore[attr-defined]
    assert "ahead_never" not in sys.modules


def test_what_sessions_need_comes_with_the_first_page_that_opens_them(
    context: AppContext, package: Callable[[str, str], str], qtbot: object
) -> None:
    early, late = package("ahead_early", ""), package("ahead_late", "")
    preloader = Preloader(context.spawn, [early], [late])
    preloader.on_page_shown("home")
    preloader.start()
    qtbot.waitUntil(lambda: early in sys.modules and not context.busy)  # type: ignore[attr-defined]
    assert late not in sys.modules
    preloader.on_page_shown("operators")
    qtbot.waitUntil(lambda: late in sys.modules and not context.busy)  # type: ignore[attr-defined]


def test_the_engine_and_every_page_are_imported_ahead() -> None:
    names = modules()
    assert names[: len(ENGINE)] == ENGINE
    assert {"gym_gui.ui.pages.play", "gym_gui.ui.pages.results"} <= set(names)
