"""Joins model calls and details of decisions with the played actions, as turns of a transcript.

``calls.jsonl`` has the calls. ``steps.jsonl`` has the resulting actions and details of decisions, such as
thoughts of BDI programs and scores of actions. Both files may have gigabytes, so only the offset of each turn
is in memory, and an episode's turns are read on demand.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

from gym_gui.analysis.records.jsonl import rows_at
from gym_gui.analysis.records.reader import OperatorRun
from gym_gui.analysis.transcripts.decision_rows import TOLD, is_own_turn
from gym_gui.analysis.transcripts.turn import Turn, turn_of, with_row
from gym_gui.analysis.words import wording
from gym_gui.core.errors import RunFormatError
from gym_gui.core.record_fields import count, text


class _Index(NamedTuple):
    """Offsets of an operator's turns in its files, and numbers of turns.

    Attributes:
        episodes: Offsets of calls in ``calls.jsonl``, by episode.
        decided: Offsets of decisions with details in ``steps.jsonl``, by episode.
        agents: Number of turns by agent.
        calls: Number of calls.
        decisions: Number of decisions with details.
    """

    episodes: dict[int, array[int]]
    decided: dict[int, array[int]]
    agents: dict[str, int]
    calls: int
    decisions: int


class Transcript:
    """Turns of one operator of a run; if the run is still running, those at the first access.

    Args:
        operator: The operator's record in the run folder.
    """

    def __init__(self, operator: OperatorRun) -> None:
        self.operator = operator

    @property
    def agents(self) -> tuple[str, ...]:
        """Agents that made calls or recorded details of decisions."""
        return tuple(self._index.agents)

    @property
    def episodes(self) -> tuple[int, ...]:
        """Episodes with turns, in ascending order."""
        return tuple(sorted(self._index.episodes.keys() | self._index.decided.keys()))

    def __len__(self) -> int:
        """Return the number of turns."""
        return self.calls + self.decisions

    @property
    def calls(self) -> int:
        """Number of calls to models."""
        return self._index.calls

    @property
    def decisions(self) -> int:
        """Number of decisions with details but without a call."""
        return self._index.decisions

    def turns(
        self, episode: int | None = None, agent: str = "", *, failed: bool = False, words: str = ""
    ) -> Iterator[Turn]:
        """Yield turns in the order of episode, step, agent and attempt; one episode is read at a time.

        Args:
            episode: Index of the episode; ``None`` for all.
            agent: Name of the agent; empty for all.
            failed: Whether to yield only turns without a usable reply.
            words: Text that the prompt, the reply or another text of a turn must contain.

        Raises:
            RunFormatError: A row is damaged.
        """
        for index in self.episodes if episode is None else (episode,):
            for turn in self._episode(index):
                if agent and turn.agent != agent:
                    continue
                if (failed and not turn.failed) or (words and not turn.contains(words)):
                    continue
                yield turn

    def _episode(self, index: int) -> list[Turn]:
        order = {agent: i for i, agent in enumerate(self._index.agents)}
        turns = [*self._calls_of(index), *self._decisions_of(index)]
        turns.sort(key=lambda t: (t.step, order.get(t.agent, 0), t.attempt))
        return turns

    def _decisions_of(self, index: int) -> Iterator[Turn]:
        if not (offsets := self._index.decided.get(index)):
            return
        slots = self._seats.get(index, {})
        for row in rows_at(self.operator.path / "steps.jsonl", offsets):
            turn = turn_of(row)
            slot = slots.get(turn.agent, turn.agent)
            yield self._with_action_name(replace(turn, slot=slot))

    def _calls_of(self, index: int) -> list[Turn]:
        if not (offsets := self._index.episodes.get(index)):
            return []
        turns = [turn_of(row) for row in rows_at(self.operator.path / "calls.jsonl", offsets)]
        # Calls of one attempt keep their order; the last one is the answer unless the step row names another.
        # Earlier calls led to the answer (a dialogue, notes of the model) and were not refused by the engine.
        turns.sort(key=lambda t: (t.step, t.attempt))
        rows, slots = self._step_rows(index), self._seats.get(index, {})
        attempts = {(t.step, t.agent): t.attempt for t in turns}
        ends = {(t.step, t.agent, t.attempt): i for i, t in enumerate(turns)}
        refs = {(t.step, t.agent, t.attempt, t.ref): i for i, t in enumerate(turns)}
        for (step, agent), row in rows.items():
            # If there were several replies to one request, the step row names the one that was played.
            key = step, agent, attempts.get((step, agent), 0)
            ends[key] = refs.get((*key, str(row.get("call_ref"))), ends.get(key, -1))
        found: list[Turn] = []
        for i, t in enumerate(turns):
            last = t.attempt == attempts[t.step, t.agent]
            answers = i == ends[t.step, t.agent, t.attempt]
            slot, row = slots.get(t.agent, t.agent), rows.get((t.step, t.agent))
            if row is not None and last and answers:
                joined = with_row(t, row)
                found.append(self._with_action_name(replace(joined, slot=slot)))
            else:
                found.append(replace(t, slot=slot, refused=answers and not last))
        return found

    def _with_action_name(self, turn: Turn) -> Turn:
        """Return a turn with its action's name, from the row or otherwise the slot's name for the number."""
        if turn.word:
            return turn
        words, number = self.operator.actions.get(turn.slot, ()), count(turn.action)
        known = number is not None and number < len(words)
        return replace(turn, word=words[number]) if number is not None and known else turn

    def _step_rows(self, index: int) -> dict[tuple[int, str], dict[str, Any]]:
        """Return the step rows of an episode by step and agent."""
        rows = rows_at(self.operator.path / "steps.jsonl", self._steps.get(index, ()))
        return {(count(row.get("step_index")) or 0, str(row.get("agent_id"))): row for row in rows}

    @cached_property
    def _index(self) -> _Index:
        episodes: dict[int, array[int]] = {}
        decided: dict[int, array[int]] = {}
        agents: dict[str, int] = {}
        calls = decisions = 0
        for line in self.operator.call_lines():
            index = count(line.value.get("episode"))
            if index is None:  # a third-party worker may record calls of no episode
                continue
            episodes.setdefault(index, array("q")).append(line.start)
            agent = text(line.value.get("agent")) or ""
            agents[agent] = agents.get(agent, 0) + 1
            calls += 1
        for line in self.operator.step_lines(having=TOLD):
            index = count(line.value.get("episode_index"))
            if index is None or not is_own_turn(line.value):
                continue
            decided.setdefault(index, array("q")).append(line.start)
            agent = text(line.value.get("agent_id")) or ""
            agents[agent] = agents.get(agent, 0) + 1
            decisions += 1
        return _Index(episodes, decided, agents, calls, decisions)

    @cached_property
    def _steps(self) -> dict[int, array[int]]:
        """Offsets in ``steps.jsonl`` of the rows of agents that made calls, by episode."""
        found: dict[int, array[int]] = {}
        agents = self._index.agents
        for line in self.operator.step_lines() if self.calls else ():
            index = count(line.value.get("episode_index"))
            if index is None:
                raise RunFormatError(line.where, "'episode_index' is missing")
            if line.value.get("agent_id") in agents:
                found.setdefault(index, array("q")).append(line.start)
        return found

    @cached_property
    def _seats(self) -> dict[int, dict[str, str]]:
        """Slot by seat, by episode; only for episodes in which slots and seats differ."""
        found: dict[int, dict[str, str]] = {}
        for episode in self.operator.episodes():
            slots = {seat: agent.slot for seat, agent in episode.agents.items()}
            if any(seat != slot for seat, slot in slots.items()):
                found[episode.episode_index] = slots
        return found


def content_words(transcripts: Iterable[Transcript]) -> str:
    """Return the contents of transcripts as text, such as ``12 calls to models, 40 decisions``, or ``""``."""
    found = list(transcripts)
    calls, decisions = sum(t.calls for t in found), sum(t.decisions for t in found)
    parts = [f"{wording.count(calls, 'call')} to models" if calls else ""]
    parts.append(wording.count(decisions, "decision") if decisions else "")
    return ", ".join(filter(None, parts))
