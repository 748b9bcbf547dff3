"""A dialog for an environment's arguments (``env_kwargs``): a form for known ones, text for others."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QSize, pyqtSignal
from PyQt6.QtWidgets import QPlainTextEdit, QWidget

from gym_gui import envs
from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.services.environment_settings import read_further, settings_of, write_further
from gym_gui.ui import theme
from gym_gui.ui.agents.settings_form import SettingsForm
from gym_gui.ui.widgets import (
    PrimaryButton,
    QuietButton,
    label,
    muted_label,
    section_label,
    title_label,
)
from gym_gui.ui.widgets.dialog import Dialog
from gym_gui.ui.widgets.layouts import column_layout, row_layout
from gym_gui.ui.widgets.scrolling import scroll_over

if TYPE_CHECKING:
    from gym_gui.controllers.live_play.latest_task import Spawn
    from gym_gui.controllers.setup.catalog_cache import CatalogCache
    from gym_gui.controllers.setup.environment_probe import EnvironmentRequest
    from gym_gui.workers.settings.settings_schema import Setting

_SIZE = QSize(560, 560)
_LINES = 3
"""Number of visible lines of the text field."""


class EnvironmentSettingsDialog(Dialog):
    """Edits the keyword arguments with which an environment is created.

    Before the dialog closes, another process creates the environment once with the new arguments. If this
    fails, the dialog stays open and shows the error.

    Args:
      request: The environment with its current arguments.
      catalog: Creates the environment in another process.
      spawn: Runs background tasks.
      parent: The window.
    """

    chosen = pyqtSignal(dict)
    """Emits all arguments (``env_kwargs``) of the environment."""

    def __init__(
        self,
        request: EnvironmentRequest,
        catalog: CatalogCache,
        spawn: Spawn,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("environment-settings", "Environment settings", parent, size=_SIZE)
        self._request, self._catalog, self._spawn = request, catalog, spawn
        self._form: SettingsForm | None = None
        self._known: frozenset[str] = frozenset()
        self._title = title_label(f"Arguments of {request.task}")
        self._title.setWordWrap(True)
        self._about = muted_label(
            "Saved as env_kwargs in the experiment file. A change restarts the current episode.", wrap=True
        )
        self._form_column = column_layout()
        self._no_arguments = muted_label("Reading the environment's arguments…", wrap=True)
        self._form_column.addWidget(self._no_arguments)
        self._further = QPlainTextEdit(self)
        self._further.setObjectName("environment-further")
        self._further.setAccessibleName("Further arguments, as YAML or JSON")
        self._further.setTabChangesFocus(True)
        self._further.setFixedHeight(self._further.fontMetrics().lineSpacing() * _LINES + 2 * theme.ROW)
        self._further.textChanged.connect(self._on_edited)
        self._argument_hint = muted_label("", wrap=True, name="environment-taken")
        self._problem = label("", "error", wrap=True, name="environment-problem")
        self._problem.hide()
        self._lay_out()
        self._spawn(self._load(), "Reading an environment's arguments")

    def _lay_out(self) -> None:
        content = QWidget()
        inner = column_layout(content, margin=(0, 0, theme.ROW, 0))
        inner.addLayout(self._form_column)
        inner.addWidget(section_label("Further arguments"))
        inner.addWidget(self._further)
        inner.addWidget(self._argument_hint)
        inner.addStretch(1)
        reset = QuietButton("Reset to defaults", name="environment-reset", on_click=self._on_reset)
        reset.setToolTip("Clear all arguments, so that the environment uses its defaults")
        cancel = QuietButton("Cancel", name="environment-cancel", on_click=self.reject)
        self._use = PrimaryButton("Use these settings", name="environment-use", on_click=self.accept)
        buttons = row_layout()
        buttons.addWidget(reset)
        buttons.addStretch(1)
        buttons.addWidget(cancel)
        buttons.addWidget(self._use)
        column = column_layout(self, margin=theme.PAGE)
        for widget in (self._title, self._about):
            column.addWidget(widget)
        column.addWidget(scroll_over(content), 1)
        column.addWidget(self._problem)
        column.addLayout(buttons)

    @property
    def settled(self) -> bool:
        """Whether the form is built and no background task of the dialog is running."""
        return self._form is not None and not self.working

    # -- available settings ------------------------------------------------------------

    async def _load(self) -> None:
        try:
            known, others = await asyncio.to_thread(_settings, self._request)
        except MosaicError as error:
            self._show_problem(error.sentence)
            known, others = (), ()
        self._known = frozenset(setting.name for setting in known)
        self._form = SettingsForm(known, parent=self)
        self._form.values_changed.connect(self._on_edited)
        self._form_column.addWidget(self._form)
        self._form.setVisible(bool(known))
        self._no_arguments.setText(
            "The environment declares no arguments: enter below those of its documentation."
        )
        self._no_arguments.setVisible(not known)
        hint = "YAML or JSON, one argument per line, such as size: 8."
        self._argument_hint.setText(
            f"{hint} The environment also accepts {', '.join(others)}." if others else hint
        )
        self._show(self._request.env_kwargs)

    def _show(self, values: Mapping[str, Any]) -> None:
        assert self._form is not None
        self._form.set_values({name: value for name, value in values.items() if name in self._known})
        self._further.setPlainText(write_further({n: v for n, v in values.items() if n not in self._known}))

    def _values(self) -> dict[str, Any]:
        """Return the arguments from the form and from the text field.

        Raises:
            MosaicError: The text is invalid or repeats an argument of the form, or the form has an error.
        """
        assert self._form is not None
        further = read_further(self._further.toPlainText())
        if twice := sorted(self._known & further.keys()):
            raise UsageError(f"{twice[0]} is already in the form above", fix="Remove it from the text")
        wrong = next(iter(self._form.problems.values()), "")
        if wrong:
            raise UsageError(wrong)
        return {**self._form.values(), **further}

    # -- user actions ------------------------------------------------------------------

    def _on_reset(self) -> None:
        if self._form is not None:
            self._show({})
            self._on_edited()

    def _on_edited(self, *_: object) -> None:
        if self._form is None:
            return
        try:
            self._values()
        except MosaicError as error:
            self._show_problem(error.sentence)
        else:
            self._show_problem("")

    def _show_problem(self, sentence: str) -> None:
        self._problem.setText(sentence)
        self._problem.setVisible(bool(sentence))
        self._use.setEnabled(not sentence)

    def accept(self) -> None:
        """Create the environment once with the new arguments, then close the dialog."""
        if not self.settled or not self._use.isEnabled():
            return
        try:
            values = self._values()
        except MosaicError as error:
            self._show_problem(error.sentence)
            return
        if values == dict(self._request.env_kwargs):
            super().reject()
            return
        self._use.setEnabled(False)
        self._use.set_text("Checking…")
        self.set_task(self._spawn(self._create_and_close(values), "Checking an environment's settings"))

    async def _create_and_close(self, values: dict[str, Any]) -> None:
        # Leave out teams and managers, which may name agents that the environment does not have with
        # these settings.
        request = replace(self._request, env_kwargs=values, teams=None, managed=())
        try:
            await self._catalog.env_info(request)
        except MosaicError as error:
            self._use.set_text("Use these settings")
            self._show_problem(error.sentence)
            return
        self.chosen.emit(values)
        super().accept()


def _settings(request: EnvironmentRequest) -> tuple[tuple[Setting, ...], tuple[str, ...]]:
    return settings_of(
        envs.resolve(request.task, env_name=request.env_name or None, api=request.api, origin=request.origin)
    )
