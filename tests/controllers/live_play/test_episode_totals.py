"""What an operator did is counted as it plays."""

from __future__ import annotations

from gym_gui.controllers.live_play.episode_totals import REMEMBERED_EPISODES, EpisodeTotals
from gym_gui.core.live import AgentView, LiveView


def one(step: int, total: float, *, action: int = 0, episode: int = 0, over: str = "") -> LiveView:
    agent = AgentView(
        "a", "a", f"act {action}", action, "policy" if step else "", 0.0, total, latency_ms=20.0
    )
    return LiveView(episode, 7, step, (agent,), () if over else ("a",), over)


def test_rewards_of_steps_that_were_not_shown_are_shared_out():
    tally = EpisodeTotals()
    for view in (one(0, 0.0), one(1, 1.0), one(5, 3.0)):
        tally.count_view(view)
    assert list(tally.rewards) == [(1, 1.0), (5, 0.5)]
    tally.count_view(one(5, 3.0))  # nothing happened
    assert len(tally.rewards) == 2
    tally.count_view(one(2, 4.0, episode=1))  # its beginning was not shown
    assert list(tally.rewards) == [(2, 2.0)]


def test_only_who_was_asked_is_counted():
    def game(step: int, turn: str) -> LiveView:
        def agent(name: str, number: int, latency: float) -> AgentView:
            acted = step > (0 if name == "x" else 1)
            return AgentView(name, name, str(number), number, "policy" if acted else "", latency_ms=latency)

        return LiveView(0, 7, step, (agent("x", 4, 100.0), agent("o", 5, 300.0)), (turn,))

    tally = EpisodeTotals()
    for step, turn in enumerate(("x", "o", "x", "o")):
        tally.count_view(game(step, turn))
    assert tally.actions == {(4, "4"): 2, (5, "5"): 1}
    assert tally.median_s == 0.1 and tally.decisions == 3


def test_actions_are_counted_in_the_order_of_their_numbers():
    tally = EpisodeTotals()
    for step, action in enumerate((0, 2, 1, 2), start=1):
        tally.count_view(one(step, 0.0, action=action))
    assert list(tally.action_counts().items()) == [("act 0", 1), ("act 1", 1), ("act 2", 2)]
    nameless = AgentView("a", "a", "[0.3]", None, "policy")
    tally.count_view(LiveView(0, 7, 9, (nameless,), ("a",)))
    assert len(tally.actions) == 3  # actions that are not numbered are as many as there are steps


def test_episodes_that_have_ended():
    tally = EpisodeTotals()
    tally.count_view(one(3, 2.0))
    assert (tally.episodes, tally.mean_return, tally.mean_length, tally.decisions) == (0, None, None, 3)
    tally.count_view(one(4, 2.0, over="completed"))
    assert tally.decisions == 4
    row = {
        "episode_index": 0,
        "total_reward": 2.0,
        "length": 4,
        "invalid_actions": {"a": 3},
        "unusable_decisions": {"a": 1},
    }
    tally.end(row, decisions=4)
    tally.end({**row, "episode_index": 1, "total_reward": None, "length": 6}, decisions=6)
    tally.end({**row, "episode_index": 2, "total_reward": 5.0}, decisions=4)
    assert (tally.episodes, tally.mean_return, tally.decisions, tally.unusable) == (3, 3.5, 14, 3)
    assert list(tally.returns) == [(1, 2.0), (3, 5.0)] and tally.last_returns(1) == [5.0]


def test_memory_is_bounded():
    tally = EpisodeTotals()
    for index in range(REMEMBERED_EPISODES + 10):
        tally.end({"episode_index": index, "total_reward": 1.0, "length": 1}, decisions=1)
    assert len(tally.returns) == REMEMBERED_EPISODES and tally.returns[-1][0] == REMEMBERED_EPISODES + 10
    assert tally.mean_return == 1.0
