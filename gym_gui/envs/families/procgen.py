"""Procgen: 16 games whose levels are generated, a different level for each seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from gym_gui.envs.families.served import OwnPythonFamily
from gym_gui.envs.keymaps import KeyScheme, Pace
from gym_gui.envs.spec import EnvSpec

if TYPE_CHECKING:
    from gym_gui.envs.instance import Instance
    from gym_gui.envs.remote_env import InstanceRequest

_GAMES: Mapping[str, str] = {
    "bigfish": "Eat smaller fish and grow; larger ones eat you.",
    "bossfight": "Shoot the boss's ship, and dodge what it fires.",
    "caveflyer": "Fly through a cave to a friendly ship.",
    "chaser": "Collect all the green orbs of a maze, with enemies behind you.",
    "climber": "Climb platforms and collect the stars.",
    "coinrun": "Run and jump to the coin at the right end.",
    "dodgeball": "Hit all enemies with balls, then go to the unlocked exit.",
    "fruitbot": "Collect fruit and avoid the rest, through gates and doors.",
    "heist": "Steal the gem behind locks, with keys of three colours.",
    "jumper": "Find the carrot in an open cave, with a compass.",
    "leaper": "Cross roads and a river to the finish line.",
    "maze": "Find the cheese in a maze.",
    "miner": "Dig for diamonds under boulders, then reach the exit.",
    "ninja": "Jump along ledges to the mushroom, throwing stars.",
    "plunder": "Sink the enemies' ships, spare your own, before time runs out.",
    "starpilot": "A scrolling shooter: dodge, and shoot what comes.",
}


class ProcgenFamily(OwnPythonFamily):
    """Family of Procgen's games, under ids such as ``procgen/coinrun``."""

    name: ClassVar[str] = "procgen"
    title: ClassVar[str] = "Procgen"
    prefixes: ClassVar[tuple[str, ...]] = ("procgen/",)
    closed: ClassVar[bool] = True
    requirements: ClassVar[tuple[str, ...]] = ("procgen-mirror==0.10.7", "gym==0.26.2", "numpy<2")
    imports: ClassVar[tuple[str, ...]] = ("procgen",)
    web_page: ClassVar[str] = "https://github.com/openai/procgen"
    usual_pace: ClassVar[Pace] = Pace(realtime=True, rate=15)

    def specs(self) -> Sequence[EnvSpec]:
        self.require()
        return [self.spec(f"procgen/{game}", "mosaic_env_server.shims.procgen:Procgen") for game in _GAMES]

    def candidates(self, task: str) -> Sequence[str]:
        # Ids as Gym registers them: procgen-coinrun-v0, and procgen:procgen-coinrun-v0.
        game = task.removeprefix("procgen:").removeprefix("procgen-").removesuffix("-v0")
        return (task, f"procgen/{game}")

    def wanted(self, spec: EnvSpec, arguments: Mapping[str, Any]) -> InstanceRequest:
        return super().wanted(spec, {"game": spec.short_id, **arguments})

    def title_of(self, spec: EnvSpec) -> str:
        return f"Procgen {spec.short_id}"

    def summary(self, spec: EnvSpec) -> str:
        return _GAMES[spec.short_id]

    def keys(self, environment: Instance, agent: str, player: int) -> KeyScheme:
        """Return arrow keys for moves (two at once for a diagonal), and a letter for each other action."""
        scheme = super().keys(environment, agent, player)
        words = environment.action_meanings(agent)
        letters = {word: number for number, word in enumerate(words) if len(word) == 1}
        moves = {key: number for key, number in scheme.bindings.items() if len(words[number]) > 1}
        return replace(scheme, bindings={**moves, **letters}) if player == 0 else scheme
