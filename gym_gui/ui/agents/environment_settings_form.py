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
    """Shows how many arguments of an environment are set, and opens the dialog to edit them.

    Args:
        catalog: Describes environments, and creates one to check its arguments.
        spawn: Runs background tasks.
        request: Returns the environment with its current arguments, or ``None`` if there is none.
        name: Its ``objectName``.
        parent: Qt owner.
    """

    set_to = pyqtSignal(dict)
    """Emits all ``env_kwargs`` that the user has set."""

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
        """Show how many arguments are set; the tooltip lists them."""
        self.set_text(f"Environment settings ({len(values)} set)…" if values else "Environment settings…")
        said = ""
        if values:
            from gym_gui.services.environment_settings import in_one_line

            said = f": {in_one_line(values)}"
        self.setToolTip(f"What the environment is made with{said}")

    def open_dialog(self) -> EnvironmentSettingsDialog | None:
        """Open the dialog; return ``None`` if there is no environment."""
        request = self._request()
        if request is None or not request.task:
            return None
        from gym_gui.ui.agents.environment_settings_dialog import EnvironmentSettingsDialog

        dialog = EnvironmentSettingsDialog(request, self._catalog, self._spawn, self.window())
        dialog.chosen.connect(self.set_to)
        dialog.open()
        return dialog
