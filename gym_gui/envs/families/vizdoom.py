"""ViZDoom: the engine of Doom with small scenarios, and the free maps of Freedoom."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, ClassVar

from gym_gui.core.enums import Outcome
from gym_gui.core.paradigms import ParadigmAdapter
from gym_gui.envs import index
from gym_gui.envs.family import Family, one_team_per_agent, ranked, team_returns
from gym_gui.envs.instance import Instance, Teams
from gym_gui.envs.keymaps import LAYOUTS, Axis, KeyScheme, Pace
from gym_gui.envs.spec import EnvSpec, split_version

_HEAD = "Vizdoom"
_MAP = re.compile(r"(?P<game>Freedoom|Doom)(?P<which>\d?)(?P<map>E\dM\d|MAP\d+)-S(?P<skill>\d)")
_SUMMARIES: Mapping[str, str] = {
    "Basic": "Step aside until the monster is in front of you, and shoot it with few shots.",
    "DeadlyCorridor": "Get to the armour at the end of a corridor of monsters that shoot at you.",
    "DefendCenter": "Turn on the spot and shoot the monsters that come near, with what ammunition you have.",
    "DefendLine": "Turn on the spot and shoot the monsters that come at you from the far wall.",
    "HealthGathering": "Walk on a floor that hurts, and live by the medkits that lie on it.",
    "HealthGatheringSupreme": "Live by the medkits of a maze whose floor hurts, and leave the poison.",
    "MyWayHome": "Find the armour in a maze of rooms that look different.",
    "PredictPosition": "Hit a monster that walks along the wall with the one rocket that you have.",
    "TakeCover": "Step aside from fireballs for as long as you can.",
    "Deathmatch": "Kill as many monsters as you can in an arena full of weapons.",
}
"""Summary by scenario, the first word of the id after "Vizdoom"."""
_MATCH = re.compile(rf"{_HEAD}Multi(?P<name>[A-Z][a-z]+)-(?P<players>\d)p(?P<buttons>-MultiBinary)?-v0")
_MATCHES: Mapping[str, tuple[int, str]] = {
    "Deathmatch": (4, "Hit the others more often than they hit you, in an arena full of weapons."),
    "Duel": (2, "Step aside from the other's shots, and hit."),
    "Cooperative": (4, "Kill the monsters of a whole map together."),
}
"""Largest number of players, and summary, of each match.

In the multi-binary variant, players also turn and look up or down by numbers of degrees.
"""
_FREE: Mapping[str, Any] = {"actions": "buttons", "deltas": ("turn left right", "look up down")}
_DELTAS = ("turn left right", "look up down", "move left right", "move forward backward", "move up down")
"""Names of delta buttons, the engine's actions that take a number."""
_ARGUMENTS: Mapping[str, Mapping[str, Any]] = {
    "actions": {
        "oneOf": [
            {"const": "buttons", "description": "Each by itself, any number of them at once"},
            {"const": "combinations", "description": "Numbered: every pair of buttons that can be held"},
            {"const": "numbered", "description": "One button at a time"},
        ],
        "description": "How buttons are pressed",
    },
    "deltas": {
        "type": "array",
        "items": {"enum": list(_DELTAS)},
        "description": "What is turned and moved by numbers, in place of what the scenario has",
    },
    "delta": {
        "type": "number",
        "minimum": 0,
        "description": "Bound of these numbers: degrees, or a part of a running step; 0 leaves them out",
    },
}
_FILES = ("config_file", "scenario_config_file", "level")
"""Arguments of the package's class that select the scenario, which the id already fixes."""
_SINGLE: Mapping[str, str] = {
    "attack": "act",
    "speed": "alter",
    "use": "put",
    "move forward": "up",
    "move backward": "down",
    "jump": "wait",
    "crouch": "end",
}
"""Key role by button; keys of sideways buttons depend on the other buttons."""
_SIDES = ("left", "right")
_ASIDE = (("J", "L"), ("Z", "X"))
"""Keys for a step to the left and right if the player can also turn, for each person at the keyboard."""
_BY_NUMBER: Mapping[str, tuple[str, str]] = {
    "turn left right": ("turn left", "turn right"),
    "look up down": ("look down", "look up"),
    "move left right": ("move left", "move right"),
    "move forward backward": ("move backward", "move forward"),
    "move up down": ("move down", "move up"),
}
"""Words for the negative and the positive direction of each delta button."""
_LOOK = (("K", "I"), ("V", "G"))
"""Keys to look down and up, for each person at the keyboard."""
_TURN, _MOVE = 5.0, 20.0
"""Values of a pressed key: degrees per step, and distance per step in the engine's units (running is 50)."""
_PER_PIXEL: Mapping[str, tuple[str, float]] = {
    "turn left right": ("MouseX", 0.25),
    "look up down": ("MouseY", -0.25),
}
"""Mouse axis and degrees per pixel of mouse motion, by delta button."""
_CLICKS: Mapping[str, str] = {"attack": "MouseLeft", "use": "MouseRight", "altattack": "MouseMiddle"}
_RATE = 35
"""Steps per second of the game."""


