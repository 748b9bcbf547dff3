"""How far a submission is, on the display that runs have."""

from __future__ import annotations

from typing import Final

from gym_gui.controllers.operator_execution import OperatorProgress
from gym_gui.controllers.script_execution import OnProgress
from gym_gui.services.submissions.coordinator import OnStanding, Standing

_NAMED: Final = 3
"""Places that are named beside the count."""


def shown_by(show: OnProgress, total: int) -> OnStanding:
    """Tell a display of runs how far a submission is.

    Args:
        show: The display.
        total: Work that there is in all.
    """

    def tell(standing: Standing) -> None:
        playing = standing.playing
        live = sum(playing.values())
        places = ", ".join(f"{name} plays {count}" for name, count in sorted(playing.items()))
        if len(playing) > _NAMED:
            places = f"{len(playing)} hosts play {live}"
        name = f"{standing.shards} of {standing.of} shards" + (f" ({places})" if places else "")
        show([OperatorProgress("shards", name, standing.done, total, standing.failed, live, 0)])

    return tell
