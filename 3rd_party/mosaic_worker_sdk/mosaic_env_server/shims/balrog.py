"""BALROG's environments with Gymnasium's interface: observations are the texts of BALROG's agents, actions
are words.

https://github.com/balrog-ai/BALROG creates environments of random kinds for an episode until one is of the
requested kind, and seeds Python's and NumPy's global random generators before ``reset``. This module does the
same, and restores the generators afterward.
"""

# Values returned by the packages are untyped.

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportPrivateUsage=false

from __future__ import annotations

import contextlib
import io
import random
import string
from typing import Any, Dict, Generator, List, Mapping, Optional, Tuple

import numpy as np

from mosaic_env_server.shims.shapes import discrete, text
from mosaic_worker.spaces import Space

LETTERS = string.ascii_letters + string.digits + string.punctuation + " \n"
"""Characters of texts; any other character becomes a question mark."""
_WRITTEN = string.ascii_letters + string.digits + " -',"
"""Characters of commands; TextWorld's interpreter reads a backslash as a command to itself and crashes on
some others.
"""
_LONGEST, _LONGEST_COMMAND = 16384, 200
_TEXTS = ("instruction", "long_term_context", "short_term_context")
_OF_NETHACK = ("nle", "minihack")
_GAMES: List[str] = []
"""Path in which BALROG has searched for games of TextWorld; empty before the first search."""
_MISSION = "carry out the mission that every observation states"


