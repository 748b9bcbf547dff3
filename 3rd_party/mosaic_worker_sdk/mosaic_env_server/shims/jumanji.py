"""Environments of Jumanji with the interfaces of Gymnasium and PettingZoo Parallel.

https://github.com/instadeepai/jumanji computes its environments with JAX. The functions of an environment are
compiled once for all its instances, before the first episode. An environment whose action has one entry for
each agent becomes a multi-agent environment. If an action has several components and a mask of their
combinations, the combinations are numbered.
"""

# JAX and jumanji are untyped.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

import functools
import json
import warnings
from typing import Any, Collection, Dict, List, Mapping, Optional, Tuple, Union

import numpy as np

from mosaic_env_server.shims.jax_keys import prng_key
from mosaic_env_server.shims.jumanji_words import action_words, solved, text
from mosaic_env_server.shims.shapes import box, discrete
from mosaic_worker.spaces import Space

_MASK = "action_mask"
_TOGETHER = frozenset(
    {
        "Cleaner",
        "Connector",
        "LevelBasedForaging",
        "MMST",
        "MultiCVRP",
        "RobotWarehouse",
        "SearchAndRescue",
    }
)
"""Environments whose action has one entry for each agent; each entry becomes an action of an agent."""
_OWN = frozenset({_MASK, "agents_view", "searcher_views"})
"""Observations with one value for each agent; all agents observe the other values."""
_BEYOND = {"step_count": (0, 1), "position": (-1, 0)}
"""Observed differences from the bounds in Jumanji's specs (low, high): at the step limit, before the first
city.
"""
_UNDRAWN = frozenset({"GraphColoring", "MMST"})
"""Environments whose rendering takes half a minute or more, because each graph gets a new layout."""

_KEPT = ("Snake", "MultiCVRP", "SearchAndRescue")
"""Environments whose ``render`` returns no image; their viewer does."""


class CompiledEnvironment:
    """Data and compiled functions of an environment, shared by all its instances.

    Args:
        name: Id of the environment in Jumanji.
        options: Arguments of the environment's class.
    """

    def __init__(self, name: str, options: Mapping[str, Any]) -> None:
        import jax
        import jumanji

        self.name = name
        self.env: Any = jumanji.make(name, **options)
        self.reset, self.step = jax.jit(self.env.reset), jax.jit(self.env.step)
        self.kind = type(self.env.unwrapped).__name__
        self.together = self.kind in _TOGETHER
        self.seen: Mapping[str, Any] = _specs(self.env.observation_spec)
        self.does: Any = self.env.action_spec
        mask = self.seen.get(_MASK)
        self.mask_shape: Tuple[int, ...] = () if mask is None else tuple(mask.shape)
        self.masked = 0 if mask is None else int(np.prod(self.mask_shape))
        """Number of entries of the action mask of all agents."""
        values = getattr(self.does, "num_values", None)
        self.values: Tuple[int, ...] = () if values is None else tuple(np.atleast_1d(values).tolist())
        self.numbered = len(self.values) > 1 and self.mask_shape in ((), self.values)
        """Whether the combinations of an action's components are numbered."""

    @functools.cached_property
    def draw(self) -> Any:
        """Function that renders a state as an array."""
        env = self.env.unwrapped
        names = ("_viewer", "_env_viewer", "viewer")
        viewer = next(getattr(env, name) for name in names if hasattr(env, name))
        # Jumanji made its viewer for a window; only this attribute makes the viewer return arrays.
        viewer._display = viewer._display_rgb_array
        return viewer.render if self.kind in _KEPT else env.render

    @functools.cached_property
    def ready(self) -> bool:
        """Compile all functions by playing two moves, because a second state may have other types than the
        first.
        """
        state, _ = self.reset(prng_key(0))
        for _ in range(2):
            state, _ = self.step(state, self.does.generate_value())
        return True


@functools.lru_cache(maxsize=None)
def _compiled(name: str, options: str) -> CompiledEnvironment:
    return CompiledEnvironment(name, json.loads(options))


def make(
    env: str, render_mode: Optional[str] = None, **options: Any
) -> Union[JumanjiEnv, JumanjiParallelEnv]:
    """Create an environment of Jumanji.

    Args:
        env: Id of the environment in Jumanji, for example ``Snake-v1``.
        render_mode: ``rgb_array``, or ``None`` for no rendering.
        options: Arguments of the environment's class, for example ``time_limit``.
    """
    compiled = _compiled(env, json.dumps(options, sort_keys=True))
    return (JumanjiParallelEnv if compiled.together else JumanjiEnv)(compiled, render_mode)


