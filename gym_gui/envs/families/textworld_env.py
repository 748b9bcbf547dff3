"""TextWorld as a Gymnasium environment with text spaces.

Generated games are stored in the cache directory.
"""

# TextWorld has no type annotations, so its objects are Any.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import hashlib
import json
import string
import tempfile
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import textworld
from gymnasium import spaces
from textworld import generator

from gym_gui.core.errors import UsageError
from gym_gui.core.paths import cache_dir

LETTERS = string.ascii_letters + string.digits + string.punctuation + " \n"
WRITTEN = string.ascii_letters + string.digits + " -',"
"""Characters that commands may contain.

The interpreter of the games (dumb Frotz) takes commands with a backslash as commands to itself and crashes on
some of them.
"""
VERBS = frozenset(
    "go north south east west n s e w look l examine x inventory i take get drop wait z".split()  # noqa: SIM905
)
"""Verbs that are passed on to each game, in addition to its own.

``save``, ``restore``, ``quit`` and other commands to the interpreter are not passed on.
"""
_LONGEST, _LONGEST_COMMAND = 8192, 100
_UNKNOWN = "That's not a verb I recognise."


class TextWorldEnv(gymnasium.Env[str, str]):
    """Text adventure: observations are the game's text, actions are commands in words.

    The reward is the increase of the game's score: 1 for a solved quest. An episode ends when the quest is
    solved or has become impossible.

    Args:
        rooms: Number of rooms.
        objects: Number of objects.
        quest_length: Number of commands in the shortest solution.
        games: Number of generated games; the seed of an episode selects one.
        game_seed: Seed of the first game; the following games have the following seeds.
        max_steps: Maximum number of commands of an episode.
        render_mode: ``"ansi"`` or ``None``.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012

    def __init__(
        self,
        rooms: int = 5,
        objects: int = 10,
        quest_length: int = 4,
        games: int = 4,
        game_seed: int = 1,
        max_steps: int = 60,
        render_mode: str | None = None,
    ) -> None:
        if games < 1:
            raise UsageError(f"games is {games}", fix="Set games to at least 1")
        self.observation_space = spaces.Text(min_length=0, max_length=_LONGEST, charset=LETTERS)
        self.action_space = spaces.Text(min_length=1, max_length=_LONGEST_COMMAND, charset=WRITTEN)
        self.render_mode = render_mode
        self.max_steps = max_steps
        self._make = {"world_size": rooms, "nb_objects": objects, "quest_length": quest_length}
        self._games, self._first = games, game_seed
        self._open: dict[int, Any] = {}
        self._text = ""
        self._steps = 0
        self.state: Any = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        number = int(self.np_random.integers(self._games))
        if number not in self._open:
            wanted = textworld.EnvInfos(
                admissible_commands=True,
                description=True,
                inventory=True,
                objective=True,
                won=True,
                lost=True,
                score=True,
                verbs=True,
            )
            path = game_file(self._make, self._first + number)
            with warnings.catch_warnings():
                # Its interpreter knows old games by name; for others it warns that it does not count moves.
                warnings.filterwarnings("ignore", message=".*is not fully supported")
                self._open[number] = textworld.start(str(path), wanted)
        self._game = self._open[number]
        self.state = self._game.reset()
        self._steps, self._score = 0, 0
        self._text = clean(f"{self.state.objective}\n\n{self.state.description}")
        return self._text, {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        self._steps += 1
        command = "".join(each if each in WRITTEN else " " for each in str(action))[:_LONGEST_COMMAND].strip()
        if (command.lower().split(maxsplit=1) or [""])[0] in VERBS.union(self.state.verbs or ()):
            self.state, _, over = self._game.step(command)
            self._text = clean(self.state.feedback)
        else:
            over, self._text = False, _UNKNOWN
        reward = float(self.state.score - self._score)
        self._score = self.state.score
        ended = bool(over or self.state.won or self.state.lost)
        cut = not ended and self._steps >= self.max_steps
        return self._text, reward, ended, cut, {"success": bool(self.state.won)} if ended or cut else {}

    def render(self) -> str | None:
        return self._text if self.render_mode == "ansi" else None

    def close(self) -> None:
        for game in self._open.values():
            game.close()
        self._open.clear()


def clean(text: str) -> str:
    """Return a game's output without the prompt and status line; characters that are not ASCII become "?"."""
    lines = [line.rstrip() for line in text.split("\n>")[0].splitlines()]
    kept = "\n".join(lines).strip()
    while "\n\n\n" in kept:
        kept = kept.replace("\n\n\n", "\n\n")
    return "".join(each if each in LETTERS else "?" for each in kept.replace("\t", " "))[:_LONGEST]


def game_file(sizes: dict[str, int], seed: int) -> Path:
    """Return the path of a game; generate the game first if it is missing, which takes some seconds.

    Args:
        sizes: ``world_size``, ``nb_objects`` and ``quest_length``.
        seed: Seed that determines the whole game.
    """
    facts = json.dumps([textworld.__version__, sizes, seed], sort_keys=True)
    name = f"game-{hashlib.sha256(facts.encode()).hexdigest()[:16]}.z8"
    folder = cache_dir() / "textworld"
    path = folder / name
    if path.is_file() and path.with_suffix(".json").is_file():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    options = textworld.GameOptions()
    options.nb_rooms, options.nb_objects = sizes["world_size"], sizes["nb_objects"]
    options.quest_length, options.seeds = sizes["quest_length"], seed
    # Made in a temporary folder and moved, so that no process reads a partial file; the game comes last.
    with tempfile.TemporaryDirectory(dir=folder) as aside:
        options.path, options.force_recompile = str(Path(aside) / name), True
        generator.compile_game(generator.make_game(options), options)
        for suffix in (".json", ".z8"):
            (Path(aside) / name).with_suffix(suffix).replace(path.with_suffix(suffix))
    return path
