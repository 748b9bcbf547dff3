"""Picker items for policies, grouped by kind."""

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
    from gym_gui.controllers.setup.configuration_checks import ConfigurationChecks, OfferedPolicy
    from gym_gui.core.experiment.assignment import WorkerAssignment
    from gym_gui.services.policies.policy_catalog import Policy
    from gym_gui.services.policy_files import PolicyFile

_GROUPS: Final = {"human": "People", "baseline": "Baselines", "rl": "Trained policies"}
HERE: Final = "here"
"""Picker value of the current policy if the list lacks it: a policy from a file, or a named model."""


def policy_items(offers: Sequence[OfferedPolicy]) -> list[PickerItem]:
    """Return picker items for policies, in groups; unusable policies come last, with the reason.

    The detail of a trained policy names its algorithm, mean return and environment. If two policies have the
    same title, the detail names the worker.
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
    offers: Sequence[OfferedPolicy],
    checks: ConfigurationChecks,
) -> None:
    """Fill a picker with the policies for a slot, and select the slot's current policy."""
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
    """Return a picker item for the current policy if the list has no item for it, else ``None``.

    A policy read from a file is shown with the file's name.
    """
    if policy is None:
        title = f"{player.worker_id} (not available)"
        return PickerItem(HERE, title, reason="No worker with this name is installed")
    asked = policy.takes or policy.model
    if not asked or not player.settings.get(asked):
        return None
    worker = checks.worker(player)
    return PickerItem(HERE, checks.title(player), worker.display_name if worker else "", "Current policy")


def _title(offer: OfferedPolicy) -> str:
    """Return the title of a policy, with an ellipsis if the policy needs further details."""
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
