"""What managers and those they manage are told: what they see themselves, and the options."""

from __future__ import annotations

from gym_gui.core.experiment.prompt_inputs import PromptInputs
from gym_gui.core.types import Shown
from gym_gui.envs import Environment, make

BOSS, AGENT = "agent_0/goal", "agent_0"
VIEW = PromptInputs(text=True, facts=True)
TASK = "MiniGrid-DoorKey-6x6-v0"


def shown(environment: Environment, agent: str, observation: object) -> Shown:
    return environment.show(agent, observation, VIEW, environment.adapter.action_mask(agent))


def test_a_manager_is_told_what_can_be_chosen_and_how_the_last_option_ended() -> None:
    environment, alone = make(TASK).with_manager(), make(TASK)
    seen = environment.adapter.reset(seed=0)[BOSS]
    plain = alone.show(AGENT, alone.adapter.reset(seed=0)[AGENT], VIEW)
    first = shown(environment, BOSS, seen)
    assert first.text == plain.text
    assert first.facts[: len(plain.facts)] == plain.facts
    can = ("explore", "go_to, yellow, key", "pick_up, yellow, key")
    assert set(first.facts) - set(plain.facts) == {f"can({words})" for words in can}
    names = environment.action_meanings(BOSS)
    assert [names[each.action] for each in first.choices] == [each.word for each in first.choices]
    assert {each.word for each in first.choices} == {
        "explore",
        "go to(yellow key)",
        "pick up(yellow key)",
    }
    environment.adapter.step({BOSS: 0})
    while list(environment.adapter.get_current_agents()) == [AGENT]:
        result = environment.adapter.step({AGENT: 6})
    again = shown(environment, BOSS, result.observations[BOSS])
    assert (
        "What you asked for last, explore, has ended: its moves are spent, and it is not done." in again.text
    )
    assert {"last(explore)", "ended(budget)"} <= set(again.facts)


def test_a_controller_is_told_its_task_and_what_it_sees() -> None:
    environment, alone = make(TASK).with_manager(), make(TASK)
    environment.adapter.reset(seed=0)
    plain = alone.show(AGENT, alone.adapter.reset(seed=0)[AGENT], VIEW)
    number = environment.action_meanings(BOSS).index("go to(yellow key)")
    seen = environment.adapter.step({BOSS: number}).observations[AGENT]
    told = shown(environment, AGENT, seen)
    assert told.text.startswith("Your task now: go to(yellow key)") and told.text.endswith(plain.text)
    assert told.facts == (*plain.facts, "option(go_to, yellow, key)")
    assert environment.describer(AGENT).can_state(AGENT) and environment.describer(AGENT).can_say(AGENT)


def test_briefings_say_who_chooses_and_who_acts() -> None:
    environment, alone = make(TASK).with_manager(), make(TASK)
    manager, controller = (environment.briefing(agent, VIEW) for agent in (BOSS, AGENT))
    own = alone.describer(AGENT).game(AGENT)
    assert own in manager and own in controller
    limit = "A game ends after 360 steps at the latest."
    assert manager.count(limit) == controller.count(limit) == 1
    assert (
        "- pick up(…): go there and take it, with empty hands. In place of … stands one of: yellow key"
        in manager
    )
    assert "- pickup:" not in manager and "- pickup:" in controller
    assert "Another agent chooses your task" in controller


def test_an_agent_without_a_manager_is_told_nothing_of_options() -> None:
    environment = make("MultiGrid-Empty-8x8-v0").with_manager(agents=["agent_0"])
    alone = make("MultiGrid-Empty-8x8-v0")
    assert environment.briefing("agent_1", VIEW) == alone.briefing("agent_1", VIEW)