class _Play:
    """Base class of the two interfaces: state, rendering, and texts of an environment."""

    def __init__(self, compiled: CompiledEnvironment, render_mode: Optional[str]) -> None:
        drawn = compiled.kind not in _UNDRAWN
        self.render_mode = render_mode if drawn else None
        self._compiled = compiled
        self._state: Any = None
        self._step: Any = None
        self._observation: Mapping[str, Any] = {}
        self.metadata: Mapping[str, Any] = {
            "render_modes": ["rgb_array"] if drawn else [],
            "action_meanings": action_words(compiled.name, compiled.values),
        }
        self._say: Any = text(compiled.name)
        self.mosaic_text: Any = None if self._say is None else self._text
        answer = solved(compiled.name)
        self.mosaic_success: Any = None if answer is None else lambda: bool(answer(self._step))

    def _text(self, agent: str) -> str:
        """Return the observation as text."""
        return str(self._say(self._observation))

    def _begin(self, seed: Optional[int]) -> None:
        assert self._compiled.ready
        self._take(self._compiled.reset(prng_key(seed)))

    def _move(self, action: Any) -> None:
        self._take(self._compiled.step(self._state, action))

    def _take(self, pair: Any) -> None:
        import jax

        self._state, step = pair
        self._step = jax.tree_util.tree_map(np.asarray, step)
        self._observation = _values(self._step.observation)

    @property
    def _over(self) -> bool:
        return bool(self._step.last())

    def _infos(self) -> Dict[str, Any]:
        extras = self._step.extras or {}
        return {str(key): np.asarray(value).item() for key, value in extras.items() if np.ndim(value) == 0}

    def render(self) -> Any:
        """Return the frame that Jumanji renders."""
        if self._state is None:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a warning that there is no window
            return self._compiled.draw(self._state)

    def close(self) -> None:
        """Drop the state."""
        self._state = None


class JumanjiEnv(_Play):
    """An environment of Jumanji with Gymnasium's interface."""

    def __init__(self, compiled: CompiledEnvironment, render_mode: Optional[str]) -> None:
        super().__init__(compiled, render_mode)
        seen = _spaces({key: spec for key, spec in compiled.seen.items() if key != _MASK})
        self.observation_space = _nested(
            seen, int(np.prod(compiled.mask_shape)) if compiled.mask_shape else 0
        )
        count, *more = compiled.values
        if compiled.numbered:
            self.action_space = discrete(int(np.prod(compiled.values)))
        elif more:
            values = np.array(compiled.values, np.int64)
            dtype = np.dtype(np.int64)
            self.action_space = Space(
                "MultiDiscrete", dtype, values.shape, nvec=values, starts=np.zeros_like(values)
            )
        else:
            self.action_space = discrete(count)

    def _shown(self) -> Any:
        seen = {key: value for key, value in self._observation.items() if key != _MASK}
        if not self._compiled.mask_shape:
            return seen
        return {"observation": seen, _MASK: _allowing(self._observation[_MASK].reshape(-1))}

    def reset(
        self, *, seed: Optional[int] = None, options: Optional[Mapping[str, Any]] = None
    ) -> Tuple[Any, Dict[str, Any]]:
        """Begin an episode."""
        self._begin(seed)
        return self._shown(), self._infos()

    def step(self, action: Any) -> Tuple[Any, float, bool, bool, Dict[str, Any]]:
        """Make one move."""
        compiled = self._compiled
        parts = np.unravel_index(int(action), compiled.values) if compiled.numbered else action
        self._move(np.asarray(parts, compiled.does.dtype))
        ended = self._over and not self._step.discount
        return self._shown(), float(self._step.reward), ended, self._over and not ended, self._infos()


