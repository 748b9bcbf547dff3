"""How quick, light and smooth the window is: figures with their goals.

    python scripts/bench/bench_gui.py [--quick] [--only NAME …] [--json FILE] [--offscreen] [--size 1280x800]

A real window is opened in processes of its own (``bench_gui_window.py``) under Xvfb, which is
started where ``DISPLAY`` is not set; ``--offscreen`` uses Qt's platform without a screen. Beside each goal
stands what the same takes without MOSAIC, measured in the same run (``bench_gui_bare.py``).
Machines are shared: time in which a thread was ready and had no core
(``/proc/…/schedstat``) is taken out where a figure says so, and the load is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench_gui_elsewhere import NAME as HOST

from gym_gui.core.terminal import print_rows

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from scripts.pictures import loopback_host  # noqa: E402

WINDOW = Path(__file__).resolve().with_name("bench_gui_window.py")
BARE = WINDOW.with_name("bench_gui_bare.py")
CARDS = {"cartpole": 1.5, "duel": None, "soccer": 1.0, "connect_four": None}
"""Cards of the first page, and the goal of each that has one."""
RUNS, SEARCHES = 5000, ("ppo", "agent:ppo tag:tag3", "setting:learning_rate=1e-4", "star after:2026-03-01")
_LIMIT_S = 900.0
_EMPTY = "an empty window"


@dataclass(frozen=True)
class Figure:
    """One line of the result.

    Attributes:
        name: What was measured.
        goal: Most it may be (at least, for frames); ``None`` where it is told for orientation.
        measured: The median of the tries.
        unit: Of both.
        met: Whether the goal is met; ``None`` without one.
        detail: What else was seen.
        reference: The same without MOSAIC, in the same unit, and what that is.
    """

    name: str
    goal: float | None
    measured: float
    unit: str
    met: bool | None
    detail: str = ""
    reference: tuple[float, str] | None = None

    @property
    def told(self) -> str:
        """Whether its goal is met, for the table."""
        return "" if self.met is None else "yes" if self.met else "NO"


def at_most(
    name: str,
    goal: float | None,
    measured: float,
    unit: str,
    detail: str = "",
    reference: tuple[float, str] | None = None,
) -> Figure:
    """A figure that should be small."""
    return Figure(name, goal, measured, unit, None if goal is None else measured <= goal, detail, reference)


class Window:
    """Opens the measured window, once for each scene.

    Args:
        environment: Of its process.
        size: Width and height.
        cache: What its cache begins with.
    """

    def __init__(self, environment: Mapping[str, str], size: tuple[int, int], cache: Path) -> None:
        self._environment, self._size, self._cache = dict(environment), size, cache

    def beside(self, environment: Mapping[str, str]) -> Window:
        """The same window, with these variables as well."""
        return Window({**self._environment, **environment}, self._size, self._cache)

    def play(self, scene: str, program: Path = WINDOW, **options: Any) -> dict[str, Any]:
        """What a scene measured; ``begun`` is when its process was started.

        Raises:
            RuntimeError: It failed, with the reason.
        """
        with tempfile.TemporaryDirectory(prefix="mosaic-bench-") as home:
            places = {f"MOSAIC_{n}_DIR": str(Path(home, n.lower())) for n in ("DATA", "CACHE", "RUNS")}
            shutil.copytree(self._cache, places["MOSAIC_CACHE_DIR"])
            target = Path(home, "result.json")
            options["size"] = self._size
            command = [sys.executable, str(program), scene, str(target), json.dumps(options)]
            begun = time.monotonic_ns()
            done = subprocess.run(
                command,
                env=self._environment | places,
                cwd=home,
                stderr=subprocess.PIPE,
                text=True,
                timeout=_LIMIT_S,
            )
            if not target.exists():
                last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
                raise RuntimeError(f"the window of {scene!r} ended ({done.returncode}): {last}")
            result: dict[str, Any] = json.loads(target.read_text(encoding="utf-8"))
        if "error" in result:
            raise RuntimeError(f"{scene!r}: {result['error']}")
        return {**result, "begun": begun}


class Figures:
    """All figures, by group.

    Args:
        window: Plays the scenes.
        quick: Shorter and rougher.
    """

    def __init__(self, window: Window, *, quick: bool) -> None:
        self._window, self._quick = window, quick
        self._tries = 3 if quick else 7
        self._seconds = 8 if quick else 30
        self._bare: dict[str, Any] | None = None

    @property
    def bare(self) -> dict[str, Any]:
        """An empty window, measured once."""
        if self._bare is None:
            rows = [self._window.play("window", BARE, seconds=2 + self._seconds / 4) for _ in range(3)]
            row = rows[-1]
            starts = [(each["start"]["reacted"] - each["begun"]) / 1e9 for each in rows]
            row["start_s"] = statistics.median(
                wall - each["start"]["waited_s"] for wall, each in zip(starts, rows, strict=True)
            )
            row["idle_percent"] = 100 * row["idle"]["cpu_s"] / row["idle"]["wall_s"]
            self._bare = row
        return self._bare

    def groups(self) -> dict[str, Callable[[], Iterator[Figure]]]:
        """Groups by name."""
        return {
            "start": self.start,
            "memory": self.memory,
            "idle": self.idle,
            "four operators": lambda: self.operators(4, 30.0),
            "eight operators": lambda: self.operators(8, 15.0),
            "unpaced operators": self.unpaced,
            "operator elsewhere": self.elsewhere,
            "cards": self.cards,
            "opening pages": self.opening,
            "library": self.library,
            "growth": self.growth,
        }

    def start(self) -> Iterator[Figure]:
        """From the start of the process to a window that has been painted and answers a key."""
        self._window.play("start")  # a warm disk, and compiled modules
        rows = [self._window.play("start") for _ in range(self._tries)]
        walls = [(row["start"]["reacted"] - row["begun"]) / 1e9 for row in rows]
        nets = [wall - row["start"]["waited_s"] for wall, row in zip(walls, rows, strict=True)]
        cpu = statistics.median(row["start"]["cpu_s"] for row in rows)
        detail = f"waiting for a core taken out; with it {statistics.median(walls):.2f} s ({spread(walls)})"
        yield at_most(
            "start to responsive window",
            0.5,
            statistics.median(nets),
            "s",
            detail,
            (self.bare["start_s"], _EMPTY),
        )
        yield at_most("start: processor time", None, cpu, "s")
        longest = statistics.median(row["longest_ms"] for row in rows)
        yield at_most("start: longest stretch without reacting after it", None, longest, "ms")

    def memory(self) -> Iterator[Figure]:
        """Memory of the window's process."""
        row = self._window.play("memory")
        reference = (self.bare["memory"]["rss_mb"], _EMPTY)
        for when, words, goal in (
            ("empty", "first page", 135.0),
            ("pages", "after all pages", None),
            ("playing", "and four operators", 180.0),
        ):
            detail = f"resident; proportional share (PSS) {row[when]['pss_mb']:.0f} MB"
            yield at_most(f"memory: {words}", goal, row[when]["rss_mb"], "MB", detail, reference)

    def idle(self) -> Iterator[Figure]:
        """Processor use while nothing happens."""
        row = self._window.play("idle", seconds=4 if self._quick else 10)
        for page in pages_of(row):
            used = 100 * row[page]["cpu_s"] / row[page]["wall_s"]
            detail = f"from {row[page]['busy_s']:.0f} s after it was first shown, when all it began was done"
            beside = self.bare["idle_percent"], _EMPTY
            yield at_most(f"idle: {page}", 0.5, used, "% of a core", detail, beside)

    def operators(self, count: int, rate: float) -> Iterator[Figure]:
        """Operators that play side by side, each at its own pace; then with a worker that hangs."""
        row = self._window.play(
            "operators", count=count, rate=rate, fps=int(rate), seconds=self._seconds, hang=True
        )
        yield from self._smooth(f"{count} operators at {rate:g}/s", row["all"], rate)
        yield from self._smooth(f"{count} operators, one worker stopped", row["hung"], rate)

    def unpaced(self) -> Iterator[Figure]:
        """Four operators as fast as their environments step: hosts and workers want all cores."""
        row = self._window.play("operators", count=4, rate=None, fps=30, seconds=self._seconds)
        yield from self._smooth("4 operators unpaced", row["all"], None)

    def elsewhere(self) -> Iterator[Figure]:
        """An operator on another host, beside the same one here: a real sshd on loopback."""
        if reason := loopback_host.why_not():
            print(f"left out: an operator elsewhere {reason}", file=sys.stderr)
            return
        rate, seconds = 30.0, self._seconds
        with loopback_host.loopback_hosts(HOST) as (configuration, server):
            window = self._window.beside({"MOSAIC_CONFIG_DIR": str(configuration)})
            row = window.play("elsewhere", rate=rate, fps=int(rate), seconds=seconds, sshd=server.pid)
        (here, there), used = row["painted"], row["cost"]
        name, wall = f"operator elsewhere at {rate:g}/s", used["wall_s"]
        detail = f"painted there {there:.1f}/s, here {here:.1f}/s"
        yield Figure(f"{name}: frames painted, over those of one here", None, there / here, "x", None, detail)
        detail = "delivered {1:.1f}/s; here {0:.1f}/s".format(*row["delivered"])
        yield Figure(f"{name}: frames painted", 27.0, there, "/s", there >= 27.0, detail)
        ways = row["ways_ms"]
        detail = f"p50 {ways[1]['p50']:.1f}; here p50 {ways[0]['p50']:.1f}, p95 {ways[0]['p95']:.1f}"
        yield at_most(f"{name}: step to painted frame p95", None, ways[1]["p95"], "ms", detail)
        ratio = used["there_cpu_s"] / used["here_cpu_s"]
        parts = {
            "there": used["there_cpu_s"],
            "here": used["here_cpu_s"],
            "keeper and sshd": used["way_cpu_s"],
            "ssh": used["ssh_cpu_s"],
            "the window with both": row["cpu"] * wall,
        }
        detail = "% of a core: " + ", ".join(f"{part} {100 * cpu / wall:.1f}" for part, cpu in parts.items())
        yield at_most(f"{name}: processor use of host and worker, over those here", None, ratio, "x", detail)
        received = used["received_bytes"] / wall / 1e3
        detail = f"{received / row['delivered'][1]:.1f} kB a picture; "
        detail += f"sent there {used['sent_bytes'] / wall / 1e3:.1f} kB/s"
        yield at_most(f"{name}: received from there", None, received, "kB/s", detail)

    def _smooth(self, name: str, row: Mapping[str, Any], rate: float | None) -> Iterator[Figure]:
        late, way = row["late_ms"], row["way_ms"]
        net = row["way_less_waiting_ms"]
        detail = f"p50 {late['p50']:.1f}, p99 {late['p99']:.1f}, longest {row['longest_ms']:.1f}; "
        detail += f"{row['beats']:,} samples, waiting for a core taken out"
        least = None if rate is None else 16.0
        yield at_most(
            f"{name}: event loop p99.9", least, late["p99.9"], "ms", detail, (self.bare["late_ms"], _EMPTY)
        )
        detail = f"it waited for a core for another {100 * row['waited']:.0f} %"
        yield at_most(f"{name}: window's processor use", 50.0, 100 * row["cpu"], "% of a core", detail)
        detail = f"p50 {way['p50']:.1f}, p99 {way['p99']:.1f}; without the window's waiting for a core "
        detail += f"p50 {net['p50']:.1f}, p95 {net['p95']:.1f}"
        goal = None if rate is None else 40.0
        yield at_most(f"{name}: step to painted frame p95", goal, way["p95"], "ms", detail)
        slowest = row["slowest"]
        met = None if rate is None else slowest >= 0.9 * rate
        least = None if rate is None else 0.9 * rate
        yield Figure(
            f"{name}: frames painted", least, slowest, "/s", met, "the slowest; " + str(row["painted"])
        )

    def cards(self) -> Iterator[Figure]:
        """From the click on a card of the first page to the first frame."""
        for card, goal in CARDS.items():
            rows = [
                self._window.play("card", card=card, idle_s=1.5)
                for _ in range(self._tries if goal else max(1, self._tries // 2))
            ]
            firsts = [row["first_s"] for row in rows]
            cpu = statistics.median(row["cpu_s"] for row in rows)
            everybody = statistics.median(row["all_s"] for row in rows)
            waited = statistics.median(row["waited_s"] for row in rows)
            detail = (
                f"{spread(firsts)}; everybody's {everybody:.2f} s; the window's processor time {cpu:.2f} s, "
            )
            hosts = statistics.median(row["host_waited_s"] for row in rows)
            detail += f"waited for a core: window {waited:.2f} s, session host {hosts:.2f} s; "
            detail += f"a host was ready in {sum(row['spare'] for row in rows):.0f} of {len(rows)}"
            reference = None
            if card == "soccer":
                row = self._window.play("soccer", BARE)
                reference = (row["seen"] - row["begun"]) / 1e9, "the bare environment, from its process on"
            yield at_most(
                f"card {card}: click to first frame", goal, statistics.median(firsts), "s", detail, reference
            )

    def opening(self) -> Iterator[Figure]:
        """The longest stretch without reacting when a page is opened for the first time."""
        rows = [self._window.play("opening") for _ in range(max(1, self._tries // 2))]
        for page in pages_of(rows[0]):
            longest = statistics.median(row[page]["longest_ms"] for row in rows)
            slot = statistics.median(row[page]["slot_ms"] for row in rows)
            detail = f"making and showing it {slot:.0f} ms; waiting for a core taken out"
            yield at_most(f"opening {page}: longest stretch without reacting", None, longest, "ms", detail)

    def library(self) -> Iterator[Figure]:
        """The list of many runs: until the first are seen, until all are, and until a filter has chosen."""
        options: dict[str, Any] = {"runs": RUNS, "searches": SEARCHES}
        rows = [self._window.play("library", **options) for _ in range(max(1, self._tries // 2))]
        bare = self._window.play("library", BARE, runs=RUNS, word="ppo")
        plain = bare["read_s"], "the files read and parsed one after the other"
        for part, goal, words in (("first", 0.3, "first rows"), ("whole", None, "all of them")):
            nets = [row[part]["wall_s"] - row[part]["waited_s"] for row in rows]
            wall = statistics.median(row[part]["wall_s"] for row in rows)
            detail = f"{spread(nets)}; the window's waiting for a core taken out; with it {wall:.2f} s"
            yield at_most(
                f"library of {RUNS:,} runs: {words}", goal, statistics.median(nets), "s", detail, plain
            )
        word = bare["filter_ms"], "one word looked for in their texts"
        for text in SEARCHES:
            slowest = statistics.median(row["filters_ms"][text] for row in rows)
            detail = "the slowest key of those that type it, painted; waiting for a core taken out"
            yield at_most(f"library of {RUNS:,} runs: filter {text}", 50.0, slowest, "ms", detail, word)
        longest = statistics.median(row["longest_ms"] for row in rows)
        yield at_most(f"library of {RUNS:,} runs: longest stretch without reacting", None, longest, "ms")

    def growth(self) -> Iterator[Figure]:
        """Memory while four operators play as fast as they can, from the first tenth of the steps on."""
        steps = 40_000 if self._quick else 200_000
        row = self._window.play("growth", steps=steps, fps=30)
        tenth, *later = row["rss_mb"]
        grown = 100 * (max(later) / tenth - 1)
        detail = f"{tenth:.0f} MB at the first tenth, then {', '.join(f'{each:.0f}' for each in later)}; "
        detail += f"{row['steps']:,} steps in {row['wall_s']:.0f} s"
        reference = tenth, "MB at the first tenth"
        yield at_most(f"memory over {steps:,} steps of 4 operators", 5.0, grown, "% more", detail, reference)


def pages_of(row: Mapping[str, Any]) -> list[str]:
    """Names of the pages a scene looked at."""
    return [name for name in row if name not in ("start", "begun")]


def spread(values: Sequence[float]) -> str:
    """Least and most."""
    return f"{min(values):.2f}-{max(values):.2f}"


@contextmanager
def display(*, offscreen: bool) -> Generator[dict[str, str]]:
    """An environment with something to show windows on."""
    environment = dict(os.environ)
    # As a person starts it: modules are compiled once.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if offscreen:
        yield environment | {"QT_QPA_PLATFORM": "offscreen"}
        return
    environment.pop("QT_QPA_PLATFORM", None)
    if environment.get("DISPLAY"):
        yield environment
        return
    with _xvfb() as name:
        yield environment | {"DISPLAY": name}


@contextmanager
def warm_cache(environment: Mapping[str, str]) -> Generator[Path]:
    """A cache as set-up leaves it: what packages have is known, and what they compile is compiled."""
    with tempfile.TemporaryDirectory(prefix="mosaic-bench-") as folder:
        command = [sys.executable, "-m", "gym_gui.cli.warm_up"]
        more = {"MOSAIC_CACHE_DIR": folder}
        subprocess.run(command, env={**environment, **more}, stdout=subprocess.DEVNULL, check=False)
        yield Path(folder)


@contextmanager
def _xvfb() -> Generator[str]:
    """A screen of our own.

    Raises:
        SystemExit: It is not installed.
    """
    reads, writes = os.pipe()
    command = [
        "Xvfb",
        "-displayfd",
        str(writes),
        *("-screen", "0", "1920x1080x24"),
        "-nolisten",
        "tcp",
        "-noreset",
    ]
    try:
        server = subprocess.Popen(command, pass_fds=(writes,), stderr=subprocess.DEVNULL)
    except FileNotFoundError:
        raise SystemExit(
            "there is no display and no Xvfb. Run: sudo apt-get install xvfb, or use --offscreen"
        ) from None
    finally:
        os.close(writes)
    try:
        with os.fdopen(reads) as pipe:
            number = pipe.readline().strip()
        if not number:
            raise SystemExit("Xvfb ended before it had a display. Use --offscreen")
        yield f":{number}"
    finally:
        server.terminate()
        server.wait()


def show(figures: Sequence[Figure], load: float) -> None:
    """Print the table."""
    rows: list[Sequence[str]] = []
    for figure in figures:
        sign = ">=" if figure.unit == "/s" else "<="
        goal = "" if figure.goal is None else f"{sign} {figure.goal:g} {figure.unit}"
        digits = 2 if figure.unit in ("s", "x") else 1
        beside = (
            ""
            if figure.reference is None
            else "{:.{}f} {}".format(figure.reference[0], digits, figure.reference[1])
        )
        rows.append((figure.name, goal, f"{figure.measured:.{digits}f}", figure.told, beside, figure.detail))
    print_rows(("figure", "goal", "measured", "met", "beside it", "detail"), rows, words=("detail",))
    print(f"load {load:.1f} on {os.cpu_count()} cores when it began")


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print a table, optionally write JSON; exit status 1 when a goal is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="shorter and rougher")
    parser.add_argument("--only", nargs="+", default=[""], metavar="NAME", help="groups named so")
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--offscreen", action="store_true", help="without any screen")
    parser.add_argument("--size", default="1280x800", metavar="WxH", help="of the window")
    args = parser.parse_args(argv)
    width, _, height = args.size.partition("x")
    load, figures, failed = os.getloadavg()[0], list[Figure](), list[str]()
    with display(offscreen=args.offscreen) as environment, warm_cache(environment) as cache:
        window = Window(environment, (int(width), int(height)), cache)
        groups = Figures(window, quick=args.quick).groups()
        chosen = [n for n in groups if any(word.lower() in n for word in args.only)]
        if not chosen:
            parser.error(f"no group is named so. There are: {', '.join(groups)}")
        for name in chosen:
            print(f"measuring: {name}", file=sys.stderr)
            try:
                figures.extend(groups[name]())
            except Exception as error:  # what else was measured is to be seen
                traceback.print_exc()
                failed.append(f"{name} FAILED: {type(error).__name__}: {error}".splitlines()[0])
    show(figures, load)
    print(*failed, sep="\n", end="\n" if failed else "")
    if args.json:
        args.json.write_text(json.dumps({"load": load, "figures": [asdict(f) for f in figures]}, indent=2))
    return 1 if failed or any(figure.met is False for figure in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
