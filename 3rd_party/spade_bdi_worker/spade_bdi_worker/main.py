"""Worker that plays AgentSpeak programs."""

# The interpreter has no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUntypedBaseClass=false

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import agentspeak
import numpy as np

from mosaic_worker.spaces import Space
from mosaic_worker.worker import (
    Actions,
    Batch,
    Decision,
    EpisodeEnd,
    EpisodeStart,
    Invalid,
    LoadError,
    Slot,
    Worker,
)
from spade_bdi_worker.agent import Episode, as_atom, skills_of, words_of
from spade_bdi_worker.agentspeak_agent import NoActionChosen, bounded
from spade_bdi_worker.literals import as_text
from spade_bdi_worker.program import Program, ProgramError, collected_warnings, read_program, unknown_actions
from spade_bdi_worker.xmpp import Mailbox, XmppError, end_servers, new_secret, why_not

_ACTION_SPACES = ("Discrete", "Box", "MultiDiscrete", "MultiBinary")


class _Player:
    """A slot with its program and the agents of its episodes."""

    def __init__(self, slot: Slot) -> None:
        settings, kind = slot.settings, slot.action_space.kind
        if kind not in _ACTION_SPACES:
            raise LoadError(f"a program acts by words, numbers and lists, but the slot's actions are {kind}")
        path = settings.get("program")
        if not path:
            raise LoadError("the setting program is missing: name a file with an AgentSpeak program (.asl)")
        try:
            self.program: Program = read_program(str(path))
        except ProgramError as error:
            raise LoadError(str(error)) from None
        self.slot = slot
        self.words: Mapping[str, int] = words_of(slot.action_meanings)
        self.skills = skills_of(slot.action_meanings)
        self.cycles = int(settings.get("max_cycles", 10_000))
        self.deadline_s = float(settings.get("deliberation_s", 2.0))
        self.idle = str(settings.get("idle", "invalid"))
        self._episodes: dict[int, Episode] = {}
        self._cut_off: dict[int, str] = {}
        self._mailbox: Mailbox | None = None
        self._secret = slot.secrets.get("session") or new_secret()
        self._check()
        if settings.get("transport", "host") == "xmpp":
            self._join()

    def _check(self) -> None:
        """Build an agent once, so that calls of unknown actions are reported at load."""
        with collected_warnings() as problems:
            try:
                self._make(EpisodeStart(0, 0, self.slot.agent_id))
            except (agentspeak.AslError, agentspeak.AggregatedError) as error:
                problems.append(f"{self.program.name}: {error}")
            except RecursionError:
                problems.append(f"{self.program.name}: its rules call each other without end")
        problems += unknown_actions(self.program, self.words, self.skills)
        if problems:
            raise LoadError(str(ProgramError(problems)))

    def _make(self, start: EpisodeStart) -> Episode:
        name = start.agent_id or self.slot.agent_id
        return Episode(self.program, list(self.words), self.skills, name, start.seed)

    def _join(self) -> None:
        """Connect the slot to the session's XMPP server for its messages."""
        problem = why_not()
        if not problem and self.slot.seats:
            problem = "needs agents that keep their seats, but this match swaps them"
        if not problem and "*" in self.slot.agent_id:
            problem = f"needs agents that are known in advance, but {self.slot.agent_id} names none"
        if problem:
            raise LoadError(f"transport xmpp {problem}")
        try:
            self._mailbox = Mailbox(self.slot.agent_id, self._secret, self._port)
        except XmppError as error:
            raise LoadError(str(error)) from None

    @property
    def _port(self) -> int:
        return int(self.slot.settings.get("xmpp_port", 0))

    def begin(self, start: EpisodeStart) -> None:
        self._episodes[start.episode] = self._make(start)
        self._cut_off.pop(start.episode, None)
        if self._mailbox is None or not self._mailbox.lost:
            return
        self._mailbox.close()
        try:
            self._mailbox = Mailbox(self.slot.agent_id, self._secret, self._port)
        except XmppError as error:
            self._cut_off[start.episode] = str(error)

    def forget(self, episode: int) -> None:
        self._episodes.pop(episode, None)
        self._cut_off.pop(episode, None)
        if self._mailbox is not None:
            self._mailbox.forget(episode)

    def close(self) -> None:
        if self._mailbox is not None:
            self._mailbox.close()

    def decide(self, decision: Decision) -> tuple[Any, dict[str, Any] | None]:
        """Return an action, or the reason why there is none, with the data to record.

        After a message that could not be delivered, every answer of the episode is invalid, because the rest
        of the episode would be measured without the message.
        """
        mailbox, episode = self._mailbox, decision.episode
        if mailbox is None:
            return self._deliberate(decision)
        if episode in self._cut_off:
            return Invalid(self._cut_off[episode]), None
        heard: list[str] = []
        extras: dict[str, Any] = {"bdi": {}}
        try:
            heard = mailbox.receive(decision.messages, episode, self.deadline_s)
            action, extras = self._deliberate(decision)
            mailbox.send(extras.get("said", ""), self.slot.teammates, episode, decision.step)
        except XmppError as error:
            self._cut_off[episode] = str(error)
            action = Invalid(str(error))
        if heard:
            extras["bdi"]["heard"] = heard
        return action, extras

    def _deliberate(self, decision: Decision) -> tuple[Any, dict[str, Any]]:
        facts = [*decision.facts, *self._legal(decision)]
        if decision.reason:
            facts.append(f"refused({_quoted(decision.reason)})")
        episode = self._episodes[decision.episode]
        try:
            action, thought, told = episode.decide(
                decision.step,
                facts,
                decision.messages,
                cycles=self.cycles,
                until=time.monotonic() + self.deadline_s,
            )
        except NoActionChosen as error:
            thought = episode.mind.thought
            if self.idle == "noop" and self.slot.noop_action is not None:
                told = episode.take_messages()
                return self.slot.noop_action, {"bdi": thought.to_record(), **({"said": told} if told else {})}
            return Invalid(str(error), "; ".join(bounded(thought.printed))), {"bdi": thought.to_record()}
        extras: dict[str, Any] = {"bdi": thought.to_record(), **({"said": told} if told else {})}
        return self._number(action, decision), extras

    def _legal(self, decision: Decision) -> list[str]:
        """Return the legal actions as facts, unless all are legal."""
        if decision.choices:
            return [f"legal({_quoted(word)})" for _, word in decision.choices]
        legal = decision.legal_actions
        if legal is None:
            return []
        start = self.slot.action_space.start
        by_number = {number: word for word, number in self.words.items()}
        return [f"legal({by_number.get(number, number + start)})" for number in legal]

    def _number(self, action: Any, decision: Decision) -> Any:
        """Convert a program's action to one of the environment."""
        start = self.slot.action_space.start
        if (called := _flat(action)) in self.words:
            return self.words[called] + start
        if action.functor in self.skills:
            return Invalid(f"there is no action {as_text(action)} here", str(action))
        given = action.args[0]
        if isinstance(given, tuple) or agentspeak.is_number(given):
            return _played(given, self.slot.action_space)
        word = given.functor if agentspeak.is_atom(given) else str(given)
        for number, each in decision.choices:
            if each == word:
                return number
        if (called := as_atom(word)) in self.words:
            return self.words[called] + start
        return Invalid(f"there is no action {word!r} now", str(action))


