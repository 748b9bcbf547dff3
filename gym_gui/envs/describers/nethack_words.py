"""Describes NetHack and MiniHack: message, status, map, visible objects and inventory."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from gym_gui.core.experiment.prompt_inputs import Frame, Mode
from gym_gui.core.types import AgentID
from gym_gui.envs.describers.describer import ActionWord, Limit
from gym_gui.envs.describers.generic import SpaceDescriber
from gym_gui.envs.describers.nethack_actions import meaning, word
from gym_gui.envs.describers.value_words import number
from gym_gui.envs.pictures import Picture

PLAIN = ("wall", "floor of a room", "dark part of a room", "corridor", "lit corridor", "stone", "")
"""Descriptions of NetHack's map symbols that are left out of the list of visible objects."""
_HUNGER = ("satiated", "", "hungry", "weak from hunger", "fainting", "fainted", "starved")
_LOAD = ("", "burdened", "stressed", "strained", "overtaxed", "overloaded")
_ALIGNMENTS: Mapping[int, str] = {-1: "chaotic", 0: "neutral", 1: "lawful"}
_CONDITIONS: Mapping[str, str] = {
    "STONE": "turning to stone",
    "SLIME": "turning to slime",
    "STRNGL": "strangled",
    "FOODPOIS": "food poisoned",
    "TERMILL": "terminally ill",
    "BLIND": "blind",
    "DEAF": "deaf",
    "STUN": "stunned",
    "CONF": "confused",
    "HALLU": "hallucinating",
    "LEV": "levitating",
    "FLY": "flying",
    "RIDE": "riding",
}
_PENALTIES: Mapping[str, str] = {
    "constant": "An action in which no time passes pays {}",
    "linear": "The n-th action in a row in which no time passes pays n x {}",
    "square": "The n-th action in a row in which no time passes pays n x n x {}",
    "exp": "An action pays 2 to the power of n x {}, after n in a row in which no time passed",
    "always": "Every action pays {}",
}
_TILE, _AROUND = 16, 4
LINE, _LINES = 2 * _TILE, 3
"""Height in pixels of a text line at NetHack's map, and number of lines (message and two status lines)."""


