"""A reader of the documentation works in a folder of their own and leaves no process behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gym_gui.envs.families.custom import registered
from tests.docs.pages import Reader
from tests.support.commands import ROOT, Mosaic
from tests.support.fixtures import offspring
from tests.support.no_processes import sessions_here
from tests.support.processes import Offspring

__all__ = ["offspring", "sessions_here"]


@pytest.fixture
def reader(
    request: pytest.FixtureRequest, tmp_path: Path, offspring: Offspring, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Reader]]:
    """Makes the reader of a page, given by its path in the checkout and what is to be shorter.

    In the long tests all is done as it stands there; in others sessions are no processes of their own.
    """
    full = request.node.get_closest_marker("full") is not None
    if not full:
        request.getfixturevalue("sessions_here")
    known = {spec.id for spec in registered.all()}
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    mosaic = Mosaic(tmp_path, offspring)
    yield lambda page, shorter=None: Reader(ROOT / page, mosaic, shorter, full=full)
    for spec in registered.all():
        if spec.id not in known:
            registered.remove(spec.id)
