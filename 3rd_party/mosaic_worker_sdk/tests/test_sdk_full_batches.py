"""Any number of rows, decided a full batch at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mosaic_worker.playing.checkpoint_worker import Choices
from mosaic_worker.playing.full_batches import BATCH, in_batches


@pytest.mark.parametrize("count", [1, BATCH, BATCH + 1, 3 * BATCH - 5])
@pytest.mark.parametrize("by_key", [False, True])
def test_each_row_meets_what_is_its_own(count: int, by_key: bool) -> None:
    sizes: list[int] = []

    def decide(seen: Any, masks: Any, draws: Any, memory: Any) -> Choices:
        rows = seen["x"] if by_key else seen
        n = len(rows)
        sizes.append(n)
        drawn = draws(2)
        assert drawn.shape == (BATCH,) and not drawn[n:].any(), "filled up"
        ok = (rows == masks[:, 0]) & (rows == memory[:, 0]) & (drawn[:n] == 2 + rows)
        return Choices(rows * 10, None, ok, memory + 1)

    rows = np.arange(count, dtype=np.float64)
    found = in_batches(
        decide,
        {"x": rows} if by_key else rows,
        masks=rows[:, None],  # type: ignore[arg-type]  # numbers, to tell them apart
        draws=lambda j: j + rows,
        memory=rows[:, None].astype(np.float32),
    )
    assert found.ok.all() and found.values is None and found.memory is not None
    assert found.actions.tolist() == (rows * 10).tolist()
    assert found.memory[:, 0].tolist() == (rows + 1).tolist()
    assert max(sizes) <= BATCH and sum(sizes) == count


def test_what_is_not_there_is_not_handed_on() -> None:
    def decide(seen: Any, *others: Any) -> Choices:
        assert others == (None, None, None)
        return Choices(seen, seen, seen == seen)

    found = in_batches(decide, np.zeros(BATCH + 1))
    assert found.memory is None and found.values is not None and len(found.values) == BATCH + 1
