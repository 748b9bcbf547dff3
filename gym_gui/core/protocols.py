"""Interfaces of in-process policies, and their conversion to :class:`Actor`.

A slot accepts four kinds of objects, and :func:`as_actor` makes an :class:`Actor` of each:

* an :class:`Actor`, which receives a whole :class:`~gym_gui.core.types.StepSnapshot`;
* an :class:`Operator`, which receives an observation, and the legal actions if its ``select_action``
  accepts them; an object that has only ``select_action`` is enough;
* an :class:`OperatorController` or :class:`PolicyController`, which decides for several agents;
* a function from observation to action.

The protocols are structural: no base class is needed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Protocol, cast, runtime_checkable

from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.errors import UsageError
from gym_gui.core.types import EpisodeSummary, StepSnapshot

_SEED_BITS = 0xFFFFFFFF
_WANTED = (
    "Pass a function of the observation, an object with select_action(observation) or a class of "
    "such objects, a checkpoint's path, or a slot such as {'type': 'random'}"
)


@runtime_checkable
class Actor(Protocol):
    """A policy of one agent that receives everything that the slot receives."""

    @property
    def id(self) -> str:
        """Name of the policy."""
        ...

    def select_action(self, snapshot: StepSnapshot) -> Any:
        """Return an action, or ``None`` for "no answer yet" (a person is thinking)."""
        ...

    def on_step(self, snapshot: StepSnapshot) -> None:
        """Receive the result of the last action."""
        ...

    def on_episode_end(self, summary: EpisodeSummary) -> None:
        """Forget the state of the episode that has ended."""
        ...


@runtime_checkable
class Operator(Protocol):
    """A policy that selects actions from observations."""

    @property
    def id(self) -> str:
        """Unique identifier of the operator."""
        ...

    @property
    def name(self) -> str:
        """Name shown to people."""
        ...

    def select_action(self, observation: Any, legal_actions: list[int] | None = None) -> Any:
        """Return an action given an observation."""
        ...

    def reset(self, seed: int | None = None) -> None:
        """Reset internal state for a new episode."""
        ...

    def on_step_result(
        self, observation: Any, action: Any, reward: float, terminated: bool, truncated: bool
    ) -> None:
        """Receive the result of the last action."""
        ...


@runtime_checkable
class OperatorController(Protocol):
    """A policy that chooses actions for several agents."""

    def select_action(self, agent_id: str, observation: Any, info: Any = None) -> Any:
        """Return the action of one agent, in environments whose agents act one after another (AEC)."""
        ...

    def select_actions(self, observations: dict[str, Any]) -> dict[str, Any]:
        """Return the actions of all agents that act simultaneously (parallel)."""
        ...


@runtime_checkable
class PolicyController(Protocol):
    """A policy that chooses actions for any agent, and may receive their results."""

    @property
    def id(self) -> str:
        """Unique identifier for this policy."""
        ...

    @property
    def paradigm(self) -> SteppingParadigm:
        """Paradigm this policy expects."""
        ...

    def select_action(self, agent_id: str, observation: Any, info: dict[str, Any] | None = None) -> Any:
        """Return the action of one agent."""
        ...

    def select_actions(
        self, observations: dict[str, Any], infos: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return the actions of several agents that act simultaneously (POSG)."""
        ...

    def on_step_result(self, agent_id: str, reward: float, done: bool, info: dict[str, Any]) -> None:
        """Receive the result of an agent's step."""
        ...


class PartialActor:
    """Makes an :class:`Actor` of an object that has ``select_action`` and only some of the other methods."""

    def __init__(self, policy: Any) -> None:
        self._id = str(getattr(policy, "id", type(policy).__name__))
        self._select = policy.select_action
        self._on_step: Callable[[StepSnapshot], None] = getattr(policy, "on_step", _do_nothing)
        self._on_end: Callable[[EpisodeSummary], None] = getattr(policy, "on_episode_end", _do_nothing)

    @property
    def id(self) -> str:
        return self._id

    def select_action(self, snapshot: StepSnapshot) -> Any:
        return self._select(snapshot)

    def on_step(self, snapshot: StepSnapshot) -> None:
        self._on_step(snapshot)

    def on_episode_end(self, summary: EpisodeSummary) -> None:
        self._on_end(summary)


def _do_nothing(_on_result: object) -> None:
    """Do nothing, in place of a method that the policy lacks."""


class OperatorActor:
    """Makes an :class:`Actor` of an :class:`Operator`, or of any object with ``select_action``.

    ``reset`` is called at an episode's first decision with the low 32 bits of the policy seed, because many
    libraries (``numpy.random.seed``) accept no more.
    """

    def __init__(self, operator: Any) -> None:
        self._id = str(getattr(operator, "id", type(operator).__name__))
        self._reset = _with_seed(getattr(operator, "reset", None))
        self._on_result: Callable[..., None] | None = getattr(operator, "on_step_result", None)
        self._episode: tuple[int, int | None] | None = None
        self._action: Any = None
        self._select = _with_legal(operator.select_action)

    @property
    def id(self) -> str:
        return self._id

    def select_action(self, snapshot: StepSnapshot) -> Any:
        episode = (snapshot.episode_index, snapshot.seed)
        if episode != self._episode:
            self._episode = episode
            self._reset(None if snapshot.seed is None else snapshot.seed & _SEED_BITS)
        self._action = self._select(snapshot.observation, snapshot.legal_actions)
        return self._action

    def on_step(self, snapshot: StepSnapshot) -> None:
        if self._on_result is None:
            return
        self._on_result(
            snapshot.observation,
            self._action if snapshot.action is None else snapshot.action,
            snapshot.reward,
            snapshot.terminated,
            snapshot.truncated,
        )

    def on_episode_end(self, summary: EpisodeSummary) -> None:
        self._episode = None
        self._action = None


