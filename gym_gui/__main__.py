"""``mosaic`` and ``python -m gym_gui``: hands over to the window or the command line."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the program; returns its exit status."""
    from gym_gui.cli.app import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