class VizdoomFamily(Family):
    """Family of Doom's scenarios and matches; agents observe the screen and numbers of the status bar."""

    name: ClassVar[str] = "vizdoom"
    title: ClassVar[str] = "ViZDoom"
    extra: ClassVar[str] = "vizdoom"
    modules: ClassVar[tuple[str, ...]] = ("vizdoom",)
    prefixes: ClassVar[tuple[str, ...]] = (_HEAD,)
    closed: ClassVar[bool] = True
    hints: ClassVar[Mapping[str, str]] = {"doom": "", "gymnasium": "", "gym": ""}
    described_by: ClassVar[str] = "gym_gui.envs.describers.vizdoom_words:VizdoomDescriber"
    documented: ClassVar[bool] = False
    """False: the docstring of the environment class is no documentation, as all scenarios share one class."""
    web_page: ClassVar[str] = "https://vizdoom.farama.org/environments/default/"
    modes: ClassVar[tuple[str, ...] | None] = ("rgb_array",)
    usual_pace: ClassVar[Pace] = Pace(realtime=True, rate=_RATE)

    def specs(self) -> Sequence[EnvSpec]:
        """Return scenarios and matches; several hundred maps of whole games are found only by id."""
        return [spec for spec in self.findable() if not _MAP.search(spec.id)]

    def findable(self) -> Sequence[EnvSpec]:
        self.require()
        rows = index.entries("gymnasium", "vizdoom.gymnasium_wrapper")
        alone = [self.spec(row["id"], row["entry_point"]) for row in rows if row["id"].startswith(_HEAD)]
        return [*alone, *self._matches()]

    def _matches(self) -> Iterator[EnvSpec]:
        for name, (most, _) in _MATCHES.items():
            for players, buttons in product(range(2, most + 1), ("", "-MultiBinary")):
                made = "gym_gui.envs.families.vizdoom_match:DoomMatch"
                yield self.spec(f"{_HEAD}Multi{name}-{players}p{buttons}-v0", made, apis=("parallel",))

    def build(self, spec: EnvSpec, *, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> Any:
        if (found := _MATCH.fullmatch(spec.id)) is not None:
            from gym_gui.envs.families.vizdoom_match import SCENARIOS, DoomMatch

            kwargs = {**_FREE, **env_kwargs} if found["buttons"] else env_kwargs
            return DoomMatch(SCENARIOS[found["name"]], int(found["players"]), render_mode, kwargs)
        from gym_gui.envs.families.vizdoom_env import doom

        return doom(spec.id, render_mode, env_kwargs)

    def arguments(self, spec: EnvSpec) -> Mapping[str, Mapping[str, Any]]:
        """Return the arguments about actions; for a single player, also those of the package's class."""
        if _MATCH.fullmatch(spec.id) is not None:
            return _ARGUMENTS
        own = super().arguments(spec)
        return {**_ARGUMENTS, **{name: about for name, about in own.items() if name not in _FILES}}

    def teams(self, spec: EnvSpec, adapter: ParadigmAdapter) -> Teams:
        """Return one team per player, or one team for all in a cooperative match."""
        return one_team_per_agent(adapter) if _against_each_other(spec) else super().teams(spec, adapter)

    def scores(self, environment: Instance, returns: Mapping[str, float]) -> dict[str, float] | None:
        """Return each team's score in a match: frags, or monsters killed; ``None`` for a single player."""
        if _MATCH.fullmatch(environment.spec.id) is None:
            return None
        return team_returns(environment.teams, environment.env.counts)

    def outcome(self, environment: Instance, returns: Mapping[str, float]) -> dict[str, Outcome] | None:
        """Return each player's outcome by frags; ``None`` if players do not compete."""
        scores = self.scores(environment, returns)
        return ranked(scores) if scores is not None and _against_each_other(environment.spec) else None

    def action_meanings(self, environment: Instance, agent: str) -> tuple[str, ...]:
        """Return each action's pressed buttons, such as ``move left + attack``.

        The tuple is empty if buttons are pressed separately.
        """
        if not hasattr(environment.adapter.action_space(agent), "n"):
            return ()
        return tuple(" + ".join(pressed) or "noop" for pressed in environment.env.pressed)

    def title_of(self, spec: EnvSpec) -> str:
        name = split_version(spec.id)[0].removeprefix(_HEAD)
        match = _MATCH.fullmatch(spec.id)
        if match is not None:
            each = ", each button by itself" if match["buttons"] else ""
            return f"Doom, {match['name'].lower()} of {match['players']}{each}"
        found = _MAP.fullmatch(name)
        if found is not None:
            return f"{found['game']} {found['which']} {found['map']}, skill {found['skill']}".replace(
                "  ", " "
            )
        name, _, further = name.partition("-")
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
        return f"Doom, {words}{', each button by itself' if further else ''}"

    def summary(self, spec: EnvSpec) -> str:
        name = split_version(spec.id)[0].removeprefix(_HEAD)
        if (match := _MATCH.fullmatch(spec.id)) is not None:
            return _MATCHES[match["name"]][1]
        if _MAP.fullmatch(name):
            return "Find the exit of a map of the whole game."
        scenario = name.partition("-")[0].removesuffix("Audio").removesuffix("Notifications")
        return _SUMMARIES.get(scenario, "")

    def keys(self, environment: Instance, agent: str, player: int) -> KeyScheme:
        scheme = super().keys(environment, agent, player)
        if not self.action_meanings(environment, agent):
            return replace(scheme, **_pushes(environment, agent, player))
        buttons = _buttons(environment.env.buttons, player, "turn left" in environment.env.buttons)
        bindings = {
            "+".join(buttons[button] for button in pressed): action
            for action, pressed in enumerate(environment.env.pressed)
            if pressed and all(button in buttons for button in pressed)
        }
        return replace(scheme, bindings=bindings, typed=False)


def _against_each_other(spec: EnvSpec) -> bool:
    found = _MATCH.fullmatch(spec.id)
    return found is not None and found["name"] != "Cooperative"


def _pushes(environment: Instance, agent: str, player: int) -> dict[str, tuple[Axis, ...]]:
    """Return keys and mouse axes for environments whose buttons are pressed separately.

    Only the first person at the keyboard uses the mouse.
    """
    env, space = environment.env, environment.adapter.action_space(agent)
    parts: Mapping[str, Any] = getattr(space, "spaces", None) or {"": space}
    if any(hasattr(part, "nvec") or (hasattr(part, "start") and part.shape == ()) for part in parts.values()):
        return {"axes": (), "pointer": ()}
    boxes = [part for part in parts.values() if hasattr(part, "low")]
    buttons: Sequence[str] = env.buttons
    turns = "turn left" in buttons or "turn left right" in env.deltas
    known = _buttons(buttons, player, turns)
    axes = [Axis(known.get(name, ""), at, 1.0, name) for at, name in enumerate(buttons)]
    pointer = [Axis(_CLICKS[name], at, 1.0, name) for at, name in enumerate(buttons) if name in _CLICKS]
    for at, name in enumerate(env.deltas):
        most = min(float(boxes[0].high[at]), _MOVE if name.startswith("move") else _TURN)
        keys = _number_keys(player)[name] if not set(_BY_NUMBER[name]) & set(buttons) else ("", "")
        for key, value, word in zip(keys, (-most, most), _BY_NUMBER[name], strict=True):
            if key:
                axes.append(Axis(key, len(buttons) + at, value, word))
        if name in _PER_PIXEL:
            motion, degrees = _PER_PIXEL[name]
            pointer.append(Axis(motion, len(buttons) + at, degrees, name))
    return {"axes": tuple(axes), "pointer": tuple(pointer) if player == 0 else ()}


def _number_keys(player: int) -> Mapping[str, tuple[str, str]]:
    """Return the keys for the negative and the positive direction of each delta button."""
    roles = LAYOUTS[player].roles
    return {
        "turn left right": (roles["left"], roles["right"]),
        "look up down": _LOOK[player],
        "move left right": _ASIDE[player],
        "move forward backward": (roles["down"], roles["up"]),
        "move up down": ("", ""),
    }


def _buttons(known: Sequence[str], player: int, turns: bool) -> dict[str, str]:
    """Return the key of each button; if the player can also turn, sidesteps have keys of their own."""
    roles = LAYOUTS[player].roles
    keys = {button: roles[role] for button, role in _SINGLE.items()}
    for side, aside in zip(_SIDES, _ASIDE[player], strict=True):
        keys[f"turn {side}"] = roles[side]
        keys[f"move {side}"] = aside if turns else roles[side]
    if player == 0:
        keys |= {f"select weapon {n}": str(n) for n in range(10)}
        keys |= {"select next weapon": ".", "select prev weapon": ","}
    return {button: key for button, key in keys.items() if button in known}
