"""What an error says that can be installed here: environments, or a worker."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import invalidate_caches
from typing import Final, Literal, cast

_LINE: Final = re.compile(r"\bmosaic (envs|workers) install ([A-Za-z0-9][\w/:-]*(?:\.[\w/:-]+)*)")


@dataclass(frozen=True)
class Missing:
    """Something that ``mosaic … install`` brings.

    Attributes:
        what: ``envs`` or ``workers``.
        name: Of the family of environments, the environment, or the worker.
    """

    what: Literal["envs", "workers"]
    name: str

    @property
    def title(self) -> str:
        """Its title for people; its name where no family or worker of that name is known here."""
        if self.what == "envs":
            from gym_gui.envs import families

            family = families().get(self.name)
            return family.title if family is not None else self.name
        from gym_gui.workers.discovery import known_workers

        return next((w.display_name for w in known_workers() if w.type_id == self.name), self.name)


def missing_in(sentence: str) -> Missing | None:
    """What the line installs that an error names as its way out; ``None`` where it names none.

    Errors come out of processes as sentences: the line in them is the one that a person would type, whichever
    process found out and whatever is missing.
    """
    found = _LINE.search(sentence)
    if found is None:
        return None
    return Missing(cast("Literal['envs', 'workers']", found[1]), found[2])


def forget_lookups() -> None:
    """Something was installed: what this process has looked for before is looked for anew."""
    from gym_gui.envs import index, installed_distributions

    invalidate_caches()
    installed_distributions.distributions_of.cache_clear()
    index.entries.cache_clear()
