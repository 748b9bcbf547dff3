"""What a screen reader is told of every page and panel, over the bus on which it listens (AT-SPI).

The test uses the program by its keys alone, like a user who cannot see the window.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.window.conftest import EXPERIMENT, Start
from tests.window.desktop import Desktop, missing
from tests.window.program import Program
from tests.window.test_script import choose

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
PAGES = {
    "ctrl+1": "home",
    "ctrl+2": "play",
    "ctrl+3": "operators",
    "ctrl+4": "agents",
    "ctrl+5": "train",
    "ctrl+6": "results",
    "ctrl+comma": "settings",
}
MOST_STOPS = 80


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> Any:
    """scripts/pictures/screen_reader.py, which scripts/pictures/screenshots.py uses too."""
    pytest.importorskip("jeepney")
    monkeypatch.syspath_prepend(str(SCRIPTS / "pictures"))
    return importlib.import_module("screen_reader")


@pytest.fixture
def bus(reader: Any) -> Iterator[Any]:
    """What screen readers and programs talk over."""
    if absent := [*reader.missing(), *missing()]:
        pytest.skip(f"not installed: {', '.join(absent)} (dbus, at-spi2-core, xvfb, openbox, xdotool, …)")
    result = reader.Bus()
    yield result
    result.close()


@pytest.fixture
def desktop(bus: Any) -> Iterator[Desktop]:
    """A screen whose programs are heard."""
    result = Desktop(also=bus.variables)
    yield result
    result.close()


@pytest.fixture
def window(start: Start) -> Iterator[Program]:
    """The program; the trainer that its Train page starts ends with the test."""
    result = start()
    yield result
    if result.process.poll() is None:
        result.quit()
    result.end_trainer()


@pytest.fixture
def hear(bus: Any, reader: Any) -> Callable[[Program], Any]:
    """``hear(window)``: the tree, of which everything is understood."""

    def tree(window: Program) -> Any:
        root = bus.application(window.process.pid)
        assert reader.wrong(root) == [], reader.spoken(root)
        return root

    return tree


def names(root: Any, role: str) -> list[str]:
    return [node.name for node in root.walk() if node.role == role]


def test_every_page_is_understood_by_somebody_who_hears_it(window: Program, hear: Any) -> None:
    for key, page in PAGES.items():
        window.press(key)
        window.until_page(page)
        root = hear(window)
        assert f"{window.find(f'page-{page}').says}, the page" in names(root, "layered pane")  # type: ignore[union-attr]
    window.press("F1")
    window.until("the guide has the keyboard", lambda s: s["focus"][:1] == ["guide-text"])
    assert "Page of the guide" in [node.name for node in hear(window).walk()]
    window.press("F1")
    window.wait(lambda: window.find("guide-text") is None, "the guide is put away")
    window.press("shift+F1")
    window.wait(lambda: "Close" in names(hear(window), "push button"), "the shortcuts are told")
    window.press("shift+F1")
    window.press("ctrl+shift+p")
    window.until("one can search", lambda s: s["focus"][:1] == ["palette-search"])
    window.type("dark")
    window.wait(lambda: "dark" in window.current_row("palette-list"), "the command is found")
    hear(window)
    window.press("Escape")


@pytest.mark.full
def test_a_comparison_and_its_report_are_understood(start: Start, tmp_path: Path, hear: Any) -> None:
    file = tmp_path / "two.yaml"
    file.write_text(EXPERIMENT)
    window = start()
    choose(window, file)
    window.until_text(
        "script-about", lambda text: "2 operators, 8 episodes each" in text, "the file is shown"
    )
    window.ready("script-run")
    hear(window)
    window.press("ctrl+r")
    window.until_text("message-ok", lambda text: text == "Done: 16 episodes.", "all episodes are played")
    window.press("ctrl+6")
    window.until_page("results")
    window.until_text("run-count", lambda text: text == "1 run", "the run is listed")
    root = hear(window)
    assert "Random and Passive" in " ".join(names(root, "cell"))
    window.tab_to("run-table")
    window.press("Home", "Return")
    verdict = window.until_text("results-verdict", bool, "there is a verdict")
    root = hear(window)
    said = " ".join(node.name + node.description for node in root.walk())
    assert "Passive" in verdict and "IQM return, 95 % interval" in said
    plots = [node for node in root.walk() if node.name.startswith("Same seed")]
    assert any("ahead in" in node.description for node in plots), "the plot says what its data say"


DIALOGS = (
    "hosts",
    "tours",
    "shortcuts",
    "trust",
    "install",
    "environment",
    "link",
    "steps",
    "player",
    "preset",
    "tournament",
    "editor",
    "picker",
)


@pytest.mark.full
def test_dialogs_are_understood_and_used_by_keyboard(desktop: Desktop, tmp_path: Path) -> None:
    """Each is opened and heard; Tab is pressed through it, Enter has its button, Esc closes it."""
    command = [sys.executable, str(SCRIPTS / "pictures" / "screenshots.py"), "--bare", "--spoken", "--check"]
    command += ["--out", str(tmp_path), "--size", "1024x700", "--theme", "light"]
    command += ["--only", *(f"dialog-{name}" for name in DIALOGS), "play-keys", "palette"]
    done = subprocess.run(command, env=desktop.variables, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stdout + done.stderr
    heard = (tmp_path / "dialog-environment.txt").read_text()
    assert "Use these settings" in heard and "Further arguments" in heard


@pytest.mark.full
def test_tab_goes_as_one_reads_and_is_always_told(window: Program, bus: Any) -> None:
    for key, page in PAGES.items():
        window.press(key)
        window.until_page(page)
        stops: list[Any] = []
        while len(stops) < MOST_STOPS:
            before = window.state["focus"]
            window.press("Tab")
            window.until("Tab goes on", lambda s, before=before: s["focus"] != before)
            root = bus.application(window.process.pid)
            held = [(node, up) for node, up in _with_parents(root) if "focused" in node.states]
            assert held, f"no reader hears where the keyboard is on {page}: {window.state['focus']}"
            if any(held[-1][0].path == stop[0].path for stop in stops):
                break
            stops.append(held[-1])
        assert len(stops) >= 8, page
        for (one, above), (two, beside) in pairwise(stops):
            if above.path == beside.path:
                assert not _read_before(two.rect, one.rect), f"{page}: {two} comes after {one}"


def _with_parents(root: Any) -> Iterator[tuple[Any, Any]]:
    for child in root.children:
        yield child, root
        yield from _with_parents(child)


def _read_before(one: tuple[int, ...], two: tuple[int, ...]) -> bool:
    left, top, width, height = one
    above = top + height <= two[1]
    beside = top < two[1] + two[3] and two[1] < top + height and left + width <= two[0]
    return above or beside
