"""What ``screenshots.py`` photographs of submissions: shards of a study, played by this machine."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml
from screenshots_waiting import until  # beside this file

STUDY = Path(__file__).resolve().parents[2] / "docs/examples/study/study.yaml"
SHARDS = 48
_COMMAND = [sys.executable, "-P", "-m", "gym_gui"]
_PATIENCE_S, _SETTLE_S = 180.0, 3.0


class SubmissionScenes:
    """A study in shards, while it is played, and when one of them has failed.

    Args:
        window: The main window, shown.
    """

    def __init__(self, window: Any) -> None:
        self._window, self._context = window, window.context
        self._folder: Path | None = None

    def by_name(self) -> dict[str, Callable[[], Awaitable[None]]]:
        """Scenes by the name of their pictures."""
        return {"results-submission": self.playing, "results-submission-failed": self.failed}

    def close(self) -> None:
        """End what is played."""
        if self._folder is not None:
            subprocess.run([*_COMMAND, "runs", "stop", str(self._folder)], capture_output=True, check=False)

    async def playing(self) -> None:
        """Some shards are here, some are played, and one was lost."""
        controller = await self._shown()
        await self._until(lambda: controller.seen.count("collected") > 4, "shards")
        _kill(controller.folder)
        await self._until(lambda: any(row.problem for row in controller.seen.shards), "a loss")

    async def failed(self) -> None:
        """No process follows the submission, and one shard was lost three times."""
        await asyncio.to_thread(self.close)  # of one that was photographed before all may be finished
        self._folder = None
        controller = await self._shown()
        killing = asyncio.create_task(self._keep_killing(controller.folder))
        try:
            await self._until(lambda: controller.seen.count("failed"), "a failure")
        finally:
            killing.cancel()
        await asyncio.to_thread(self.close)
        row = next(i for i, row in enumerate(controller.seen.shards) if row.state == "failed")
        controller.view.table.selectRow(row)
        await asyncio.sleep(_SETTLE_S)

    @staticmethod
    async def _keep_killing(folder: Path) -> None:
        while True:
            _kill(folder)
            await asyncio.sleep(0.5)

    async def _shown(self) -> Any:
        if self._folder is None:
            study = Path(os.environ["MOSAIC_DATA_DIR"]) / STUDY.name
            told = yaml.safe_load(STUDY.read_text()) | {"execution": {"num_episodes": 400, "seeds": 0}}
            study.write_text(yaml.safe_dump(told))
            asked = ("--executor", "local", "--shards", str(SHARDS), "--detach", "--json")
            command = [*_COMMAND, "run", str(study), *asked]
            done = await asyncio.to_thread(
                subprocess.run, command, capture_output=True, check=True, text=True
            )
            self._folder = Path(json.loads(done.stdout)["submission"])
        self._context.go("results", run=self._folder)
        await asyncio.sleep(0)
        controller = self._window.pages["results"].submissions
        await self._until(lambda: controller.seen is not None, "the submission", settle_s=0)
        return controller

    @staticmethod
    async def _until(condition: Callable[[], object], what: str, settle_s: float = _SETTLE_S) -> None:
        await until(condition, what, _PATIENCE_S, settle_s)


def _kill(folder: Path) -> None:
    """Kill the command of a shard that is played, as a machine does that has no memory left."""
    for file in sorted(folder.glob("played/*/work/*/*/run")):
        if not (file.parent / "code").exists():
            with suppress(OSError, ValueError):
                os.kill(int(file.read_text()), signal.SIGKILL)
                return
