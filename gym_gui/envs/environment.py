"""One environment instance with all the engine asks of it."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from numbers import Integral
from typing import Any

from gym_gui.core.enums import Outcome
from gym_gui.core.errors import EnvironmentFailure, ObservationError, UsageError
from gym_gui.core.experiment.prompt_inputs import (
    FRAMES,
    HIDDEN_LEGAL,
    ON_PICTURES,
    OTHER_ACTIONS,
    OTHER_OBJECTS,
    Frame,
    PromptInputs,
)
from gym_gui.core.experiment.slot_patterns import ANY, members
from gym_gui.core.live import Board, Move, Pointing
from gym_gui.core.paradigms import HierarchicalAdapter, OptionLibrary, ParadigmAdapter
from gym_gui.core.paradigms.hierarchical import Options
from gym_gui.core.types import AgentID, Choice, Mask, Plan, Shown
from gym_gui.envs.describers import Describer
from gym_gui.envs.describers.manager_words import TwoLevelDescriber
from gym_gui.envs.describers.renaming import RenamedDescriber
from gym_gui.envs.facts import written
from gym_gui.envs.family import Family
from gym_gui.envs.instance import Teams
from gym_gui.envs.keymaps import KeyScheme
from gym_gui.envs.pictures import Picture, as_picture, as_text
from gym_gui.envs.png import as_png, cells_of
from gym_gui.envs.simulator import Simulator
from gym_gui.envs.spec import EnvSpec
from mosaic_worker.failures import described
from mosaic_worker.renaming import Names

_log = logging.getLogger(__name__)


class Environment:
    """An environment, its adapter, and its family's knowledge of it.

    Attributes:
        spec: What it is.
        adapter: How it is stepped.
        family: Who knows its ways.
        teams: Which agents play together, by team name.
        cut_off: Steps after which a run cuts an episode off, as briefings say; ``None`` where it does not.
    """

    def __init__(
        self, spec: EnvSpec, adapter: ParadigmAdapter, family: Family, teams: Teams | None = None
    ) -> None:
        self.spec = spec
        self.adapter = adapter
        self.family = family
        self.teams: Teams = dict(family.teams(spec, adapter)) if teams is None else teams
        if adapter.is_open_ended and teams is None:
            self.teams = {"team": (ANY,)}
        self._team_patterns: Teams | None = None
        self.cut_off: int | None = None
        self._complained: set[str] = set()
        self._retold: dict[tuple[object, ...], Describer] = {}
        self._played: list[tuple[AgentID, Any]] = []
        self._moves: list[str] = []

    def seat(self, agents: Sequence[AgentID]) -> None:
        """Tell who takes part, where agents appear: teams are named by patterns then.

        Args:
            agents: All that have acted in this episode so far.
        """
        if self._team_patterns is None:
            self._team_patterns = self.teams
        self.teams = members(self._team_patterns, agents)

    @property
    def reusable(self) -> bool:
        """Whether the instance may play another episode after this one."""
        return self.family.reusable(self.spec)

    @property
    def env(self) -> Any:
        """The environment itself, innermost."""
        inner = self.adapter.env
        return getattr(inner, "unwrapped", inner)

    @property
    def title(self) -> str:
        """Its name for people."""
        return self.family.title_of(self.spec)

    @property
    def summary(self) -> str:
        """What the environment is about, in one sentence; ``""`` where its family has no summary."""
        return self.family.summary(self.spec)

    @property
    def rewards_betray(self) -> bool:
        """Whether rewards say what a seat may not know: what others hide from it, or the way."""
        return self.hidden_information or self.family.shaped_rewards(self.spec)

    def tells_rewards(self, view: PromptInputs) -> bool:
        """Whether a slot that reads sees what its actions earned."""
        if view.tell_rewards != "auto":
            return view.tell_rewards == "always"
        return not self.rewards_betray

    @property
    def max_episode_steps(self) -> int | None:
        """Steps after which its package truncates an episode, as made here; ``None`` where none are known."""
        made = getattr(getattr(self.adapter.env, "spec", None), "max_episode_steps", None)
        return self.spec.max_episode_steps if made is None else int(made)

    @property
    def hidden_information(self) -> bool:
        """Whether a seat may not know all there is; what the environment states itself goes first."""
        metadata: Any = getattr(self.env, "metadata", None) or {}
        stated = metadata.get("hidden_information")
        return stated if isinstance(stated, bool) else self.family.hidden_information(self.spec)

    def scores(self, returns: Mapping[str, float]) -> dict[str, float] | None:
        """Score by team at this moment, as the environment keeps it, or ``None``.

        Args:
            returns: Sum of rewards by agent.
        """
        return self.family.scores(self, returns)

    def outcome(self, returns: Mapping[str, float]) -> dict[str, Outcome] | None:
        """Win, draw or loss by team, or ``None`` where no team can win."""
        return self.family.outcome(self, returns)

    @cached_property
    def seat_names(self) -> Mapping[AgentID, str]:
        """What seats are called in this game, by agent; a manager's slot has no such name."""
        return dict(self.family.seat_names(self))

    def seat_name(self, agent: AgentID) -> str:
        """What a seat is called in this game; where it has no name, as the environment calls it."""
        return self.seat_names.get(agent, agent)

    def result(self, outcome: Mapping[str, Outcome] | None) -> str:
        """Who won how, in a few words; ``""`` where nothing is to be said.

        Args:
            outcome: As :meth:`outcome` has it.
        """
        return self.family.result(self, outcome) if outcome else self.family.achieved(self)

    @property
    def notates(self) -> bool:
        """Whether what is played can be written in the game's own notation."""
        return self.family.notates(self.spec)

    def notation(self, played: Sequence[tuple[AgentID, Any]]) -> tuple[str, ...]:
        """Everything that was played, in the game's own notation; empty where it has none.

        Args:
            played: Agent and action of every move since the reset.
        """
        if not self.notates:
            return ()
        known = len(self._played)
        if list(played[:known]) != self._played:
            self._played, self._moves, known = [], [], 0
        if len(played) > known:
            try:
                self._moves += self.family.notation(self, played, known)
            except Exception as error:  # foreign code, as in a board
                self._complain("its moves cannot be written", error)
                return ()
            self._played = list(played)
        return tuple(self._moves)

    def can_still_win(self, agent: AgentID) -> bool:
        """Whether ``agent`` can win what is played, should the others run out of time."""
        return self.family.can_still_win(self, agent)

    def legal_words(self) -> dict[int, str]:
        """What may be played now in the game's own notation, by action; empty where it is not known."""
        return dict(self.family.legal_words(self)) if self.notates else {}

    def success(self) -> bool | None:
        """Whether the task was solved, in the environment's own word, or ``None``."""
        return self.family.success(self)

    def _managed_by(self, agent: AgentID) -> HierarchicalAdapter | None:
        """The adapter that asks ``agent`` for options, where it is a manager's slot."""
        adapter = self.adapter
        return adapter if isinstance(adapter, HierarchicalAdapter) and adapter.manages(agent) else None

    def action_meanings(self, agent: str) -> tuple[str, ...]:
        """A word for each discrete action of ``agent``, or empty."""
        if manages := self._managed_by(agent):
            return tuple(option.name for option in manages.options_of(agent))
        # A task may leave its family fewer actions than others have.
        count = getattr(self.adapter.action_space(agent), "n", None)
        words = self.family.action_meanings(self, agent)
        return words[: int(count)] if isinstance(count, Integral) else words

    def option_names(self, agent: str) -> tuple[str, ...]:
        """What the manager of ``agent`` may ask of it, by number; empty where it has none."""
        adapter = self.adapter
        if not isinstance(adapter, HierarchicalAdapter) or adapter.manages(agent):
            return ()
        return tuple(option.name for option in adapter.options_of(agent))

    def noop_action(self, agent: str) -> Any | None:
        """The action with which ``agent`` does nothing, or ``None``."""
        if self._managed_by(agent):
            return None
        action = self.family.noop_action(self, agent)
        return action if action is None or self.adapter.action_space(agent).contains(action) else None

    def default_action(self, agent: str) -> Any | None:
        """What it has played for an answer of ``agent`` that cannot be, or ``None``."""
        if self._managed_by(agent):
            return None
        action = self.family.default_action(self, agent)
        return action if action is None or self.adapter.action_space(agent).contains(action) else None

    def board(self) -> Board | None:
        """The position with its legal moves, in board games; else ``None``."""
        try:
            return self.family.board(self)
        except Exception as error:  # foreign code, and parts of it that are no public API
            self._complain("its board cannot be read", error)
            return None

    def picture(self, plans: Sequence[Plan] = ()) -> Picture | None:
        """What it looks like now, (H, W, 3) ``uint8``, where it was made with ``rgb_array``.

        ``None`` also where drawing fails, which is logged once: play goes on.

        Args:
            plans: Where players say that they mean to go, for people to see; drawn where its family can.
        """
        try:
            if plans:
                self.family.draw_plans(self, plans)
            return as_picture(self.adapter.render())
        except (EnvironmentFailure, ValueError, TypeError) as error:
            self._complain("its picture is missing", error)
            return None

    def ansi(self) -> str:
        """Its own text rendering with colour codes, where it was made with ``ansi``; else ``""``."""
        try:
            return as_text(self.adapter.render())
        except EnvironmentFailure as error:
            self._complain("its text is missing", error)
            return ""

    @cached_property
    def _describer(self) -> Describer:
        """Of what the environment's own agents see; of managers it knows nothing."""
        adapter = self.adapter
        if isinstance(adapter, HierarchicalAdapter):
            return self.family.describer(Environment(self.spec, adapter.inner, self.family, self.teams))
        return self.family.describer(self)

    @cached_property
    def _two_levels(self) -> Describer | None:
        """Says what managers choose from and what is asked of their agents; ``None`` without managers."""
        adapter = self.adapter
        if not isinstance(adapter, HierarchicalAdapter):
            return None
        return TwoLevelDescriber(self, adapter, self._describer)

    @cached_property
    def simulator(self) -> Simulator | None:
        """The simulator inside, where its state can be handed out; else ``None``."""
        return self.family.simulator(self)

    def pictures(self, agent: AgentID) -> tuple[Frame, ...]:
        """Which pictures ``agent`` may be shown where the environment is made with ``rgb_array``.

        Its own (``egocentric``), where one can be drawn of what it may see; the ``whole`` one, where that
        shows it no more than it may know.
        """
        if "rgb_array" not in self.family.render_modes(self.spec):
            return ()
        seat, describer = self._behind(agent)[0], self._describer
        may = {"egocentric": describer.can_draw(seat), "whole": describer.sees_all(seat)}
        return tuple(frame for frame in FRAMES if may[frame])

    def hides_from(self, agent: AgentID) -> bool:
        """Whether seats hide things from each other here, and the whole picture would show ``agent`` some."""
        return self.hidden_information and not self._describer.sees_all(self._behind(agent)[0])

    def pointing(self, manager: AgentID, frame: Frame = "whole") -> Pointing | None:
        """What a manager may choose by pointing at a picture, be it nothing now; ``None``: it cannot.

        Args:
            manager: Its slot.
            frame: Whether it is the whole picture, or the one of :meth:`seat_picture`.
        """
        adapter = self.adapter
        if not isinstance(adapter, HierarchicalAdapter) or not (seat := adapter.manages(manager)):
            return None
        cells, names = self._describer.cells(seat, frame), self.action_meanings(manager)
        found = [(n, self._describer.in_picture(seat, at, frame)) for n, at in adapter.places(manager)]
        moves = tuple(Move(n, cell, label=names[n]) for n, cell in found if cell is not None)
        return Pointing(*cells, moves) if cells is not None else None

    @property
    def moves_at_once(self) -> bool:
        """Whether agents that are asked one after the other choose at the same time by the rules."""
        metadata: Any = getattr(self.env, "metadata", None) or {}
        return self.spec.api == "aec" and bool(metadata.get("is_parallelizable"))

    def seat_picture(self, agent: AgentID, observation: Any) -> Picture | None:
        """What ``agent`` itself may see, drawn; ``None`` where there is no such picture.

        Args:
            agent: A current agent.
            observation: What it sees, the mask taken out.
        """
        if "egocentric" not in self.pictures(agent):
            return None
        seat, seen = self._behind(agent, observation)
        return self._describer.seat_picture(seat, seen)

    def briefing(self, agent: AgentID, view: PromptInputs) -> str:
        """The text that ``agent`` gets once, before its first episode.

        Args:
            agent: A slot.
            view: What it is shown; the text explains the picture where that is the agent's own view.
        """
        told = self._telling(agent, view).briefing(agent, view.mode)
        own = view.image and view.frame == "egocentric"
        legend = self._describer.legend(self._behind(agent)[0]) if own else ""
        return f"{told}\n\n{self.other_names(agent, view).text(legend)}" if legend else told

    def other_names(self, agent: AgentID, view: PromptInputs) -> Names:
        """What is called otherwise for a slot: the same in every instance, and throughout a run.

        Args:
            agent: A slot.
            view: What it is shown.
        """
        if view.rename == "none":
            return Names()
        return self.describer(agent).other_names(agent, view.rename, view.rename_seed)

    def retellings(self, agent: AgentID) -> Iterator[str]:
        """How a slot can be told otherwise what it sees, by the words that :class:`PromptInputs` asks for."""
        describer = self.describer(agent)
        marks, terms = describer.names_are_marks, describer.terms(agent)
        if marks or terms.actions:
            yield OTHER_ACTIONS
        if marks or terms.things:
            yield OTHER_OBJECTS
        if describer.can_hide_legal(agent):
            yield HIDDEN_LEGAL
        if marks:
            yield ON_PICTURES

    def _telling(self, agent: AgentID, view: PromptInputs) -> Describer:
        """Who tells a slot what it sees: in other names, or without what is legal, where that is wanted."""
        if not view.retold:
            return self.describer(agent)
        key = agent, view.rename, view.rename_seed, view.hide_legal
        if key not in self._retold:
            names = self.other_names(agent, view)
            drawing = self.describer(agent).retold(names, view.hide_legal)
            in_words = names and not names.drawn
            self._retold[key] = RenamedDescriber(drawing, names) if in_words else drawing
        return self._retold[key]

    def _behind(self, agent: AgentID, observation: Any = None) -> tuple[AgentID, Any]:
        """The environment's own agent in a slot, and what it sees: with managers there are two slots."""
        adapter = self.adapter
        return adapter.behind(agent) if isinstance(adapter, HierarchicalAdapter) else (agent, observation)

    def company(self, agent: AgentID) -> tuple[str, list[AgentID], list[AgentID]]:
        """Name of the team of ``agent``, its team-mates, and everybody else; a manager has none."""
        own = next((team for team, agents in self.teams.items() if agent in agents), "")
        mates = [mate for mate in self.teams.get(own, ()) if mate != agent]
        return own, mates, [each for team, agents in self.teams.items() if team != own for each in agents]

    def describer(self, agent: AgentID) -> Describer:
        """Who says in words what ``agent`` sees and may do."""
        adapter = self.adapter
        managed = isinstance(adapter, HierarchicalAdapter) and adapter.options_of(agent)
        return self._two_levels if managed and self._two_levels is not None else self._describer

    def show(
        self,
        agent: AgentID,
        observation: Any,
        view: PromptInputs,
        mask: Mask | None = None,
        messages: Sequence[str] = (),
    ) -> Shown:
        """What ``agent`` is shown at this moment beside its observation.

        Args:
            agent: A current agent.
            observation: What it sees, the mask taken out.
            view: What its slot wants.
            mask: Its legal actions.
            messages: What its team-mates said.

        Raises:
            ObservationError: It cannot be described or drawn.
        """
        describer = self._telling(agent, view)
        try:
            text = describer.text(agent, observation, view.mode) if view.text else ""
            facts = written(describer.facts(agent, observation, view.mode)) if view.facts else ()
            choices: tuple[Choice, ...] = (
                describer.choices(agent, observation, mask) if view.text or view.facts else ()
            )
            image = self._drawn(agent, observation, view) if view.image else b""
            state = self.simulator.state() if view.state and self.simulator else ()
        except Exception as exc:  # the border to environments' own attributes
            raise ObservationError(f"what {agent} sees cannot be described: {described(exc)}") from exc
        return Shown(text, image, tuple(messages), choices, facts, state)

    def _drawn(self, agent: AgentID, observation: Any, view: PromptInputs) -> bytes:
        pictures, own = self.pictures(agent), view.frame == "egocentric"
        why, _ = view.refused(agent, pictures)
        if why:
            raise ValueError(why)
        # Who may be shown no picture at all is shown the whole one neither.
        whole = as_picture(self.adapter.render()) if pictures and not own else None
        picture = self.seat_picture(agent, observation) if own else whole
        if picture is None:
            raise ValueError("there is no picture of what it may see")
        grid = None
        if view.image_grid:
            grid = self._describer.cells(self._behind(agent)[0], view.frame) or cells_of(picture)
        return as_png(picture, longest=view.image_size, grid=grid)

    def _complain(self, what: str, error: Exception) -> None:
        if what not in self._complained:
            self._complained.add(what)
            _log.warning("%s: %s: %s: %s", self.spec.id, what, type(error).__name__, error)

    def keys(self, agent: str, player: int = 0) -> KeyScheme:
        """Default keys for a person who plays ``agent``.

        Args:
            agent: The agent.
            player: 0 for the first person at the keyboard, 1 for the second, whose keys are others.
        """
        keys = self.family.keys_by_space if self._managed_by(agent) else self.family.keys
        return keys(self, agent, player)

    def with_manager(
        self, options: Options | None = None, *, agents: Sequence[str] | None = None
    ) -> Environment:
        """The same environment with manager slots; teams stay as they are.

        Args:
            options: What managers choose from, all the same or by agent; by default the family's own.
            agents: Agents that get a manager; all by default.

        Raises:
            UsageError: No options are given and the family has none.
        """
        chosen = self._own_options(agents) if options is None else options
        if not chosen:
            raise UsageError(f"{self.spec.id} has no options of its own", fix="Pass some to with_manager()")
        return Environment(
            self.spec, HierarchicalAdapter(self.adapter, chosen, agents=agents), self.family, self.teams
        )

    @property
    def can_have_managers(self) -> bool:
        """Whether its family knows options that a manager of an agent can choose from."""
        return bool(self._own_options(None))

    def _own_options(self, agents: Sequence[str] | None) -> Mapping[AgentID, OptionLibrary]:
        """The family's options, by agent; empty where it has none for one of them."""
        wanted = [a for a in (agents or self.adapter.possible_agents) if a in self.adapter.possible_agents]
        found = {agent: self.family.options(self, agent) for agent in wanted}
        return {agent: library for agent, library in found.items() if library is not None}

    def close(self) -> None:
        """Release the environment; safe to call twice.

        What it raises is logged and goes no further: what was played in it stands.
        """
        try:
            self.adapter.close()
        except Exception as error:  # the border to foreign code
            _log.warning("%s could not be closed: %s: %s", self.spec.id, type(error).__name__, error)
