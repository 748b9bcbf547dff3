"""A link that opens the dialog for an environment's arguments (``env_kwargs``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QWidget

from gym_gui.ui.widgets import (
    LinkButton,
)

if TYPE_CHECKING:
    from gym_gui.controllers.live_play.latest_task import Spawn
    from gym_gui.controllers.setup.catalog_cache import CatalogCache
    from gym_gui.controllers.setup.environment_probe import EnvironmentRequest
    from gym_gui.ui.agents.environment_settings_dialog import EnvironmentSettingsDialog


class EnvironmentSettingsLink(LinkButton):
    """Shows how many arguments of an environment are set, and opens a dialog that edits them.

    Args:
        catalog: Creates environments in another process to check their arguments.
        spawn: Runs background tasks.
        request: Returns the environment with its current arguments; ``None`` if none is chosen.
        name: The link's ``objectName``.
        parent: Qt owner.
    """

    set_to = pyqtSignal(dict)
    """Emits all arguments (``env_kwargs``) after the user changed them."""

    def __init__(
        self,
        catalog: CatalogCache,
        spawn: Spawn,
        request: Callable[[], EnvironmentRequest | None],
        *,
        name: str,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("", name=name, parent=parent)
        self._catalog, self._spawn, self._request = catalog, spawn, request
        self.clicked.connect(self.open_dialog)
        self.show_values({})

    def show_values(self, values: Mapping[str, Any]) -> None:
        """Show how many arguments are set; the tool tip lists their values.

        Args:
          values: The arguments by name.
        """
        self.set_text(f"Environment settings ({len(values)} set)…" if values else "Environment settings…")
        values_text = ""
        if values:
            from gym_gui.services.environment_settings import in_one_line

            values_text = f": {in_one_line(values)}"
        self.setToolTip(f"Keyword arguments of the environment{values_text}")

    def open_dialog(self) -> EnvironmentSettingsDialog | None:
        """Open the dialog that edits the arguments; return ``None`` if no environment is chosen."""
        request = self._request()
        if request is None or not request.task:
            return None
        from gym_gui.ui.agents.environment_settings_dialog import EnvironmentSettingsDialog

        dialog = EnvironmentSettingsDialog(request, self._catalog, self._spawn, self.window())
        dialog.chosen.connect(self.set_to)
        dialog.open()
        return dialog
