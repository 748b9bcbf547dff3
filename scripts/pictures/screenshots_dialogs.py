"""What ``screenshots.py`` photographs of dialogs and of what else lies over a page."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from screenshots_waiting import until  # beside this file

MINIGRID, SOCCER, SEED = "MiniGrid-DoorKey-8x8-v0", "MosaicMultiGrid-S-2v2-IndAgObs-v1", 42
_SETTLE_S, _PATIENCE_S = 0.5, 90.0


class DialogScenes:
    """Opens each as a person does, or as its page does.

    Args:
        window: The main window, shown.
    """

    def __init__(self, window: Any) -> None:
        self._window, self._context = window, window.context

    def by_name(self) -> dict[str, Callable[[], Awaitable[None]]]:
        """Scenes by the name of their pictures."""
        return {
            "dialog-hosts": self.hosts,
            "dialog-tours": self.tours,
            "dialog-shortcuts": self.shortcuts,
            "dialog-trust": self.trust,
            "dialog-confirm": self.confirm,
            "dialog-closing": self.closing,
            "dialog-install": self.install,
            "dialog-environment": self.environment,
            "dialog-link": self.link,
            "dialog-steps": self.steps,
            "dialog-player": self.player,
            "dialog-preset": self.preset,
            "dialog-tournament": self.tournament,
            "dialog-editor": self.editor,
            "dialog-picker": self.picker,
            "play-keys": self.keys,
            "palette": self.palette,
        }

    async def _until(self, condition: Callable[[], object], what: str) -> None:
        await until(condition, what, _PATIENCE_S, _SETTLE_S)

    def _command(self, command: str) -> None:
        assert self._context.commands.run(command), command

    async def _page(self, name: str, **request: Any) -> Any:
        self._context.go(name, **request)
        await asyncio.sleep(0)
        return self._window.pages[name]

    async def closing(self) -> None:
        """What an experiment with a language model would lose."""
        from gym_gui.ui.window.closing_dialog import ClosingDialog

        words = (
            "The experiment stops and can be resumed. Resume uses recorded replies again; the reply to a "
            "call "
            "in progress may be paid for and lost."
        )
        ClosingDialog([words], self._window).open()

    async def hosts(self) -> None:
        """Where there is none yet."""
        os.environ["MOSAIC_CONFIG_DIR"] = str(Path(os.environ["MOSAIC_DATA_DIR"]) / "no-hosts")
        self._command("hosts.open")
        await asyncio.sleep(_SETTLE_S)

    async def tours(self) -> None:
        self._command("help.tours")
        await asyncio.sleep(_SETTLE_S)

    async def shortcuts(self) -> None:
        self._command("help.shortcuts")
        await asyncio.sleep(_SETTLE_S)

    async def trust(self) -> None:
        """An experiment that imports code of its own."""
        from gym_gui.core.trusted.trust import NotAllowedError, RequiredSubject, Subject

        needs = [RequiredSubject(Subject("package", "theirs"), "theirs:make", "imports")]
        self._context.ask_trust(NotAllowedError("theirs.yaml", needs))
        await asyncio.sleep(_SETTLE_S)

    async def confirm(self) -> None:
        """A submission that another person handed in."""
        from PyQt6.QtWidgets import QApplication

        from gym_gui.services.submissions.own_submissions import UnconfirmedSubmission
        from gym_gui.services.submissions.submission_record import Submission
        from gym_gui.ui.results.submissions.confirm_dialog import ask_to_confirm

        folder = Path("runs/submissions/01M8H83KEBJ7758D9XJK3WVK24")
        rows = [("It plays there, with these commands", ['hosts: ["lab"]', 'mosaic: "mosaic"'])]
        submission = Submission(folder, "ssh", {}, "run", 8, 64, Path("runs"))
        ask_to_confirm(
            UnconfirmedSubmission(submission, (), rows, ""), lambda: None, QApplication.activeWindow()
        )
        await asyncio.sleep(_SETTLE_S)

    async def install(self) -> None:
        from gym_gui.controllers.setup.installing import Installable
        from gym_gui.ui.environments.install_dialog import InstallDialog

        InstallDialog(self._context, Installable("envs", "procgen"), "Procgen", self._window).open()
        await asyncio.sleep(_SETTLE_S)

    async def environment(self) -> None:
        """What DoorKey is made with."""
        from PyQt6.QtWidgets import QAbstractButton, QApplication

        page = await self._agents(MINIGRID)
        page.findChild(QAbstractButton, "agents-environment-settings").click()
        dialog: Any = QApplication.activeModalWidget()
        await self._until(lambda: dialog.settled, "its arguments")

    async def _agents(self, task: str) -> Any:
        page = await self._page("agents", task=task)
        await self._until(lambda: page.model.config is not None, "the configuration")
        return page

    async def link(self) -> None:
        from PyQt6.QtWidgets import QWidget

        page = await self._agents(SOCCER)
        page.findChild(QWidget, "agent_config_table").link_asked.emit("green_0")
        await asyncio.sleep(_SETTLE_S)

    async def steps(self) -> None:
        from gym_gui.ui.agents.slot_panel import SlotPanel

        page = await self._agents(MINIGRID)
        page.findChild(SlotPanel).steps_asked.emit("agent_0")
        await asyncio.sleep(_SETTLE_S)

    async def player(self) -> None:
        """A language model is to play, and is asked after."""
        page = await self._page("play", task=MINIGRID)
        who = page.side.who

        def models() -> list[tuple[str, str]]:
            offered = [(slot, item.value) for slot, each in who.pickers.items() for item in each.items]
            return [each for each in offered if (policy := who.policy(*each)) is not None and policy.model]

        await self._until(models, "who can play")
        who.chosen.emit(*models()[0])
        await asyncio.sleep(_SETTLE_S)

    async def tournament(self) -> None:
        """At connect four, before the user has chosen policies."""
        from PyQt6.QtWidgets import QApplication, QListWidget

        await self._page("operators")
        self._command("operators.tournament")
        dialog: Any = QApplication.activeModalWidget()
        await self._until(lambda: dialog.findChild(QListWidget).count(), "policies")

    async def preset(self) -> None:
        await self._agents(MINIGRID)
        self._command("agents.save")
        await asyncio.sleep(_SETTLE_S)

    async def editor(self) -> None:
        """An experiment with a mistake, and its search."""
        from PyQt6.QtWidgets import QAbstractButton, QApplication, QDialog

        file = Path(os.environ["MOSAIC_DATA_DIR"]) / "mine.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("operators: []\nexecution: {num_episodes: many}\n")
        from gym_gui.core.errors import FilePosition
        from gym_gui.ui.editor.checks import at_place

        self._context.edit(at_place(FilePosition(str(file), 2), "", experiment=True))
        editors: list[Any] = self._window.findChildren(QDialog, "file-editor")
        # Of a scene before there may be another, which is on its way out.
        dialog: Any = next((each for each in editors if each.isVisible()), QApplication.activeModalWidget())
        await self._until(lambda: dialog.problems, "what is wrong")
        dialog.findChild(QAbstractButton, "file-find").click()

    async def picker(self) -> None:
        from PyQt6.QtWidgets import QAbstractButton

        page = await self._page("agents")
        page.findChild(QAbstractButton, "environment-picker").click()
        await asyncio.sleep(3 * _SETTLE_S)

    async def keys(self) -> None:
        """The editor in the place of the list of keys."""
        page = await self._page("play", task=SOCCER)
        ready = lambda: self._context.commands.get("play.keys").enabled() and page.side.keys.list.buttons  # noqa: E731
        await self._until(ready, "its keys")
        self._command("play.keys")
        await asyncio.sleep(_SETTLE_S)

    async def palette(self) -> None:
        await self._page("home")
        self._command("view.palette")
        await asyncio.sleep(3 * _SETTLE_S)