class Balrog:
    """A task of BALROG.

    Args:
        game: Name of the environment in BALROG, for example ``babyai``.
        task: Name of the task, for example ``BabyAI-MixedTrainLocal-v0/goto``.
        render_mode: ``rgb_array``, or ``None`` for no rendering.
        config: Values to replace in BALROG's ``config.yaml``: ``{"eval": {"max_steps_per_episode": 20}}``.
    """

    def __init__(
        self,
        game: str,
        task: str,
        render_mode: Optional[str] = None,
        config: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.game, self.task, self.render_mode = game, task, render_mode
        self.config = balrog_config(config)
        self.env = self.made(None)
        self._used = False
        self.observation_space = Space("Dict", spaces=dict.fromkeys(_TEXTS, text(_LONGEST, LETTERS)))
        self.words = self._words()
        self.action_space = discrete(len(self.words)) if self.words else text(_LONGEST_COMMAND, _WRITTEN, 1)
        # The image is part of BALROG's observations beside the text; the text does not depend on it.
        self.metadata: Mapping[str, Any] = {
            "render_modes": [] if game == "textworld" else ["rgb_array"],
            "action_meanings": list(self.words),
            "default": self._default(),
            **({"noop": 0} if self.words and self.words[0].lower() in ("idle", "noop") else {}),
        }
        self._seen: Mapping[str, Any] = {"text": {}}
        self._mission = ""
        self._steps = 0

    def made(self, seed: Optional[int]) -> Any:
        """Create BALROG's environment, with ``seed`` if the environment needs its seed before ``reset``."""
        from balrog.environments import make_env
        from omegaconf import OmegaConf

        config = self.config
        if seed is not None and self.game in ("crafter", "textworld"):
            more = {"envs": {"crafter_kwargs": {"seed": seed}, "env_kwargs": {"seed": seed}}}
            config = OmegaConf.merge(config, more)
        if self.game == "textworld":
            _set_games_path(str(config.envs.textworld_kwargs.textworld_games_path))
        with contextlib.redirect_stdout(io.StringIO()):  # BALROG prints every mission that it rejects
            try:
                env = make_env(self.game, self.task, config)
            except KeyError as error:
                raise RuntimeError(_without_games(error)) from None
            except ModuleNotFoundError as error:
                raise RuntimeError(f"this task lacks its levels: {error}") from None
        if self.game == "crafter":
            _fix_creature_order(env.env.gym_env.env)
        return env

    def _words(self) -> List[str]:
        """Return the words of the actions by number; empty if any command is allowed."""
        space = self.env.env.language_action_space
        words = [str(word) for word in space] if hasattr(space, "__iter__") else []
        if self.game in _OF_NETHACK:
            # For NetHack, BALROG also names all two-digit numbers, for which its step() raises.
            known = self.env.env.gym_env.env.action_str_enum_map
            words = [word for word in words if word in known]
        return words

    def _default(self) -> Any:
        """Return the action that BALROG's evaluator plays after a reply without a valid action."""
        word = str(self.env.env.default_action)
        return self.words.index(word) if word in self.words else word

    def reset(
        self, *, seed: Optional[int] = None, options: Optional[Mapping[str, Any]] = None
    ) -> Tuple[Any, Dict[str, Any]]:
        """Begin an episode in a new environment of BALROG."""
        if self._used or seed is not None:
            self.env.close()
            self.env = self.made(seed)
        self._used = True
        with global_numbers(seed), contextlib.redirect_stdout(io.StringIO()):
            self._seen, _ = self._begun(seed)
        self._mission = str(self._seen["mission"]) if self.game == "babyai" else ""
        self._steps = 0
        return self._observed(), {}

    def _begun(self, seed: Optional[int]) -> Any:
        if seed is None or self.game not in _OF_NETHACK:
            return self.env.reset(seed=seed)
        # BALROG sets one of NetHack's two seeds; the other would be random.
        self.env.env.gym_env.unwrapped.seed(core=seed, disp=seed, reseed=False)
        return self.env.reset()

    def step(self, action: Any) -> Tuple[Any, float, bool, bool, Dict[str, Any]]:
        """Do one step; an episode that takes too long is truncated, as by BALROG's evaluator."""
        word = self.words[int(action)] if self.words else str(action)
        with contextlib.redirect_stdout(io.StringIO()):
            self._seen, reward, terminated, truncated, _ = self.env.step(word)
        self._steps += 1
        most = self.config.eval.max_steps_per_episode or self.env.max_steps
        over = bool(terminated)
        cut = not over and (bool(truncated) or self._steps >= most)
        return self._observed(), float(reward), over, cut, {"progression": self.progression}

    def _observed(self) -> Dict[str, str]:
        texts = {name: str(self._seen["text"].get(name) or "") for name in _TEXTS[1:]}
        return {name: _plain(words) for name, words in {"instruction": self.instruction(), **texts}.items()}

    def instruction(self, mission: str = "") -> str:
        """Return BALROG's instruction for its agents at the beginning of an episode."""
        return str(self.env.get_instruction_prompt(instructions=mission or self._mission or None))

    @property
    def progression(self) -> float:
        """Progress of the episode from 0 to 1, by BALROG's score."""
        return float(self.env.get_stats().get("progression") or 0.0)

    def render(self) -> Any:
        """Return the image that BALROG's agents would get."""
        if self.game in _OF_NETHACK:
            return np.asarray(self.env.env.gym_env.env.render("tiles"), np.uint8)
        picture = self._seen.get("image")
        return None if picture is None else np.asarray(picture, np.uint8)

    def close(self) -> None:
        """Close the environment."""
        self.env.close()

    # -- in words

    def mosaic_success(self) -> bool:
        """Return whether the progress is complete."""
        return self.progression >= 1.0

    def mosaic_scores(self) -> Dict[str, float]:
        """Return the progress as the score."""
        return {"agent": self.progression}

    def mosaic_briefing(self, agent: str) -> str:
        """Return BALROG's instruction without the parts that differ between episodes."""
        return _plain(self.instruction(_MISSION if self.game == "babyai" else ""))

    def mosaic_text(self, agent: str) -> str:
        """Return the text that BALROG's agents read at this step."""
        observed = self._observed()
        mission = f"Mission: {self._mission}" if self._mission else ""
        return "\n\n".join(
            filter(None, (mission, observed["short_term_context"], observed["long_term_context"]))
        )


def balrog_config(over: Optional[Mapping[str, Any]] = None) -> Any:
    """Return BALROG's ``config.yaml`` with the values of ``over`` replaced.

    Raises:
        ValueError: ``over`` has a key that the configuration lacks.
    """
    from importlib import resources

    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    config = OmegaConf.create((resources.files("balrog") / "config" / "config.yaml").read_text("utf-8"))
    OmegaConf.set_struct(config, True)
    try:
        return OmegaConf.merge(config, dict(over or {}))
    except OmegaConfBaseException as error:
        said = str(error).splitlines()[0]
        raise ValueError(f"config does not fit BALROG's config.yaml: {said}") from None


@contextlib.contextmanager
def global_numbers(seed: Optional[int]) -> Generator[None, None, None]:
    """Seed Python's and NumPy's global random generators in a ``with`` block; restore them afterward."""
    kept = random.getstate(), np.random.get_state()
    if seed is not None:
        random.seed(seed)
        np.random.seed(seed % (1 << 32))
    try:
        yield
    finally:
        random.setstate(kept[0])
        np.random.set_state(kept[1])


def _fix_creature_order(game: Any) -> None:
    """Make Crafter process its creatures in an order that does not depend on memory addresses.

    Crafter's chunks are sets of objects, of which it removes a random one.
    """
    balance, world = game._balance_object, game._world

    def in_order(chunk: Any, things: Any, *rules: Any) -> None:
        balance(chunk, sorted(things, key=lambda thing: int(world._obj_map[tuple(thing.pos)])), *rules)

    game._balance_object = in_order


def _set_games_path(path: str) -> None:
    """Make BALROG search for games in ``path``, because it searches only once and caches the games that it
    finds.
    """
    from balrog.environments import textworld
    from balrog.environments.textworld.base import TextWorldFactory

    if [path] != _GAMES:
        _GAMES[:] = [path]
        textworld.TEXTWORLD_FACTORY = TextWorldFactory._instance = None


def _without_games(error: KeyError) -> str:
    return (
        f"BALROG's games of TextWorld are not there ({error.args[0]}): unpack them as its README says, and "
        "name the folder in env_kwargs: "
        "{config: {envs: {textworld_kwargs: {textworld_games_path: /path/to/tw_games}}}}"
    )


def _plain(words: str) -> str:
    known = frozenset(LETTERS)
    return "".join(each if each in known else "?" for each in words)[:_LONGEST]
