"""Texts of each role's goal in each particle world (MPE2), with the numbers of the world's rewards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gym_gui.envs.describers.value_words import number

COLORS = ("red", "green", "blue")
"""Colors of landmarks, in order, in particle worlds in which a color names the target."""
_TREASURES = ("blue", "orange", "green", "red", "purple", "brown")
_BOUND = (
    " Leaving the world costs too, across and up each for itself: from 0.9 to 1 away from its middle up to "
    "{most}, further out {times}e^(2 x distance - 2), never more than {cap}."
)

_EVERYBODY: Mapping[str, str] = {
    "simple": "Each step costs the square of your distance to the landmark: go there and stay.",
    "simple_reference": (
        "Three landmarks are red, green and blue. Each of you has to go to one of them, which only the other "
        "knows: tell the other theirs by a letter, and find out yours. Each step costs you {other} x how far "
        "the other is from its landmark and {own} x how far you are from yours. No letter means anything "
        "before you make it so."
    ),
    "simple_spread": (
        "Cover every landmark with an agent, each its own, without bumping: each step costs all of you "
        "{shared} x how far each landmark is from the agent nearest to it, and touching another costs each "
        "of the two {local}."
    ),
    "simple_formation": (
        "Stand all evenly around a circle of radius 0.5, its middle on the landmark. Each step costs the "
        "mean distance from your places; who takes which place is for you. You do not see each other."
    ),
    "simple_line": (
        "Spread evenly along the line between the two landmarks, the ends taken too. Each step costs the "
        "mean distance from your places; who takes which place is for you. You do not see each other."
    ),
}
_ROLES: Mapping[str, Mapping[str, str]] = {
    "simple_adversary": {
        "adversary": (
            "One landmark is the target, which you are not told: the others know it, so watch them. Each "
            "step costs how far you are from it."
        ),
        "good": (
            "You and the other good agents know which landmark is the target; adversary_0 does not. Each "
            "step costs how far the nearest of you is from it and brings how far adversary_0 is: cover it, "
            "and the other landmarks too, so that it does not learn which it is."
        ),
    },
    "simple_push": {
        "adversary": (
            "One landmark is the target of agent_0, which you are not told. Each step brings you how far "
            "agent_0 is from it and costs how far you are: push agent_0 away from it and stay there."
        ),
        "good": (
            "Each step costs how far you are from your target. adversary_0, which does not know which "
            "landmark it is, pushes you away."
        ),
    },
    "simple_crypto": {
        "speaker": (
            "Say a letter so that bob_0, who has the same key, can tell the message from it and eve_0, who "
            "hears you too and has no key, cannot. Messages and keys are A or B, what you say is A to D. "
            "You gain 2 by eve_0 being wrong, and lose 2 by bob_0 being wrong."
        ),
        "listener": (
            "alice_0 says a letter made out of a message (A or B) and the key that you share; say the letter "
            "of the message. eve_0 hears alice_0 too and has no key. You lose 2 by being wrong and gain 2 by "
            "eve_0 being wrong."
        ),
        "adversary": (
            "alice_0 says a letter made out of a message (A or B) for bob_0 and a key that you do not have. "
            "Say the letter of the message: being wrong costs 2."
        ),
    },
    "simple_speaker_listener": {
        "speaker": (
            "You do not move. Three landmarks are red, green and blue; listener_0 has to go to one of them, "
            "which only you know: tell it by a letter, and keep to the same letter for the same colour. Each "
            "step costs both of you the square of its distance."
        ),
        "listener": (
            "Three landmarks are red, green and blue. You have to go to one of them, which only speaker_0 "
            "knows, who says a letter for it. Each step costs both of you the square of your distance to it."
        ),
    },
    "simple_tag": {
        "adversary": (
            "You are a predator: whenever one of you touches a prey, all predators gain 10. Drive prey "
            "(agent_…) together into corners and against obstacles, which block the way."
        ),
        "good": (
            "You are prey: whenever a predator (adversary_…) touches you, you lose 10. Obstacles "
            f"block the way.{_BOUND.format(most=1, times='', cap=10)}"
        ),
    },
    "simple_world_comm": {
        "adversary": (
            "You are a predator: whenever one of you touches a prey (agent_…), all predators gain 5; each "
            "step costs a tenth of your distance to the nearest. Who is inside a forest cannot be seen from "
            "outside, nor see out. leadadversary_0 sees everybody and says a letter to the predators."
        ),
        "leader": (
            "You lead the predators: whenever one of you touches a prey (agent_…), all gain 5; each step "
            "costs a tenth of your distance to the nearest. Who is inside a forest cannot be seen from "
            "outside; only you see everybody. The letter that you say is heard by the other predators."
        ),
        "good": (
            "You are prey: whenever a predator (adversary_…, leadadversary_0) touches you, you lose 5; "
            "touching food brings 2, and each step costs 0.05 x your distance to the nearest. Inside a "
            "forest you are seen only by who is in it too, and by leadadversary_0."
            f"{_BOUND.format(most=2, times='2 x ', cap=20)}"
        ),
    },
    "collect_treasure": {
        "collector": (
            "Collectors pick a treasure up by touching it with nothing in hand, and bring it to the deposit "
            "of its colour by touching that; each of both brings everybody 5. Two collectors that touch lose "
            "5 each. A tenth of your distance to where you should go is lost in each step."
        ),
        "deposit": (
            "You take treasures of {colour}: collectors bring them by touching you, which brings everybody "
            "5. Go towards collectors that carry {colour} treasure, else to the middle of the collectors: a "
            "tenth of that distance is lost in each step."
        ),
    },
}


class Goals:
    """Goals of the agents in one particle world.

    Args:
        name: Module of the world.
        scenario: Scenario of the world, with the rules.
        world: The world.
        local_ratio: Weight of an agent's own reward in its reward; the rest is the shared reward.

    Attributes:
        treasures: Colors of the kinds of treasure.
    """

    treasures = _TREASURES

    def __init__(self, name: str, scenario: Any, world: Any, local_ratio: float | None) -> None:
        self._name = name
        self._roles = _ROLES.get(name, {})
        self._ends = bool(getattr(scenario, "terminate_on_success", False))
        local = 1.0 if local_ratio is None else local_ratio
        self._shares = {
            "{local}": number(local),
            "{shared}": number(1 - local),
            "{other}": number(local + (1 - local) / 2),
            "{own}": number((1 - local) / 2),
        }
        self._deposits: dict[str, str] = {
            body.name: self.treasures[body.d_i] for body in world.agents if hasattr(body, "d_i")
        }

    def of(self, body: Any) -> str:
        """Return the goal of an agent's ``body`` in sentences; ``""`` in an unknown world."""
        told = _EVERYBODY.get(self._name, "") or self._roles.get(self._role(body), "")
        for word, said in {"{colour}": self._deposits.get(body.name, ""), **self._shares}.items():
            told = told.replace(word, said)
        return f"{told} The game ends as soon as that is done." if told and self._ends else told

    def _role(self, body: Any) -> str:
        if self._name == "collect_treasure":
            return "collector" if body.collector else "deposit"
        if self._name == "simple_speaker_listener":
            return "listener" if body.movable else "speaker"
        if getattr(body, "leader", False):
            return "leader"
        if getattr(body, "adversary", False):
            return "adversary"
        if self._name == "simple_crypto":
            return "speaker" if body.speaker else "listener"
        return "good"
