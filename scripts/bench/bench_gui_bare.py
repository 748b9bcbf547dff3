"""What the figures of ``bench_gui.py`` stand beside: the same without MOSAIC, measured in the same run.

An empty window of PyQt6, the bare environment of the soccer card, and files of a library read one after
the other; each in a process of its own, as ``bench_gui_window.py`` is.
"""

# PyQt6's stubs do not say what a slot is.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from bench_gui_instruments import Beat, Meter, Waited, memory_mb, part
from bench_gui_library import make_runs

SOCCER = "MosaicMultiGrid-S-2v2-IndAgObs-v1"
_SETTLED_MS = 2000


def window(options: dict[str, Any]) -> dict[str, Any]:
    """A window with nothing in it: until it reacts, its memory, what it does while nothing happens."""
    from PyQt6.QtCore import QTimer
    from PyQt6.QtWidgets import QApplication, QMainWindow

    waited = Waited()
    app = QApplication(["bare"])
    bare = QMainWindow()
    bare.resize(*options["size"])
    result: dict[str, Any] = {}
    beat, meters = Beat(waited), list[Meter]()

    def settle() -> None:
        result["start"] = {"reacted": time.monotonic_ns(), "waited_s": waited() / 1e9}
        QTimer.singleShot(_SETTLED_MS, rest)

    def rest() -> None:
        result["memory"] = memory_mb()
        meters.append(Meter(waited))
        QTimer.singleShot(int(1000 * options["seconds"]), listen)

    def listen() -> None:
        result["idle"] = meters[0].read()
        beat.start()
        QTimer.singleShot(int(1000 * options["seconds"]), end)

    def end() -> None:
        beat.stop()
        result["late_ms"] = part(beat.samples_ms(), 0.999)
        app.quit()

    bare.show()
    QTimer.singleShot(0, settle)  # behind the first paint
    app.exec()
    return result


def soccer(_options: dict[str, Any]) -> dict[str, Any]:
    """The first picture of the environment of the soccer card, imports included."""
    import gymnasium
    import mosaic_multigrid.envs  # pyright: ignore[reportMissingTypeStubs]  # registers it

    assert mosaic_multigrid.envs
    environment = gymnasium.make(SOCCER, render_mode="rgb_array", disable_env_checker=True)
    environment.reset(seed=1)
    environment.render()
    environment.close()
    return {"seen": time.monotonic_ns()}


def library(options: dict[str, Any]) -> dict[str, Any]:
    """Files of as many runs read one after the other, and a word looked for in all of them."""
    folder = Path.cwd() / "runs"
    make_runs(folder, int(options["runs"]))
    begun = time.monotonic()
    texts = [file.read_text() for file in folder.glob("*/run.json")]
    rows = [json.loads(text) for text in texts]
    read = time.monotonic() - begun
    begun = time.monotonic()
    found = [text for text in texts if options["word"] in text.casefold()]
    assert len(rows) >= len(found)
    return {"read_s": read, "filter_ms": 1000 * (time.monotonic() - begun)}


if __name__ == "__main__":
    scenes = {each.__name__: each for each in (window, soccer, library)}
    Path(sys.argv[2]).write_text(json.dumps(scenes[sys.argv[1]](json.loads(sys.argv[3]))))
