"""Where operators and episodes have pages of their own."""

from __future__ import annotations

from typing import Protocol


class Links(Protocol):
    """Addresses, as seen from the page that they stand on."""

    def operator(self, key: str) -> str:
        """Of an operator's page."""
        ...

    def episode(self, key: str, index: int) -> str:
        """Of the line of one of its episodes."""
        ...
