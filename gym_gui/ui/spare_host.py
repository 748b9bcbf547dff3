"""A session process that is started ahead, so that a click need not wait for the engine's imports."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from gym_gui.core.errors import MosaicError
from gym_gui.ui.context import AppContext

_log = logging.getLogger(__name__)

FIRST_S: Final = 0.25
"""Wait after the first paint; a session that the user opens earlier starts first."""
AGAIN_S: Final = 3.0
"""Wait after the process was taken: the session that is being opened has the processor to itself."""
LEAST_BYTES: Final = 1_500_000_000
"""Memory that is free where one may wait."""


async def keep_spare_host(context: AppContext) -> None:
    """Have one started whenever there is none, until it is cancelled; then it is ended.

    It takes the memory of the engine's modules, some 40 MB of its own, and no processor time. Where memory
    is short there is none.

    Args:
        context: Operators that open look for it there.
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
    """Bytes of memory that programs can still have."""
    import psutil

    return psutil.virtual_memory().available
