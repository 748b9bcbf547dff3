"""Runs a session host process: ``python -m gym_gui.host``."""

import argparse
import gc

from mosaic_worker.launch import die_with_parent, end_process


def _run() -> int:
    parser = argparse.ArgumentParser(prog="python -m gym_gui.host")
    parser.add_argument("--parent", type=int, required=True, help="pid to die with")
    parser.add_argument("--operator", help="for the reader of ps")
    parser.add_argument("--frames", type=int, help="inherited memory for pictures")
    args = parser.parse_args()
    die_with_parent(args.parent)  # before anything that takes long
    gc.disable()  # imports leave no garbage, and the search for it costs a tenth of the time
    from gym_gui.host.server import main

    gc.freeze()
    gc.enable()
    return main(args.frames)


if __name__ == "__main__":
    end_process(_run())
