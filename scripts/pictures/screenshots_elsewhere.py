"""What ``screenshots.py`` photographs of other machines: hosts on loopback, by a real sshd."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import loopback_host  # beside this file
from screenshots_waiting import until  # beside this file

MINIGRID, SEED = "MiniGrid-DoorKey-8x8-v0", 42
GOOD, WRONG = "lab", "me@two.example.org"
_SETTLE_S, _PATIENCE_S = 1.2, 90.0
_STEPS = 25


async def _until(condition: Callable[[], object], what: str) -> None:
    await until(condition, what, _PATIENCE_S, _SETTLE_S)


class ElsewhereScenes:
    """Hosts, an operator and trainings on them.

    Args:
        window: The main window, shown.
    """

    def __init__(self, window: Any) -> None:
        self._window, self._context = window, window.context
        self._open = ExitStack()
        self._server: Any = None

    def by_name(self) -> dict[str, Callable[[], Awaitable[None]]]:
        """Scenes by the name of their pictures; none where there can be no host."""
        if reason := loopback_host.why_not():
            print(f"left out: other machines, {reason}", file=sys.stderr)
            return {}
        return {
            "hosts-empty": self.hosts_empty,
            "hosts": self.hosts,
            "hosts-problem": self.hosts_problem,
            "operators-elsewhere": self.operators,
            "operators-elsewhere-lost": self.operators_lost,
            "train-elsewhere": self.train,
        }

    def close(self) -> None:
        """End the hosts."""
        self._open.close()

    def _hosts(self) -> None:
        if self._server is not None:
            return
        folder, self._server = self._open.enter_context(loopback_host.loopback_hosts(GOOD, WRONG))
        os.environ["MOSAIC_CONFIG_DIR"] = str(folder)
        from gym_gui.services.submissions.hosts_file import HostsFile
        from gym_gui.services.submissions.profile import Command

        file = HostsFile()
        wrong = file.load().find(WRONG)
        file.put(replace(wrong, command=Command("mosaic/.venv/bin/mosaic")), WRONG)

    def _dialog(self) -> Any:
        from gym_gui.ui.hosts.hosts_dialog import HostsDialog

        dialog = HostsDialog(self._context, self._window)
        dialog.open()
        return dialog

    async def hosts_empty(self) -> None:
        os.environ["MOSAIC_CONFIG_DIR"] = str(Path(os.environ["MOSAIC_DATA_DIR"]) / "no-hosts")
        self._dialog()
        await asyncio.sleep(_SETTLE_S)

    async def hosts(self) -> None:
        """Two hosts, one of them looked at."""
        await self._looked_at(GOOD)

    async def hosts_problem(self) -> None:
        """The same, and the other has no MOSAIC where it is said to be."""
        await self._looked_at(WRONG)

    async def _looked_at(self, name: str) -> None:
        from PyQt6.QtCore import Qt
        from PyQt6.QtWidgets import QAbstractButton, QListWidget

        from gym_gui.ui.widgets import InlineMessage

        self._hosts()
        dialog = self._dialog()
        names = dialog.findChild(QListWidget, "hosts-list")
        await _until(names.count, "the hosts")
        (item,) = names.findItems(name, Qt.MatchFlag.MatchExactly)
        names.setCurrentItem(item)
        save = dialog.findChild(QAbstractButton, "hosts-save")
        save.click()
        await _until(
            lambda: any(
                each.kind != "info" for each in dialog.findChildren(InlineMessage) if each.isVisible()
            ),
            "what was found",
        )

    async def operators(self) -> None:
        """The same player here and on a host."""
        from gym_gui.core.config import OperatorConfig, WorkerAssignment

        self._hosts()
        player = WorkerAssignment("operators_worker", "baseline", {"behavior": "minigrid_path"})
        chance = WorkerAssignment("operators_worker", "baseline", {"behavior": "random"})
        configs = [
            OperatorConfig("path", "Path-finder", "", MINIGRID, {"agent_0": player}, host=GOOD),
            OperatorConfig("random", "Random", "", MINIGRID, {"agent_0": chance}),
        ]
        self._context.go("operators", operators=configs, seed=SEED, run=True)
        await asyncio.sleep(0)
        page = self._window.pages["operators"]
        page.manual.set_plots_wanted(False)
        page.manual.transcript.show(False)
        page.manual.select(page.deck.operators[0])
        tallies = [operator.player.tally for operator in page.deck.operators]
        await _until(lambda: all(tally.decisions >= _STEPS for tally in tallies), "some moves")

    async def operators_lost(self) -> None:
        """The same when the connection has broken."""
        await self.operators()
        page = self._window.pages["operators"]
        self._server.end()
        await _until(lambda: page.deck.operators[0].player.trouble, "that it was noticed")
        page.deck.play.pause()
        self._server.start()

    async def train(self) -> None:
        """Three seeds on two places of a host."""
        self._hosts()
        command = [
            *(sys.executable, "-m", "gym_gui", "train", "--worker", "cleanrl_worker", "--algo", "ppo"),
            *("--env", "CartPole-v1", "--steps", "400000", "--seeds", "3", "--executor", "ssh"),
        ]
        from gym_gui.services.submissions.hosts_file import HostsFile
        from gym_gui.ui.pages.train import RUNS

        file = HostsFile()
        file.remove(WRONG)
        file.put(replace(file.load().find(GOOD), shards=2), GOOD)
        home = Path(os.environ["MOSAIC_DATA_DIR"]).parent
        following = subprocess.Popen(command, cwd=home, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self._open.callback(following.wait)
        self._open.callback(following.terminate)
        self._context.go("train")
        page = self._window.pages["train"]
        page.show_view(RUNS)  # the scene before may have left its policies
        await _until(
            lambda: page.link.client and sum(run.step > 20_000 for run in page.link.runs) >= 2, "two curves"
        )
