"""Interface for links to the pages of operators and episodes."""

from __future__ import annotations

from typing import Protocol


class Links(Protocol):
    """Addresses relative to the page that contains the links."""

    def operator(self, key: str) -> str:
        """Return the address of an operator's page."""
        ...

    def episode(self, key: str, index: int) -> str:
        """Return the address of an episode's row on its operator's page."""
        ...
