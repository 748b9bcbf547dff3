"""BALROG's environments, with the texts for language models and the scores of that benchmark."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from gym_gui.core.errors import MissingDependencyError
from gym_gui.core.interpreters import environment_folder
from gym_gui.envs.families.babaisai import ARCHIVE
from gym_gui.envs.families.served import OwnPythonFamily
from gym_gui.envs.spec import EnvSpec

if TYPE_CHECKING:
    from gym_gui.envs.remote_env import InstanceRequest

_PLAYED = "mosaic_env_server.shims.balrog:Balrog"
_EVALUATED = "mosaic_env_server.shims.balrog_evaluator:Evaluated"
"""Entry point of BALROG's evaluator, used if ``env_kwargs`` has ``results``, a folder for its files."""
_CONFIG = "lib/python*/site-packages/balrog/config/config.yaml"
_BEGINNINGS: Mapping[str, str] = {"babyai": "BabyAI-MixedTrainLocal-v0/", "babaisai": "env/"}
"""Prefix that BALROG puts before all tasks of an environment, and that ids leave out."""
_TITLES: Mapping[str, str] = {
    "babyai": "BabyAI",
    "babaisai": "Baba Is AI",
    "textworld": "TextWorld",
    "crafter": "Crafter",
    "nle": "NetHack",
    "minihack": "MiniHack",
}
_SUMMARIES: Mapping[str, str] = {
    "babyai": "Carry out a mission in one room, or two: {task}.",
    "babaisai": "Push words about until something wins, and go there.",
    "textworld": "Solve a text adventure; its games are fetched from where BALROG keeps them.",
    "crafter": "Gather, build and survive; progress is the share of 22 achievements.",
    "nle": "Get as deep and as far as possible in NetHack.",
    "minihack": "Solve one level in the world of NetHack.",
}


class BalrogFamily(OwnPythonFamily):
    """Family of BALROG's tasks, under ids such as ``balrog/babyai/goto`` (environment and task)."""

    name: ClassVar[str] = "balrog"
    title: ClassVar[str] = "BALROG"
    prefixes: ClassVar[tuple[str, ...]] = ("balrog/",)
    closed: ClassVar[bool] = True
    # gym, tatsu: versions for balrog-nle and textworld. Pillow: since version 11, NetHack's font needs a
    # newer libfribidi than some systems have. MiniHack: since version 1 it is made for Gymnasium, but BALROG
    # makes it with gym.
    requirements: ClassVar[tuple[str, ...]] = (
        *("numpy<2", "gym==0.23", "gymnasium>=0.29,<1.3", "setuptools<81", "hydra-core>=1.3,<2"),
        *("openai>=1.50", "anthropic>=0.40", "google-genai>=1", "scipy>=1.11", "matplotlib>=3"),
        *("opencv-python-headless<4.12", "pillow<11", "pygame-ce", "crafter>=1.8", "tatsu==5.8.3"),
        *("textworld>=1.6", "balrog-nle==0.9.0"),
    )
    bare_requirements: ClassVar[tuple[str, ...]] = ("minihack>=0.1.6,<1",)
    archives: ClassVar[Mapping[str, str]] = {
        "baba": ARCHIVE,
        "balrog": "https://github.com/balrog-ai/BALROG/archive/af7d1f1.tar.gz",
        "minigrid": "https://github.com/BartekCupial/Minigrid/archive/cf73dd1.tar.gz",
    }
    imports: ClassVar[tuple[str, ...]] = ("baba", "minigrid", "crafter", "nle", "balrog.evaluator")
    server_variables: ClassVar[Mapping[str, str]] = {"SDL_VIDEODRIVER": "dummy", "TQDM_DISABLE": "1"}
    documented: ClassVar[bool] = False
    web_page: ClassVar[str] = "https://github.com/balrog-ai/BALROG"

    def specs(self) -> Sequence[EnvSpec]:
        self.require()
        config = self._config()
        return [
            self.spec(
                f"balrog/{game}/{task.removeprefix(_BEGINNINGS.get(game, ''))}",
                _PLAYED,
                max_episode_steps=config["envs"].get(f"{game}_kwargs", {}).get("max_episode_steps"),
            )
            for game in config["envs"]["names"].split("-")
            for task in config["tasks"][f"{game}_tasks"]
        ]

    def _config(self) -> Mapping[str, Any]:
        """Return BALROG's own configuration file as a mapping; it lists the tasks."""
        found = sorted(environment_folder(self.name).glob(_CONFIG))
        if not found:
            raise MissingDependencyError(f"{self.title}'s config.yaml", self.install)
        return _read(found[0], found[0].stat().st_mtime_ns)

    def candidates(self, task: str) -> Sequence[str]:
        # Tasks as BALROG writes them.
        game, _, rest = task.removeprefix("balrog/").partition("/")
        beginning = _BEGINNINGS.get(game, "")
        short = f"balrog/{game}/{rest.removeprefix(beginning)}"
        return (task, short) if task.startswith("balrog/") and beginning and short != task else (task,)

    def wanted(self, spec: EnvSpec, arguments: Mapping[str, Any]) -> InstanceRequest:
        game, task = _parts(spec)
        named = {"game": game, "task": f"{_BEGINNINGS.get(game, '')}{task}", **arguments}
        if not arguments.get("results"):
            return super().wanted(spec, named)
        named["results"] = str(Path(str(arguments["results"])).expanduser().absolute())
        return dataclasses.replace(super().wanted(spec, named), entry=_EVALUATED)

    def title_of(self, spec: EnvSpec) -> str:
        game, task = _parts(spec)
        alone = game in ("crafter", "nle")
        return f"BALROG's {_TITLES.get(game, game)}{'' if alone else f', {task}'}"

    def summary(self, spec: EnvSpec) -> str:
        game, task = _parts(spec)
        return _SUMMARIES.get(game, "One of BALROG's tasks.").format(task=task.replace("_", " "))

    def render_modes(self, spec: EnvSpec) -> tuple[str, ...]:
        return () if _parts(spec)[0] == "textworld" else ("rgb_array",)


def _parts(spec: EnvSpec) -> tuple[str, str]:
    """Return BALROG's name of the environment, and its name of the task without the common prefix."""
    game, _, task = spec.id.removeprefix("balrog/").partition("/")
    return game, task


@lru_cache(maxsize=2)
def _read(path: Path, changed: int) -> Mapping[str, Any]:
    import yaml  # imported only to read the list of tasks

    return yaml.safe_load(path.read_text("utf-8"))
