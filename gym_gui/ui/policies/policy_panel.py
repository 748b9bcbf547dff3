"""The policy that is selected: what it was trained on, how well it plays, where it can be used."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QVBoxLayout, QWidget

from gym_gui.services.trainings.training_choices import algorithm_word
from gym_gui.ui import theme
from gym_gui.ui.context import AppContext
from gym_gui.ui.numbers import local
from gym_gui.ui.policies.policies_model import evaluated_words, moment_of, score_words
from gym_gui.ui.policies.policy_agents import PolicyAgents
from gym_gui.ui.policies.use_menu import UseMenu, operator_of
from gym_gui.ui.widgets import (
    ElidedLabel,
    FactRows,
    LinkButton,
    PrimaryButton,
    QuietButton,
    muted_label,
    section_label,
)
from gym_gui.ui.widgets.layouts import column_layout, row_layout
from mosaic_worker.preprocessing import describe_steps

if TYPE_CHECKING:
    from gym_gui.services.policies.policy_library import PolicyEntry
    from gym_gui.services.policies.policy_parts import AgentPart


class PolicyPanel(QWidget):
    """See the module.

    Args:
        context: Leads to the other pages.
        parent: Qt owner.
    """

    action_requested = pyqtSignal(str)
    """``folder``, ``train``, ``score``, ``export`` or ``remove``."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("train-policy-panel")
        column = column_layout(self)
        column.addWidget(section_label("Policy"))
        self._hint = muted_label(
            "Select a policy: what it can play, and where to use it, appears here.", wrap=True
        )
        column.addWidget(self._hint)
        self.title = ElidedLabel("", "title")
        column.addWidget(self.title)
        self._use_menu = UseMenu(context, self)
        self._use = PrimaryButton("Use in a slot", name="train-policy-use", on_click=self._on_use)
        self._use.setToolTip("Watch this policy, play beside it, or seat it among others")
        self._again = QuietButton("Train again", name="train-policy-train", on_click=self._on_again)
        self._again.setToolTip("The form of a new run, filled with the settings it was trained with")
        self.folder = QuietButton("Open folder", name="train-policy-folder", on_click=self._on_folder)
        self.folder.setToolTip("Its folder in the file manager")
        self._buttons = QWidget()
        rows = QVBoxLayout(self._buttons)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(theme.ROW)
        rows.addWidget(self._use)
        pair = row_layout()
        pair.addWidget(self._again)
        pair.addWidget(self.folder)
        rows.addLayout(pair)
        self.export = QuietButton("Export…", name="train-policy-export", on_click=self._on_export)
        self.export.setToolTip("Write it as a .zip that another library takes as it is")
        self._measure = QuietButton("Measure", name="train-policy-measure", on_click=self._on_measure)
        self._measure.setToolTip("Play it on the standard seeds, and keep how well it does as its score")
        second = row_layout()
        second.addWidget(self._measure)
        second.addWidget(self.export)
        rows.addLayout(second)
        column.addWidget(self._buttons)
        self._agents = PolicyAgents(context)
        column.addWidget(self._agents)
        self.facts = FactRows("train-policy-", cut=("Folder", "Weights"))
        column.addWidget(self.facts)
        self.remove = LinkButton("Remove this policy", name="train-policy-remove", on_click=self._on_remove)
        self.remove.setToolTip("Its folder goes to the trash; it can be had back")
        column.addWidget(self.remove)
        self.fixed = muted_label(wrap=True, name="train-policy-fixed")
        column.addWidget(self.fixed)
        self.show_policy(None)

    def show_policy(self, policy: PolicyEntry | None) -> None:
        """Show a policy, or how to choose one."""
        there = policy is not None
        self._hint.setVisible(not there)
        for widget in (self.title, self._buttons, self._agents, self.facts, self.remove, self.fixed):
            widget.setVisible(there)
        if policy is None:
            return
        about, title = policy.file.description, policy.file.title
        self.title.setText(title)
        self._use_menu.set_operator(
            partial(operator_of, policy.file.path, worker_id=about.worker, env_id=about.env_id, title=title)
        )
        from gym_gui.services.policies.policy_parts import parts_of

        parts = parts_of(about)
        self._agents.show_parts(policy, title, parts)
        self._again.setEnabled(bool(about.config))
        self.remove.setVisible(not policy.fixed)
        self.fixed.setText(f"{policy.fixed}.")
        self.fixed.setVisible(bool(policy.fixed))
        self.facts.show_facts(_texts(policy, parts))

    def _on_use(self) -> None:
        self._use_menu.popup(self._use.mapToGlobal(self._use.rect().bottomLeft()))

    def _on_again(self) -> None:
        self.action_requested.emit("train")

    def _on_folder(self) -> None:
        self.action_requested.emit("folder")

    def set_measuring(self, measuring: bool) -> None:
        """Say that it is being played."""
        self._measure.setEnabled(not measuring)
        self._measure.set_text("Measuring…" if measuring else "Measure")

    def _on_measure(self) -> None:
        self.action_requested.emit("score")

    def _on_export(self) -> None:
        self.action_requested.emit("export")

    def _on_remove(self) -> None:
        self.action_requested.emit("remove")


def _texts(policy: PolicyEntry, parts: Sequence[AgentPart]) -> dict[str, str]:
    from gym_gui.services.fit import space_words
    from gym_gui.services.policies.policy_parts import networks_in_words

    about = policy.file.description
    moment = moment_of(policy)
    imported = about.origin.get("kind") == "imported"
    origin = f"imported from {about.origin.get('file', 'a file')}" if imported else "trained with MOSAIC"
    alone = {
        "Sees": space_words(about.observation_space),
        "Prepared by": describe_steps(list(about.preprocessing)) if about.preprocessing else "",
        "Does": space_words(about.action_space),
    }
    return {
        "Algorithm": algorithm_word(about.algorithm),
        "Environment": about.env_id,
        "Worker": about.worker,
        "Steps": f"{local(about.total_steps):,}" if about.total_steps else "",
        "Score": score_words(policy),
        "Return": evaluated_words(policy),
        **(dict.fromkeys(alone, "") if parts else alone),  # of several agents, each has its own
        "Networks": networks_in_words(parts) if parts else "",
        "Seed": str(about.seed),
        "Trained": f"{moment:%d %b %Y, %H:%M}" if moment else "",
        "Origin": origin,
        "Licence": about.licence,
        "Weights": f"sha256 {about.weights_sha256}" if about.weights_sha256 else "",
        "Folder": str(policy.file.path),
    }