class JumanjiParallelEnv(_Play):
    """An environment of Jumanji with PettingZoo's Parallel interface; agents with a common reward all get
    this reward.
    """

    def __init__(self, compiled: CompiledEnvironment, render_mode: Optional[str]) -> None:
        super().__init__(compiled, render_mode)
        count = int(compiled.does.shape[0])
        self.possible_agents = [f"agent_{i}" for i in range(count)]
        self.agents: List[str] = []
        seen = _spaces({key: spec for key, spec in compiled.seen.items() if key != _MASK}, _OWN)
        # All agents see the same field, so an observation must name its agent.
        seen["agent"] = discrete(count)
        self._sees = _nested(seen, compiled.mask_shape[1] if compiled.mask_shape else 0)
        if compiled.mask_shape:
            self._does = discrete(compiled.mask_shape[1])
        else:
            low, high = (
                np.broadcast_to(np.asarray(bound), compiled.does.shape)[0]
                for bound in (compiled.does.minimum, compiled.does.maximum)
            )
            dtype = np.dtype(compiled.does.dtype)
            self._does = Space("Box", dtype, tuple(compiled.does.shape[1:]), low.copy(), high.copy())

    def observation_space(self, agent: str) -> Space:
        """Return the observation space, which is the same for all agents."""
        return self._sees

    def action_space(self, agent: str) -> Space:
        """Return the action space, which is the same for all agents."""
        return self._does

    def _shown(self) -> Dict[str, Any]:
        return {agent: self._shown_to(i) for i, agent in enumerate(self.possible_agents)}

    def _shown_to(self, place: int) -> Any:
        items = ((key, value[place] if key in _OWN else value) for key, value in self._observation.items())
        seen = {**dict(items), "agent": place}
        if not self._compiled.mask_shape:
            return seen
        mask = seen.pop(_MASK)
        return {"observation": seen, _MASK: _allowing(mask)}

    def reset(
        self, seed: Optional[int] = None, options: Optional[Mapping[str, Any]] = None
    ) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        """Begin an episode."""
        self._begin(seed)
        self.agents = list(self.possible_agents)
        return self._shown(), {agent: self._infos() for agent in self.agents}

    def step(self, actions: Mapping[str, Any]) -> Tuple[Dict[str, Any], ...]:
        """Do one step: all agents act simultaneously, and the episode ends for all of them together."""
        self._move(np.array([actions[agent] for agent in self.possible_agents], self._compiled.does.dtype))
        count, agents = len(self.possible_agents), self.possible_agents
        paid = np.broadcast_to(self._step.reward, count)
        goes_on = np.broadcast_to(self._step.discount, count) != 0
        over = self._over
        if over:
            self.agents = []
        infos = self._infos()
        return (
            self._shown(),
            {agent: float(reward) for agent, reward in zip(agents, paid)},
            {agent: over and not goes for agent, goes in zip(agents, goes_on)},
            {agent: over and bool(goes) for agent, goes in zip(agents, goes_on)},
            dict.fromkeys(agents, infos),
        )


def _specs(spec: Any) -> Mapping[str, Any]:
    """Return the specs by name; nested specs are dicts."""
    return {
        name: _specs(part) if getattr(part, "_specs", None) else part for name, part in spec._specs.items()
    }


def _values(observation: Any) -> Dict[str, Any]:
    """Return an observation as a nested dict of arrays; booleans become 0 and 1."""
    parts = observation._asdict() if hasattr(observation, "_asdict") else vars(observation)
    found: Dict[str, Any] = {}
    for name, value in parts.items():
        if not isinstance(value, np.ndarray) and not np.isscalar(value):
            found[name] = _values(value)
        else:
            array = np.asarray(value)
            found[name] = array.astype(np.int8) if array.dtype == np.bool_ else array
    return found


def _spaces(specs: Mapping[str, Any], own: Collection[str] = ()) -> Dict[str, Space]:
    """Return the spaces of specs; for a spec named in ``own``, with one value for each agent, the space of
    one value.
    """
    spaces: Dict[str, Space] = {}
    for name, spec in specs.items():
        if isinstance(spec, Mapping):
            spaces[name] = Space("Dict", spaces=_spaces(spec))
        else:
            spaces[name] = _space(spec, _BEYOND.get(name, (0, 0)), name in own)
    return spaces


def _space(spec: Any, beyond: Tuple[int, int], own: bool) -> Space:
    shape, dtype = tuple(spec.shape), np.dtype(spec.dtype)
    low: Any
    high: Any
    if dtype == np.bool_:
        dtype, low, high = np.dtype(np.int8), 0, 1
    elif hasattr(spec, "minimum"):
        low, high = np.asarray(spec.minimum) + beyond[0], np.asarray(spec.maximum) + beyond[1]
    elif dtype.kind == "f":
        low, high = -np.inf, np.inf
    else:
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    bounds = [np.broadcast_to(np.asarray(bound, dtype), shape) for bound in (low, high)]
    if own:
        shape, bounds = shape[1:], [bound[0] for bound in bounds]
    return Space("Box", dtype, shape, bounds[0].copy(), bounds[1].copy())


def _allowing(mask: Any) -> Any:
    """Return a mask, or a mask of ones if it allows no action; an action is then without effect.

    In FlatPack the episode continues when no block fits, in MMST for agents that have arrived.
    """
    return mask if mask.any() else np.ones_like(mask)


def _nested(seen: Mapping[str, Space], actions: int) -> Space:
    """Return a ``Dict`` space of ``seen``; if ``actions`` is not 0, as ``observation`` beside an action
    mask.
    """
    inner = Space("Dict", spaces=dict(seen))
    if not actions:
        return inner
    return Space("Dict", spaces={"observation": inner, _MASK: box((actions,), np.int8, 0, 1)})
