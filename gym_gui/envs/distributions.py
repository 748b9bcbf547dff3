"""Which installed distributions an import package comes from."""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import Distribution, PackageNotFoundError, distributions


@lru_cache(maxsize=64)
def distributions_of(package: str) -> tuple[str, ...]:
    """Names of the distributions that hold top-level ``package``; several for a namespace.

    ``importlib.metadata.packages_distributions`` answers this for all packages at once and takes
    a fifth of a second of every process that asks; looking for one takes a fifteenth of that.

    Args:
        package: Import name.
    """
    held = (found.metadata["Name"] for found in distributions() if _holds(found, package))
    return tuple(name for name in held if name)  # half-removed ones have none


def holds(name: str, package: str) -> bool:
    """Whether there is a distribution of that name, and it holds top-level ``package``."""
    try:
        return _holds(Distribution.from_name(name), package)
    except PackageNotFoundError:
        return False


def _holds(distribution: Distribution, package: str) -> bool:
    declared = distribution.read_text("top_level.txt")
    if declared:
        return package in declared.split()
    record = distribution.read_text("RECORD") or ""
    starts = (f"{package}/", f"{package}.py,", f"{package}.")  # a module may be a shared library
    return any(record.startswith(start) or f"\n{start}" in record for start in starts)
