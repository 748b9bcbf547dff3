"""Describes managers' choices and the tasks of the agents below, with these agents' own observations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gym_gui.core.experiment.prompt_inputs import Mode
from gym_gui.core.paradigms import HierarchicalAdapter, Option
from gym_gui.core.types import AgentID, Choice, Mask
from gym_gui.envs.describers.describer import ActionWord, Describer, Limit
from gym_gui.envs.describers.other_words import Terms
from gym_gui.envs.facts import Fact, Term, atom, fact
from gym_gui.envs.instance import Instance

_ENDED = {"over": "it is done", "budget": "its moves are spent, and it is not done"}


class TwoLevelDescriber(Describer):
    """Describer of the slots of managers and of the agents below them.

    Args:
        environment: The instance with managers.
        adapter: Adapter of the environment.
        own: Describer of the same environment without managers.
    """

    def __init__(self, environment: Instance, adapter: HierarchicalAdapter, own: Describer) -> None:
        super().__init__(environment)
        self._adapter, self._own = adapter, own

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        seat, seen = self._adapter.behind(agent)
        told = self._own.text(seat, seen, mode)
        if self._adapter.manages(agent):
            last, why = self._adapter.last(seat)
            if last is None or why not in _ENDED:  # before the first choice, or after the episode's end
                return told
            return f"{told}\n\nWhat you asked for last, {last.name}, has ended: {_ENDED[why]}."
        option = self._adapter.running(agent)
        return told if option is None else f"Your task now: {_with_meaning(option)}.\n\n{told}"

    def facts(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> Sequence[Fact]:
        seat, seen = self._adapter.behind(agent)
        return [*self._own.facts(seat, seen, mode), *self._option_facts(agent, seat)]

    def _option_facts(self, agent: AgentID, seat: AgentID) -> Iterator[Fact]:
        if not self._adapter.manages(agent):
            option = self._adapter.running(seat)
            if option is not None:
                yield _option_fact("option", option)
            return
        yield from (_option_fact("can", option) for _, option in self._adapter.startable(agent))
        last, why = self._adapter.last(seat)
        if last is not None:
            yield _option_fact("last", last)
            yield fact("ended", why)

    def can_state(self, agent: AgentID) -> bool:
        return self._own.can_state(self._seat(agent))

    def measures(self, agent: AgentID) -> bool:
        return not self._adapter.manages(agent) and self._own.measures(self._adapter.behind(agent)[0])

    def terms(self, agent: AgentID) -> Terms:
        """Return no terms, because options name actions and objects themselves."""
        return Terms()

    def can_hide_legal(self, agent: AgentID) -> bool:
        return not self._adapter.manages(agent) and self._own.can_hide_legal(agent)

    def can_say(self, agent: AgentID) -> bool:
        return self._own.can_say(self._seat(agent))

    def _seat(self, agent: AgentID) -> AgentID:
        return self._adapter.manages(agent) or agent

    def game(self, agent: AgentID) -> str:
        told = self._own.game(self._seat(agent))
        if self._adapter.manages(agent):
            return (
                f"{told} You do not act yourself: you choose what is to be done next, another agent does it, "
                "and you are asked again when it is done or has taken its moves."
            )
        return (
            f"{told} Another agent chooses your task: it stands above what you see. Do that and nothing else."
        )

    def limit(self, agent: AgentID) -> Limit:
        return self._own.limit(self._seat(agent))

    def reading(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        return self._own.reading(self._seat(agent), mode)

    def actions(self, agent: AgentID) -> Sequence[ActionWord]:
        if not self._adapter.manages(agent):
            return self._own.actions(agent)
        return [ActionWord(option.name, option.meaning) for option in self._adapter.options_of(agent)]

    def _how_to_act(self, agent: AgentID) -> str:
        if not self._adapter.manages(agent):
            return super()._how_to_act(agent)
        skills: dict[str, list[Option]] = {}
        for option in self._adapter.options_of(agent):
            skills.setdefault(option.skill, []).append(option)
        lines: list[str] = []
        for skill, options in skills.items():
            meaning = f": {options[0].meaning}" if options[0].meaning else ""
            if not options[0].arguments:
                lines.append(f"- {skill}{meaning}")
                continue
            values = "; ".join(", ".join(option.arguments) for option in options)
            lines.append(f"- {skill}(…){meaning}. In place of … stands one of: {values}")
        return "\n".join(("What you can ask for, where it is possible:", *lines))

    def choices(self, agent: AgentID, observation: Any, mask: Mask | None) -> tuple[Choice, ...]:
        if not self._adapter.manages(agent):
            return self._own.choices(agent, self._adapter.behind(agent)[1], mask)
        return tuple(Choice(number, option.name) for number, option in self._adapter.startable(agent))


def _with_meaning(option: Option) -> str:
    return f"{option.name} ({option.meaning})" if option.meaning else option.name


def _option_fact(predicate: str, option: Option) -> Fact:
    """Return an option as a fact, word by word: ``can(go_to, yellow, key)``."""
    words = (word for argument in option.arguments for word in argument.split())
    return fact(predicate, atom(option.skill), *map(_term, words))


def _term(word: str) -> Term:
    try:
        return float(word)
    except ValueError:
        return atom(word)
