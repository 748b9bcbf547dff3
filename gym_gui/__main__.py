"""Entry point of ``mosaic`` and ``python -m gym_gui``: starts the window or the command line."""

from __future__ import annotations

import gc
import os
import signal
import sys
import traceback
from collections.abc import Sequence

from gym_gui.core.printable_text import show_only
from mosaic_worker.launch import end_process


def main() -> int:
    """Run the program and return its exit status; after a command, end the process with it."""
    # SIGTERM acts like Ctrl-C, so that everything the program has started is cleaned up.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    show_only()
    try:
        status = _run()
    except KeyboardInterrupt:
        sys.stderr.write("mosaic: interrupted\n")
        status = 130
    except Exception as error:
        status = _report(error)
    # Freeing every object takes a tenth of a second. A window needs it: Qt hands the clipboard over then.
    if "PyQt6" not in sys.modules:
        end_process(status)
    # If a KeyboardInterrupt passed through an exec() of text (dataclasses use exec) and was caught further
    # up, Python ends by SIGINT instead of this status. Python checks the last exec() only, so run another.
    exec("")
    return status


def _report(error: Exception) -> int:
    """Write a crash report, print where it is, and return the exit status."""
    from gym_gui.cli.errors import WORK_FAILED, print_message
    from gym_gui.processes.crash_reports import write_crash_report

    file = write_crash_report(error)
    if file is None or os.environ.get("MOSAIC_DEBUG"):
        traceback.print_exception(error)
    where = f" A report that you may send: {file}" if file is not None else ""
    print_message(f"something went wrong: {type(error).__name__}: {error}.{where}")
    return WORK_FAILED


def _run() -> int:
    from gym_gui.cli.window import open_window, open_with, package_trouble

    open_with(_show)
    arguments = sys.argv[1:]
    if not arguments and package_trouble():
        arguments = ["--help"]
    if arguments in ([], ["gui"]):
        # Skips the command line's parser, whose import takes longer than the window's.
        try:
            return open_window()
        except SystemExit as exc:
            return exc.code if isinstance(exc.code, int) else 1
    # Imported modules are never garbage; collecting at the default rate takes a tenth of the start-up time.
    gc.set_threshold(20_000)
    from gym_gui.cli.app import run

    return run(arguments)


def _show(argv: Sequence[str]) -> int:
    from gym_gui.ui.app import main

    return main(argv)


if __name__ == "__main__":
    sys.exit(main())
