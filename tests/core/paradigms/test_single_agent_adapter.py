"""One agent: results, endings, masks, failures."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.errors import EnvironmentFailure
from gym_gui.core.paradigms import SingleAgentAdapter


class Corridor(gymnasium.Env[Any, Any]):
    """Five cells; the mask forbids walking off the left end."""

    def __init__(self, where: str = "observation") -> None:
        self.where = where
        self.action_space = spaces.Discrete(2)
        plain = spaces.Box(0, 4, (1,), np.int64)
        masked = {"observation": plain, "action_mask": spaces.MultiBinary(2)}
        extra = {**masked, "hint": spaces.Discrete(3)}
        self.observation_space = {"observation": spaces.Dict(masked), "extra": spaces.Dict(extra)}.get(
            where, plain
        )
        self.at = 0

    def _seen(self) -> Any:
        cell, mask = np.array([self.at]), np.array([self.at > 0, True], np.int8)
        if self.where == "observation":
            return {"observation": cell, "action_mask": mask}
        if self.where == "extra":
            return {"observation": cell, "action_mask": mask, "hint": 1}
        return cell

    def _info(self) -> dict[str, Any]:
        return {"action_mask": np.array([self.at > 0, True], np.int8)} if self.where == "info" else {}

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.at = 0
        return self._seen(), self._info()

    def step(self, action: Any) -> Any:
        if action not in (0, 1):
            raise ValueError(f"no way {action}")
        self.at += 1 if action else -1
        return self._seen(), np.float32(0.5), np.bool_(self.at == 4), False, self._info()


def test_the_same_results_as_the_environment_alone() -> None:
    plain, adapter = gymnasium.make("CartPole-v1"), SingleAgentAdapter(gymnasium.make("CartPole-v1"))
    expected, _ = plain.reset(seed=3)
    np.testing.assert_array_equal(adapter.reset(seed=3)["agent_0"], expected)
    assert adapter.paradigm is SteppingParadigm.SINGLE_AGENT
    done = False
    while not done:
        assert list(adapter.get_current_agents()) == ["agent_0"]
        observation, reward, terminated, truncated, _ = plain.step(1)
        result = adapter.step({"agent_0": 1})
        np.testing.assert_array_equal(result.observations["agent_0"], observation)
        assert result.rewards == {"agent_0": reward}
        assert (result.terminated, result.truncated) == ({"agent_0": terminated}, {"agent_0": truncated})
        done = terminated or truncated
    assert adapter.is_episode_done() and not adapter.get_current_agents()


def test_a_time_limit_truncates() -> None:
    adapter = SingleAgentAdapter(gymnasium.make("Pendulum-v1"))
    adapter.reset(seed=0)
    for _ in range(199):
        assert not any(adapter.step({"agent_0": np.zeros(1, np.float32)}).dones.values())
    last = adapter.step({"agent_0": np.zeros(1, np.float32)})
    assert last.truncated == {"agent_0": True} and last.terminated == {"agent_0": False}


@pytest.mark.parametrize("where", ["observation", "info", "extra"])
def test_the_mask_is_found_and_taken_out(where: str) -> None:
    adapter = SingleAgentAdapter(Corridor(where))
    first = adapter.reset()["agent_0"]
    assert adapter.observation_space("agent_0").contains(first)
    assert "action_mask" not in first
    np.testing.assert_array_equal(adapter.action_mask("agent_0"), [0, 1])
    adapter.step({"agent_0": 1})
    np.testing.assert_array_equal(adapter.action_mask("agent_0"), [1, 1])


def test_the_mask_leaves_the_other_entries_of_an_observation() -> None:
    adapter = SingleAgentAdapter(Corridor("extra"))
    assert set(adapter.reset()["agent_0"]) == {"observation", "hint"}
    assert set(adapter.observation_space("agent_0").spaces) == {"observation", "hint"}


def test_a_mask_that_is_advice_is_no_mask() -> None:
    adapter = SingleAgentAdapter(gymnasium.make("Taxi-v4"), info_mask=False)
    adapter.reset(seed=0)
    assert "action_mask" in adapter.info("agent_0")
    assert adapter.action_mask("agent_0") is None


class MaskByMethod(Corridor):
    """As sb3-contrib's ``ActionMasker`` and ``get_action_masks`` have it."""

    def __init__(self) -> None:
        super().__init__("info")

    def _info(self) -> dict[str, Any]:
        return {"action_mask": np.ones(2, np.int8)}  # advice: the method is what counts

    def action_masks(self) -> Any:
        return [self.at > 0, True]


