"""The measured side of ``bench_gui.py``: a real window in a process of its own that plays one scene.

    python scripts/bench/bench_gui_window.py SCENE RESULT [OPTIONS as JSON]

It opens the window as ``mosaic`` does, plays the scene, writes what it measured to RESULT
(JSON) and closes the window.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, cast

from bench_gui_elsewhere import NAME as HOST
from bench_gui_elsewhere import Cost
from bench_gui_instruments import Beat, Frames, Meter, Waited, memory_mb, part, processor_time, waited_by
from bench_gui_library import make_runs

PATIENCE_S = 90.0
MINIGRID, DOORKEY = "MiniGrid-Empty-8x8-v0", "MiniGrid-DoorKey-8x8-v0"


async def until(condition: Callable[[], object], what: str, *, within_s: float = PATIENCE_S) -> None:
    """Look every 10 ms.

    Raises:
        TimeoutError: It did not come.
    """
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} did not come within {within_s:g} s")
        await asyncio.sleep(0.01)


class Scenes:
    """What is measured.

    Args:
        window: The main window, shown.
        options: See each scene.
    """

    def __init__(self, window: Any, options: dict[str, Any]) -> None:
        self._window, self._context, self._options = window, window.context, options
        self._waited = Waited()
        self._beat = Beat(self._waited)

    def by_name(self) -> dict[str, Callable[[], Awaitable[dict[str, Any]]]]:
        """Scenes by name."""
        return {
            "start": self.start,
            "memory": self.memory,
            "idle": self.idle,
            "opening": self.opening,
            "operators": self.operators,
            "elsewhere": self.elsewhere,
            "card": self.card,
            "library": self.library,
            "growth": self.growth,
        }

    def _places(self) -> list[str]:
        from gym_gui.ui.pages import places

        return [place.name for place in places()]

    async def start(self) -> dict[str, Any]:
        """The second after the first paint: what else keeps the window busy."""
        self._beat.start()
        meter = Meter(self._waited)
        await asyncio.sleep(2.0)
        self._beat.stop()
        return {"after": meter.read(), "longest_ms": max(self._beat.late_ns) / 1e6}

    async def memory(self) -> dict[str, Any]:
        """Memory at the first page, after all pages, after four operators have played."""
        await asyncio.sleep(3.0)
        await self._until_at_rest()
        result = {"empty": memory_mb()}
        for name in self._places():
            self._context.go(name)
            await asyncio.sleep(2.0)
            await self._until_at_rest()
        result["pages"] = memory_mb()
        await self._play(randoms(4), 30.0)
        await asyncio.sleep(5.0)
        result["playing"] = memory_mb()
        return result

    async def idle(self) -> dict[str, Any]:
        """Processor use of each page while nothing happens: what it does when it is first shown is over."""
        seconds = float(self._options["seconds"])
        result: dict[str, Any] = {}
        for name in self._places():
            self._context.go(name)
            await asyncio.sleep(3.0)
            busy_s = await self._until_at_rest()
            meter = Meter(self._waited)
            await asyncio.sleep(seconds)
            result[name] = {**meter.read(), "busy_s": 3.0 + busy_s}
        return result

    async def _until_at_rest(self) -> float:
        """Wait until all that this process began has done nothing for two seconds; how long it took, in s."""
        begun, before = time.monotonic(), -1.0
        while (used := processor_time()) - before > 0.02 and time.monotonic() - begun < PATIENCE_S:
            before = used
            await asyncio.sleep(2.0)
        return time.monotonic() - begun

    async def opening(self) -> dict[str, Any]:
        """The longest time in which the window does not react when a page is opened first."""
        result: dict[str, Any] = {}
        await asyncio.sleep(3.0)
        for name in self._places():
            if name == self._window.current:
                continue
            self._beat.start()
            await asyncio.sleep(0.05)
            meter = Meter(self._waited)
            self._context.go(name)
            slot = meter.read()
            await asyncio.sleep(3.0)
            self._beat.stop()
            late = sorted(self._beat.late_ns, reverse=True)
            result[name] = {
                "slot_ms": (slot["wall_s"] - slot["waited_s"]) * 1000,
                "longest_ms": late[0] / 1e6,
            }
        return result

    async def library(self) -> dict[str, Any]:
        """Open the list of many runs for the first time, then type searches there."""
        from PyQt6.QtWidgets import QLineEdit

        from gym_gui.ui.widgets.tables import RowsTable

        runs = self._context.store.runs_dir()
        await asyncio.to_thread(make_runs, runs, int(self._options["runs"]))
        await asyncio.sleep(3.0)
        self._beat.start()
        meter = Meter(self._waited)
        self._context.go("results")
        page = self._window.pages["results"]
        table = page.findChild(RowsTable, "run-table")
        await until(lambda: table.rows.rowCount(), "the first runs")
        table.viewport().repaint()
        first = meter.read()
        await until(lambda: page.reader.complete, "all runs")
        table.viewport().repaint()
        whole = meter.read()
        await asyncio.sleep(1.0)
        self._beat.stop()
        longest = max(self._beat.late_ns) / 1e6
        search, filters = page.findChild(QLineEdit, "run-search"), dict[str, float]()
        for text in self._options["searches"]:
            for end in range(1, len(text) + 1):  # as it is typed
                meter = Meter(self._waited)
                search.setText(text[:end])
                table.viewport().repaint()
                used = meter.read()
                net = 1000 * (used["wall_s"] - used["waited_s"])
                filters[text] = max(filters.get(text, 0.0), net)
                await asyncio.sleep(0)
            search.clear()
        return {"first": first, "whole": whole, "longest_ms": longest, "filters_ms": filters}

    # -- operators -----------------------------------------------------------------------

    async def _play(self, configs: Sequence[Any], rate: float | None) -> Any:
        """These operators, each at a pace of its own; returns the page."""
        self._context.go("operators")
        page = self._window.pages["operators"]
        page.deck.play.set_pace(rate, lock_step=False)
        self._context.settings.set("frame_rate", int(self._options.get("fps", 30)))
        self._context.go("operators", operators=configs, seed=42, run=True)
        await until(
            lambda: all(
                o.player.last_view is not None and o.player.last_view.step >= 15 for o in page.deck.operators
            ),
            f"the first steps of {len(configs)} operators",
        )
        return page

    async def operators(self) -> dict[str, Any]:
        """Operators that play; then one of their workers is stopped, and it is measured again."""
        count, rate = int(self._options["count"]), self._options.get("rate")
        frames = self._frames(await self._play(randoms(count), rate))
        await asyncio.sleep(2.0)
        result = {"all": await self._watch(frames)}
        if self._options.get("hang"):
            result["hung"] = await self._with_one_stopped(frames)
        for each in frames.values():
            each.detach()
        return result

    async def growth(self) -> dict[str, Any]:
        """Four operators as fast as they can: memory at each tenth of so many steps."""
        wanted, played, begun = int(self._options["steps"]), 0, time.monotonic()
        page = await self._play(randoms(4), None)

        def count(row: Any) -> None:
            nonlocal played
            played += row["length"]

        for operator in page.deck.operators:
            operator.episode_over.connect(count)
        rss: list[float] = []
        for tenth in range(1, 11):
            await until(
                lambda at=wanted * tenth / 10: played >= at,
                f"tenth {tenth} of {wanted} steps",
                within_s=600.0,
            )
            rss.append(memory_mb()["rss_mb"])
        return {"rss_mb": rss, "steps": played, "wall_s": time.monotonic() - begun}

    async def elsewhere(self) -> dict[str, Any]:
        """An operator here, and the same one on another host, at the same time and pace."""
        configs = [*randoms(1, DOORKEY), *randoms(1, DOORKEY, host=HOST)]
        frames = self._frames(await self._play(configs, float(self._options["rate"])))
        await asyncio.sleep(2.0)
        cost = Cost(next(iter(frames)).player.link.pid, int(self._options["sshd"]))
        watched = await self._watch(frames)
        used = cost.read()
        for each in frames.values():
            each.detach()
        ways = [sorted(each.way_ms) for each in frames.values()]
        return {
            **watched,
            "ways_ms": [{name: part(way, q) for name, q in (("p50", 0.5), ("p95", 0.95))} for way in ways],
            "cost": used,
        }

    def _frames(self, page: Any) -> dict[Any, Frames]:
        return {
            operator: Frames(operator, page.manual.card(operator).stage.frame, self._waited, self._beat)
            for operator in page.deck.operators
        }

    async def _with_one_stopped(self, frames: dict[Any, Frames]) -> dict[str, Any]:
        import signal

        import psutil

        first = next(iter(frames))
        children: Any = psutil.Process(first.player.link.pid).children(recursive=True)
        (worker,) = [child.pid for child in children if "mosaic_worker" in " ".join(child.cmdline())]
        os.kill(worker, signal.SIGSTOP)
        try:
            await asyncio.sleep(2.0)
            return await self._watch({o: f for o, f in frames.items() if o is not first})
        finally:
            os.kill(worker, signal.SIGCONT)

    async def _watch(self, frames: dict[Any, Frames]) -> dict[str, Any]:
        for each in frames.values():
            each.clear()
        self._beat.start()
        meter = Meter(self._waited)
        await asyncio.sleep(float(self._options["seconds"]))
        self._beat.stop()
        used = meter.read()
        delivered = [each.delivered / used["wall_s"] for each in frames.values()]
        late = self._beat.samples_ms()
        way = sorted(ms for each in frames.values() for ms in each.way_ms)
        less = sorted(ms for each in frames.values() for ms in each.way_less_waiting_ms)
        painted = [len(each.way_ms) / used["wall_s"] for each in frames.values()]
        return {
            "late_ms": {name: part(late, q) for name, q in (("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999))},
            "longest_ms": late[-1],
            "beats": len(late),
            "cpu": used["cpu_s"] / used["wall_s"],
            "waited": used["waited_s"] / used["wall_s"],
            "way_ms": {name: part(way, q) for name, q in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))},
            "way_less_waiting_ms": {"p50": part(less, 0.5), "p95": part(less, 0.95)},
            "painted": [round(each, 1) for each in painted],
            "delivered": delivered,
            "slowest": min(painted),
        }

    # -- the cards of the first page -----------------------------------------------------

    async def card(self) -> dict[str, Any]:
        """From the click on a card to the first frame on the screen."""
        from PyQt6.QtCore import Qt
        from PyQt6.QtTest import QTest
        from PyQt6.QtWidgets import QWidget

        self._context.go("home")
        await asyncio.sleep(float(self._options["idle_s"]))
        card: Any = self._window.page.findChild(QWidget, f"start-{self._options['card']}")
        spare = self._context.spare_host.pid if self._context.spare_host is not None else 0
        before = {spare: waited_by(spare)}  # while it got ready
        self._beat.start()
        meter = Meter(self._waited)
        click: Any = QTest.mouseClick
        click(card, Qt.MouseButton.LeftButton)
        slot = meter.read()
        await until(lambda: self._window.current != "home", "another page")
        first = _FirstPaint(self._window.page)
        await until(first.seen, "the first frame")
        used = meter.read()
        used["first_s"] = used["wall_s"]
        hosts = self._hosts()
        used["host_waited_s"] = max((waited_by(pid) - before.get(pid, 0.0) for pid in hosts), default=0.0)
        used["spare"] = float(spare in hosts)
        await until(lambda: first.seen(of_all=True), "the first frame of everybody")
        used["all_s"] = meter.read()["wall_s"]
        self._beat.stop()
        used["slot_ms"] = slot["wall_s"] * 1000
        used["longest_ms"] = max(self._beat.late_ns) / 1e6
        return used

    def _hosts(self) -> list[int]:
        """Process ids of the session hosts of the page that is shown."""
        page = self._window.page
        operators = page.deck.operators if hasattr(page, "deck") else [page.game.operator]
        return [operator.player.link.pid for operator in operators if operator.player.link.pid]


def randoms(count: int, task: str = MINIGRID, host: str = "") -> list[Any]:
    """Operators that play at random."""
    from gym_gui.core.config import OperatorConfig, WorkerAssignment

    player = WorkerAssignment("operators_worker", "baseline", {"behavior": "random"})
    return [
        OperatorConfig(f"random_{k}{host}", f"Random {k}", "", task, {"agent_0": player}, host=host)
        for k in range(count)
    ]


class _FirstPaint:
    """Whether the stages of a page have painted something of an episode."""

    def __init__(self, page: Any) -> None:
        self._page = page

    def seen(self, *, of_all: bool = False) -> bool:
        from gym_gui.ui.renderers import StageView

        stages = [stage for stage in self._page.findChildren(StageView) if stage.isVisible()]
        return bool(stages) and (all if of_all else any)(map(self._painted, stages))

    @staticmethod
    def _painted(stage: Any) -> bool:
        # Both are set by what is painted, not by what has come: `_painted` counts the frame's
        # paints, and a board's pieces exist once they were drawn.
        return bool(stage.frame._painted) or (stage.board.isVisible() and stage.board.board is not None)


async def play(window: Any, scene: str, options: dict[str, Any], result: dict[str, Any]) -> None:
    """Play a scene, then close the window, whatever came of it."""
    try:
        result.update(await Scenes(window, options).by_name()[scene]())
    except Exception as exc:
        result["error"] = f"{type(exc).__name__}: {exc}"
    window.close()


def show(scene: str, target: Path, options: dict[str, Any]) -> int:
    """Open the window, measuring how long that takes, and play a scene."""
    from PyQt6.QtCore import QCoreApplication, QEvent, QObject, Qt
    from PyQt6.QtGui import QKeyEvent

    from gym_gui.ui.app import create_window, end

    result: dict[str, Any] = {}
    waited = Waited()
    app, window = cast("tuple[Any, Any]", create_window(["mosaic"]))
    if "size" in options:
        window.resize(*options["size"])

    class Reaction(QObject):
        """Sees the key that is pressed when the window is painted."""

        def eventFilter(self, a0: Any, a1: Any) -> bool:  # noqa: N802 (Qt's name)
            if a1 is not None and a1.type() == QEvent.Type.KeyPress:
                window.removeEventFilter(self)
                result["start"] = {
                    "painted": painted[0],
                    "reacted": time.monotonic_ns(),
                    "cpu_s": time.process_time(),
                    "waited_s": waited() / 1e9,
                }
                window.context.spawn(play(window, scene, options, result), "Measuring")
                return True
            return False

    painted: list[int] = []
    reaction = Reaction()

    def on_painted() -> None:
        painted.append(time.monotonic_ns())
        window.installEventFilter(reaction)
        key = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_F24, Qt.KeyboardModifier.NoModifier)
        QCoreApplication.postEvent(window, key)

    window.painted.connect(on_painted)
    window.show()
    app.exec()
    end(window)
    target.write_text(json.dumps(result))
    return 0


def main() -> int:
    """As a program."""
    from gym_gui.cli.window import open_window, open_with

    scene, target = sys.argv[1], Path(sys.argv[2])
    options: dict[str, Any] = json.loads(sys.argv[3]) if len(sys.argv) > 3 else {}
    open_with(lambda _: show(scene, target, options))
    return open_window()


if __name__ == "__main__":
    sys.exit(main())
