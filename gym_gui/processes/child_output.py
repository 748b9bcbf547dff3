"""What a program of ours that was started for its answers does with its standard output."""

from __future__ import annotations

import os
import sys


def keep_stdout() -> int:
    """Keep standard output for answers; what foreign code prints from now on goes to stderr.

    It goes there line by line: what was printed last is seen, even if that code ends the process.

    Returns:
        A descriptor of what standard output was.
    """
    answers = os.dup(1)
    os.dup2(2, 1)
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(line_buffering=True)
    return answers
