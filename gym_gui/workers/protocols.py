"""Where the design documents look for what a policy must offer."""

from __future__ import annotations

from gym_gui.core.protocols import Operator, OperatorController, PolicyController

__all__ = ["Operator", "OperatorController", "PolicyController"]
