"""Menu that opens a trained policy on the page that the user chooses."""

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
    ("operators", "Watch in Operators", "Watch the policy play, step by step or at full speed"),
    ("play", "Open in Play", "Play with or against the policy; change the policy of each slot there"),
    (
        "agents",
        "Assign in Agents",
        "Assign the policy to a slot of any compatible environment, together with others",
    ),
    (
        _TOURNAMENT,
        "Hold a tournament…",
        "Rate the policy in games against other policies of its environment",
    ),
)
_ALONE = "A tournament needs an environment with several agents"


def operator_of(policy: Path, *, worker_id: str, env_id: str, title: str, agent: str = "") -> OperatorConfig:
    """Return an operator in which a policy plays; reads the policy's file.

    Args:
        policy: Folder of the policy.
        worker_id: Worker that runs the policy.
        env_id: Id of the environment.
        title: Display name of the policy.
        agent: Agent of a joint policy that uses the policy while the others act randomly; by default all
            agents use it.
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
    """Open an operator on a page; ``place`` is the page's name or ``tournament``."""
    request: dict[str, Any] = {"operator": operator}
    if place == _TOURNAMENT:
        place, request = "operators", {"tournament": TournamentRequest.of([operator])}
    elif place == "operators":
        request = {"operators": [operator], "seed": SEED}
    elif place == "play":
        request["seed"] = SEED
    context.go(place, **request)


class UseMenu(QMenu):
    """Menu of the pages on which a policy can be used.

    Args:
        context: Shows the chosen page.
        parent: Qt owner.
        name: ``objectName`` of the menu.
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
        """Set the function that returns the operator to use, which is called after a choice; ``None``
        disables the menu.
        """
        self._operator = operator
        self.setEnabled(operator is not None)

    def _on_about_to_show(self) -> None:
        """Enable the tournament entry only if the environment has several slots."""
        several = self._operator is not None and len(self._operator().resolved_slots()) > 1
        self._tournament.setEnabled(several)
        self._tournament.setToolTip(self._tip if several else _ALONE)

    def _on_triggered(self, action: QAction | None) -> None:
        if action is not None and self._operator is not None:
            use_policy(self._context, str(action.data()), self._operator())
