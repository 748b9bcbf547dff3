"""What was typed and not saved, kept in the data folder until it is: nothing is lost in a crash."""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path
from typing import Final, NamedTuple

import orjson

from gym_gui.core.record_fields import mapping, text
from mosaic_worker.plain_files import read_file, replace_file

FOLDER: Final = "drafts"
_LARGEST: Final = 8 << 20


class Drafts(NamedTuple):
    """The draft of one file.

    Attributes:
        data: The data folder.
        name: The file's path; of one that was never saved, what it is.
    """

    data: Path
    name: str

    @property
    def file(self) -> Path:
        """Where it is kept."""
        return self.data / FOLDER / f"{hashlib.sha256(self.name.encode()).hexdigest()[:32]}.json"

    def read(self) -> str | None:
        """What was typed; ``None`` where nothing was, or it cannot be read."""
        try:
            said = mapping(orjson.loads(read_file(self.file, limit=_LARGEST))) or {}
        except (OSError, ValueError):
            return None
        return text(said.get("text")) if said.get("name") == self.name else None

    def write(self, words: str) -> None:
        """Keep this. Raises :class:`OSError` where it cannot be."""
        self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        content = orjson.dumps({"name": self.name, "text": words})
        replace_file(self.file, content, mode=0o600, sync=False)

    def remove(self) -> None:
        """It is saved, or was thrown away."""
        with contextlib.suppress(OSError):
            self.file.unlink(missing_ok=True)
