"""Standard output of our child programs that print their answers there."""

from __future__ import annotations

import os
import sys


def keep_stdout() -> int:
    """Keep standard output for answers, and send everything that is printed from now on to stderr.

    The output goes there line by line, so that the last line is seen even if foreign code ends the process.

    Returns:
        File descriptor of the original standard output.
    """
    answers = os.dup(1)
    os.dup2(2, 1)
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(line_buffering=True)
    return answers
