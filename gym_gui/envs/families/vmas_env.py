"""VMAS with one instance per environment, a random generator of its own, and pictures without a display."""

# VMAS is loaded here alone, and untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import contextlib
import io
import math
from collections.abc import Generator, Mapping
from importlib import import_module
from typing import Any

import numpy as np
from gymnasium import spaces
from PIL import Image, ImageDraw

from gym_gui.envs.pictures import Picture

_SEEDS = 2**32
_PIXELS = 480
_WHITE = (255, 255, 255)


class VmasParallel:
    """PettingZoo Parallel environment of a scenario; agents have the package's names.

    The package uses one random generator for all its environments and seeds it at every reset. Here each
    environment has a generator state of its own.

    Args:
        scenario: Name of the scenario's file.
        render_mode: ``"rgb_array"`` or ``None``.
        kwargs: Arguments of the package's ``make_env`` and of the scenario.

    Attributes:
        adversaries: Agents that the scenario marks as adversaries.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10, "is_parallelizable": True}  # noqa: RUF012

    def __init__(self, scenario: str, render_mode: str | None, kwargs: Mapping[str, Any]) -> None:
        with contextlib.redirect_stderr(io.StringIO()):  # old Gym, which VMAS imports, prints a warning
            make: Any = import_module("vmas").make_env
        self._env = make(scenario, num_envs=1, seed=0, terminated_truncated=True, **kwargs)
        self._shared: list[Any] = self._env.vmas_random_state
        self._own = list(self._shared)
        self.render_mode = render_mode
        self.possible_agents: list[str] = [agent.name for agent in self._env.agents]
        self.agents = self.possible_agents[:]
        bodies = zip(self.possible_agents, self._env.agents, strict=True)
        self.adversaries = frozenset(name for name, body in bodies if body.adversary)
        self._acts = self._by_name(map(_space, self._env.action_space))
        self._sees = self._by_name(map(_space, self._env.observation_space))

    @property
    def unwrapped(self) -> Any:
        return self

    @property
    def world(self) -> Any:
        """The package's object for the world."""
        return self._env.world

    def observation_space(self, agent: str) -> Any:
        """Return an agent's observation space."""
        return self._sees[agent]

    def action_space(self, agent: str) -> Any:
        """Return an agent's action space."""
        return self._acts[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Begin an episode; return observations and infos by agent."""
        with self._own_random_state():
            seen = self._env.reset(seed=None if seed is None else seed % _SEEDS)
        self.agents = self.possible_agents[:]
        return self._by_name(map(_plain, seen)), {agent: {} for agent in self.agents}

    def step(self, actions: Mapping[str, Any]) -> Any:
        """Play a step of all agents; return observations, rewards, terminations, truncations and infos."""
        chosen = [np.asarray(actions[agent]).reshape(1, -1) for agent in self.agents]
        with self._own_random_state():
            seen, rewards, ended, cut, _ = self._env.step(chosen)
        acted, over, late = self.agents, bool(ended[0]), bool(cut[0])
        if over or late:
            self.agents = []
        return (
            self._by_name(map(_plain, seen)),
            self._by_name(float(reward[0]) for reward in rewards),
            dict.fromkeys(acted, over),
            dict.fromkeys(acted, late and not over),
            {agent: {} for agent in acted},
        )

    def render(self) -> Picture | None:
        """Return a picture from above, without the window's sensor lines; ``None`` without a render mode."""
        return _draw(self._env) if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        """Do nothing, because nothing is open."""

    def _by_name(self, parts: Any) -> dict[str, Any]:
        return dict(zip(self.possible_agents, parts, strict=True))

    @contextlib.contextmanager
    def _own_random_state(self) -> Generator[None]:
        """Set the package's random generator to this environment's state inside the context."""
        others = list(self._shared)
        self._shared[:] = self._own
        try:
            yield
        finally:
            self._own = list(self._shared)
            self._shared[:] = others


def _space(old: Any) -> Any:
    """Convert a space of old Gym to a Gymnasium space."""
    if hasattr(old, "spaces"):
        parts = old.spaces
        return spaces.Dict({name: _space(part) for name, part in parts.items()})
    if hasattr(old, "n"):
        return spaces.Discrete(int(old.n))
    if hasattr(old, "nvec"):
        return spaces.MultiDiscrete(old.nvec)
    return spaces.Box(old.low.astype(np.float32), old.high.astype(np.float32), dtype=np.float32)


def _plain(seen: Any) -> Any:
    """Return an agent's observation of the only instance as NumPy arrays."""
    if isinstance(seen, dict):
        return {name: _plain(part) for name, part in seen.items()}
    return seen[0].detach().cpu().numpy().astype(np.float32)


def _draw(env: Any) -> Picture:
    wide, high = env.scenario.viewer_size
    height = max(1, round(_PIXELS * high / wide))
    bodies = [(body, *body.state.pos[0].tolist()) for body in env.world.entities]
    zoom = float(env.scenario.viewer_zoom)
    reach = max([zoom, *(max(abs(x), abs(y) * wide / high) + 0.2 for body, x, y in bodies if body.movable)])
    scale = _PIXELS / 2 / reach
    picture = Image.new("RGB", (_PIXELS, height), _WHITE)
    pen = ImageDraw.Draw(picture)
    for body, x, y in sorted(bodies, key=lambda each: each[0].movable):
        if body.is_rendering[0]:
            _draw_body(pen, body, _PIXELS / 2 + x * scale, height / 2 - y * scale, scale)
    return np.asarray(picture)


def _draw_body(pen: ImageDraw.ImageDraw, body: Any, x: float, y: float, scale: float) -> None:
    """Draw a body; ``x`` and ``y`` are its position in the picture, in pixels."""
    shape, kind = body.shape, type(body.shape).__name__
    color = _color(body.color)
    if kind == "Sphere":
        radius = max(1.0, shape.radius * scale)
        pen.ellipse((x - radius, y - radius, x + radius, y + radius), color)
        return
    angle = float(body.state.rot[0])
    along = np.array([math.cos(angle), -math.sin(angle)]) * float(shape.length) * scale / 2
    across = np.zeros(2)
    if kind == "Box":
        across = np.array([math.sin(angle), math.cos(angle)]) * float(shape.width) * scale / 2
    middle = np.array([x, y])
    if kind == "Line":
        pen.line([tuple(middle - along), tuple(middle + along)], color, 3)
        return
    corners = (along + across, along - across, -along - across, across - along)
    pen.polygon([tuple(middle + corner) for corner in corners], color)


def _color(given: Any) -> tuple[int, ...]:
    parts = given.value if hasattr(given, "value") else given
    values = np.asarray(parts, np.float64).reshape(-1)[:3]
    return tuple(int(255 * part) for part in values)
