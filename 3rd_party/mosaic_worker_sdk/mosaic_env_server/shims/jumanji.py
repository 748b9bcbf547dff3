"""Environments of Jumanji with the interfaces of Gymnasium and PettingZoo Parallel.

https://github.com/instadeepai/jumanji computes them with JAX; what is computed for one is compiled once for
all its instances, before the first episode begins. Those whose agents act together have one action with an
entry for each of them; here each is an agent. Actions of several parts, of which a mask says which go
together, are numbered.
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
"""Environments whose action has one entry for each agent."""
_OWN = frozenset({_MASK, "agents_view", "searcher_views"})
"""What each agent observes for itself; the rest is seen by all."""
_BEYOND = {"step_count": (0, 1), "position": (-1, 0)}
"""How far values are seen to go below and above what specs say: at the limit, before the first city."""
_UNDRAWN = frozenset({"GraphColoring", "MMST"})
"""Environments whose rendering takes half a minute or more, because each graph gets a new layout."""

_KEPT = ("Snake", "MultiCVRP", "SearchAndRescue")
"""Draw, and keep the picture to themselves: their viewer gives it."""


class Compiled:
    """What all instances of an environment have in common.

    Args:
        name: Its id in jumanji.
        options: As its class takes them.
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
        """Length of the mask of all."""
        values = getattr(self.does, "num_values", None)
        self.values: Tuple[int, ...] = () if values is None else tuple(np.atleast_1d(values).tolist())
        self.numbered = len(self.values) > 1 and self.mask_shape in ((), self.values)
        """Whether actions of several parts are numbered."""

    @functools.cached_property
    def draw(self) -> Any:
        """Draws a state, into an array."""
        env = self.env.unwrapped
        names = ("_viewer", "_env_viewer", "viewer")
        viewer = next(getattr(env, name) for name in names if hasattr(env, name))
        # It was made for a window, and can be told otherwise only by making another.
        viewer._display = viewer._display_rgb_array
        return viewer.render if self.kind in _KEPT else env.render

    @functools.cached_property
    def ready(self) -> bool:
        """Compile all, by playing two moves: a second state may have other types than the first."""
        state, _ = self.reset(prng_key(0))
        for _ in range(2):
            state, _ = self.step(state, self.does.generate_value())
        return True


@functools.lru_cache(maxsize=None)
def _compiled(name: str, options: str) -> Compiled:
    return Compiled(name, json.loads(options))


def make(env: str, render_mode: Optional[str] = None, **options: Any) -> Union[Alone, Together]:
    """An environment of jumanji.

    Args:
        env: Its id there, ``Snake-v1``.
        render_mode: ``rgb_array``, or nothing is drawn.
        options: As its class there takes them: ``time_limit`` of most.
    """
    compiled = _compiled(env, json.dumps(options, sort_keys=True))
    return (Together if compiled.together else Alone)(compiled, render_mode)


class _Play:
    """What both interfaces have in common."""

    def __init__(self, compiled: Compiled, render_mode: Optional[str]) -> None:
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
            warnings.simplefilter("ignore")  # that there is no window
            return self._compiled.draw(self._state)

    def close(self) -> None:
        """Drop the state."""
        self._state = None


class Alone(_Play):
    """Gymnasium's interface."""

    def __init__(self, compiled: Compiled, render_mode: Optional[str]) -> None:
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


class Together(_Play):
    """PettingZoo's Parallel interface; who is paid together is paid the same."""

    def __init__(self, compiled: Compiled, render_mode: Optional[str]) -> None:
        super().__init__(compiled, render_mode)
        count = int(compiled.does.shape[0])
        self.possible_agents = [f"agent_{i}" for i in range(count)]
        self.agents: List[str] = []
        seen = _spaces({key: spec for key, spec in compiled.seen.items() if key != _MASK}, _OWN)
        # All see the same field: who one is has to be said.
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
        """All agents move at once; all end together."""
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
    """Specs by name; those of several parts are tables of their own."""
    return {
        name: _specs(part) if getattr(part, "_specs", None) else part for name, part in spec._specs.items()
    }


def _values(observation: Any) -> Dict[str, Any]:
    """The same of an observation: yes and no are 1 and 0."""
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
    """Of what specs allow; of those in ``own``, which list one value for each agent, the space of one."""
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
    """A mask; where it allows nothing, one that allows all, which then changes nothing.

    FlatPack goes on when no block fits any more, MMST for those agents that have arrived.
    """
    return mask if mask.any() else np.ones_like(mask)


def _nested(seen: Mapping[str, Space], actions: int) -> Space:
    """What is seen, with a mask where there is one."""
    inner = Space("Dict", spaces=dict(seen))
    if not actions:
        return inner
    return Space("Dict", spaces={"observation": inner, _MASK: box((actions,), np.int8, 0, 1)})
