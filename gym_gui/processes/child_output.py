"""Standard output of MOSAIC's child programs that print their answers there."""

from __future__ import annotations

import os
import sys


def reserve_stdout() -> int:
    """Reserve standard output for answers, and redirect all that is printed from now on to stderr.

    Stderr is written line by line, so that the last line is visible even if foreign code ends the process.

    Returns:
        File descriptor of the original standard output.
    """
    answers = os.dup(1)
    os.dup2(2, 1)
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(line_buffering=True)
    return answers
