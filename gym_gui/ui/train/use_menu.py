"""From a trained policy to a slot: where it can be used, in one click."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from PyQt6.QtGui import QAction
from PyQt6.QtWidgets import QMenu, QWidget

from gym_gui.core.config import OperatorConfig
from gym_gui.core.enums import WorkerKind
from gym_gui.ui.context import AppContext

SEED = 0
_PLACES = (
    ("operators", "Watch it in Operators", "See it play, step by step or at full speed"),
    ("play", "Open it in Play", "See it play; change who plays which slot there"),
    (
        "agents",
        "Give it a seat in Agents",
        "Put it into one slot of any environment that fits, beside others",
    ),
)


def operator_of(policy: Path, *, worker_id: str, env_id: str, title: str) -> OperatorConfig:
    """A policy as an operator in the environment it was trained in."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", title).strip("_").lower()[:40] or "policy"
    operator = OperatorConfig.single_agent(
        operator_id=name,
        display_name=title,
        worker_id=worker_id,
        worker_type=WorkerKind.RL.value,
        task=env_id,
        settings={"checkpoint": str(policy)},
    )
    return replace(operator, named=False)


def use_policy(context: AppContext, place: str, operator: OperatorConfig) -> None:
    """Show a page with this operator."""
    request: dict[str, Any] = {"operator": operator}
    if place == "operators":
        request = {"operators": [operator], "seed": SEED}
    elif place == "play":
        request["seed"] = SEED
    context.go(place, **request)


class UseMenu(QMenu):
    """The places a policy can go to.

    Args:
        context: Shows them.
        parent: Qt owner.
    """

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("train-use-menu")
        self.setToolTipsVisible(True)
        self._context = context
        self._operator: OperatorConfig | None = None
        for place, text, tip in _PLACES:
            action = QAction(text, self)
            action.setObjectName(f"train-use-{place}")
            action.setData(place)
            action.setToolTip(tip)
            self.addAction(action)
        self.triggered.connect(self._on_triggered)

    def set_operator(self, operator: OperatorConfig | None) -> None:
        """What is used."""
        self._operator = operator
        self.setEnabled(operator is not None)

    def _on_triggered(self, action: QAction | None) -> None:
        if action is not None and self._operator is not None:
            use_policy(self._context, str(action.data()), self._operator)
