"""The options of MiniGrid's family start where they can, and keep the contract."""

from __future__ import annotations

from gym_gui.core.paradigms.check import check_environment
from gym_gui.envs import make
from gym_gui.envs.minigrid_options import OPTIONS


def test_options_start_where_they_can() -> None:
    environment = make("MiniGrid-DoorKey-6x6-v0").with_manager()
    adapter = environment.adapter
    assert environment.action_meanings("agent_0/goal") == tuple(option.name for option in OPTIONS)
    starts: set[str] = set()
    for seed in range(20):
        seen = adapter.reset(seed=seed)["agent_0/goal"]
        mask = adapter.action_mask("agent_0/goal")
        assert mask is not None and mask[0]
        can = [option.name for option, legal in zip(OPTIONS, mask, strict=True) if legal]
        kinds = set(seen["image"][..., 0].ravel().tolist())
        assert ("take key" in can) == (5 in kinds)
        assert "open door" not in can  # it is locked, and nobody holds the key
        starts.update(can)
    assert {"explore", "take key"} <= starts


def test_with_a_manager_the_contract_is_kept() -> None:
    report = check_environment(lambda: make("MiniGrid-DoorKey-5x5-v0").with_manager().adapter, steps=80)
    assert report.ok, "\n".join(report.lines())