class NetHackDescriber(SpaceDescriber):
    """Describes NetHack's screen, with names for its letters."""

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        return "\n".join(self._lines(cast("Mapping[str, NDArray[Any]]", observation)))

    def _lines(self, seen: Mapping[str, NDArray[Any]]) -> Iterator[str]:
        if said := _text(seen["message"]):
            yield f"Message: {said}"
        status = seen["blstats"].tolist()
        yield self._status(status)
        column, row = int(status[0]), int(status[1])
        yield f"Map (you are @, in row {row}, column {column} of the whole level; north is up):"
        yield from _map(seen["chars"])
        things = self._things(seen["glyphs"], column, row)
        yield "In sight:" if things else "Nothing else is in sight."
        yield from things
        if "inv_strs" in seen and "inv_letters" in seen:
            lines = zip(bytes(seen["inv_letters"]), _rows(seen["inv_strs"]), strict=True)
            carried = [
                f"{chr(letter)}: {line.partition(chr(0))[0].strip()}" for letter, line in lines if letter
            ]
            yield f"You carry: {'; '.join(carried) or 'nothing'}"

    def _status(self, status: Sequence[int]) -> str:
        state = [_name_at(_HUNGER, status[21]), _name_at(_LOAD, status[22])]
        state += [said for bit, said in self._conditions if status[25] & bit]
        condition = f" You are {', '.join(filter(None, state))}." if any(state) else ""
        monster = f" You are a monster of level {status[17]}." if status[17] else ""
        return (
            f"Health {status[10]} of {status[11]}, magic {status[14]} of {status[15]}, armour class "
            f"{status[16]}, level {status[18]}, gold {status[13]}, dungeon level {status[12]} "
            f"(level {status[24]} of dungeon {status[23]}), turn {status[20]}.{monster}{condition}\n"
            f"{self._attributes(status)}"
        )

    def _attributes(self, status: Sequence[int]) -> str:
        score = f" Score {status[9]}." if status[9] else ""
        return (
            f"Strength {_strength(status[3])}, dexterity {status[4]}, constitution {status[5]}, intelligence "
            f"{status[6]}, wisdom {status[7]}, charisma {status[8]}; experience {status[19]}, "
            f"{_ALIGNMENTS.get(status[26], 'of no alignment')}.{score}"
        )

    def _things(self, glyphs: NDArray[Any], column: int, row: int) -> list[str]:
        """Return a line for each kind of visible object, with its positions relative to the player."""
        said = self._descriptions()
        kinds: dict[str, list[tuple[int, int]]] = {}
        for y, x in np.argwhere(self._notable[glyphs]).tolist():
            if (x, y) != (column, row):
                kinds.setdefault(_text(said[y, x]), []).append((x - column, y - row))
        lines: list[tuple[int, str]] = []
        for name, places in kinds.items():
            if name in PLAIN:
                continue
            near = sorted(places, key=lambda place: (max(abs(place[0]), abs(place[1])), place))
            # All positions: several kinds share a letter, so the map alone is ambiguous.
            lines.append((max(map(abs, near[0])), f"- {name}: {'; '.join(_way(*each) for each in near)}"))
        return [line for _, line in sorted(lines)]

    def _descriptions(self) -> NDArray[Any]:
        """Return NetHack's own description of each cell, as its command ``;`` gives it."""
        game: Any = self.environment.env
        return game.last_observation[game._observation_keys.index("screen_descriptions")]

    @cached_property
    def _notable(self) -> NDArray[np.bool_]:
        """Mask by glyph number: whether a map symbol is more than ground or wall."""
        nethack: Any = importlib.import_module("nle.nethack")
        notable = np.ones(int(nethack.MAX_GLYPH) + 1, np.bool_)
        for i in range(87):
            if str(nethack.symdef.from_idx(i).explanation) in PLAIN:
                notable[int(nethack.GLYPH_CMAP_OFF) + i] = False
        notable[int(nethack.NO_GLYPH)] = False
        return notable

    @cached_property
    def _conditions(self) -> list[tuple[int, str]]:
        nethack: Any = importlib.import_module("nle.nethack")
        return [(int(getattr(nethack, f"BL_MASK_{name}")), said) for name, said in _CONDITIONS.items()]

    def game(self, agent: AgentID) -> str:
        aim = self.environment.summary
        return (
            f"You are a hero in a dungeon of the game NetHack. Your aim: {aim} {self._paid()}"
            "It ends when you die and when the aim is reached."
        )

    def limit(self, agent: AgentID) -> Limit:
        return Limit(int(self.environment.env._max_episode_steps), "actions")

    def _paid(self) -> str:
        """Return sentences about rewards in addition to the aim, from the environment's settings."""
        env = self.environment.env
        parts: list[str] = []
        if getattr(env, "reward_manager", True) is None:
            lost = f", dying {number(env.reward_lose)}" if env.reward_lose else ""
            parts.append(f"Reaching it pays {number(env.reward_win)}{lost}.")
        if (step := float(getattr(env, "penalty_step", 0.0))) != 0:
            parts.append(f"{_PENALTIES[env.penalty_mode].format(number(step))}.")
        if (turn := float(getattr(env, "penalty_time", 0.0))) != 0:
            parts.append(f"Each turn of the game pays {number(turn)}.")
        return "".join(f"{part} " for part in parts)

    def reading(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        text = (
            "The map shows what you have seen so far: walls are | and -, floor is ., doors + and |, "
            "corridors #, stairs < and >, letters are monsters. What else there is has its place from "
            "you: "
            '"3 east, 1 south", the nearest first.'
        )
        if any(type(action).__name__ == "Command" for action in self.environment.env.actions):
            text += (
                " Some actions ask a question, which is then the message. It is answered with the action "
                "that has the wanted letter or direction in its brackets."
            )
        return text

    def actions(self, agent: AgentID) -> Sequence[ActionWord]:
        return [ActionWord(word(action), meaning(action)) for action in self.environment.env.actions]

    def seat_picture(self, agent: AgentID, observation: Any) -> Picture | None:
        """Return a picture of the nine by nine cells around the player."""
        whole = self.environment.picture()
        if whole is None:
            return None
        whole = whole[: -_LINES * LINE]  # the lower lines show the game's text
        game: Any = self.environment.env
        x, y = (int(n) for n in game.last_observation[game._blstats_index][:2])
        padded = np.pad(whole, [(_AROUND * _TILE,) * 2, (_AROUND * _TILE,) * 2, (0, 0)])
        size = (2 * _AROUND + 1) * _TILE
        return np.ascontiguousarray(padded[y * _TILE : y * _TILE + size, x * _TILE : x * _TILE + size])

    def legend(self, agent: AgentID) -> str:
        return "The picture shows the nine by nine cells around you; you are in the middle."

    def cells(self, agent: AgentID, frame: Frame) -> tuple[int, int]:
        if frame == "egocentric":
            return 2 * _AROUND + 1, 2 * _AROUND + 1
        rows, columns = importlib.import_module("nle.nethack").DUNGEON_SHAPE
        return int(rows) + _LINES * LINE // _TILE, int(columns)


def _text(line: NDArray[Any]) -> str:
    return bytes(line).partition(b"\0")[0].decode("latin-1").strip()


def _strength(raw: int) -> str:
    """Return the strength as NetHack prints it, such as ``18/50`` between 18 and 19."""
    if raw <= 18:
        return str(raw)
    return f"18/{raw - 18:02d}" if raw <= 118 else str(raw - 100)


def _name_at(names: Sequence[str], index: int) -> str:
    return names[index] if 0 <= index < len(names) else ""


def _map(chars: NDArray[Any]) -> Iterator[str]:
    """Yield the rows of NetHack's map without its empty margins."""
    filled = chars != ord(" ")
    if not filled.any():
        return
    rows, columns = np.flatnonzero(filled.any(axis=1)), np.flatnonzero(filled.any(axis=0))
    for line in _rows(chars[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]):
        yield line.rstrip()


def _rows(chars: NDArray[Any]) -> list[str]:
    """Return rows of a character array as strings, decoded in one step."""
    whole, wide = chars.tobytes().decode("latin-1"), chars.shape[1]
    return [whole[at : at + wide] for at in range(0, len(whole), wide)]


def _way(east: int, south: int) -> str:
    """Return a relative position as text: ``"3 east, 1 south"``."""
    parts = [f"{abs(east)} {'east' if east > 0 else 'west'}"] if east else []
    parts += [f"{abs(south)} {'south' if south > 0 else 'north'}"] if south else []
    return ", ".join(parts)