class ControllerActor:
    """Makes an :class:`Actor` for one agent of an :class:`OperatorController` or :class:`PolicyController`.

    The controller receives an action mask as ``info["action_mask"]``, where PettingZoo puts it, too.
    """

    def __init__(self, controller: OperatorController | PolicyController) -> None:
        self._controller = controller
        self._id = str(getattr(controller, "id", type(controller).__name__))
        self._feedback: Callable[[str, float, bool, dict[str, Any]], None] | None
        self._feedback = getattr(controller, "on_step_result", None)

    @property
    def id(self) -> str:
        return self._id

    def select_action(self, snapshot: StepSnapshot) -> Any:
        return self._controller.select_action(
            snapshot.agent_id, snapshot.observation, _info_with_mask(snapshot)
        )

    def on_step(self, snapshot: StepSnapshot) -> None:
        if self._feedback is not None:
            done = snapshot.terminated or snapshot.truncated
            self._feedback(snapshot.agent_id, snapshot.reward, done, _info_with_mask(snapshot))

    def on_episode_end(self, summary: EpisodeSummary) -> None:
        """Do nothing, because controllers have no method for an episode's end."""


class FunctionActor:
    """Makes an :class:`Actor` of ``f(observation)`` or ``f(observation, legal_actions)``."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._id = getattr(function, "__name__", type(function).__name__)
        self._select = _with_legal(function)

    @property
    def id(self) -> str:
        return self._id

    def select_action(self, snapshot: StepSnapshot) -> Any:
        return self._select(snapshot.observation, snapshot.legal_actions)

    def on_step(self, snapshot: StepSnapshot) -> None:
        """Do nothing, because a function keeps no state."""

    def on_episode_end(self, summary: EpisodeSummary) -> None:
        """Do nothing, because a function keeps no state."""


def as_actor(obj: object) -> Actor:
    """Return ``obj`` as an :class:`Actor`.

    Args:
        obj: An actor, operator, controller, or function of an observation.

    Raises:
        UsageError: ``obj`` is none of these; the message says what a policy may be.
    """
    if isinstance(obj, type):
        raise UsageError(f"{obj.__name__} is a class, not a policy", fix=f"Pass {obj.__name__}(…)")
    if isinstance(obj, Actor):
        return obj
    if isinstance(obj, OperatorController):
        return ControllerActor(obj)
    if callable(getattr(obj, "select_action", None)):
        told_as_actor = hasattr(obj, "on_step") or hasattr(obj, "on_episode_end")
        return PartialActor(obj) if told_as_actor else OperatorActor(obj)
    if callable(obj):
        return FunctionActor(cast("Callable[..., Any]", obj))
    raise UsageError(f"{_article(type(obj).__name__)} is not a policy", fix=_WANTED)


def check_policy(obj: object) -> None:
    """Refuse an object that is not a policy before anything is started; a class is made for each episode.

    Raises:
        UsageError: The object is not a policy; the message says what a policy may be.
    """
    if not isinstance(obj, type):
        as_actor(obj)
    elif not any(name in vars(base) for base in obj.__mro__ for name in ("select_action", "__call__")):
        raise UsageError(f"the class {obj.__name__} has no select_action", fix=_WANTED)


def _article(word: str) -> str:
    return f"{'an' if word[:1] in 'aeiouAEIOU' else 'a'} {word}"


def _with_seed(reset: Callable[..., None] | None) -> Callable[[int | None], None]:
    """Return a function of a seed that calls ``reset``, with the seed if ``reset`` accepts one."""
    if reset is None:
        return _do_nothing
    try:
        parameters = inspect.signature(reset).parameters.values()
    except (TypeError, ValueError):  # some builtins have no signature
        return lambda seed: reset(seed=seed)
    if any(p.name == "seed" or p.kind is p.VAR_KEYWORD for p in parameters):
        return lambda seed: reset(seed=seed)
    return lambda seed: reset()


def _with_legal(function: Callable[..., Any]) -> Callable[[Any, list[int] | None], Any]:
    """Return a function of observation and legal actions that calls ``function`` with those it accepts."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # some builtins have no signature
        return lambda observation, _legal: function(observation)
    named = parameters.get("legal_actions")
    if named is not None and named.kind is not named.POSITIONAL_ONLY:
        return lambda observation, legal: function(observation, legal_actions=legal)
    required = [
        p
        for p in parameters.values()
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
    ]
    if len(required) > 1:
        return function
    return lambda observation, _legal: function(observation)


def _info_with_mask(snapshot: StepSnapshot) -> dict[str, Any]:
    info: Mapping[str, Any] = snapshot.info
    if snapshot.action_mask is None or "action_mask" in info:
        return dict(info)
    return {**info, "action_mask": snapshot.action_mask}
