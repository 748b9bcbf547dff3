"""The program in a process of its own, and what its user does and sees."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from gym_gui.processes.tree import TAG
from tests.support.processes import Offspring
from tests.support.waiting import LONG_S, eventually
from tests.window.desktop import WITH_PARENT, Desktop

ROOT = Path(__file__).resolve().parents[2]
T = TypeVar("T")

_END_TRAINER = """
from gym_gui.services.store import Store
from gym_gui.services.trainer.daemon_address import find
from gym_gui.services.trainer.starting import stop_daemon
if find(Store()) is not None:
    stop_daemon(Store())
"""
_ANSWER_S = 30.0
_MOST_TABS = 60
_PAUSE_S, _LONGEST_PAUSE_S = 0.02, 0.2
"""Between two looks: short at first, longer the longer it takes."""
_PATIENCE_S = 120.0
"""More than anything takes, also where ten programs share a core."""
_FOCUS_S = 10.0
"""Longest time until a dialog has the keyboard."""


@dataclass(frozen=True)
class Widget:
    """What is seen of a widget.

    Attributes:
        names: ``objectName`` of itself and of what it is in, from the inside out.
        text: What it says.
        says: Its accessible name.
        rect: Where its visible part is on the screen: left, top, width, height.
        enabled: Whether it can be used.
        focus: Whether it has the keyboard.
        checked: Whether it is switched on.
        on_top: Whether nothing covers its middle.
    """

    names: tuple[str, ...]
    kind: str
    text: str
    says: str
    rect: tuple[int, int, int, int]
    enabled: bool
    focus: bool
    checked: bool
    on_top: bool


@dataclass(frozen=True)
class Places:
    """Folders of a program.

    Attributes:
        home: Holds what it keeps: data, runs, Qt's own settings.
        cache: May be shared.
        runtime: Of its sockets; a short path.
    """

    home: Path
    cache: Path
    runtime: Path

    @property
    def variables(self) -> dict[str, str]:
        """What makes a program use them."""
        return {
            "MOSAIC_DATA_DIR": str(self.home / "data"),
            "MOSAIC_RUNS_DIR": str(self.home / "runs"),
            "MOSAIC_CACHE_DIR": str(self.cache),
            "MOSAIC_RUNTIME_DIR": str(self.runtime),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "XDG_DATA_HOME": str(self.home / "share"),
        }


class Program:
    """One run of ``python -m gym_gui``, seen and used.

    Args:
        desktop: Where it shows itself.
        places: Where it writes.
        arguments: Of its command line.
    """

    def __init__(self, desktop: Desktop, places: Places, arguments: Iterable[str] = ()) -> None:
        self.desktop, self.runtime = desktop, places.runtime
        self.runs = places.home / "runs"
        self.offspring = Offspring(f"window-{os.getpid()}-{os.urandom(4).hex()}")
        self._places = places
        self._probe = self.runtime.with_name(self.runtime.name + ".probe")
        self._log = places.home / "program.log"
        self._connection: socket.socket | None = None
        self._clicked: Widget | None = None
        self._begin([str(argument) for argument in arguments])

    def _begin(self, arguments: list[str]) -> None:
        self._places.home.mkdir(parents=True, exist_ok=True)
        own = {name: value for name, value in self.desktop.variables.items() if name != TAG}
        environment = {**own, **self.offspring.variables, **self._places.variables}
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                [*WITH_PARENT, sys.executable, "-m", "tests.window.driver", str(self._probe), *arguments],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def arrive(self) -> None:
        """Wait until the window is on the screen and has the keyboard."""
        eventually(self._there, "the window is painted", _PATIENCE_S)
        self.until("the window has the keyboard", lambda s: s["active"])

    def _there(self) -> bool:
        assert self.process.poll() is None, f"the program ended: {self.log}"
        try:
            self._connect()
        except (FileNotFoundError, ConnectionRefusedError):  # not made yet; made, and not listened on yet
            return False
        return True

    def _connect(self) -> socket.socket:
        if self._connection is None:
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(_ANSWER_S)
            try:
                connection.connect(str(self._probe))
            except OSError:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def wait(self, condition: Callable[[], T], what: str) -> T:
        """Wait until a condition holds; fails at once where the program has logged a traceback.

        Looks less often than :func:`eventually`: constant questions would keep the program from its work.
        """
        deadline, pause = time.monotonic() + _PATIENCE_S, _PAUSE_S
        while not (found := condition()):
            assert "Traceback" not in self.log, f"the program complains: {self.log}"
            assert time.monotonic() < deadline, f"did not happen within {_PATIENCE_S:g} s: {what}"
            time.sleep(pause)
            pause = min(pause * 1.3, _LONGEST_PAUSE_S)
        return found

    # -- looking ----------------------------------------------------------------------

    @property
    def log(self) -> str:
        """What it wrote to the terminal."""
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    def ask(self, what: str, **words: Any) -> Any:
        """Ask the probe; see :mod:`tests.window.driver`."""
        connection = self._connect()
        connection.sendall(json.dumps({"ask": what, **words}).encode() + b"\n")
        answer = b""
        while not answer.endswith(b"\n"):
            piece = connection.recv(1 << 20)
            assert piece, f"the program ended while it was asked: {self.log}"
            answer += piece
        return json.loads(answer)

    @property
    def state(self) -> dict[str, Any]:
        """Page, focus, popup, dialog, notices."""
        return self.ask("state")

    def widgets(self, name: str, within: str = "") -> list[Widget]:
        """All that are shown under a name (in something of another name)."""
        found = (
            Widget(**{**w, "names": tuple(w["names"]), "rect": tuple(w["rect"])}) for w in self._all(name)
        )
        return [widget for widget in found if not within or within in widget.names]

    def _all(self, name: str) -> list[dict[str, Any]]:
        return self.ask("widgets", name=name)

    def find(self, name: str, within: str = "") -> Widget | None:
        """The first one that is shown, or ``None``."""
        return next(iter(self.widgets(name, within)), None)

    def text(self, name: str, within: str = "") -> str:
        """What one says; empty where it is not shown."""
        widget = self.find(name, within)
        return widget.text if widget is not None else ""

    def current_row(self, name: str) -> str:
        """What the current row of a list says; empty where there is none."""
        return str(self.ask("current", name=name).get("text", ""))

    def current_cells(self, name: str) -> list[str]:
        """The cells of a table's current row; empty where there is none."""
        return list(self.ask("current", name=name).get("cells", []))

    def until(self, what: str, holds: Callable[[dict[str, Any]], object]) -> None:
        """Wait until something holds of the window's state."""
        try:
            self.wait(lambda: holds(self.state), what)
        except AssertionError as error:
            clicked = f"; clicked last: {self._clicked}" if self._clicked else ""
            raise AssertionError(f"{error}; state: {self.state}{clicked}") from None

    def until_page(self, name: str) -> None:
        """Wait until a page is shown."""
        self.until(f"page {name} is shown", lambda s: s["page"] == name)

    def until_text(self, name: str, holds: Callable[[str], object], what: str, within: str = "") -> str:
        """Wait until what a widget says is so; returns it."""
        last = [""]

        def says() -> bool:
            last[0] = self.text(name, within)
            return bool(holds(last[0]))

        try:
            self.wait(says, what)
        except AssertionError as error:
            raise AssertionError(f"{error}; {name} says {last[0]!r}") from None
        return last[0]

    def ready(self, name: str, within: str = "") -> Widget:
        """Wait until something can be clicked: shown, enabled, not covered, not moving."""
        before: list[Widget | None] = [None]

        def still() -> Widget | None:
            widget = self.find(name, within)
            same = before[0] is not None and widget is not None and before[0].rect == widget.rect
            before[0] = widget
            return widget if same and widget is not None and widget.enabled and widget.on_top else None

        try:
            found = self.wait(still, f"{name} can be clicked")
        except AssertionError as error:
            raise AssertionError(f"{error}; last seen: {before[0]}; state: {self.state}") from None
        assert found is not None
        return found

    def still_look(self, rect: tuple[int, int, int, int]) -> str:
        """Fingerprint of a part of the screen, once it does not change any more."""
        looks = [""]

        def still() -> bool:
            looks.append(self.desktop.look_of(*rect))
            return looks[-1] == looks[-2]

        self.wait(still, "the picture stands still")
        return looks[-1]

    # -- doing ------------------------------------------------------------------------

    def click(self, name: str, within: str = "", times: int = 1) -> Widget:
        """Click the middle of something."""
        widget = self._clicked = self.ready(name, within)
        self.click_at(widget.rect, times)
        return widget

    def click_at(self, rect: Iterable[int], times: int = 1) -> None:
        """Click the middle of a place."""
        left, top, width, height = rect
        self.desktop.click(left + width // 2, top + height // 2, times)

    def press(self, *keys: str) -> None:
        """Press keys, once whatever is to hear them can."""
        self._until_it_hears_keys()
        self.desktop.press(*keys)

    def type(self, text: str) -> None:
        """Type, once whatever is to hear it can."""
        self._until_it_hears_keys()
        self.desktop.type(text)

    def _until_it_hears_keys(self) -> None:
        """A person sees which window has the keyboard; if none gets it, what follows says what is wrong."""
        deadline = time.monotonic() + _FOCUS_S
        while not self.state["hears_keys"] and time.monotonic() < deadline:
            time.sleep(_PAUSE_S)

    def tab_to(self, name: str) -> None:
        """Press Tab until something has the keyboard."""
        for _ in range(_MOST_TABS):
            before = self.state["focus"]
            if before[:1] == [name]:
                return
            self.press("Tab")
            self.until("Tab goes on", lambda s, before=before: s["focus"] != before)
        raise AssertionError(f"{name} is not reached by Tab; it ended at {self.state['focus']}")

    def choose(self, picker: str, words: str, shown: str, within: str = "") -> None:
        """Open a searchable list, type some words, take the first row, which must be the one meant."""
        self.click(picker, within)
        self.choose_from_open_list(words, shown)

    def choose_from_open_list(self, words: str, shown: str) -> None:
        """The second half of :meth:`choose`."""
        self.until("the list is open", lambda s: s["popup"] == "picker-popup")
        self.until("one can type", lambda s: s["focus"][:1] == ["picker-search"])
        self.type(words)

        seen = ["", ""]

        def found() -> bool:
            seen[:] = self.text("picker-search"), self.current_row("picker-list")
            return seen == [words, shown]

        try:
            self.wait(found, f"{shown!r} is found by {words!r}")
        except AssertionError as error:
            raise AssertionError(f"{error}; [search, row]: {seen}; state: {self.state}") from None
        self.press("Return")
        self.until("the list is shut", lambda s: s["popup"] == "")

    def pick(self, menu: str, text: str) -> None:
        """Click an entry of an open menu."""

        def entry() -> dict[str, Any] | None:
            entries = self.ask("menu", name=menu)
            found = (e for e in entries if e["text"] == text and e["enabled"])
            return None if isinstance(entries, dict) else next(found, None)

        found = self.wait(entry, f"{menu} offers {text!r}")
        assert found is not None
        self.click_at(found["rect"])

    # -- what is left behind ----------------------------------------------------------

    def quit(self) -> int:
        """Close it from the keyboard; its exit status."""
        self.press("ctrl+q")
        return self.process.wait(LONG_S)

    def end_trainer(self) -> None:
        """End the trainer, which outlives the window, if there is one."""
        variables = {**os.environ, **self._places.variables}
        subprocess.run([sys.executable, "-c", _END_TRAINER], env=variables, cwd=ROOT, check=True)

    def kill(self) -> None:
        """kill -9 of the window's process alone."""
        self.process.kill()
        self.process.wait(LONG_S)

    def close(self) -> None:
        """End it, however it stands."""
        if self._connection is not None:
            self._connection.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(LONG_S)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._probe.unlink(missing_ok=True)

    # -- records ----------------------------------------------------------------------

    def run_folders(self) -> list[Path]:
        """Run folders, oldest first."""
        return sorted(path.parent for path in self.runs.glob("*/run.json"))

    def episodes(self, operator: str = "*") -> list[dict[str, Any]]:
        """Episodes of all runs, as recorded."""
        return self._lines(f"*/operators/{operator}/episodes.jsonl")

    def steps(self, operator: str = "*") -> list[dict[str, Any]]:
        """Steps of all runs, as recorded."""
        return self._lines(f"*/operators/{operator}/steps.jsonl")

    def _lines(self, pattern: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for path in sorted(self.runs.glob(pattern)):
            # The last line may be half written.
            whole = path.read_text().rpartition("\n")[0]
            found += [json.loads(line) for line in whole.splitlines()]
        return found

    def until_recorded(self, count: int = 1, operator: str = "*") -> list[dict[str, Any]]:
        """Wait until so many episodes are in the run folders."""

        def enough() -> list[dict[str, Any]]:
            episodes = self.episodes(operator)
            return episodes if len(episodes) >= count else []

        return self.wait(enough, f"{count} episodes of {operator} are recorded")
