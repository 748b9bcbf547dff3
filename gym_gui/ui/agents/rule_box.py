"""A list for the rule that applies to an invalid or late action."""

from __future__ import annotations

from typing import Final

from PyQt6.QtWidgets import QWidget

from gym_gui.core.experiment.assignment import OnInvalid
from gym_gui.ui.widgets.combo_box import SteadyComboBox

TIP: Final = "What happens after an invalid or late action"
_THEN: Final = {
    "error": "the episode fails",
    "noop": "no-op",
    "default": "the environment's default",
    "random_legal": "random legal action",
}
_USUAL: Final = (
    OnInvalid(),
    OnInvalid(then="noop"),
    OnInvalid(then="random_legal"),
    OnInvalid(2, "noop"),
    OnInvalid(2, "random_legal"),
)


class RuleBox(SteadyComboBox):
    """List of the usual rules for invalid or late actions, and of the slot's rule if it differs.

    Args:
        name: The list's ``objectName``.
        parent: Qt owner.
    """

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        for rule in _USUAL:
            self.addItem(_rule_words(rule), rule)

    @property
    def rule(self) -> OnInvalid:
        """The chosen rule."""
        return self.currentData()

    def show_rule(self, rule: OnInvalid) -> None:
        """Select a rule, and add it to the list if it is missing."""
        known = [self.itemData(i) for i in range(self.count())]
        if rule not in known:
            self.addItem(_rule_words(rule), rule)
            known.append(rule)
        self.setCurrentIndex(known.index(rule))


def _rule_words(rule: OnInvalid) -> str:
    """Return a rule as short text, such as ``"retry 2, no-op"``."""
    return f"retry {rule.retry}, {_THEN[rule.then]}" if rule.retry else _THEN[rule.then]
