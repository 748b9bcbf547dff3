"""``python -m gym_gui.host`` is a session host process."""

import gc
import sys


def _run() -> int:
    gc.disable()  # nothing of what is imported is ever garbage; looking for some costs a tenth of the time
    from gym_gui.host.server import main

    gc.freeze()
    gc.enable()
    return main()


if __name__ == "__main__":
    sys.exit(_run())
