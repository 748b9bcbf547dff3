"""Plays one episode with random legal actions and notes everything that breaks the contract.

:mod:`gym_gui.core.paradigms.check` uses it. The walk is a generator, so that episodes in two environments
can be played alternately.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.errors import MosaicError
from gym_gui.core.paradigms.base import ParadigmAdapter
from gym_gui.core.spaces import SpaceCodec, sample_legal, to_space
from gym_gui.core.types import AgentID, Mask, StepResult
from mosaic_worker.interfaces import spaces_of
from mosaic_worker.rng import bits_of

OnCall = Callable[[str, int | None, int], None]
"""Function called before each call of the environment, with the call's name, episode seed and step."""


def quietly(call: str, seed: int | None, step: int) -> None:
    """Do nothing, as the default ``on_call``."""


class Walk:
    """Plays one episode with actions that depend only on the seed.

    Args:
        adapter: The environment to play in.
        seed: Seed of the episode and of the actions.
        after_step: Called after the reset and after each step; it may render.
        on_call: Called before each call of the environment.

    Attributes:
        problems: Sentence for each finding that broke the contract, the first of its kind.
        digests: One short digest per step, the reset first; equal for equal trajectories.
        done: Whether the episode reached its end.
        infinite: Whether an observation contained an infinity, which an unbounded space allows.
        appeared: Agents that acted, if the environment does not name its agents beforehand.
        masks: Sources of action masks, in the order of their first use.
    """

    def __init__(
        self,
        adapter: ParadigmAdapter,
        seed: int,
        after_step: Callable[[], None] | None = None,
        on_call: OnCall = quietly,
    ) -> None:
        self.adapter = adapter
        self.seed = seed
        self.problems: dict[str, str] = {}
        self.digests: list[str] = []
        self.done = False
        self.infinite = False
        self.masks: dict[str, None] = {}
        self._after_step, self._on_call = after_step, on_call
        self._declared: dict[tuple[str, AgentID], Any] = {}
        self._codecs: dict[tuple[str, AgentID], SpaceCodec | None] = {}
        self._listed = frozenset(adapter.possible_agents)
        self.appeared: dict[AgentID, None] = {}
        self._acted: set[AgentID] = set()
        self._ended: set[AgentID] = set()
        self._draws = 0

    def run(self, steps: int) -> Walk:
        """Play ``steps`` steps or to the end of the episode."""
        for _ in self.steps(steps):
            pass
        return self

    def steps(self, steps: int) -> Iterator[None]:
        """Play ``steps`` steps or to the end of the episode; yield after the reset and after each step."""
        adapter = self.adapter
        try:
            self._on_call("reset()", self.seed, 0)
            observations = adapter.reset(seed=self.seed)
            self._check_agents(adapter.get_current_agents(), observations)
            self._note(observations, None)
            yield
            for step in range(steps):
                if adapter.is_episode_done():
                    break
                actions = {agent: self._act(agent, step) for agent in adapter.get_current_agents()}
                self._acted.update(actions)
                self._on_call("step()", self.seed, step + 1)
                result = adapter.step(actions)
                self._check_result(result)
                self._note(result.observations, result)
                yield
            self.done = adapter.is_episode_done()
            if self.done:
                self._check_end()
        except MosaicError as error:
            self.problem("running", str(error))

    def problem(self, finding: str, sentence: str) -> None:
        """Record a problem, once per finding."""
        self.problems.setdefault(finding, f"{sentence} (seed {self.seed}, step {len(self.digests)})")

    def _check_agents(self, current: Iterable[AgentID], observations: Mapping[AgentID, Any]) -> None:
        current = list(current)
        strangers = [a for a in current if a not in self._listed]
        if self.adapter.is_open_ended:
            self.appeared.update(dict.fromkeys(current))
            strangers = []
        if not current and not self.digests:
            self.problem("agents", "no agent can act after reset()")
        if strangers:
            self.problem("agents", f"{strangers[0]} acts but is not among possible_agents")
        for agent in current:
            self._check_spaces(agent)
        unseen = [a for a in current if a not in observations]
        if unseen:
            self.problem("agents", f"{unseen[0]} must act but received no observation")

    def _check_spaces(self, agent: AgentID) -> None:
        """Check that the spaces of an agent have not changed, because a policy is made for the first ones."""
        for name in ("observation_space", "action_space"):
            now = self._declared_space(name, agent)
            first = self._declared.setdefault((name, agent), now)
            if now is not first and now != first:
                what = name.replace("_", " ")
                self.problem(
                    "spaces",
                    f"the {what} of {agent} changes from {_brief(first)} to {_brief(now)}: spaces are fixed; "
                    "an action mask says what is illegal for a while",
                )

    def _declared_space(self, name: str, agent: AgentID) -> Any:
        """Return the environment's current space. (An adapter returns the space that it read first.)"""
        adapter = self.adapter
        if adapter.paradigm is SteppingParadigm.HIERARCHICAL:
            return getattr(adapter, name)(agent)
        space: Any = spaces_of(adapter.env, name)
        if adapter.paradigm is SteppingParadigm.SINGLE_AGENT:
            return space
        key: Any = adapter.key_of(agent)
        by_agent: Any = space
        return space(key) if callable(space) and not hasattr(by_agent, "contains") else by_agent[key]

    def _check_result(self, result: StepResult) -> None:
        current = self.adapter.get_current_agents()
        self._check_agents(current, result.observations)
        for agent, reward in result.rewards.items():
            if not math.isfinite(reward):
                self.problem("rewards", f"{agent} was given the reward {reward}")
        ended = {agent for agent, done in result.dones.items() if done}
        self._ended |= ended
        both = ended.intersection(current)
        if both:
            self.problem("endings", f"{min(both)} ended but must act again in the same step")

    def _check_end(self) -> None:
        forgotten = self._acted - self._ended
        if forgotten:
            self.problem(
                "endings",
                f"the episode is over and {min(forgotten)} was never reported terminated or truncated",
            )

    def _act(self, agent: AgentID, step: int) -> Any:
        space, mask = self.adapter.action_space(agent), self.adapter.action_mask(agent)
        if mask is not None:
            self.masks[self.adapter.mask_source(agent)] = None
            self._check_mask(agent, space, mask)
        self._draws += 1
        action = sample_legal(to_space(space), mask, bits_of(self.seed, self._draws))
        self._round_trip("action", agent, space, action)
        return action

    def _check_mask(self, agent: AgentID, space: Any, mask: Mask) -> None:
        size = mask_size(space)
        if size is None:
            self.problem(
                "masks", f"{agent} has an action mask, but acts in {_brief(space)}, which supports none"
            )
        elif np.shape(mask) != (size,):
            self.problem(
                "masks",
                f"{agent} has a mask of shape {np.shape(mask)} for {size} actions; expected ({size},)",
            )
        elif not np.any(mask):
            self.problem("masks", f"{agent} must act but its mask allows no action")

    def _note(self, observations: Mapping[AgentID, Any], result: StepResult | None) -> None:
        digest = hashlib.sha256(self.digests[-1].encode() if self.digests else b"")
        for agent in sorted(observations):
            value = observations[agent]
            digest.update(agent.encode())
            if value is None:  # an agent that has ended may have no observation
                continue
            space = self.adapter.observation_space(agent)
            if not space.contains(value):
                self.problem(
                    "spaces", f"the observation of {agent} is not in its {_brief(space)}: {_brief(value)}"
                )
            for part in self._round_trip("observation", agent, space, value):
                digest.update(part)
        if result is not None:
            facts = (result.rewards, result.terminated, result.truncated)
            digest.update(repr([sorted(fact.items()) for fact in facts]).encode())
        digest.update(repr(list(self.adapter.get_current_agents())).encode())
        self.digests.append(digest.hexdigest()[:16])
        if self._after_step is not None:
            self._on_call("render()", self.seed, len(self.digests) - 1)
            self._after_step()

    def _round_trip(self, what: str, agent: AgentID, space: Any, value: Any) -> Iterable[bytes]:
        """Encode and decode a value, note a difference, and return the encoded parts for the digest."""
        key = (what, agent)
        if key not in self._codecs:
            try:
                self._codecs[key] = SpaceCodec(space)
            except MosaicError as error:
                self._codecs[key] = None
                self.problem("round_trip", f"the {what} space of {agent} cannot be described: {error}")
        codec = self._codecs[key]
        if codec is None:
            return (repr(value).encode(),)
        try:
            parts = codec.encode(value)
            back = codec.decode(parts)
        except (MosaicError, ValueError, TypeError, KeyError, IndexError) as error:
            self.problem("round_trip", f"an {what} of {agent} cannot be encoded: {error}")
            return (repr(value).encode(),)
        if what == "observation" and not self.infinite:
            self.infinite = any(
                np.isinf(np.frombuffer(parts[j], dtype)).any() for j, dtype in codec.float_leaves
            )
        if not same(value, back):
            self.problem(
                "round_trip", f"an {what} of {agent} comes back changed: {_brief(value)} as {_brief(back)}"
            )
        return parts


