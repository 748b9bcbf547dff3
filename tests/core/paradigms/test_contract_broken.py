"""The contract test finds what is broken: one broken environment per finding."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, ClassVar

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo import AECEnv

from gym_gui.core.errors import UsageError
from gym_gui.core.paradigms import adapt
from gym_gui.core.paradigms.check import CheckReport, check_environment
from mosaic_env_server.old_gym import OldGymWrapper

FINDINGS = (
    "running",
    "agents",
    "spaces",
    "round_trip",
    "rewards",
    "endings",
    "seeding",
    "global_random",
    "masks",
    "interleaving",
    "rendering",
    "closing",
)


class Sound(gymnasium.Env[Any, Any]):
    """A random walk that keeps the contract; those below break it in one way each."""

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        self.observation_space = spaces.Box(-100, 100, (2,), np.float32)
        self.action_space = spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.t, self.at = 0, 0.0
        return self.seen(), self.said()

    def step(self, action: Any) -> Any:
        self.t += 1
        self.at += float(action) - 1 + float(self.np_random.normal())
        return self.seen(), float(action), self.t == 12, False, self.said()

    def seen(self) -> Any:
        return np.array([np.clip(self.at, -99, 99), self.t], np.float32)

    def said(self) -> dict[str, Any]:
        return {"action_mask": np.array([1, 1, self.t % 2], np.int8)}

    def render(self) -> Any:
        return np.zeros((4, 5, 3), np.uint8)


class Shrinks(Sound):
    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.action_space = spaces.Discrete(3)
        return super().reset(seed=seed)

    def step(self, action: Any) -> Any:
        out = super().step(action)
        self.action_space = spaces.Discrete(2)
        return out

    def said(self) -> dict[str, Any]:
        return {}


class Infinite(Sound):
    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(render_mode)
        self.observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float32)

    def seen(self) -> Any:
        return np.array([np.inf if self.t == 3 else 0.0, self.at], np.float32)


class PaysNothing(Sound):
    def step(self, action: Any) -> Any:
        seen, _, *rest = super().step(action)
        return (seen, None, *rest)


class FourValues(Sound):
    def step(self, action: Any) -> Any:
        seen, paid, done, _, said = super().step(action)
        return seen, paid, done, said


class TakesNoSeed(Sound):
    def reset(self) -> Any:  # type: ignore[override]
        return super().reset()


class IgnoresRenderMode(Sound):
    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__()

    def render(self) -> Any:
        return None


class PaysArrays(Sound):
    def step(self, action: Any) -> Any:
        seen, paid, *rest = super().step(action)
        return (seen, np.array([paid]), *rest)


class HumanOnly(Sound):
    metadata = {"render_modes": ["human"]}  # noqa: RUF012

    def __init__(self, render_mode: str | None = None) -> None:
        assert render_mode in (None, "human")
        super().__init__(render_mode)


class OldGym:
    """The interface of gym before 0.26."""

    observation_space, action_space = spaces.Box(-1, 1, (2,), np.float32), spaces.Discrete(2)

    def seed(self, seed: int | None = None) -> None:
        """Nothing here is random."""

    def reset(self) -> Any:
        self.t = 0
        return np.zeros(2, np.float32)

    def step(self, action: Any) -> Any:
        self.t += 1
        return np.zeros(2, np.float32), 1.0, self.t == 5, {}

    def close(self) -> None:
        """Nothing is open."""


class MaskByMethod(Sound):
    def said(self) -> dict[str, Any]:
        return {}

    def action_masks(self) -> Any:
        return [True, True, self.t % 2 == 1]


class Raises(Sound):
    def step(self, action: Any) -> Any:
        if self.t == 3:
            raise OSError("the motor burnt out")
        return super().step(action)


class OutOfSpace(Sound):
    def seen(self) -> Any:
        return np.array([0, 1000 if self.t == 5 else 0], np.float32)


class NotANumber(Sound):
    def seen(self) -> Any:
        return np.array([0, np.nan if self.t == 5 else 0], np.float32)


class Changed(Sound):
    """Observes in more digits than its space has."""

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(render_mode)
        self.observation_space = Lenient(-100, 100, (2,), np.float32)

    def seen(self) -> Any:
        return np.array([0.1, self.t], np.float64)


class Lenient(spaces.Box):
    def contains(self, x: Any) -> bool:
        return True


class NeverPays(Sound):
    def step(self, action: Any) -> Any:
        observation, _, terminated, truncated, info = super().step(action)
        return observation, float("nan"), terminated, truncated, info


class Unseeded(Sound):
    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        return super().reset(seed=None)


class Remembers(Sound):
    """An episode begins where a longer one before it ended."""

    before = 0.0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.at = self.before
        return self.seen(), self.said()

    def step(self, action: Any) -> Any:
        result = super().step(action)
        if self.t > 5:
            self.before = self.at
        return result


class DrawsFromRandom(Sound):
    def step(self, action: Any) -> Any:
        random.random()
        return super().step(action)


class SeedsNumpy(Sound):
    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        np.random.seed(seed)
        return super().reset(seed=seed)


class NothingLegal(Sound):
    def said(self) -> dict[str, Any]:
        return {"action_mask": np.zeros(3, np.int8)}


class ShortMask(Sound):
    def said(self) -> dict[str, Any]:
        return {"action_mask": np.ones(2, np.int8)}


class Shared(Sound):
    """One clock for all instances, begun anew by every reset."""

    clock = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        Shared.clock = 0
        return super().reset(seed=seed)

    def seen(self) -> Any:
        Shared.clock += 1
        return np.array([0, Shared.clock], np.float32)


class FloatFrames(Sound):
    def render(self) -> Any:
        return np.zeros((4, 5, 3), np.float32)


class FlatFrames(Sound):
    def render(self) -> Any:
        return np.zeros((4, 5), np.uint8)


class NoFrames(Sound):
    def render(self) -> Any:
        return None


class DrawingMoves(Sound):
    def render(self) -> Any:
        self.at += 1
        return super().render()


class ClosesBadly(Sound):
    def close(self) -> None:
        raise RuntimeError("already gone")


class Vanishing(AECEnv[Any, Any, Any]):
    """Ends without the termination or truncation of an agent."""

    metadata = {"name": "vanishing"}  # noqa: RUF012
    render_mode = None
    possible_agents = ["a"]  # noqa: RUF012

    def observation_space(self, agent: Any) -> Any:
        return spaces.Discrete(9)

    action_space = observation_space

    def observe(self, agent: Any) -> Any:
        return self.t

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        self.t, self.agents, self.agent_selection = 0, ["a"], "a"
        self.rewards = self._cumulative_rewards = {"a": 0.0}
        self.terminations, self.truncations, self.infos = {"a": False}, {"a": False}, {"a": {}}

    def step(self, action: Any) -> None:
        self.t += 1
        if self.t == 4:
            self.agents = []


class Deserted(Vanishing):
    def reset(self, seed: int | None = None, options: Any = None) -> None:
        super().reset()
        self.agents = []


BROKEN: list[tuple[str, Callable[[], Any], str]] = [
    ("running", Raises, "the motor burnt out"),
    ("agents", Deserted, "no agent can act"),
    ("spaces", OutOfSpace, "not in its"),
    ("spaces", NotANumber, "not in its"),
    ("round_trip", Changed, "comes back changed"),
    ("spaces", Shrinks, "changes from Discrete(3) to Discrete(2)"),
    ("running", PaysNothing, "gave the reward None, which is not a number"),
    ("running", FourValues, "gave 4 values in step()"),
    ("running", TakesNoSeed, "takes no seed and no options"),
    ("rendering", IgnoresRenderMode, "its render_mode is None"),
    ("rewards", NeverPays, "the reward nan"),
    ("endings", Vanishing, "a was never reported"),
    ("seeding", Unseeded, "in a new instance"),
    ("seeding", Remembers, "after another episode"),
    ("global_random", DrawsFromRandom, "global generator of random"),
    ("global_random", SeedsNumpy, "the environment uses or seeds the global generator of numpy.random"),
    ("masks", NothingLegal, "allows no action"),
    ("masks", ShortMask, "shape (2,) for 3 actions"),
    ("interleaving", Shared, "disturb each other"),
    ("rendering", FloatFrames, "float32"),
    ("rendering", FlatFrames, "(4, 5)"),
    ("rendering", NoFrames, "NoneType"),
    ("rendering", DrawingMoves, "changes what happens"),
    ("closing", ClosesBadly, "already gone"),
]


def checked(env: Callable[..., Any]) -> CheckReport:
    rendered = None if issubclass(env, AECEnv) else lambda: adapt(env(render_mode="rgb_array"))
    return check_environment(lambda: adapt(env()), steps=30, make_rendered=rendered)


def test_a_sound_environment_passes_every_finding() -> None:
    report = checked(Sound)
    assert [f.name for f in report.findings] == list(FINDINGS)
    assert {f.status.value for f in report.findings} == {"passed"}, "\n".join(report.lines())
    assert "accepted silently" in report["masks"].detail
    assert report.ok and not report.failed


@pytest.mark.parametrize(("finding", "env", "said"), BROKEN, ids=[env.__name__ for _, env, _ in BROKEN])
def test_what_is_broken_is_found(finding: str, env: Any, said: str) -> None:
    report = checked(env)
    assert not report.ok
    assert finding in [f.name for f in report.failed], "\n".join(report.lines())
    assert said in report[finding].detail


@pytest.mark.parametrize(("finding", "env"), [(f, e) for f, e, _ in BROKEN])
def test_nothing_else_is_blamed(finding: str, env: Any) -> None:
    assert [f.name for f in checked(env).failed] == [finding]


def test_every_finding_can_fail() -> None:
    assert {finding for finding, _, _ in BROKEN} == set(FINDINGS)


def test_an_episode_too_long_to_see_its_end_is_said() -> None:
    report = check_environment(lambda: adapt(Sound()), steps=5)
    assert report["endings"].status == "skipped"
    assert report["rendering"].status == "skipped"


class InARow(Sound):
    """Ends when one action was played five times in a row, as random play does soon."""

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(render_mode)
        self.action_space = spaces.Discrete(2)
        self.played: list[int] = []

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.played = []
        return super().reset(seed=seed)

    def step(self, action: Any) -> Any:
        self.played.append(int(action))
        done = len(self.played) >= 5 and len(set(self.played[-5:])) == 1
        return self.seen(), 0.0, done, False, {}

    def said(self) -> dict[str, Any]:
        return {}


def test_actions_are_drawn_and_not_gone_through_in_turn() -> None:
    report = check_environment(lambda: adapt(InARow()))
    assert report["endings"].status == "passed", report["endings"].detail


def test_two_seeds_are_needed() -> None:
    with pytest.raises(ValueError, match="two different seeds"):
        check_environment(lambda: adapt(Sound()), seeds=(1, 1))


def test_instances_are_closed_even_where_closing_fails() -> None:
    closed: list[int] = []

    class Counted(Sound):
        def close(self) -> None:
            closed.append(1)

    made: list[int] = []

    def make() -> Any:
        made.append(1)
        return adapt(Counted())

    check_environment(make, steps=5)
    assert len(closed) == len(made) > 3


def test_what_an_environment_prints_stays_out_of_the_way(capsys: pytest.CaptureFixture[str]) -> None:
    class Loud(Sound):
        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            print("welcome")
            return super().reset(seed=seed)

    assert check_environment(lambda: adapt(Loud()), steps=5).ok
    assert capsys.readouterr().out == ""


def test_instances_that_say_they_share_one_world_are_not_stepped_in_turn() -> None:
    class OneWorld(Shared):
        metadata: ClassVar[dict[str, Any]] = {**Shared.metadata, "one_at_a_time": True}

    report = checked(OneWorld)
    assert report["interleaving"].status == "skipped"
    assert "one episode at a time" in report["interleaving"].detail
    assert report.ok, "\n".join(report.lines())


@pytest.mark.parametrize(("env", "source"), [(Sound, "info"), (MaskByMethod, "action_masks()")])
def test_where_masks_are_told_is_named(env: Any, source: str) -> None:
    report = checked(env)
    assert report.ok, "\n".join(report.lines())
    assert f"source: {source};" in report["masks"].detail


@pytest.mark.parametrize("env", [PaysArrays, HumanOnly])
def test_what_is_unusual_and_clear_passes(env: Any) -> None:
    report = checked(env)
    assert report.ok, "\n".join(report.lines())


def test_an_environment_of_old_gym_is_checked_in_its_wrapper() -> None:
    said = check_environment(lambda: adapt(OldGym()))["running"]
    assert said.status != "passed" and "mosaic_env_server.old_gym.OldGymWrapper" in said.detail
    assert check_environment(lambda: adapt(OldGymWrapper(OldGym()))).ok


def test_a_vector_environment_is_told_so() -> None:
    with pytest.raises(UsageError, match="is a vector environment"):
        adapt(gymnasium.make_vec("CartPole-v1", num_envs=2))


def test_infinities_that_a_space_contains_are_told() -> None:
    report = checked(Infinite)
    assert report.ok and "infinities" in report["spaces"].detail
    assert "infinities" not in checked(Sound)["spaces"].detail
