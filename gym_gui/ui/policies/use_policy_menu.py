"""Menu of the pages that can use a trained policy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from PyQt6.QtGui import QAction
from PyQt6.QtWidgets import QMenu, QWidget

from gym_gui.controllers.live_play.unique_names import id_of
from gym_gui.core.config import OperatorConfig
from gym_gui.core.enums import WorkerKind
from gym_gui.core.experiment.assignment import LinkGroup, WorkerAssignment
from gym_gui.services.policy_files import read_policy_file
from gym_gui.ui.context import AppContext
from gym_gui.ui.policies.tournament_draft import TournamentRequest

SEED = 0
_TOURNAMENT = "tournament"
_RANDOM = WorkerAssignment("operators_worker", "baseline", {"behavior": "random"})
_PLACES = (
    ("operators", "Watch it in Operators", "See it play, step by step or at full speed"),
    ("play", "Open it in Play", "See it play; change who plays which slot there"),
    (
        "agents",
        "Give it a seat in Agents",
        "Put it into one slot of any environment that fits, beside others",
    ),
    (_TOURNAMENT, "Hold a tournament with it…", "Have it meet other policies of its game, and be rated"),
)
_ALONE = "It plays alone: a tournament needs a game of several agents"


def operator_of(policy: Path, *, worker_id: str, env_id: str, title: str, agent: str = "") -> OperatorConfig:
    """Return a policy as an operator in an environment; reads the policy's file.

    Args:
        policy: Folder of the policy.
        worker_id: Worker that plays the policy.
        env_id: The environment.
        title: Display name of the policy.
        agent: Agent of a joint policy that plays its part while the others act at random; by default each
            agent plays its own part.
    """
    file = read_policy_file(policy)
    agents = file.agents if file is not None else ()
    named = f"{title}, {agent}" if agent else title
    about: dict[str, Any] = {
        "operator_id": id_of(named),
        "display_name": named,
        "task": env_id,
    }
    settings = {"checkpoint": str(policy)}
    if len(agents) < 2:
        operator = OperatorConfig.single_agent(
            **about, worker_id=worker_id, worker_type=WorkerKind.RL.value, settings=settings
        )
        return replace(operator, named=False)
    player = WorkerAssignment(worker_id, WorkerKind.RL.value, settings)
    if agent:
        slots = {**dict.fromkeys(agents, _RANDOM), agent: replace(player, checkpoint_agent=agent)}
        return replace(OperatorConfig.multi_agent(**about, player_workers=slots), named=False)
    link = LinkGroup(agents[0], agents[1:], str(policy))
    slots = dict.fromkeys(agents, player)
    operator = OperatorConfig.multi_agent(**about, player_workers=slots, link_groups=[link])
    return replace(operator, named=False)


def use_policy(context: AppContext, place: str, operator: OperatorConfig) -> None:
    """Show a page with an operator."""
    request: dict[str, Any] = {"operator": operator}
    if place == _TOURNAMENT:
        place, request = "operators", {"tournament": TournamentRequest.of([operator])}
    elif place == "operators":
        request = {"operators": [operator], "seed": SEED}
    elif place == "play":
        request["seed"] = SEED
    context.go(place, **request)


class UseMenu(QMenu):
    """Menu of the pages that can use a policy.

    Args:
        context: Shows the chosen page.
        parent: Qt owner.
        name: Qt object name.
    """

    def __init__(
        self, context: AppContext, parent: QWidget | None = None, name: str = "train-use-menu"
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setToolTipsVisible(True)
        self._context = context
        self._operator: Callable[[], OperatorConfig] | None = None
        for place, text, tip in _PLACES:
            action = QAction(text, self)
            action.setObjectName(f"train-use-{place}")
            action.setData(place)
            action.setToolTip(tip)
            self.addAction(action)
            if place == _TOURNAMENT:
                self._tournament, self._tip = action, tip
        self.triggered.connect(self._on_triggered)
        self.aboutToShow.connect(self._on_about_to_show)

    def set_operator(self, operator: Callable[[], OperatorConfig] | None) -> None:
        """Set the function that returns the operator to use; it is called after a choice."""
        self._operator = operator
        self.setEnabled(operator is not None)

    def _on_about_to_show(self) -> None:
        """Enable the tournament only if the environment has several slots."""
        several = self._operator is not None and len(self._operator().resolved_slots()) > 1
        self._tournament.setEnabled(several)
        self._tournament.setToolTip(self._tip if several else _ALONE)

    def _on_triggered(self, action: QAction | None) -> None:
        if action is not None and self._operator is not None:
            use_policy(self._context, str(action.data()), self._operator())
