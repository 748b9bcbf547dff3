"""Metadata hook: the long description and the links of a distribution, for the address that a release states.

The variable ``MOSAIC_ADDRESS`` holds the address of the project's repository, in the form
``https://github.com/OWNER/NAME``. With it, links and pictures of the README that are relative become links to
the files of this version's tag, so that they work on a package index. Without it, the README stays as it is.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

VARIABLE = "MOSAIC_ADDRESS"
_LINK = re.compile(r"(!?)(\[[^\]]*\](?:\([^)]*\)\])?)\((?!https?:|mailto:|#)([^)\s]+)\)")


class ProjectAddress(MetadataHookInterface):
    """Sets ``readme`` and ``urls``."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the fields; ``metadata`` holds the fields of ``pyproject.toml``."""
        address = os.environ.get(VARIABLE, "").rstrip("/")
        text = Path(self.root, "README.md").read_text("utf-8")
        if address:
            text = with_address(text, address, str(metadata["version"]))
            metadata["urls"] = {
                "Homepage": address,
                "Documentation": f"{address}#readme",
                "Repository": address,
                "Issues": f"{address}/issues",
                "Changelog": f"{address}/blob/v{metadata['version']}/CHANGELOG.md",
            }
        else:
            metadata["urls"] = {}
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def with_address(text: str, address: str, version: str) -> str:
    """Return Markdown in which relative links and pictures lead to the files of a version's tag.

    Args:
        text: The Markdown.
        address: Address of the repository, without a slash at its end.
        version: Version, whose tag is ``v`` and the version.
    """

    def absolute(found: re.Match[str]) -> str:
        mark, words, target = found.groups()
        kind = "raw" if mark else "blob"
        return f"{mark}{words}({address}/{kind}/v{version}/{target})"

    return _LINK.sub(absolute, text)
