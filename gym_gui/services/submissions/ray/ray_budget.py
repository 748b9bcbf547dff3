"""What a task of a Ray cluster may spend, where a budget holds for a whole run.

It travels by value, as :mod:`.ray_node` does.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gym_gui.services.submissions.ray.ray_trainings import Line


class NodeBudget:
    """Exchanges claims and leases of a try with the keeper: each playing of it is a holder of its own.

    Args:
        line: To the keeper.
        plan: Says what the files are called.
        here: The try's folder.
        number: The shard's.
        attempt: The try's.

    Attributes:
        holder: Who plays it, among all that do or have.
        after: The holder whose record it began with, to the end of that.
    """

    def __init__(self, line: Line, plan: Mapping[str, Any], here: Path, number: int, attempt: int) -> None:
        self._line, self._key = line, (number, attempt)
        self._claim, self._lease = here / plan["claim_name"], here / plan["lease_name"]
        self.holder, self.after = os.urandom(8).hex(), ""

    def exchange(self) -> None:
        """Tell what it claims, and put what it was given where it looks for that."""
        try:
            said = self._claim.read_text()
        except OSError:
            return  # nothing limits it; or it has claimed nothing yet
        if given := self._line.ask("claim", *self._key, self.holder, said, self.after):
            new = self._lease.with_suffix(".new")
            new.write_text(f"{given}\n")
            new.replace(self._lease)
