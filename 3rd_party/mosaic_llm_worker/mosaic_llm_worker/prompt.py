"""Writes the prompts for the model: the rules once, the observation at every turn."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mosaic_llm_worker.decisions import decision_of
from mosaic_llm_worker.forms import answer_text, form_text, one
from mosaic_llm_worker.judging import action_name
from mosaic_llm_worker.parsing import Reader
from mosaic_llm_worker.settings import EXAMPLES, LlmSettings
from mosaic_llm_worker.teammates import in_words
from mosaic_llm_worker.templates import PromptError, Role, Templates, filled, tidy
from mosaic_worker.worker import Decision, Slot

_MARKS: Final = re.compile(r"<(\s*/?\s*(?:observation|messages)\b)", re.IGNORECASE)
_MOST_LISTED: Final = 80
"""Largest number of legal moves in a prompt; of a longer list, the prompt names a selection."""
_LISTED: Final = "Legal moves:"
_APART: Final = "\n---\n"
_DRAWN: Final = (
    "Examples of turns of this game. Their actions were drawn at random from the legal ones: they show what "
    "you will see and how an answer is written, not how to play well."
)
_NOTHING: Final = "(nothing that words can say)"


class Prompter:
    """Writes the prompts of one slot; equal inputs give equal prompts.

    Attributes:
        system: The system prompt with the rules.
        reminder: Text that says how to answer, repeated at every turn.
        summary: Text that asks the model for notes.
        talks: Whether the model may send messages to teammates.

    Args:
        slot: The slot, with the agent that it plays in the episode.
        settings: Settings of the prompts.
        reader: Reads answers as actions.
        examples_of: Agent whose example turns from the host are used; by default the slot's agent.

    Raises:
        PromptError: A prompt file cannot be used, the role is unknown, or there are no examples.
    """

    def __init__(self, slot: Slot, settings: LlmSettings, reader: Reader, examples_of: str = "") -> None:
        self._slot, self._settings, self._reader = slot, settings, reader
        self._examples_of = examples_of or slot.agent_id
        self._templates = Templates(settings.prompt_folder)
        self._names = settings.names
        # The texts about the game use the names of actions and objects of this run.
        self._game = self._templates.game(slot.env_id).renamed(self._names)
        self.talks = settings.talk and bool(slot.teammates)
        words = {
            "one": one(slot.action_space, slot.action_meanings),
            "form": form_text(slot.action_space, self.talks),
            "examples": self._examples(),
        }
        once, always = self._templates.strategy(settings.strategy)
        where = f"strategies/{settings.strategy}.txt"
        self._strategy = filled(once, where, **words)
        self.reminder = filled(always, where, **words)
        # Fill all templates once, so that errors in the files appear before the first episode.
        self.system = self._system()
        self.turn(Decision(0, 0, 0, 0, None, None, 0, ""), 1)
        self.again("")
        self.example(1, 1)
        self.summary = self._templates.text("summary.txt")

    def _system(self) -> str:
        slot = self._slot
        text = self._templates.fill(
            "system.txt",
            agent=slot.agent_id,
            briefing=slot.briefing,
            level=self._level(),
            talk=self._talk(),
            strategy=self._strategy,
        )
        return tidy(text)

    def turn(self, decision: Decision, number: int, notes: str = "", news: str = "") -> str:
        """Return the text of the current turn.

        Args:
            decision: The decision to make.
            number: Number of the turn among the agent's own turns, from 1.
            notes: The model's notes.
            news: Text with the result of the previous turn.
        """
        text = self._templates.fill(
            "turn.txt",
            notes=_joined("Your notes:\n" + notes if notes else "", news),
            step=number,
            observation=_inside(decision.text) or _NOTHING,
            messages=self._messages(decision.messages),
            legal=self._legal(decision),
            reminder=self.reminder,
        )
        return tidy(text)

    def seen(self, number: int, text: str, news: str = "", heard: Sequence[str] = ()) -> str:
        """Return the text of an earlier turn: its observation and the messages of teammates."""
        seen = f"Step {number}.\n<observation>\n{_inside(text) or _NOTHING}\n</observation>"
        return tidy(_joined(news, seen, self._messages(heard)))

    def example(self, number: int, count: int) -> str:
        """Return the text before a demonstrated episode."""
        return self._templates.fill("demonstrations.txt", number=number, count=count).partition(_APART)[0]

    @property
    def own(self) -> str:
        """Text between the demonstrated episodes and the model's own episode."""
        return self._templates.fill("demonstrations.txt", number=1, count=1).partition(_APART)[2]

    def again(self, reason: str) -> str:
        """Return the text that says why an answer was refused and asks for another one."""
        return tidy(self._templates.fill("retry.txt", reason=reason.rstrip("."), reminder=self.reminder))

    # --- parts ------------------------------------------------------------------------------

    def _talk(self) -> str:
        if not self.talks:
            return ""
        name = "talk_structured.txt" if self._settings.strategy == "structured" else "talk.txt"
        return self._templates.fill(name, mates=", ".join(self._slot.teammates))

    def _level(self) -> str:
        """Return the text on cooperation with teammates; without teammates, only the role."""
        level = self._settings.coordination_level
        team = sorted({self._slot.agent_id, *self._slot.teammates})
        own = self._role(team) if level == 3 else ""
        if not self._slot.teammates:
            return own
        others = [(mate, self._by_seat(mate, team)) for mate in self._slot.teammates]
        named = [f"{mate} has the role {role.name}" for mate, role in others if role is not None]
        return self._templates.fill(
            f"levels/{level}.txt",
            hints=self._game.hints,
            role=own,
            others=f"In your team, {', '.join(named)}." if named else "",
        )

    def _role(self, team: Sequence[str]) -> str:
        wanted = self._settings.role
        if not wanted:
            by_seat = self._by_seat(self._slot.agent_id, team)
            # An agent without teammates has a role only if a role is for its seat (the prey of a hunt).
            alone = not self._slot.teammates and by_seat is not None and by_seat.seats == ("*",)
            return "" if by_seat is None or alone else by_seat.text
        known = {role.name: role.text for role in self._game.roles}
        if wanted in known:
            return known[wanted]
        if " " in wanted:
            return wanted
        names = ", ".join(known) or "none"
        raise PromptError(
            f"there is no role {wanted!r} for {self._slot.env_id}; there are: {names}. "
            "A role in your own words is a whole sentence"
        )

    def _by_seat(self, agent: str, team: Sequence[str]) -> Role | None:
        """Return the role of an agent: the roles that suit it are assigned in order to such teammates."""
        roles = [role for role in self._game.roles if role.suits(agent)]
        if not roles:
            return None
        alike = [mate for mate in team if [r for r in self._game.roles if r.suits(mate)] == roles]
        return roles[alike.index(agent) % len(roles)]

    def _examples(self) -> str:
        if self._settings.strategy != "few_shot":
            return ""
        # Hand-written examples use the usual symbols, so they are left out if the run draws others.
        known = [e for e in self._game.examples if not self._names.drawn and self._understood(e.answer)]
        if not known:
            return self._played_turns()
        lines = ["Examples of turns with a good answer:"]
        for example in known:
            lines += [f"<observation>\n{example.see}\n</observation>", f"Action: {example.answer}", ""]
        return "\n".join(lines).strip()

    def _played_turns(self) -> str:
        """Return recorded turns of this environment as example prompts and answers."""
        lines: list[str] = []
        played: Mapping[str, Sequence[Mapping[str, Any]]] = self._slot.settings.get(EXAMPLES, {})
        for turn in played.get(self._examples_of, ()):
            decision = decision_of(turn)
            answer = answer_text(
                "few_shot",
                self._slot.action_space,
                action_name(self._reader, turn["action"], decision.choices),
            )
            read = self._reader.read(answer, decision.action_mask, decision.choices, decision.text)
            if not read.problem:
                asked = _joined(self.seen(decision.step + 1, decision.text), self._legal(decision))
                lines += [asked, answer, ""]
        if not lines:
            raise PromptError(
                f"few_shot shows turns of {self._slot.env_id}, but the slot has none: choose another "
                "strategy, or write [[examples]] into games/NAME.toml of a prompt_folder"
            )
        return "\n".join([_DRAWN, *lines]).strip()

    def _understood(self, answer: str) -> bool:
        """Return whether an answer names an action; ``True`` if words depend on the position."""
        slot = self._slot
        if slot.action_space.kind == "Discrete" and not any(slot.action_meanings):
            return True
        return not self._reader.read(answer).problem

    def _messages(self, messages: Sequence[str]) -> str:
        if not messages:
            return ""
        said = "\n".join(_inside(line) for message in messages for line in in_words(message))
        return f"Your team-mates say:\n<messages>\n{said}\n</messages>"

    def _legal(self, decision: Decision) -> str:
        mask, space = decision.action_mask, self._slot.action_space
        if self._settings.hide_legal:
            return ""
        if space.kind == "MultiDiscrete" and mask is not None and not mask.all():
            return f"{_LISTED} for each number of the list: {_by_part(space.nvec, space.starts, mask)}"
        if space.kind != "Discrete":
            return ""
        if decision.choices:
            return "" if _LISTED in decision.text else _listed([word for _, word in decision.choices])
        if mask is None or mask.all():
            return ""
        vocabulary = self._reader.vocabulary(mask)
        return _listed([vocabulary.name(action) for action in vocabulary.everything])


def _listed(words: Sequence[str]) -> str:
    rest = len(words) - _MOST_LISTED
    if rest <= 0:
        return f"{_LISTED} {', '.join(words)}"
    apart = len(words) // _MOST_LISTED + 1
    some = words[::apart]
    return f"{_LISTED} {', '.join(some)} ({len(some)} of {len(words)} are named)"


def _by_part(
    nvec: NDArray[np.int64] | None, starts: NDArray[np.int64] | None, mask: NDArray[np.bool_]
) -> str:
    parts: list[str] = []
    at = 0
    for count, first in zip(np.asarray(nvec).reshape(-1), np.asarray(starts).reshape(-1), strict=True):
        legal = np.flatnonzero(mask[at : at + count]) + first
        parts.append(" or ".join(map(str, legal.tolist())) or "nothing")
        at += int(count)
    return "; ".join(parts)


def _inside(text: str) -> str:
    """Escape tags in text of the game or of teammates, so that the text cannot end its block."""
    return _MARKS.sub(r"(\1", text.strip("\n"))


def _joined(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)
