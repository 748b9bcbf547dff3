"""Agents that one policy plays together: on their chips, in a look at one of them, and from a record."""

from __future__ import annotations

from gym_gui.core.config import LinkGroup, OperatorConfig, WorkerAssignment
from gym_gui.core.live import AgentView, LiveView
from gym_gui.ui.agent_snapshots.agent_snapshot import AgentSnapshot, snapshot_sections
from gym_gui.ui.renderers import Overlay, slot_players
from gym_gui.ui.renderers.joint_agents import joint_groups_of, recorded_joint_groups
from gym_gui.ui.theme import Theme

AGENTS = ("red_0", "red_1", "blue_0")


def team() -> OperatorConfig:
    players = dict.fromkeys(AGENTS, WorkerAssignment("cleanrl_worker", "rl", {"checkpoint": "runs/seed1"}))
    return OperatorConfig(
        "a", "", "", "soccer", players, link_groups=[LinkGroup("red_0", ["red_1"], "runs/seed1")]
    )


def look() -> LiveView:
    return LiveView(0, 1, 3, tuple(AgentView(agent, agent, "left") for agent in AGENTS))


def test_chips_say_who_is_played_together(theme: Theme) -> None:
    overlay = Overlay(theme)
    overlay.resize(900, 40)
    overlay.set_seats({slot: seat for slot, seat in slot_players(team()).items() if slot == "blue_0"})
    overlay.show_view(look())
    alone = [box.width() for box in overlay.chip_boxes()]
    assert "one policy" not in overlay.accessibleDescription()
    overlay.set_seats(slot_players(team()))
    linked = [box.width() for box in overlay.chip_boxes()]
    assert [wide > before for wide, before in zip(linked, alone, strict=True)] == [True, True, False]
    said = overlay.accessibleDescription()
    assert "one policy (link A) plays it together with red_1" in said
    assert said.count("one policy") == 2


def test_a_look_at_one_says_with_whom_it_decides(theme: Theme) -> None:
    together = joint_groups_of(team().link_groups)
    told = {
        agent: {
            heading: words
            for heading, words, _ in snapshot_sections(AgentSnapshot(agent, look(), joint_group=link))
        }
        for agent, link in ((agent, together.get(agent)) for agent in AGENTS)
    }
    assert told["red_0"]["Decides together with"].startswith("red_1 (link A): one policy (seed1)")
    assert told["red_1"]["Decides together with"].startswith("red_0 ")
    assert "Decides together with" not in told["blue_0"]


def test_a_record_says_the_same() -> None:
    assert recorded_joint_groups(team().to_record()) == joint_groups_of(team().link_groups)
    assert recorded_joint_groups({"workers": {}}) == {}
