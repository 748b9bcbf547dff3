"""One environment instance, with all functions that the engine and the window use."""

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
    """Environment instance with its adapter and its family.

    Attributes:
        spec: Description of the environment.
        adapter: Adapter that steps the environment.
        family: Family with the hooks for the environment.
        teams: Agents by team name.
        cut_off: Steps after which a run truncates an episode, which prompts mention; ``None`` if unlimited.
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
        self._warned: set[str] = set()
        self._renamed_describers: dict[tuple[object, ...], Describer] = {}
        self._played: list[tuple[AgentID, Any]] = []
        self._moves: list[str] = []

    def seat(self, agents: Sequence[AgentID]) -> None:
        """Set the agents that take part, if agents appear during an episode; updates the teams.

        Args:
            agents: All agents that have acted in this episode so far.
        """
        if self._team_patterns is None:
            self._team_patterns = self.teams
        self.teams = members(self._team_patterns, agents)

    @property
    def reusable(self) -> bool:
        """Whether the instance can play another episode after the current one."""
        return self.family.reusable(self.spec)

    @property
    def env(self) -> Any:
        """The innermost environment, without wrappers."""
        inner = self.adapter.env
        return getattr(inner, "unwrapped", inner)

    @property
    def title(self) -> str:
        """Display name of the environment."""
        return self.family.title_of(self.spec)

    @property
    def summary(self) -> str:
        """One sentence about the environment; ``""`` if its family has no summary."""
        return self.family.summary(self.spec)

    @property
    def rewards_betray(self) -> bool:
        """Whether rewards reveal what a seat must not know: hidden information, or the way to the goal."""
        return self.hidden_information or self.family.shaped_rewards(self.spec)

    def tells_rewards(self, view: PromptInputs) -> bool:
        """Return whether a slot whose player reads text is shown its rewards."""
        if view.tell_rewards != "auto":
            return view.tell_rewards == "always"
        return not self.rewards_betray

    @property
    def max_episode_steps(self) -> int | None:
        """Steps after which the package truncates an episode of this instance; ``None`` if unknown."""
        made = getattr(getattr(self.adapter.env, "spec", None), "max_episode_steps", None)
        return self.spec.max_episode_steps if made is None else int(made)

    @property
    def hidden_information(self) -> bool:
        """Whether some seat must not know the whole state; the environment's own metadata has priority."""
        metadata: Any = getattr(self.env, "metadata", None) or {}
        stated = metadata.get("hidden_information")
        return stated if isinstance(stated, bool) else self.family.hidden_information(self.spec)

    def scores(self, returns: Mapping[str, float]) -> dict[str, float] | None:
        """Return the environment's own score by team; ``None`` if it keeps none.

        Args:
            returns: Sum of rewards by agent.
        """
        return self.family.scores(self, returns)

    def outcome(self, returns: Mapping[str, float]) -> dict[str, Outcome] | None:
        """Return win, draw or loss by team; ``None`` if no team can win."""
        return self.family.outcome(self, returns)

    @cached_property
    def seat_names(self) -> Mapping[AgentID, str]:
        """The game's own names of seats, by agent; a manager's slot has none."""
        return dict(self.family.seat_names(self))

    def seat_name(self, agent: AgentID) -> str:
        """Return the game's own name of a seat, or the environment's name if the game has none."""
        return self.seat_names.get(agent, agent)

    def result(self, outcome: Mapping[str, Outcome] | None) -> str:
        """Return how a game ended in a few words, such as "White wins by checkmate"; ``""`` if unknown.

        Args:
            outcome: Result of :meth:`outcome`.
        """
        return self.family.result(self, outcome) if outcome else self.family.achieved(self)

    @property
    def notates(self) -> bool:
        """Whether moves can be written in the game's own notation."""
        return self.family.notates(self.spec)

    def notation(self, played: Sequence[tuple[AgentID, Any]]) -> tuple[str, ...]:
        """Return all moves in the game's own notation; empty if it has none.

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
                self._warn_once("its moves cannot be written", error)
                return ()
            self._played = list(played)
        return tuple(self._moves)

    def can_still_win(self, agent: AgentID) -> bool:
        """Return whether ``agent`` could still win if all others ran out of time."""
        return self.family.can_still_win(self, agent)

    def legal_words(self) -> dict[int, str]:
        """Return the legal moves in the game's own notation, by action; empty if it has none."""
        return dict(self.family.legal_words(self)) if self.notates else {}

    def success(self) -> bool | None:
        """Return whether the task was solved, as the environment reports it; ``None`` without a report."""
        return self.family.success(self)

    def _managed_by(self, agent: AgentID) -> HierarchicalAdapter | None:
        """Return the adapter with options for ``agent`` if ``agent`` is a manager's slot, else ``None``."""
        adapter = self.adapter
        return adapter if isinstance(adapter, HierarchicalAdapter) and adapter.manages(agent) else None

    def action_meanings(self, agent: str) -> tuple[str, ...]:
        """Return the names of an agent's discrete actions; empty if they have none."""
        if manages := self._managed_by(agent):
            return tuple(option.name for option in manages.options_of(agent))
        # A task may have fewer actions than the family's other environments.
        count = getattr(self.adapter.action_space(agent), "n", None)
        words = self.family.action_meanings(self, agent)
        return words[: int(count)] if isinstance(count, Integral) else words

    def option_names(self, agent: str) -> tuple[str, ...]:
        """Return the options that the manager of ``agent`` chooses from, by number.

        Empty without a manager.
        """
        adapter = self.adapter
        if not isinstance(adapter, HierarchicalAdapter) or adapter.manages(agent):
            return ()
        return tuple(option.name for option in adapter.options_of(agent))

    def noop_action(self, agent: str) -> Any | None:
        """Return the action with which ``agent`` does nothing; ``None`` if there is none."""
        if self._managed_by(agent):
            return None
        action = self.family.noop_action(self, agent)
        return action if action is None or self.adapter.action_space(agent).contains(action) else None

    def default_action(self, agent: str) -> Any | None:
        """Return the action that the environment plays for an invalid action; ``None`` if it has none."""
        if self._managed_by(agent):
            return None
        action = self.family.default_action(self, agent)
        return action if action is None or self.adapter.action_space(agent).contains(action) else None

    def board(self) -> Board | None:
        """Return the position of a board game with its legal moves; ``None`` for other environments."""
        try:
            return self.family.board(self)
        except Exception as error:  # foreign code, which partly uses no public API
            self._warn_once("its board cannot be read", error)
            return None

    def picture(self, plans: Sequence[Plan] = ()) -> Picture | None:
        """Return an RGB picture of shape (H, W, 3), ``uint8``; ``None`` without render mode ``rgb_array``.

        If drawing fails, the result is ``None`` and the error is logged once, so that play continues.

        Args:
            plans: Paths that players plan to take, for people to see; drawn if the family supports it.
        """
        try:
            if plans:
                self.family.draw_plans(self, plans)
            return as_picture(self.adapter.render())
        except (EnvironmentFailure, ValueError, TypeError) as error:
            self._warn_once("its picture is missing", error)
            return None

    def ansi(self) -> str:
        """Return the environment's rendered text with color codes; ``""`` without render mode ``ansi``."""
        try:
            return as_text(self.adapter.render())
        except EnvironmentFailure as error:
            self._warn_once("its text is missing", error)
            return ""

    @cached_property
    def _describer(self) -> Describer:
        """Describer of the observations of the environment's own agents, without managers."""
        adapter = self.adapter
        if isinstance(adapter, HierarchicalAdapter):
            return self.family.describer(Environment(self.spec, adapter.inner, self.family, self.teams))
        return self.family.describer(self)

    @cached_property
    def _two_levels(self) -> Describer | None:
        """Describer of managers' choices and of the options that agents get; ``None`` without managers."""
        adapter = self.adapter
        if not isinstance(adapter, HierarchicalAdapter):
            return None
        return TwoLevelDescriber(self, adapter, self._describer)

    @cached_property
    def simulator(self) -> Simulator | None:
        """Simulator inside the environment, if its state can be read; else ``None``."""
        return self.family.simulator(self)

    def pictures(self, agent: AgentID) -> tuple[Frame, ...]:
        """Return the kinds of pictures that ``agent`` may see, if the environment renders ``rgb_array``.

        ``egocentric``: a picture of the agent's observation can be drawn. ``whole``: the whole picture shows
        the agent only what it may know.
        """
        if "rgb_array" not in self.family.render_modes(self.spec):
            return ()
        seat, describer = self._agent_behind(agent)[0], self._describer
        may = {"egocentric": describer.can_draw(seat), "whole": describer.sees_all(seat)}
        return tuple(frame for frame in FRAMES if may[frame])

    def hides_from(self, agent: AgentID) -> bool:
        """Return whether the whole picture would show ``agent`` information that its seat must not have."""
        return self.hidden_information and not self._describer.sees_all(self._agent_behind(agent)[0])

    def pointing(self, manager: AgentID, frame: Frame = "whole") -> Pointing | None:
        """Return which options a manager can choose by clicking a picture.

        ``None`` if clicks are impossible.
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
        """Whether agents that are asked in turn choose simultaneously by the game's rules."""
        metadata: Any = getattr(self.env, "metadata", None) or {}
        return self.spec.api == "aec" and bool(metadata.get("is_parallelizable"))

    def seat_picture(self, agent: AgentID, observation: Any) -> Picture | None:
        """Return a picture of an agent's observation; ``None`` if none can be drawn.

        Args:
            agent: A current agent.
            observation: The agent's observation, without the mask.
        """
        if "egocentric" not in self.pictures(agent):
            return None
        seat, seen = self._agent_behind(agent, observation)
        return self._describer.seat_picture(seat, seen)

    def briefing(self, agent: AgentID, view: PromptInputs) -> str:
        """Return the text that ``agent`` gets once, before its first episode.

        Args:
            agent: A slot.
            view: The inputs that the slot asks for; with an egocentric picture, the text explains how to read
                it.
        """
        told = self._prompt_describer(agent, view).briefing(agent, view.mode)
        own = view.image and view.frame == "egocentric"
        legend = self._describer.legend(self._agent_behind(agent)[0]) if own else ""
        return f"{told}\n\n{self.other_names(agent, view).text(legend)}" if legend else told

    def other_names(self, agent: AgentID, view: PromptInputs) -> Names:
        """Return the replaced names for a slot's prompts; they stay the same throughout a run.

        Args:
            agent: A slot.
            view: The inputs that the slot asks for.
        """
        if view.rename == "none":
            return Names()
        return self.describer(agent).other_names(agent, view.rename, view.rename_seed)

    def retellings(self, agent: AgentID) -> Iterator[str]:
        """Yield the ways in which a slot's prompts can be changed, in the terms of :class:`PromptInputs`."""
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

    def _prompt_describer(self, agent: AgentID, view: PromptInputs) -> Describer:
        """Return a slot's describer, with replaced names or without legal actions if the slot asks for it."""
        if not view.retold:
            return self.describer(agent)
        key = agent, view.rename, view.rename_seed, view.hide_legal
        if key not in self._renamed_describers:
            names = self.other_names(agent, view)
            drawing = self.describer(agent).retold(names, view.hide_legal)
            in_words = names and not names.drawn
            self._renamed_describers[key] = RenamedDescriber(drawing, names) if in_words else drawing
        return self._renamed_describers[key]

    def _agent_behind(self, agent: AgentID, observation: Any = None) -> tuple[AgentID, Any]:
        """Return the environment's own agent of a slot with its observation; a manager shares its agent's."""
        adapter = self.adapter
        return adapter.behind(agent) if isinstance(adapter, HierarchicalAdapter) else (agent, observation)

    def team_and_others(self, agent: AgentID) -> tuple[str, list[AgentID], list[AgentID]]:
        """Return the team name of ``agent``, its team-mates, and all other agents; a manager has no team."""
        own = next((team for team, agents in self.teams.items() if agent in agents), "")
        mates = [mate for mate in self.teams.get(own, ()) if mate != agent]
        return own, mates, [each for team, agents in self.teams.items() if team != own for each in agents]

    def describer(self, agent: AgentID) -> Describer:
        """Return the describer of the observations and actions of ``agent``."""
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
        """Return the inputs that ``agent`` gets in addition to its observation.

        Args:
            agent: A current agent.
            observation: The agent's observation, without the mask.
            view: The inputs that the slot asks for.
            mask: Mask of the agent's legal actions, or ``None``.
            messages: Messages of the agent's team-mates.

        Raises:
            ObservationError: The observation cannot be described or drawn.
        """
        describer = self._prompt_describer(agent, view)
        try:
            text = describer.text(agent, observation, view.mode) if view.text else ""
            facts = written(describer.facts(agent, observation, view.mode)) if view.facts else ()
            choices: tuple[Choice, ...] = (
                describer.choices(agent, observation, mask) if view.text or view.facts else ()
            )
            image = self._rendered_png(agent, observation, view) if view.image else b""
            state = self.simulator.state() if view.state and self.simulator else ()
        except Exception as exc:  # environments' own code may raise anything
            raise ObservationError(
                f"the observation of {agent} cannot be described: {described(exc)}"
            ) from exc
        return Shown(text, image, tuple(messages), choices, facts, state)

    def _rendered_png(self, agent: AgentID, observation: Any, view: PromptInputs) -> bytes:
        pictures, own = self.pictures(agent), view.frame == "egocentric"
        why, _ = view.refused(agent, pictures)
        if why:
            raise ValueError(why)
        # An agent that may see no picture gets no whole picture, either.
        whole = as_picture(self.adapter.render()) if pictures and not own else None
        picture = self.seat_picture(agent, observation) if own else whole
        if picture is None:
            raise ValueError("there is no picture of its observation")
        grid = None
        if view.image_grid:
            grid = self._describer.cells(self._agent_behind(agent)[0], view.frame) or cells_of(picture)
        return as_png(picture, longest=view.image_size, grid=grid)

    def _warn_once(self, what: str, error: Exception) -> None:
        if what not in self._warned:
            self._warned.add(what)
            _log.warning("%s: %s: %s: %s", self.spec.id, what, type(error).__name__, error)

    def keys(self, agent: str, player: int = 0) -> KeyScheme:
        """Return the default keys for a person who plays ``agent``.

        Args:
            agent: The agent.
            player: 0 for the first person at the keyboard, 1 for the second, who has different keys.
        """
        keys = self.family.keys_by_space if self._managed_by(agent) else self.family.keys
        return keys(self, agent, player)

    def with_manager(
        self, options: Options | None = None, *, agents: Sequence[str] | None = None
    ) -> Environment:
        """Return the same environment with additional slots for managers; teams stay unchanged.

        Args:
            options: Options that managers choose from, common or by agent; by default the family's own.
            agents: Agents that get a manager; all by default.

        Raises:
            UsageError: No options are given and the family has none.
        """
        chosen = self._own_options(agents) if options is None else options
        if not chosen:
            raise UsageError(
                f"{self.spec.id} has no options of its own", fix="Pass options to with_manager()"
            )
        return Environment(
            self.spec, HierarchicalAdapter(self.adapter, chosen, agents=agents), self.family, self.teams
        )

    @property
    def can_have_managers(self) -> bool:
        """Whether the family has options that a manager can choose from."""
        return bool(self._own_options(None))

    def _own_options(self, agents: Sequence[str] | None) -> Mapping[AgentID, OptionLibrary]:
        """Return the family's options for managers by agent, without agents that have none."""
        wanted = [a for a in (agents or self.adapter.possible_agents) if a in self.adapter.possible_agents]
        found = {agent: self.family.options(self, agent) for agent in wanted}
        return {agent: library for agent, library in found.items() if library is not None}

    def close(self) -> None:
        """Close the environment; a second call has no effect.

        An exception of the environment is only logged, because the played episodes stay valid.
        """
        try:
            self.adapter.close()
        except Exception as error:  # the border to foreign code
            _log.warning("%s could not be closed: %s: %s", self.spec.id, type(error).__name__, error)
