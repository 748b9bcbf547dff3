"""``mosaic`` and ``python -m gym_gui``: hands over to the window or the command line."""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Sequence

from gym_gui.core.printable_text import show_only


def main() -> int:
    """Run the program; returns its exit status."""
    # From here on a polite kill is what Ctrl-C is: whatever has been started is cleaned up.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    show_only()
    try:
        status = _run()
    except KeyboardInterrupt:
        sys.stderr.write("mosaic: interrupted\n")
        status = 130
    # Python ends by SIGINT, whatever the status, if an interrupt has passed through an exec() of text,
    # by which dataclasses are made, and was caught further up; it looks at the last such exec() alone.
    exec("")
    return status


def _run() -> int:
    from gym_gui.cli.window import open_window, open_with

    open_with(_show)
    arguments = sys.argv[1:]
    if arguments in ([], ["gui"]):
        # Without the command line's parser, whose import takes longer than the window's.
        try:
            return open_window()
        except SystemExit as exc:
            return exc.code if isinstance(exc.code, int) else 1
    # What is imported is never garbage: looking for some as often as by default costs a tenth of a start.
    gc.set_threshold(20_000)
    from gym_gui.cli.app import run

    return run(arguments)


def _show(argv: Sequence[str]) -> int:
    from gym_gui.ui.app import main

    return main(argv)


if __name__ == "__main__":
    sys.exit(main())
