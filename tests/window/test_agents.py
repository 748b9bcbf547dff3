"""A user puts a mixed soccer team together, keeps it under a name, and watches it play."""

from __future__ import annotations

import pytest

from tests.window.program import Program

SLOTS = ("green_0", "green_1", "blue_0", "blue_1")
TEAM = {
    "green_0": "Soccer chaser",
    "green_1": "Does nothing",
    "blue_0": "Cycles through actions",
    "blue_1": "Random",
}
POLICIES = ("soccer_chaser", "noop", "cycle", "random")
ALL_RANDOM = dict.fromkeys(SLOTS, "Random")


def table(window: Program) -> dict[str, str]:
    """Who decides for each slot, as the table says."""
    return {slot: window.text(f"policy_{slot}") for slot in SLOTS}


def until_table(window: Program, team: dict[str, str]) -> None:
    """Wait until the table says this."""
    window.wait(lambda: table(window) == team, f"the table says {team}")


@pytest.mark.full
def test_a_mixed_team_is_kept_and_plays(window: Program) -> None:
    window.press("ctrl+4")
    window.until_page("agents")
    window.choose("environment-picker", "s-2v2-ind", "Soccer 2v2")
    until_table(window, ALL_RANDOM)

    window.choose("policy_green_0", "chaser", TEAM["green_0"])  # with the mouse
    window.tab_to("policy_green_1")  # without it
    window.press("Down")
    window.choose_from_open_list("nothing", TEAM["green_1"])
    window.choose("policy_blue_0", "cycles", TEAM["blue_0"])
    until_table(window, TEAM)

    window.press("ctrl+s")
    asked = "preset_name_dialog"
    window.until("it asks for a name", lambda s: s["dialog"] == asked and s["focus"][:1] == [asked])
    window.press("ctrl+a")
    window.type("My team")
    window.press("Return")
    window.until("it is saved", lambda state: any("Saved as My team" in text for text in state["notices"]))

    window.click("reset")
    until_table(window, ALL_RANDOM)
    window.click("presets")
    window.pick("presets_menu", "My team")
    until_table(window, TEAM)

    window.click("apply")
    window.until_page("operators")
    window.click("operators-speed")
    window.pick("operators-speed-menu", "As fast as possible")
    window.click("operators-run")
    episode = window.until_recorded()[0]
    assert {slot: episode["agents"][slot]["policy"] for slot in SLOTS} == dict(
        zip(SLOTS, POLICIES, strict=True)
    )
    assert episode["status"] == "completed"
    assert set(episode["teams"]) == {"green", "blue"}
