"""The services of a program."""

from __future__ import annotations

from pathlib import Path

import pytest

from gym_gui.services.bootstrap import bootstrap_default_services
from gym_gui.services.policy_mapping import PolicyMappingService
from gym_gui.workers.registry import WorkerTypeRegistry


def test_services_are_wired_and_sessions_do_not_share_bindings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path / "data"))
    with WorkerTypeRegistry.isolated():
        services = bootstrap_default_services()
        one, two = services.policy_mapping(), services.policy_mapping()
    assert isinstance(one, PolicyMappingService)
    one.bind_agent_policy("agent_0", "random")
    assert two.get_binding("agent_0") is None
    assert not (tmp_path / "data").exists()
    services.keyboard.feed(3)
    human = one.actor_service.registration("human_keyboard")
    one.bind_agent_policy("agent_0", human.actor_id)
    assert one.select_action("agent_0", None) == 3
