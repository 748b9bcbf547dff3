"""Starts a session process ahead of its use, so that a click does not wait for the engine's imports."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from gym_gui.core.errors import MosaicError
from gym_gui.ui.context import AppContext

_log = logging.getLogger(__name__)

FIRST_S: Final = 0.25
"""Delay of the first process after the first paint, in seconds; a session opened earlier starts first."""
AGAIN_S: Final = 3.0
"""Delay of the next process, in seconds, so that the session that took the last one starts undisturbed."""
LEAST_BYTES: Final = 1_500_000_000
"""Free memory below which no process is started, in bytes."""


async def maintain_spare_host(context: AppContext) -> None:
    """Keep one idle session process until the task is canceled, then end the process.

    The process uses about 40 MB of memory for the engine's modules, and no processor time. If memory is
    short, no process is started.

    Args:
        context: Holds the process for the next operator.
    """
    await asyncio.sleep(FIRST_S)
    from gym_gui.host.prestart import SpareHost

    spare = context.spare_host = SpareHost(pictures=True)
    try:
        while True:
            spare.taken.clear()
            if await asyncio.to_thread(free_memory) > LEAST_BYTES:
                try:
                    await spare.start()
                except MosaicError as error:  # an operator that needs a process starts one, and reports this
                    _log.info("no session process waits: %s", error)
            await spare.taken.wait()
            await asyncio.sleep(AGAIN_S)
    finally:
        context.spare_host = None
        await spare.close()


def free_memory() -> int:
    """Return the memory that is still available, in bytes."""
    import psutil

    return psutil.virtual_memory().available
