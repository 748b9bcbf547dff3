"""Base class of environment families: data about a group of environments, and hooks for their specifics.

Another package adds a family with an entry point in the group ``mosaic.families`` that names a
:class:`Family` object (or a function without arguments that returns one).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pkgutil import resolve_name
from typing import Any, ClassVar

from gym_gui.core.enums import Outcome
from gym_gui.core.errors import MissingDependencyError, UsageError
from gym_gui.core.live import Board
from gym_gui.core.paradigms import OptionLibrary, ParadigmAdapter, adapt
from gym_gui.core.types import Plan
from gym_gui.envs.boards.board_game_words import can_mate, legal_words
from gym_gui.envs.describers import Describer
from gym_gui.envs.documents import source
from gym_gui.envs.documents.environment_arguments import arguments_of, with_default
from gym_gui.envs.environment_source import EnvironmentSource
from gym_gui.envs.index import is_installed
from gym_gui.envs.instance import Instance, Teams
from gym_gui.envs.keymaps import KeyScheme, Pace, of_space
from gym_gui.envs.simulator import Simulator
from gym_gui.envs.spec import EnvSpec, split_version

USED_MODES = ("rgb_array", "ansi")
"""Render modes that MOSAIC uses; ``human`` would open separate windows."""
_GENERAL = frozenset({"Env", "EzPickle", "AECEnv", "ParallelEnv", "MiniGridEnv", "MultiGridEnv"})
"""Base classes whose documentation describes all environments and not a particular one."""


class Family:
    """Base class of all families. The defaults fit an environment about which nothing is known.

    Attributes:
        name: Short name, as in ``env_name`` of an experiment.
        title: Display name.
        extra: Extra of this distribution that installs the packages.
        modules: Import names that must be installed to list and make the family's environments.
        prefixes: Prefixes of the family's ids; they identify an id even if the package is missing.
        closed: Whether all ids of the family begin with one of the prefixes.
        hints: Accepted spellings of ``env_name``, each with the prefix that an id must have under that hint
            (``""``: any).
        apis: Interfaces that the environments can be made with, the native one first.
        compiled: Functions (``module:name``) that are compiled at the first use of an environment on a
            machine, together with the functions that they call.
        built_by: Function (``module:name``) that takes an id, ``render_mode`` and ``env_kwargs`` and makes an
            environment for :meth:`build`.
        described_by: Class (``module:name``) for :meth:`describer`.
        options_by: Function (``module:name``) that takes an environment and an agent, for :meth:`options`.
        web_page: Web page about all environments of the family, for :meth:`doc_url`.
        modes: Render modes of all environments of the family, for :meth:`render_modes`.
        documented: Whether the package documents each environment.
        usual_pace: Pace of all environments of the family, for :meth:`pace`.

    The attributes that end in ``_by`` are imported at their first use: listing environments imports none.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    extra: ClassVar[str] = ""
    modules: ClassVar[tuple[str, ...]] = ()
    prefixes: ClassVar[tuple[str, ...]] = ()
    closed: ClassVar[bool] = False
    hints: ClassVar[Mapping[str, str]] = {}
    apis: ClassVar[tuple[str, ...]] = ("gymnasium",)
    compiled: ClassVar[tuple[str, ...]] = ()
    built_by: ClassVar[str] = ""
    described_by: ClassVar[str] = "gym_gui.envs.describers:SpaceDescriber"
    options_by: ClassVar[str] = ""
    web_page: ClassVar[str] = ""
    modes: ClassVar[tuple[str, ...] | None] = None
    documented: ClassVar[bool] = True
    usual_pace: ClassVar[Pace] = Pace()

    # -- lists of environments

    def specs(self) -> Sequence[EnvSpec]:
        """Return all environments, without importing their package in this process.

        Raises:
            MissingDependencyError: The package is not installed.
        """
        raise NotImplementedError

    def spec(self, env_id: str, entry_point: str | Callable[..., Any], **facts: Any) -> EnvSpec:
        """Return the spec of one environment of the family.

        Args:
            env_id: Canonical id.
            entry_point: Entry point for :class:`EnvSpec`.
            facts: Further fields of :class:`EnvSpec`, and fields that differ from the family's.
        """
        apis: tuple[str, ...] = facts.get("apis", self.apis)
        package = self.modules[0] if self.modules else ""
        fields: dict[str, Any] = {"apis": apis, "package": package, "extra": self.extra, **facts}
        return EnvSpec(env_id, self.name, apis[0], entry_point=entry_point, **fields)

    def candidates(self, task: str) -> Iterable[str]:
        """Return canonical ids that ``task`` may stand for, the most likely first."""
        return (task,)

    def require(self) -> None:
        """Check that the family's packages are installed.

        Raises:
            MissingDependencyError: A package is missing.
        """
        for module in self.modules:
            if not is_installed(module):
                raise MissingDependencyError(module, self.install)

    @property
    def install(self) -> str:
        """Command that installs the family's packages; ``""`` if there is none."""
        return f"mosaic envs install {self.name}" if self.extra else ""

    @property
    def installed(self) -> bool:
        """Whether the family's packages are installed."""
        return all(map(is_installed, self.modules))

    def pattern_id(self, spec: EnvSpec) -> str:
        """Return the name that patterns such as ``MiniGrid-*`` match.

        ``""`` if the id does not identify the game.
        """
        return spec.id

    @property
    def listable(self) -> bool:
        """Whether :meth:`specs` works; some registries list environments that are not installed."""
        return self.installed

    def lookup(self, names: Iterable[str]) -> EnvSpec | None:
        """Return the first of ``names`` that is an environment of this family; ``None`` if none is."""
        wanted = list(dict.fromkeys(names))
        if self.closed and not self.owns(wanted):
            return None
        by_id = {spec.id: spec for spec in self.findable()}
        return next((by_id[name] for name in wanted if name in by_id), None)

    def findable(self) -> Sequence[EnvSpec]:
        """Return all environments that can be found by name; overridden by families that list fewer."""
        return self.specs()

    def owns(self, names: Iterable[str]) -> bool:
        """Return whether one of ``names`` has a prefix of this family."""
        return any(name.startswith(prefix) for name in names for prefix in self.prefixes)

    def needs(self, spec: EnvSpec) -> tuple[str, ...]:
        """Return names of modules that an environment needs in addition to :attr:`modules`."""
        return ()

    # -- documentation; nothing here imports the package

    def title_of(self, spec: EnvSpec) -> str:
        """Return the display name of an environment; by default its id without the version."""
        return split_version(spec.id)[0]

    def summary(self, spec: EnvSpec) -> str:
        """Return one sentence about an environment; ``""`` to use the first sentence of its documentation."""
        return ""

    def search_words(self, spec: EnvSpec) -> str:
        """Return search words for an environment in addition to its id, title and description."""
        return ""

    def game(self, spec: EnvSpec) -> str:
        """Return the game's name, equal in all families with the same rules.

        ``""`` if no other family has it.

        If several families have a game, lists show it once and name the others.
        """
        return ""

    def documented_at(self, spec: EnvSpec) -> str | Callable[..., Any]:
        """Return the location of documentation and metadata: ``"module:name"``, or a class."""
        return spec.entry_point

    def documentation(self, spec: EnvSpec) -> str:
        """Return the documentation of an environment's class, else of its module; ``""`` if there is none."""
        if not self.documented:
            return ""
        point = self.documented_at(spec)
        if callable(point):
            return source.of_object(point)
        found = source.find(point)
        if found is None:
            return ""
        if found.node is None:
            return found.module_text
        texts = {each.node.name: each.text for each in source.classes(found) if each.node is not None}
        own = [text for name, text in texts.items() if text and name not in _GENERAL]
        return next(iter(own), found.module_text)

    def doc_url(self, spec: EnvSpec) -> str:
        """Return the web page about an environment; ``""`` if there is none."""
        return self.web_page

    def render_modes(self, spec: EnvSpec) -> tuple[str, ...]:
        """Return which of ``rgb_array`` and ``ansi`` an environment declares; by default ``rgb_array``."""
        if self.modes is not None:
            return self.modes
        point = self.documented_at(spec)
        if callable(point):
            metadata: Mapping[str, Any] = getattr(point, "metadata", {})
            stated = metadata.get("render_modes")
        else:
            found = source.find(point)
            stated = None if found is None else source.render_modes(found)
        return USED_MODES[:1] if stated is None else tuple(mode for mode in USED_MODES if mode in stated)

    def arguments(self, spec: EnvSpec) -> Mapping[str, Mapping[str, Any]]:
        """Return the known ``env_kwargs`` of an environment: a JSON Schema for each name.

        By default the arguments are read from the source of the environment's class, with the
        defaults that its package registered. A family with more or other arguments overrides this method.
        """
        fixed: Mapping[str, Any] = spec.traits.get("kwargs", {})
        return {
            name: with_default(about, fixed[name]) if name in fixed else about
            for name, about in arguments_of(self.documented_at(spec)).items()
        }

    # -- making an environment

    def build(self, spec: EnvSpec, *, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> Any:
        """Make the environment itself; exceptions of its package are not caught.

        Raises:
            UsageError: The family neither sets ``built_by`` nor overrides this method.
        """
        if not self.built_by:
            own = f"{type(self).__module__}.{type(self).__qualname__}"
            raise UsageError(
                f"the family {self.name!r} has neither built_by nor build(), so it cannot make environments",
                fix=f'Give its class {own} built_by = "module:function", or build()',
            )
        return resolve_name(self.built_by)(spec.id, render_mode, env_kwargs)

    def as_source(self, spec: EnvSpec, env_kwargs: Mapping[str, Any]) -> EnvironmentSource | None:
        """Return Python lines that make the same environment without MOSAIC; ``None`` if only MOSAIC can.

        Args:
            spec: The environment, with its interface.
            env_kwargs: Arguments as in :meth:`build`.
        """
        return None

    def adapter(self, spec: EnvSpec, env: Any) -> ParadigmAdapter:
        """Return the adapter around an environment that :meth:`build` has made."""
        return adapt(env, spec.api)

    def reusable(self, spec: EnvSpec) -> bool:
        """Return whether ``reset`` clears all state; otherwise each episode gets a new instance."""
        return True

    # -- meaning of observations, actions and results

    def world(self, spec: EnvSpec, env_kwargs: Mapping[str, Any]) -> str:
        """Return the name of a simulator that all instances of an environment share; ``""`` without one.

        Episodes in one simulator are played one after the other, even for different operators.
        """
        return ""

    def hidden_information(self, spec: EnvSpec) -> bool:
        """Return whether some seat must not know the whole state.

        Hidden information are cards, roles, targets, objects out of view, or a choice that others make at the
        same time. If there is any, no player that decides gets the whole picture or its rewards, unless the
        experiment asks for them. By default every environment for several agents hides information; a family
        whose seats all see everything overrides this method. An environment may declare
        ``"hidden_information"`` in its ``metadata``.
        """
        return spec.api != "gymnasium"

    def shaped_rewards(self, spec: EnvSpec) -> bool:
        """Return whether rewards also guide the agent on its way to the goal."""
        return False

    def teams(self, spec: EnvSpec, adapter: ParadigmAdapter) -> Teams:
        """Return the agents by team.

        By default all are one team, named ``agent`` for one agent, else ``team``.
        """
        agents = adapter.possible_agents
        return {"agent" if len(agents) == 1 else "team": agents}

    def scores(self, environment: Instance, returns: Mapping[str, float]) -> dict[str, float] | None:
        """Return the environment's own score by team; ``None`` if it keeps none."""
        return None

    def outcome(self, environment: Instance, returns: Mapping[str, float]) -> dict[str, Outcome] | None:
        """Return win, draw or loss by team; ``None`` if the environment has no winners."""
        return None

    def seat_names(self, environment: Instance) -> Mapping[str, str]:
        """Return the game's own names of seats, by agent, such as ``White`` or ``Player 1``.

        A seat without a name in the result keeps the environment's name.
        """
        return {}

    def result(self, environment: Instance, outcome: Mapping[str, Outcome]) -> str:
        """Return how a game ended in a few words, such as ``White wins by checkmate``; ``""`` if unknown.

        Args:
            environment: An environment whose game has ended.
            outcome: Outcome by team.
        """
        names = self.seat_names(environment)
        winners = [team for team, word in outcome.items() if word == Outcome.WIN]
        if not names or len(winners) != 1:
            return "Draw" if names and not winners and outcome else ""
        return f"{names.get(winners[0], winners[0])} wins"

    def achieved(self, environment: Instance) -> str:
        """Return the result of a cooperative game in a few words, such as ``17 of 25 points``; or ``""``."""
        return ""

    def notates(self, spec: EnvSpec) -> bool:
        """Return whether :meth:`notation` can write the moves of an environment."""
        return self.has_board(spec)

    def notation(self, environment: Instance, played: Sequence[tuple[str, Any]], since: int) -> Sequence[str]:
        """Return moves in the game's own notation (chess: ``Nf3``), without the first ``since`` moves.

        Args:
            environment: The environment that was played.
            played: Agent and action of every move.
            since: Number of moves to leave out.
        """
        return ()

    def can_still_win(self, environment: Instance, agent: str) -> bool:
        """Return whether ``agent`` could still win if all others ran out of time.

        In chess, ``agent`` can win if it can mate with its pieces.
        """
        board = self.board(environment) if self.has_board(environment.spec) else None
        return board is None or can_mate(board, agent)

    def legal_words(self, environment: Instance) -> Mapping[int, str]:
        """Return the legal moves in the notation of :meth:`notation`, by action.

        By default only for boards.
        """
        board = self.board(environment) if self.has_board(environment.spec) else None
        return {} if board is None else legal_words(board)

    def success(self, environment: Instance) -> bool | None:
        """Return whether the task was solved, as the environment reports it; ``None`` without a report."""
        return None

    def action_meanings(self, environment: Instance, agent: str) -> tuple[str, ...]:
        """Return the names of an agent's discrete actions; empty if they have none."""
        return ()

    def noop_action(self, environment: Instance, agent: str) -> Any | None:
        """Return the action that does nothing; ``None`` if there is none."""
        meanings = self.action_meanings(environment, agent)
        lowered = [meaning.lower() for meaning in meanings]
        return lowered.index("noop") if "noop" in lowered else None

    def default_action(self, environment: Instance, agent: str) -> Any | None:
        """Return the action that the environment plays for an invalid action; ``None`` if it has none."""
        return None

    def describer(self, environment: Instance) -> Describer:
        """Return the describer of an environment. By default it uses the names of the spaces."""
        return resolve_name(self.described_by)(environment)

    def simulator(self, environment: Instance) -> Simulator | None:
        """Return the simulator inside an environment, if its state can be read; else ``None``."""
        return None

    def draw_plans(self, environment: Instance, plans: Sequence[Plan]) -> None:
        """Draw plans into the environment's next picture, if the family supports it.

        Args:
            environment: An environment made with ``rgb_array``.
            plans: Plans of the players' last decisions (``plan_points``).
        """

    def board(self, environment: Instance) -> Board | None:
        """Return the position of a board game, to draw and click on; ``None`` for other environments."""
        return None

    def has_board(self, spec: EnvSpec) -> bool:
        """Return whether :meth:`board` supports this environment."""
        return False

    def pace(self, spec: EnvSpec) -> Pace:
        """Return whether the game continues while a person thinks, and how fast."""
        return self.usual_pace

    def components(self, spec: EnvSpec) -> tuple[str, ...]:
        """Return the names of the components of a continuous action; empty if unknown."""
        return ()

    def keys(self, environment: Instance, agent: str, player: int) -> KeyScheme:
        """Return the default keys for a person who plays ``agent``.

        Args:
            environment: The environment.
            agent: The agent.
            player: 0 for the first person at the keyboard, 1 for the second, who has different keys.
        """
        return self.keys_by_space(environment, agent, player)

    def keys_by_space(self, environment: Instance, agent: str, player: int) -> KeyScheme:
        """Return keys for the names of the actions, or for their numbers; arguments as in :meth:`keys`."""
        spec = environment.spec
        return of_space(
            environment.adapter.action_space(agent),
            player,
            self.pace(spec),
            words=environment.action_meanings(agent),
            idle=environment.noop_action(agent),
            mouse=self.has_board(spec),
            components=self.components(spec),
        )

    def options(self, environment: Instance, agent: str) -> OptionLibrary | None:
        """Return the options that a manager of ``agent`` chooses from; ``None`` if the family has none."""
        return resolve_name(self.options_by)(environment, agent) if self.options_by else None


def one_team_per_agent(adapter: ParadigmAdapter) -> Teams:
    """Return a team for each agent, with that agent alone."""
    return {agent: (agent,) for agent in adapter.possible_agents}


def ranked(scores: Mapping[str, float]) -> dict[str, Outcome] | None:
    """Return win, draw or loss by team from the scores; ``None`` for fewer than two teams.

    The best score wins; several teams that share it draw, and all others lose.
    """
    if len(scores) < 2:
        return None
    best = max(scores.values())
    leaders = [team for team, score in scores.items() if score == best]
    top = Outcome.WIN if len(leaders) == 1 else Outcome.DRAW
    return {team: top if team in leaders else Outcome.LOSS for team in scores}


def team_returns(teams: Teams, returns: Mapping[str, float]) -> dict[str, float]:
    """Return the sum of the agents' returns, by team."""
    return {team: sum(returns.get(a, 0.0) for a in agents) for team, agents in teams.items()}


def enum_names(members: Iterable[Any], rename: Callable[[str], str] = str) -> tuple[str, ...]:
    """Return the names of an enumeration of actions, in the order of their values."""
    return tuple(rename(m.name) for m in sorted(members, key=int))
