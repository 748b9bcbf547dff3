"""DM Control's soccer through Shimmy, with reproducible episodes, rendering on any machine and truncation."""

# dm_control is untyped, and Shimmy's environment knows types of it.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeArgument=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar, Final

import numpy as np

from gym_gui.core.errors import UsageError
from gym_gui.envs.families.dm_control_env import choose_renderer

_SEEDS: Final = 2**32
_WALKERS: Final = ("boxhead", "ant", "humanoid")
_PICTURE: Final[Mapping[str, int]] = {"width": 480, "height": 360, "camera_id": 0}


def soccer(team_size: int, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> Any:
    """Make a soccer match.

    Args:
        team_size: Number of players in each team.
        render_mode: ``"rgb_array"`` or ``None``.
        env_kwargs: Arguments of ``dm_control.locomotion.soccer.load``; ``walker`` is ``boxhead``, ``ant`` or
            ``humanoid``; ``render_kwargs`` are ``width``, ``height``, ``camera_id``.

    Raises:
        UsageError: The walker does not exist.
        MissingDependencyError: Pictures are requested, but no rendering library works on this machine.
    """
    choose_renderer(render_mode)
    package: Any = import_module("dm_control.locomotion.soccer")
    kwargs = dict(env_kwargs)
    walker = kwargs.pop("walker", _WALKERS[0])
    if walker not in _WALKERS:
        raise UsageError(f"there is no walker {walker!r}", fix=f"Use one of {', '.join(_WALKERS)}")
    drawn = {**_PICTURE, **kwargs.pop("render_kwargs", {})}
    match = package.load(team_size, walker_type=package.WalkerType[walker.upper()], **kwargs)
    return _soccer_class()(match, render_mode, drawn)


def _soccer_class() -> Any:
    """Return a subclass of Shimmy's environment, defined at call time because the import loads MuJoCo."""
    base: Any = import_module("shimmy.dm_control_multiagent_compatibility").DmControlMultiAgentCompatibilityV0

    class Soccer(base):
        """Shimmy's soccer with reproducible episodes; a goal terminates them, the time limit truncates them.

        Attributes:
            goals: Goals of ``home`` and ``away`` in this episode.
            actuators: Actuator of each component of an action.
        """

        metadata: ClassVar[Mapping[str, Any]] = {
            "render_modes": ["rgb_array"],
            "name": "dm_control_soccer",
            "render_fps": 40,
        }

        def __init__(self, match: Any, render_mode: str | None, drawn: Mapping[str, int]) -> None:
            super().__init__(env=match, render_mode=None)
            self.render_mode, self._drawn = render_mode, drawn
            self.goals = {"home": 0, "away": 0}
            names = str(match.action_spec()[0].name or "").split("\t")
            self.actuators = tuple(name.rpartition("/")[2].replace("_", " ") for name in names)
            self._random = np.random.default_rng()

        def reset(self, seed: int | None = None, options: Any = None) -> Any:
            number = int(self._random.integers(_SEEDS)) if seed is None else seed % _SEEDS
            seen, _ = super().reset(seed=number)
            self.goals = {"home": 0, "away": 0}
            return _copied(seen), {agent: {} for agent in self.agents}

        def step(self, actions: Mapping[str, Any]) -> Any:
            acted = self.agents[:]
            timestep = self._env.step([actions[agent] for agent in acted])
            rewards = [0.0] * len(acted) if timestep.reward is None else list(map(float, timestep.reward))
            for place, team in ((0, "home"), (len(acted) - 1, "away")):
                self.goals[team] += int(rewards[place] > 0)
            last, ended = bool(timestep.last()), timestep.discount == 0
            self.agents = [] if last else acted
            unravelled: Any = import_module("shimmy.utils.dm_env").dm_obs2gym_obs
            seen = dict(zip(acted, map(unravelled, timestep.observation), strict=True))
            return (
                _copied(seen),
                dict(zip(acted, rewards, strict=True)),
                dict.fromkeys(acted, last and bool(ended)),
                dict.fromkeys(acted, last and not ended),
                {agent: {} for agent in acted},
            )

        def render(self) -> Any:
            return None if self.render_mode is None else np.array(self._env.physics.render(**self._drawn))

        def close(self) -> None:
            self._env.close()

    return Soccer


def _copied(seen: Mapping[str, Any]) -> dict[str, Any]:
    return {agent: {name: np.array(value) for name, value in parts.items()} for agent, parts in seen.items()}
