"""Imports an RLlib checkpoint: ``python -m ray_worker.importing FOLDER --env-id E --out DIR``.

FOLDER was written by ``save_to_path`` on the new API stack, for an algorithm, a MultiRLModule or an RLModule.
No code in it is run. The policy is imported only if the converted policy takes the same actions as RLlib's
own network on 1,000 observations of the environment, and has the same returns on the same seeds.

One JSON line reports what was written. Exit status 0: imported. 2: refused, with the reason on one line.
"""

from __future__ import annotations

import argparse
import sys

from mosaic_worker.checkpoint import PolicyDescription
from mosaic_worker.learning.importing import ImportMain


def bring(args: argparse.Namespace) -> PolicyDescription:
    """Read, convert, compare and write a policy, as :func:`.checkpoint_import.import_checkpoint` does."""
    from ray_worker.checkpoint_import import import_checkpoint

    return import_checkpoint(args)


main = ImportMain(
    "ray_worker",
    __doc__,
    "algorithm that the checkpoint must be of; others are refused",
    bring,
    {
        "--mapping": {
            "default": "",
            "help": "network of each agent, for example green_*=green,blue_*=blue",
        },
    },
)

if __name__ == "__main__":
    sys.exit(main())
