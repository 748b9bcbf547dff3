"""Secrets are looked up late and never travel with the configuration."""

from __future__ import annotations

import json
import os
import sys
import types

import pytest

from gym_gui.core.config import WorkerAssignment
from gym_gui.core.errors import ExperimentError, MissingDependencyError
from gym_gui.services.experiment_file import resolve_secrets
from gym_gui.services.secrets import provide


class TestSecretLookup:
    def test_from_the_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MOSAIC_TEST_KEY", "value")
        player = WorkerAssignment(
            "",
            "llm",
            {"api_key": "env:MOSAIC_TEST_KEY", "clients": [{"token": "env:MOSAIC_TEST_KEY"}], "n": 1},
        )
        assert resolve_secrets(player) == {"api_key": "value", "clients[0].token": "value"}
        assert "value" not in json.dumps(player.to_record())

    def test_what_a_host_was_told_is_found_and_is_in_no_environment(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("MOSAIC_TEST_TOLD", raising=False)
        player = WorkerAssignment("", "llm", {"api_key": "env:MOSAIC_TEST_TOLD"})
        provide({"MOSAIC_TEST_TOLD": "told"})
        assert resolve_secrets(player) == {"api_key": "told"}
        assert "MOSAIC_TEST_TOLD" not in os.environ
        monkeypatch.setenv("MOSAIC_TEST_TOLD", "exported")
        assert resolve_secrets(player) == {"api_key": "exported"}

    def test_missing_variable(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("MOSAIC_TEST_KEY", raising=False)
        with pytest.raises(ExperimentError, match="export MOSAIC_TEST_KEY="):
            resolve_secrets(WorkerAssignment("", "llm", {"api_key": "env:MOSAIC_TEST_KEY"}))

    def test_keyring_that_is_not_installed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "keyring", None)
        with pytest.raises(MissingDependencyError, match="mosaic install gui"):
            resolve_secrets(WorkerAssignment("", "llm", {"api_key": "keyring:openai"}))

    def test_from_the_keyring(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The package stands in for a desktop's keyring, which tests do not have."""

        class KeyringError(Exception): ...

        def get_password(service: str, name: str) -> str | None:
            if name == "locked":
                raise KeyringError("no backend")
            return {("mosaic", "openai"): "value"}.get((service, name))

        keyring = types.ModuleType("keyring")
        errors = types.SimpleNamespace(KeyringError=KeyringError)
        vars(keyring).update(get_password=get_password, errors=errors)
        monkeypatch.setitem(sys.modules, "keyring", keyring)
        assert resolve_secrets(WorkerAssignment("", "llm", {"api_key": "keyring:openai"})) == {
            "api_key": "value"
        }
        with pytest.raises(ExperimentError, match="keyring set mosaic other"):
            resolve_secrets(WorkerAssignment("", "llm", {"api_key": "keyring:other"}))
        with pytest.raises(ExperimentError, match="cannot be read for setting 'api_key': no backend"):
            resolve_secrets(WorkerAssignment("", "llm", {"api_key": "keyring:locked"}))