def mask_size(space: Any) -> int | None:
    """Return the number of entries in an action mask of ``space``; ``None`` if it can have no mask."""
    if hasattr(space, "nvec"):
        return int(np.sum(space.nvec))
    return int(space.n) if hasattr(space, "n") and hasattr(space, "start") else None


def same(sent: Any, back: Any) -> bool:
    """Return whether a decoded value equals the sent one in value and shape; NaN equals NaN.

    An array is decoded in its space's dtype, which may be wider than the sent one. Values of types that
    neither side knows are compared as text (MultiGrid's missions, which derive from ``ndarray``, are
    decoded as their sentence).
    """
    if type(sent) is np.ndarray or type(back) is np.ndarray:
        return _same_array(sent, back)
    if isinstance(sent, Mapping) and isinstance(back, Mapping):
        return _same_mapping(sent, back)  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(sent, (tuple, list)) and isinstance(back, (tuple, list)):
        return _same_list(sent, back)  # pyright: ignore[reportUnknownArgumentType]
    return _text(sent) == _text(back) or bool(sent == back)


def _text(value: Any) -> str:
    return str(value)


def _same_array(sent: Any, back: Any) -> bool:
    sent, back = np.asarray(sent), np.asarray(back)
    if sent.dtype != back.dtype:
        if not np.can_cast(sent.dtype, back.dtype, "safe"):
            return False
        sent = sent.astype(back.dtype)
    return sent.shape == back.shape and sent.tobytes() == back.tobytes()


def _same_mapping(sent: Mapping[Any, Any], back: Mapping[Any, Any]) -> bool:
    return sent.keys() == back.keys() and all(same(sent[k], back[k]) for k in sent)


def _same_list(sent: Sequence[Any], back: Sequence[Any]) -> bool:
    return len(sent) == len(back) and all(map(same, sent, back))


def _brief(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 120 else text[:117] + "…"
