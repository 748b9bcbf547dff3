"""``python -m gym_gui.host`` is a session host process."""

import sys

from gym_gui.host.server import main

if __name__ == "__main__":
    sys.exit(main())
