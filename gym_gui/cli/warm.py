"""``python -m gym_gui.cli.warm``: does at set-up what would hold up the first use."""

from __future__ import annotations

import sys
import time

from gym_gui.cli.progress import compile_progress
from gym_gui.core.errors import MosaicError
from gym_gui.envs.families.multigrid_warm import warm
from gym_gui.envs.registry import list_specs


def main() -> int:
    """Fill MultiGrid's compile cache and list all environments once; returns the exit status."""
    try:
        print(f"{len(list_specs())} environments are known", flush=True)
        started = time.perf_counter()
        with compile_progress("Compiling MultiGrid") as show:
            warm(show)
        print(f"MultiGrid is ready ({time.perf_counter() - started:.1f} s)", flush=True)
    except MosaicError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
