"""How this installation of MOSAIC was made, and the command that updates it."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from gym_gui.cli.output import write_line
from gym_gui.core.interpreters import into_this_python
from gym_gui.core.paths import PACKAGE
from gym_gui.envs.spec import DISTRIBUTION
from gym_gui.version import __version__


@dataclass(frozen=True)
class HowInstalled:
    """Origin of an installation.

    Attributes:
        text: Origin in words, such as ``installed by pipx``.
        update: Command line that installs the newest version.
    """

    text: str
    update: str


_RECEIPTS: Final = {
    "pipx_metadata.json": HowInstalled("installed by pipx", f"pipx upgrade {DISTRIBUTION}"),
    "uv-receipt.toml": HowInstalled("installed by uv tool", f"uv tool upgrade {DISTRIBUTION}"),
}
"""Files that installers leave in the folder of the environment that they make."""


def how_installed() -> HowInstalled:
    """Return the origin of the running installation, from its metadata and its folder."""
    origin = _origin()
    if origin.get("dir_info", {}).get("editable") is True:
        checkout = PACKAGE.parent
        return HowInstalled(
            "installed from a clone (editable)", f"git -C {checkout} pull && {checkout}/scripts/run.sh"
        )
    how = next((how for file, how in _RECEIPTS.items() if Path(sys.prefix, file).is_file()), None)
    # An installation from a file is not updated by name: on an index, the name may be another project's.
    if "url" in origin:
        text = f"{how.text if how else 'installed'} from {origin['url']}"
        return HowInstalled(text, "install the newer wheels, in the same way")
    if how is not None:
        return how
    if any(part.startswith("archive-v") for part in Path(sys.prefix).parts):  # uv's cache
        return HowInstalled("started by uvx", f"uvx --refresh --from {DISTRIBUTION} mosaic")
    return HowInstalled("installed by pip or uv", f"{into_this_python()} --upgrade {DISTRIBUTION}")


def _origin() -> dict[str, Any]:
    """Return what the installer has recorded of the origin; empty for a package of an index."""
    try:
        text = metadata.distribution(DISTRIBUTION).read_text("direct_url.json")
        return dict(json.loads(text or "{}"))
    except (metadata.PackageNotFoundError, ValueError, TypeError):
        return {}


def print_update() -> None:
    """Print the version, how it was installed, and the command that updates it."""
    how = how_installed()
    write_line(f"MOSAIC {__version__}, {how.text} in {sys.prefix}")
    write_line(f"To update: {how.update}")
