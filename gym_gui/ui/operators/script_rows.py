"""Rows of script mode for an operator of an experiment or a policy of a tournament."""

from __future__ import annotations

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QColor
from PyQt6.QtWidgets import QProgressBar, QVBoxLayout, QWidget

from gym_gui.analysis.words.wording import duration
from gym_gui.core.config import OperatorConfig
from gym_gui.core.experiment.experiment_text import short_value
from gym_gui.ui import theme
from gym_gui.ui.numbers import count, local
from gym_gui.ui.operators.render_container import everybody, leading_kind
from gym_gui.ui.operators.script_job import OperatorPlan, OperatorRunProgress
from gym_gui.ui.widgets import ElidedLabel, IconButton, KindBadge, LinkButton, label, muted_label
from gym_gui.ui.widgets.layouts import column_layout, row_layout
from gym_gui.ui.widgets.message_panels import Action

_LOOK = "Watch this operator"


class OperatorRow(QWidget):
    """Row with name, kind and environment of an operator, its progress and the time left."""

    watch_toggled = pyqtSignal(str, bool)
    """Emits the operator's id and whether the user switched its picture on."""

    def __init__(
        self,
        plan: OperatorPlan,
        link: Action | None = None,
        parent: QWidget | None = None,
        color: str = "",
    ) -> None:
        super().__init__(parent)
        self.plan = plan
        self.setObjectName(f"script-operator-{plan.config.operator_id}")
        self.name = ElidedLabel(plan.config.display_name, "strong", parent=self, name="script-operator-name")
        badge = KindBadge("", self)
        badge.set_kind(leading_kind(plan.config), everybody(plan.config))
        if color:
            badge.set_color(QColor(color))
        self._about = ElidedLabel(_about(plan), "muted", parent=self)
        self.bar = QProgressBar(self)
        self.bar.setObjectName("script-progress")
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(f"Progress of {plan.config.display_name}")
        self.bar.setMaximum(max(plan.episodes, 1))
        self.count = label("", "strong", parent=self, name="script-operator-count")
        self._left = muted_label("", parent=self, name="script-operator-left")
        self.failed = label("", "error", parent=self)
        self.eye = IconButton("eye", _LOOK, name="script-operator-watch", on_click=self._on_eye)
        self.eye.setCheckable(True)
        self.eye.setFixedSize(26, 26)
        self.eye.setVisible(not plan.error)
        self.eye.setAccessibleName(f"{_LOOK}: {plan.config.display_name}")
        head = row_layout()
        head.addWidget(self.name)
        head.addWidget(badge)
        head.addWidget(self._about, 1)
        head.addWidget(self.failed)
        head.addWidget(self._left)
        head.addWidget(self.count)
        head.addWidget(self.eye)
        column = column_layout(self, margin=(0, theme.STEP, 0, theme.STEP), spacing=6)
        column.addLayout(head)
        column.addWidget(self.bar)
        _add_findings(column, plan, link)
        self.bar.setVisible(not plan.error)
        self.show_standing(OperatorRunProgress(total=plan.episodes))

    def _on_eye(self) -> None:
        self.watch_toggled.emit(self.plan.config.operator_id, self.eye.isChecked())

    def set_watched(self, watched: bool) -> None:
        """Check the watch button if the operator is being watched."""
        self.eye.setChecked(watched)
        self.eye.setToolTip("Stop watching" if watched else _LOOK)

    def show_standing(self, standing: OperatorRunProgress) -> None:
        """Show how many episodes are finished and failed, and the time left."""
        total = standing.total or self.plan.episodes
        self.bar.setMaximum(max(total, 1))
        self.bar.setValue(standing.done)
        of = f" of at most {local(total):,}" if standing.at_most else f" / {local(total):,}"
        self.count.setText("" if self.plan.error else f"{local(standing.done):,}{of}")
        done = total and standing.done >= total
        known = standing.left_s is not None and not done and standing.done
        left = duration(standing.left_s or 0, rough=True)
        self._left.setText(f"left {left}" if known else "done" if done else "")
        self.failed.setText(f"{local(standing.failed):,} failed" if standing.failed else "")


class PolicyRow(QWidget):
    """Row with a policy of a tournament before it plays: its worker, settings, errors and warnings."""

    def __init__(self, plan: OperatorPlan, link: Action | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.plan = plan
        self.setObjectName(f"script-policy-{plan.config.operator_id}")
        name = ElidedLabel(plan.config.display_name, "strong", parent=self, name="script-policy-name")
        badge = KindBadge("", self)
        badge.set_kind(leading_kind(plan.config), everybody_else(plan.config))
        head = row_layout()
        head.addWidget(name)
        head.addWidget(badge)
        head.addWidget(ElidedLabel(_players(plan), "muted", parent=self), 1)
        column = column_layout(self, margin=(0, theme.STEP, 0, theme.STEP), spacing=6)
        column.addLayout(head)
        _add_findings(column, plan, link)


def everybody_else(config: OperatorConfig) -> str:
    """Return the kind of each slot's worker, or an empty text if one policy plays all slots."""
    return everybody(config) if len(set(map(str, config.resolved_slots().values()))) > 1 else ""


def _add_findings(column: QVBoxLayout, plan: OperatorPlan, link: Action | None) -> None:
    """Add labels for errors and warnings, and a link to the line that causes the error."""
    for text, role in ((plan.error, "error"), *((warning, "muted") for warning in plan.warnings)):
        if text:
            column.addWidget(label(text, role, wrap=True))
    if link is not None:
        leads = LinkButton(link[0], name="script-operator-place", on_click=link[1])
        column.addWidget(leads, 0, Qt.AlignmentFlag.AlignLeft)


def _players(plan: OperatorPlan) -> str:
    """Return workers and settings of all seats as text, such as ``openspiel_worker · simulations 100``."""
    texts: dict[str, None] = {}
    for player in plan.config.resolved_slots().values():
        settings = [f"{name} {short_value(value)}" for name, value in player.settings.items()]
        texts[" · ".join([player.worker_id, *settings])] = None
    return "; ".join(texts)


def _about(plan: OperatorPlan) -> str:
    config = plan.config
    slots = config.resolved_slots()
    players = dict.fromkeys(
        str(player.settings.get("behavior") or player.settings.get("algorithm") or player.worker_id)
        for player in slots.values()
    )
    parts = [config.task, ", ".join(players)]
    if config.seats == "swap":
        parts.append("seats swapped")
    if plan.most_steps is not None:
        parts.append(f"at most {count(plan.most_steps, 'step')}")
    return " · ".join(parts)
