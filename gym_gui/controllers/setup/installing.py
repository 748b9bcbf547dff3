"""Finds the install command in an error message: for environments, or for a worker."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import invalidate_caches
from typing import Final, Literal, cast

_LINE: Final = re.compile(r"\bmosaic (envs|workers) install ([A-Za-z0-9][\w/:-]*(?:\.[\w/:-]+)*)")


@dataclass(frozen=True)
class Installable:
    """Missing environments or worker that ``mosaic … install`` can install.

    Attributes:
        what: ``envs`` or ``workers``.
        name: Name of the environment family, the environment, or the worker.
    """

    what: Literal["envs", "workers"]
    name: str

    @property
    def title(self) -> str:
        """Display name of what is missing, or ``name`` if no known family or worker has that name."""
        if self.what == "envs":
            from gym_gui.envs import families

            family = families().get(self.name)
            return family.title if family is not None else self.name
        from gym_gui.workers.discovery import known_workers

        return next((w.display_name for w in known_workers() if w.type_id == self.name), self.name)


def missing_in(sentence: str) -> Installable | None:
    """Return what the install command in an error message installs; ``None`` without a command.

    Errors cross process borders as sentences. The command in them is the one that a user would type,
    whichever process found the problem.
    """
    found = _LINE.search(sentence)
    if found is None:
        return None
    return Installable(cast("Literal['envs', 'workers']", found[1]), found[2])


def forget_lookups() -> None:
    """Clear cached lookups of packages and environments, because something was installed."""
    from gym_gui.envs import index, installed_distributions

    invalidate_caches()
    installed_distributions.distributions_of.cache_clear()
    index.entries.cache_clear()
