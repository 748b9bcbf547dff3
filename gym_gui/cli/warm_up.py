"""Fills caches during set-up (``python -m gym_gui.cli.warm_up``), so that the first use is fast."""

from __future__ import annotations

import sys
import time

from gym_gui.cli.progress import compile_progress
from gym_gui.core.errors import MosaicError
from gym_gui.envs.compiling import compile_environment
from gym_gui.envs.environment_registry import families, list_specs, make


def main() -> int:
    """List all environments once, and compile the code of families that need it; return the exit status."""
    try:
        print(f"{len(list_specs())} environments are known", flush=True)
        for family in families().values():
            if family.compiled and family.installed:
                started = time.perf_counter()
                with compile_progress(f"Compiling {family.title}") as show:
                    compile_environment(make(family.specs()[0]), show)
                print(f"{family.title} is ready ({time.perf_counter() - started:.1f} s)", flush=True)
    except MosaicError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
