"""Tests of worker processes leave none behind."""

import pytest

from tests.support.fixtures import offspring
from tests.support.jason import installed_jason
from tests.support.model_server import model_server

__all__ = ["jason", "model_server", "offspring"]


@pytest.fixture
def jason(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """jason_worker can be started; the test is skipped by name where it cannot."""
    installed_jason(monkeypatch, tmp_path_factory.getbasetemp())
