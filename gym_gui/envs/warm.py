"""``python -m gym_gui.envs.warm``: does at set-up what would hold up the first use."""

from __future__ import annotations

import sys

from gym_gui.core.errors import MosaicError
from gym_gui.envs.families.multigrid import warm
from gym_gui.envs.registry import list_specs


def main() -> int:
    """Fill MultiGrid's compile cache and list all environments once; returns the exit status."""
    try:
        print(f"{len(list_specs())} environments are known", flush=True)
        warm(lambda text: print(text, flush=True))
    except MosaicError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
