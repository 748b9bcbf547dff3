"""Lease of a task on a Ray cluster, for a budget that holds for a whole run.

Ray pickles this module by value, like :mod:`.ray_node`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gym_gui.services.submissions.ray.ray_trainings import Line


class NodeBudget:
    """Exchanges the budget claim and lease of a shard's attempt with the keeper. Each run is its own holder.

    Args:
        line: Connection to the keeper.
        plan: Plan that contains the names of the files.
        here: Folder of the try.
        number: Number of the shard.
        attempt: Number of the try.

    Attributes:
        holder: Random name of this run of the try, which differs from all others.
        after: Holder whose complete record this holder began with.
    """

    def __init__(self, line: Line, plan: Mapping[str, Any], here: Path, number: int, attempt: int) -> None:
        self._line, self._key = line, (number, attempt)
        self._claim, self._lease = here / plan["claim_name"], here / plan["lease_name"]
        self.holder, self.after = os.urandom(8).hex(), ""

    def exchange(self) -> None:
        """Send the claim to the keeper, and write a new lease to the file that the attempt reads."""
        try:
            said = self._claim.read_text()
        except OSError:
            return  # no budget, or no claim yet
        if given := self._line.ask("claim", *self._key, self.holder, said, self.after):
            new = self._lease.with_suffix(".new")
            new.write_text(f"{given}\n")
            new.replace(self._lease)
