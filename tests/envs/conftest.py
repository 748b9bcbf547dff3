"""Environments are listed through an index; tests keep theirs to themselves."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gym_gui.envs import index


@pytest.fixture(autouse=True, scope="session")
def own_index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MOSAIC_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        index.entries.cache_clear()
        yield
    index.entries.cache_clear()
