"""Runs an AgentSpeak program as an agent in one episode."""

# The interpreter has no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUntypedBaseClass=false

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import agentspeak
from agentspeak import Actions, Literal
from agentspeak.runtime import BuildTermVisitor, Environment

from spade_bdi_worker.agentspeak_agent import AgentSpeakAgent, DeadlinePassed, NoActionChosen, ReasoningRecord
from spade_bdi_worker.internal_actions import standard_actions
from spade_bdi_worker.literals import ReceivedMessage, message
from spade_bdi_worker.program import Program, ProgramError


class Episode:
    """An agent that runs a program in one episode.

    Args:
        program: Program that the agent runs.
        words: Words of the environment's actions, as atoms.
        skills: Names, as atoms, of the actions that have parameters.
        name: Name of the agent.
        seed: Seed of the episode; random numbers depend on the seed and the step.
    """

    def __init__(
        self, program: Program, words: Sequence[str], skills: Collection[str], name: str, seed: int
    ) -> None:
        self._seed, self._name, self._sees = seed, name, dict[str, None]()
        environment: Any = Environment()
        tree = program.tree
        actions = _actions(words, skills)
        goals, beliefs = tree.goals, tree.beliefs
        tree.goals, tree.beliefs = [], []
        try:
            _, self.mind = environment.build_agent_from_ast(
                agentspeak.StringSource(program.name, ""),
                tree,
                actions,
                partial(AgentSpeakAgent, actions),
                name,
            )
        finally:
            tree.goals, tree.beliefs = goals, beliefs
        self.mind.name = name
        self.mind.name_plans(tree.plans, program.name)
        self._begun = self.mind.begin([belief.accept(BuildTermVisitor({})) for belief in beliefs])
        self._goals = [goal.atom.accept(BuildTermVisitor({})) for goal in goals]

    def decide(
        self, step: int, facts: Sequence[str], heard: Sequence[str], *, cycles: int, until: float
    ) -> tuple[Any, ReasoningRecord, str]:
        """Give the agent its percepts and messages, and run the program until it acts.

        Args:
            step: Step of the environment.
            facts: All current percepts of the agent, as facts.
            heard: Messages of team-mates since the last decision.
            cycles: Largest number of interpreter steps.
            until: Deadline of the decision, in ``time.monotonic`` seconds.

        Returns:
            The action's literal, the record of the decision, and the messages to the team.

        Raises:
            Undecided: The program chose no action.
        """
        mind = self.mind
        mind.thought, mind.base.until = ReasoningRecord(), until
        mind.chance.seed(self._seed, step)
        try:
            self._update_beliefs(facts, heard)
            action = mind.deliberate(cycles)
        except DeadlinePassed:
            raise NoActionChosen("the program has not come to an action within its deadline") from None
        return action, mind.thought, self.take_messages()

    def take_messages(self) -> str:
        """Return and clear the messages to the team; a waiting program sends its messages with its next
        action.
        """
        said, self.mind.said = self.mind.said, []
        return "\n".join(said)

    def _update_beliefs(self, facts: Sequence[str], heard: Sequence[str]) -> None:
        """Process new percepts and messages, and start initial goals."""
        seen, self._sees = self._sees, dict.fromkeys(facts)
        begun, self._begun = self._begun, []
        self.mind.perceive(
            [fact for fact in seen if fact not in self._sees],
            [fact for fact in self._sees if fact not in seen],
            begun,
        )
        for words in heard:
            self._process_message(words)
        while self._goals:
            self.mind.pursue(self._goals.pop(0))

    def _process_message(self, words: str) -> None:
        """Process each line of a message: a program's message, or text of another kind of agent."""
        sender, _, content = words.partition(": ")
        for line in content.splitlines():
            try:
                got = message(f"{sender}: {line}", self._name)
            except ProgramError:
                said_so = Literal("said", (Literal(sender), line)).with_annotation(
                    Literal("source", (Literal(sender),))
                )
                self.mind.receive(ReceivedMessage(sender, "tell", "", "", said_so))
            else:
                if got is not None:
                    self.mind.receive(got)


def _actions(words: Sequence[str], skills: Collection[str]) -> Actions:
    """Return what a program may call: the environment's actions, internal actions and messages."""
    actions = standard_actions()

    def act(agent: AgentSpeakAgent, term: Any, intention: Any) -> Iterator[None]:
        agent.act(agentspeak.freeze(term, intention.scope, {}), intention)
        yield

    for word in words:
        actions.add(word, 0, act)
    for skill in skills:
        actions.add(skill, None, act)
    if "act" not in words:
        actions.add("act", 1, act)
    return actions


def words_of(meanings: Sequence[str]) -> Mapping[str, int]:
    """Return the number of each action by the atom that programs use for it."""
    return {as_atom(word): number for number, word in enumerate(meanings)}


def skills_of(meanings: Sequence[str]) -> frozenset[str]:
    """Return the names, as atoms, of actions with parameters: ``go_to`` for ``"go to(yellow key)"``."""
    return frozenset(as_atom(word.partition("(")[0]) for word in meanings if "(" in word)


def as_atom(word: str) -> str:
    """Return an action's words as an atom: ``go_to_yellow_key`` for ``"go to(yellow key)"``."""
    plain = re.sub(r"\W+", "_", word.lower()).strip("_")
    return plain if plain[:1].isalpha() else f"n{plain}"
