"""Helpers for all adapters where they call foreign code: names of agents, masks, errors."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gym_gui.core.errors import EnvironmentFailure
from gym_gui.core.types import AgentID, Mask
from mosaic_worker.failures import one_line, with_place

NO_INFO: Mapping[str, Any] = {}
MASK_KEY = "action_mask"
OBSERVATION, INFO = "observation", "info"
"""Places in which an environment may provide the action mask."""
RAISED = (Exception, SystemExit)
"""Errors that foreign code may raise; an uncaught ``SystemExit`` would end the process without a message."""


def failure(doing: str, error: BaseException) -> EnvironmentFailure:
    """Return an error with what the environment raised; chain it with ``raise … from error``."""
    if isinstance(error, SystemExit):
        said = f"the environment called sys.exit({'' if error.code is None else repr(error.code)}) in {doing}"
    else:
        said = f"the environment raised {type(error).__name__} in {doing}: {one_line(error)}"
    return EnvironmentFailure(with_place(said, error))


_OLD_GYM = (
    "It has the interface of gym before 0.26: see https://gymnasium.farama.org/introduction/migration_guide/ "
    "or have its factory return mosaic_env_server.old_gym.OldGymWrapper(env)"
)


def as_reward(paid: Any) -> float:
    """Return a reward as a float; an array with one number counts as that number.

    Raises:
        EnvironmentFailure: The reward is not a number.
    """
    try:
        return float(paid)
    except (TypeError, ValueError):
        if np.size(paid) == 1 and np.asarray(paid).dtype.kind in "biuf":
            return float(np.asarray(paid).reshape(()))
    said = " ".join(repr(paid).split())
    raise EnvironmentFailure(
        f"the environment gave the reward {said:.80}, which is not a number", fix="Return a float"
    )


def parts_of(given: Any, doing: str, names: Sequence[str]) -> Any:
    """Return the environment's result if it has the expected number of parts.

    Raises:
        EnvironmentFailure: The result has another form.
    """
    if isinstance(given, tuple) and len(given) == len(names):  # pyright: ignore[reportUnknownArgumentType]
        return given  # pyright: ignore[reportUnknownVariableType]
    what = f"{len(given)} values" if isinstance(given, tuple) else type(given).__name__  # pyright: ignore[reportUnknownArgumentType]
    raise EnvironmentFailure(f"the environment gave {what} in {doing}, not {', '.join(names)}", fix=_OLD_GYM)


def reset_failure(env: Any, error: BaseException) -> EnvironmentFailure:
    """Return the error of a reset, with advice if ``reset()`` has the interface of old gym without a seed."""
    own = getattr(getattr(env, "unwrapped", env), "reset", None)
    if isinstance(error, TypeError) and own is not None:
        try:
            taken = inspect.signature(own).parameters
        except (TypeError, ValueError):
            return failure("reset()", error)
        lacking = [name for name in ("seed", "options") if name not in taken]
        if lacking and not any(each.kind is each.VAR_KEYWORD for each in taken.values()):
            return EnvironmentFailure(
                f"the environment's reset() takes no {' and no '.join(lacking)}", fix=_OLD_GYM
            )
    return failure("reset()", error)


def wrong_agents(given: Iterable[object], wanted: Iterable[AgentID]) -> EnvironmentFailure:
    """Return an error that names the agents whose actions are missing or not expected."""
    has, needs = {str(a) for a in given}, set(wanted)
    if not needs:
        return EnvironmentFailure("the episode is over", fix="Call reset() before the next step()")
    parts = [
        f"{word} {', '.join(sorted(names))}"
        for word, names in (("no action for", needs - has), ("unexpected action for", has - needs))
        if names
    ]
    return EnvironmentFailure("; ".join(parts))


def default_name(raw: Hashable) -> AgentID:
    """Return the name of an agent: text is unchanged, the integer ``i`` becomes ``agent_i``."""
    if isinstance(raw, str):
        return raw
    return f"agent_{raw}" if isinstance(raw, (int, np.integer)) else str(raw)


class AgentNames:
    """Two-way map between the environment's agent keys and the engine's names.

    Args:
        raw: The environment's own keys, in its order.
        rename: Returns the name for a key; by default :func:`default_name`.

    Raises:
        EnvironmentFailure: Two agents would share a name.
    """

    def __init__(self, raw: Iterable[Hashable], rename: Callable[[Any], AgentID] | None = None) -> None:
        self._rename = rename or default_name
        self.of: dict[Hashable, AgentID] = {}
        self.raw: dict[AgentID, Any] = {}
        for key in raw:
            self.add(key)

    def add(self, key: Hashable) -> AgentID:
        """Return the name of ``key``, and store it if it is new (agents may join during an episode)."""
        known = self.of.get(key)
        if known is not None:
            return known
        name = self._rename(key)
        if name in self.raw:
            raise EnvironmentFailure(f"two agents would be named {name!r}")
        self.of[key] = name
        self.raw[name] = key
        return name

    @property
    def all(self) -> tuple[AgentID, ...]:
        """All names, in the environment's order."""
        return tuple(self.raw)


def without_mask(space: Any) -> tuple[Any, str | None]:
    """Separate the action mask from an observation space.

    Args:
        space: The environment's observation space of an agent.

    Returns:
        The space without the mask, and a rule for separating the mask from an observation. The rule is
            ``None`` if there is no mask, ``"observation"`` if that entry is what remains, and ``""`` if the
            mapping without its ``action_mask`` entry remains.
    """
    children: Any = getattr(space, "spaces", None)
    if not isinstance(children, Mapping) or MASK_KEY not in children:
        return space, None
    rest: dict[str, Any] = {k: s for k, s in children.items() if k != MASK_KEY}  # pyright: ignore[reportUnknownVariableType]
    if list(rest) == ["observation"]:
        return rest["observation"], "observation"
    from gymnasium.spaces import Dict  # here, so that importing an adapter stays cheap

    return Dict(rest), ""


def split_mask(observation: Any, rule: str | None) -> tuple[Any, Any]:
    """Return the observation without its mask, and the mask or ``None``; see :func:`without_mask`."""
    if rule is None:
        return observation, None
    mask = observation.get(MASK_KEY)
    if rule:
        return observation[rule], mask
    return {k: v for k, v in observation.items() if k != MASK_KEY}, mask


def as_mask(mask: Any) -> Mask | None:
    """Return a mask as one flat array; the masks of a ``MultiDiscrete`` are joined in order."""
    if mask is None or type(mask) is np.ndarray:
        return mask
    parts: list[Any] = list(mask)
    if parts and np.ndim(parts[0]) > 0:
        return np.concatenate([np.ravel(part) for part in parts])
    return np.asarray(parts)


def frame(env: Any) -> Any:
    """Render ``env``; return ``None`` if it was made without a render mode.

    Raises:
        EnvironmentFailure: The environment raised an error.
    """
    if getattr(env, "render_mode", None) is None:
        return None
    try:
        return env.render()
    except EnvironmentFailure:
        raise
    except RAISED as error:
        raise failure("render()", error) from error