def test_a_mask_is_asked_of_the_method_that_sb3_contrib_calls() -> None:
    adapter = SingleAgentAdapter(gymnasium.wrappers.TimeLimit(MaskByMethod(), 9))
    adapter.reset()
    np.testing.assert_array_equal(adapter.action_mask("agent_0"), [False, True])
    adapter.step({"agent_0": 1})
    np.testing.assert_array_equal(adapter.action_mask("agent_0"), [True, True])
    assert adapter.mask_source("agent_0") == "action_masks()"


def test_the_mask_of_a_wrapper_is_found() -> None:
    masker = pytest.importorskip("sb3_contrib.common.wrappers").ActionMasker
    adapter = SingleAgentAdapter(masker(Corridor("none"), lambda env: np.array([env.at > 0, True])))
    adapter.reset()
    np.testing.assert_array_equal(adapter.action_mask("agent_0"), [False, True])


def test_a_method_that_wants_more_is_another_one() -> None:
    class Other(Corridor):
        def action_masks(self, agent: str) -> Any:
            return [agent]

    adapter = SingleAgentAdapter(Other("info"))
    adapter.reset()
    np.testing.assert_array_equal(adapter.action_mask("agent_0"), [0, 1])
    assert adapter.mask_source("agent_0") == "info"


def test_a_mask_method_that_raises_fails_the_episode() -> None:
    class Broken(Corridor):
        def action_masks(self) -> Any:
            raise KeyError("board")

    with pytest.raises(EnvironmentFailure, match=r"KeyError in action_masks\(\)"):
        SingleAgentAdapter(Broken("none")).reset()


def test_masks_of_several_components_are_joined() -> None:
    class Pair(Corridor):
        def _info(self) -> dict[str, Any]:
            return {"action_mask": (np.array([1, 0], np.int8), np.array([1, 1, 0], np.int8))}

    adapter = SingleAgentAdapter(Pair("none"))
    adapter.reset()
    np.testing.assert_array_equal(adapter.action_mask("agent_0"), [1, 0, 1, 1, 0])


def test_plain_numbers_come_out() -> None:
    adapter = SingleAgentAdapter(Corridor("none"))
    adapter.reset()
    result = adapter.step({"agent_0": 1})
    assert type(result.rewards["agent_0"]) is float and type(result.terminated["agent_0"]) is bool


def test_what_the_environment_raises_is_said_and_kept() -> None:
    adapter = SingleAgentAdapter(Corridor("none"))
    adapter.reset()
    with pytest.raises(EnvironmentFailure, match=r"ValueError in step\(\): no way 7") as caught:
        adapter.step({"agent_0": 7})
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_failing_reset_leaves_nobody_to_act() -> None:
    class Broken(Corridor):
        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            raise RuntimeError("no floor")

    adapter = SingleAgentAdapter(Broken("none"))
    with pytest.raises(EnvironmentFailure, match=r"RuntimeError in reset\(\): no floor"):
        adapter.reset()
    assert adapter.is_episode_done()


@pytest.mark.parametrize("actions", [{}, {"agent_1": 0}, {"agent_0": 0, "agent_1": 0}])
def test_the_wrong_agents_are_refused(actions: dict[str, int]) -> None:
    adapter = SingleAgentAdapter(Corridor("none"))
    adapter.reset()
    with pytest.raises(EnvironmentFailure, match="action for"):
        adapter.step(actions)


def test_stepping_on_after_the_end_is_refused() -> None:
    adapter = SingleAgentAdapter(Corridor("none"))
    with pytest.raises(EnvironmentFailure, match="over"):
        adapter.step({"agent_0": 1})
    adapter.reset()
    for _ in range(4):
        adapter.step({"agent_0": 1})
    with pytest.raises(EnvironmentFailure, match="over"):
        adapter.step({"agent_0": 1})


def test_closing_twice_closes_once() -> None:
    closed: list[int] = []
    env = Corridor("none")
    env.close = lambda: closed.append(1)  # type: ignore[method-assign]
    adapter = SingleAgentAdapter(env)
    adapter.close()
    adapter.close()
    assert closed == [1]


def test_a_frame_only_where_one_was_asked_for() -> None:
    assert SingleAgentAdapter(gymnasium.make("FrozenLake-v1")).render() is None
    adapter = SingleAgentAdapter(gymnasium.make("FrozenLake-v1", render_mode="ansi"))
    adapter.reset(seed=0)
    assert "FFF" in adapter.render()
