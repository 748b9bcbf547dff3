"""Folders of what can be made again, which tests have to themselves but for what takes long to make."""

from __future__ import annotations

from pathlib import Path

from gym_gui.core.paths import cache_dir


def share_environments(cache: Path) -> None:
    """Have another cache folder use the lists of environments of this run of the tests.

    A child for each package makes them, which imports it: five seconds of processor for all of them.
    """
    lists = cache_dir() / "envs"
    lists.mkdir(parents=True, exist_ok=True)
    (cache / "envs").symlink_to(lists, target_is_directory=True)
