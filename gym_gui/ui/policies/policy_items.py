"""Policies as every picker of the window offers them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from gym_gui.services.trainings.training_choices import algorithm_word
from gym_gui.ui.theme import kind_word
from gym_gui.ui.training_numbers import return_in_words
from gym_gui.ui.training_words import short_environment
from gym_gui.ui.widgets import PickerButton, PickerItem

if TYPE_CHECKING:
    from gym_gui.controllers.setup.configuration_checks import ConfigurationChecks, Offer
    from gym_gui.core.experiment.assignment import WorkerAssignment
    from gym_gui.services.policies.policy_catalog import Policy
    from gym_gui.services.policy_files import PolicyFile

_GROUPS: Final = {"human": "People", "baseline": "Baselines", "rl": "Trained policies"}
HERE: Final = "here"
"""Value of the current player where the list does not have it: a policy from a file, a model by its name."""


def policy_items(offers: Sequence[Offer]) -> list[PickerItem]:
    """Policies to choose from, in groups; what does not fit comes last in its group, with the reason.

    Names come first, as they tell policies apart. Beside a trained one stands how, where and how well it
    was trained, beside two of one name whose they are.
    """
    alike = Counter(offer.policy.title for offer in offers)
    items = [
        PickerItem(
            offer.policy.policy_id,
            _title(offer),
            _learnt(offer.policy.file) or (offer.policy.worker_id if alike[offer.policy.title] > 1 else ""),
            _GROUPS.get(offer.policy.kind, kind_word(offer.policy.kind)),
            offer.reason,
            f"{offer.policy.worker_id} {offer.policy.meaning}",
        )
        for offer in offers
    ]
    order = list(_GROUPS.values())
    return sorted(
        items, key=lambda i: (order.index(i.group) if i.group in order else len(order), bool(i.reason))
    )


def show_player(
    picker: PickerButton,
    player: WorkerAssignment | None,
    offers: Sequence[Offer],
    checks: ConfigurationChecks,
) -> None:
    """Offer what fits, and show who it is now."""
    items = policy_items(offers)
    policy = checks.policy(player) if player is not None else None
    value: object = policy.policy_id if policy is not None else None
    if player is not None and (here := _here_now(player, policy, checks)) is not None:
        value = here.value
        items.insert(0, here)
    picker.set_items(items)
    picker.set_value(value)


def _here_now(
    player: WorkerAssignment, policy: Policy | None, checks: ConfigurationChecks
) -> PickerItem | None:
    """Who plays, where the list has no item for it; ``None`` where it has.

    A policy that was read from a file is called by it, not as the entry by which it was chosen.
    """
    if policy is None:
        title = f"{player.worker_id} (not here)"
        return PickerItem(HERE, title, reason="No worker of that name is known")
    asked = policy.takes or policy.model
    if not asked or not player.settings.get(asked):
        return None
    worker = checks.worker(player)
    return PickerItem(HERE, checks.title(player), worker.display_name if worker else "", "Here now")


def _title(offer: Offer) -> str:
    """What has to be completed first ends in dots."""
    policy = offer.policy
    return policy.title if policy.complete or policy.title.endswith("…") else f"{policy.title}…"


def _learnt(file: PolicyFile | None) -> str:
    if file is None:
        return ""
    algorithm = algorithm_word(file.algorithm)
    known = "" if algorithm.casefold() in file.title.casefold() else algorithm
    mean = file.description.mean_return
    reached = "" if mean is None else f"return {return_in_words(mean)}"
    return " · ".join(filter(None, [known, reached, short_environment(file.env_id)]))