def _flat(action: Any) -> str:
    """Return a call as one atom: ``go_to_yellow_key`` for ``go_to(yellow, key)`` or ``go_to(yellow_key)``."""
    parts = [agentspeak.asl_str(each) for each in action.args]
    return as_atom("_".join([action.functor, *parts])) if parts else str(action.functor)


def _played(given: Any, space: Space) -> Any:
    """Convert numbers to an action of a space; return :class:`Invalid` if its type would change a number."""
    try:
        numbers = np.asarray(given, np.float64).reshape(-1)
    except (TypeError, ValueError, OverflowError):
        return Invalid("an action must consist of numbers, but the program gave something else", str(given))
    wanted = int(np.prod(space.shape))
    if numbers.size != wanted:
        return Invalid(f"an action must have {wanted} numbers, not {numbers.size}", str(given))
    dtype = np.dtype(space.dtype or np.int64)
    with np.errstate(all="ignore"):
        action = numbers.astype(dtype)
    same = action == numbers if dtype.kind != "f" else ~np.isnan(numbers)
    if not same.all():
        other = numbers[~same][0]
        return Invalid(f"the numbers of an action must be {dtype}, which {other:g} is not", str(given))
    return action.reshape(space.shape)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{escaped}"'


class BdiWorker(Worker):
    """Worker whose agents are AgentSpeak programs; one agent for each slot and episode."""

    inputs = ("facts", "messages")

    def __init__(self) -> None:
        self._players: dict[int, _Player] = {}

    def load(self, slot: Slot) -> str:
        player = self._players[slot.index] = _Player(slot)
        return f"agentspeak:{player.program.name}"

    def reset(self, slot: Slot, starts: Sequence[EpisodeStart]) -> None:
        for start in starts:
            self._players[slot.index].begin(start)

    def select_actions(self, batch: Batch) -> Actions:
        answers = [self._players[batch.slot.index].decide(decision) for decision in batch]
        return Actions([action for action, _ in answers], extras=[extras for _, extras in answers])

    def on_episode_end(self, slot: Slot, ends: Sequence[EpisodeEnd]) -> None:
        for end in ends:
            self._players[slot.index].forget(end.episode)

    def close(self) -> None:
        for player in self._players.values():
            player.close()
        end_servers()
