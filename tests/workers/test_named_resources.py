"""What settings of a file name: a secret counts wherever it stands."""

from __future__ import annotations

from typing import Any

import pytest

from gym_gui.core.secret_refs import references, without_references
from gym_gui.workers.discovery import find_workers
from gym_gui.workers.named_resources import is_local_address, needs_of_settings
from gym_gui.workers.registry import WorkerTypeRegistry

SETTINGS: list[dict[str, Any]] = [
    {"api_key": "env:OPENAI_API_KEY"},
    {"headers": {"Authorization": "env:OPENAI_API_KEY"}},
    {"headers": [{"value": ["keyring:key"]}]},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_secret_is_gated_where_it_is_resolved(settings: dict[str, Any]) -> None:
    find_workers(["mosaic_llm_worker"])
    definition = WorkerTypeRegistry.require("mosaic_llm_worker")
    (server,) = [setting.name for setting in definition.settings_schema if setting.kind == "server"]
    asked = {**settings, server: "https://elsewhere.example/v1"}
    assert [need.subject.name for need in needs_of_settings(definition, asked)] == [asked[server]]
    assert list(references(asked)), "its resolver would find it"
    assert not list(references(without_references(asked)))
    assert not needs_of_settings(definition, without_references(asked))


@pytest.mark.parametrize(
    "address",
    [
        "localhost#.elsewhere.example:6379",
        "localhost?.elsewhere.example:6379",
        "localhost/.elsewhere.example:6379",
        "elsewhere.example@localhost:6379",
        "dns://elsewhere.example/localhost:6379",
        "localhost.elsewhere.example:6379",
        "localhost:6379\n",
        "[::1%elsewhere]:6379",
        "box.lan:7311",
    ],
)
def test_an_address_elsewhere_is_gated_however_it_is_written(address: str) -> None:
    find_workers(["mosaic_llm_worker"])
    definition = WorkerTypeRegistry.require("mosaic_llm_worker")
    (need,) = needs_of_settings(definition, {"address": address})
    assert (need.subject.kind, need.subject.name) == ("server", address)
    assert not is_local_address(address)


@pytest.mark.parametrize(
    "address", ["localhost:6379", "LOCALHOST:6379", "127.0.0.9:1", "[::1]:6379", "localhost"]
)
def test_an_address_of_this_machine_needs_nothing(address: str) -> None:
    assert is_local_address(address)
