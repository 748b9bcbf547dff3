"""``python -m ray_worker.importing FOLDER --env-id E --out DIR`` makes a policy of an RLlib checkpoint.

FOLDER is what ``save_to_path`` wrote on the new API stack, of an algorithm, a MultiRLModule or an RLModule.
Nothing in it is run. It is taken only when the converted policy does what RLlib's own network does on
1,000 observations of the environment, and earns what that one earns on the same seeds.

One JSON line says what was written. Exit status 0: imported. 2: refused, one line says why.
"""

from __future__ import annotations

import argparse
import sys

from mosaic_worker.checkpoint import PolicyDescription
from mosaic_worker.learning.importing import ImportMain


def bring(args: argparse.Namespace) -> PolicyDescription:
    """Read, convert, compare and write a policy; see :func:`ray_worker.taking_over.take_over`."""
    from ray_worker.taking_over import take_over

    return take_over(args)


main = ImportMain(
    "ray_worker",
    __doc__,
    "refuse a checkpoint of another one",
    bring,
    {
        "--mapping": {
            "default": "",
            "help": "which network plays which agents, as green_*=green,blue_*=blue",
        },
    },
)

if __name__ == "__main__":
    sys.exit(main())
