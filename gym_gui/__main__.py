"""``mosaic`` and ``python -m gym_gui``: hands over to the window or the command line."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main() -> int:
    """Run the program; returns its exit status."""
    from gym_gui.cli.window import open_window, open_with

    open_with(_show)
    arguments = sys.argv[1:]
    if arguments in ([], ["gui"]):
        # Without the command line's parser, whose import takes longer than the window's.
        try:
            return open_window()
        except SystemExit as exc:
            return exc.code if isinstance(exc.code, int) else 1
    from gym_gui.cli.app import run

    return run(arguments)


def _show(argv: Sequence[str]) -> int:
    from gym_gui.ui.app import main

    return main(argv)


if __name__ == "__main__":
    sys.exit(main())
