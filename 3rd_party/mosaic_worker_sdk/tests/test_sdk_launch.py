"""How a worker's process begins and ends."""

from __future__ import annotations

import subprocess
import sys

LEAVES_A_THREAD = """
import atexit, threading, time
from mosaic_worker.launch import end_process
threading.Thread(target=time.sleep, args=(600,)).start()
atexit.register(print, "told at the end", end="")
print("printed before")
end_process(3)
"""


def test_it_ends_with_its_status_though_foreign_code_has_left_a_thread() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LEAVES_A_THREAD], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 3 and done.stderr == ""
    assert done.stdout == "printed before\ntold at the end"
