"""A family: data about a group of environments, and the hooks that know their ways.

Another package adds a family by an entry point in the group ``mosaic.families`` that
names a :class:`Family` object (or a function without arguments that returns one).
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
"""Render modes that are of use here; ``human`` opens windows of its own."""
_GENERAL = frozenset({"Env", "EzPickle", "AECEnv", "ParallelEnv", "MiniGridEnv", "MultiGridEnv"})
"""Base classes whose documentation is about all environments and none in particular."""


class Family:
    """Base of all families; the defaults fit an environment nothing is known about.

    Attributes:
        name: Short name, as in ``env_name`` of an experiment.
        title: Name for people.
        extra: Extra of this distribution that installs it.
        modules: Import names that must be there to list and make its environments.
        prefixes: What its ids begin with; lets an id be recognised while the package
            is missing.
        closed: Whether all its ids begin with one of the prefixes.
        hints: Accepted spellings of ``env_name``, each with what an id must begin
            with under that hint (``""``: anything).
        apis: Interfaces that its environments can be made with, the native one first.
        compiled: Functions (``module:name``) that are compiled when the first of its environments on a
            machine begins, together with those that they call.
        built_by: Function (``module:name``) of an id, ``render_mode`` and ``env_kwargs``: its :meth:`build`.
        described_by: Class (``module:name``) of its :meth:`describer`.
        options_by: Function (``module:name``) of an environment and an agent: its :meth:`options`.
        web_page: Page on the web about all of its environments: its :meth:`doc_url`.
        modes: What all of them render: its :meth:`render_modes`.
        documented: Whether its package says something of each environment.
        usual_pace: How fast time runs in all of them: its :meth:`pace`.

    What ends in ``_by`` is imported where it is first used: listing environments imports none of it.
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

    # -- what there is

    def specs(self) -> Sequence[EnvSpec]:
        """All environments, without importing their package here.

        Raises:
            MissingDependencyError: The package is not installed.
        """
        raise NotImplementedError

    def spec(self, env_id: str, entry_point: str | Callable[..., Any], **facts: Any) -> EnvSpec:
        """One of its environments.

        Args:
            env_id: Canonical id.
            entry_point: As :class:`EnvSpec` has it.
            facts: Further fields of :class:`EnvSpec`, and those that differ from the family's.
        """
        apis: tuple[str, ...] = facts.get("apis", self.apis)
        package = self.modules[0] if self.modules else ""
        fields: dict[str, Any] = {"apis": apis, "package": package, "extra": self.extra, **facts}
        return EnvSpec(env_id, self.name, apis[0], entry_point=entry_point, **fields)

    def candidates(self, task: str) -> Iterable[str]:
        """Canonical ids that ``task`` may mean, the likeliest first."""
        return (task,)

    def require(self) -> None:
        """Raise :class:`MissingDependencyError` where the package is missing."""
        for module in self.modules:
            if not is_installed(module):
                raise MissingDependencyError(module, self.install)

    @property
    def install(self) -> str:
        """The line that installs its packages; empty where none is known."""
        return f"mosaic envs install {self.name}" if self.extra else ""

    @property
    def installed(self) -> bool:
        """Whether its packages can be found."""
        return all(map(is_installed, self.modules))

    def pattern_id(self, spec: EnvSpec) -> str:
        """What patterns (``MiniGrid-*``) are held against; empty where an id says nothing of the game."""
        return spec.id

    @property
    def listable(self) -> bool:
        """Whether :meth:`specs` can answer; some registries name what is not installed."""
        return self.installed

    def lookup(self, names: Iterable[str]) -> EnvSpec | None:
        """The first of ``names`` that is an environment of this family."""
        wanted = list(dict.fromkeys(names))
        if self.closed and not self.owns(wanted):
            return None
        by_id = {spec.id: spec for spec in self.findable()}
        return next((by_id[name] for name in wanted if name in by_id), None)

    def findable(self) -> Sequence[EnvSpec]:
        """All that can be found by name; where that is more than what is listed, a family says so."""
        return self.specs()

    def owns(self, names: Iterable[str]) -> bool:
        """Whether one of ``names`` can only be an environment of this family."""
        return any(name.startswith(prefix) for name in names for prefix in self.prefixes)

    def needs(self, spec: EnvSpec) -> tuple[str, ...]:
        """Import names that this one needs beyond :attr:`modules`."""
        return ()

    # -- what it is about; all of this imports nothing of the package

    def title_of(self, spec: EnvSpec) -> str:
        """Name of one environment for people; by default its id without the version."""
        return split_version(spec.id)[0]

    def summary(self, spec: EnvSpec) -> str:
        """One sentence, or ``""`` for the first one of its documentation."""
        return ""

    def search_words(self, spec: EnvSpec) -> str:
        """Further words that people look for it by, beside its id, its title and what it is about."""
        return ""

    def game(self, spec: EnvSpec) -> str:
        """Name of the game, the same in every family that has it by the same rules; ``""``: only here.

        Where several families have it, lists show it once and say so.
        """
        return ""

    def documented_at(self, spec: EnvSpec) -> str | Callable[..., Any]:
        """What has its documentation and metadata: ``"module:name"``, or a class at hand."""
        return spec.entry_point

    def documentation(self, spec: EnvSpec) -> str:
        """Its documentation as its package has it: that of the class, else of the module; ``""``: none."""
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
        """Its page on the web, or ``""``."""
        return self.web_page

    def render_modes(self, spec: EnvSpec) -> tuple[str, ...]:
        """Those of ``rgb_array`` and ``ansi`` that it has; ``rgb_array`` where it does not say."""
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
        """What ``env_kwargs`` may say, as far as it is known: a JSON Schema to each name.

        By default read from the source of the environment's class, with the defaults that its package
        registered it with. A family that knows more, or whose own arguments are others, says so here.
        """
        fixed: Mapping[str, Any] = spec.traits.get("kwargs", {})
        return {
            name: with_default(about, fixed[name]) if name in fixed else about
            for name, about in arguments_of(self.documented_at(spec)).items()
        }

    # -- making one

    def build(self, spec: EnvSpec, *, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> Any:
        """Make the environment itself; whatever its package raises is passed on.

        Raises:
            UsageError: The family neither names what makes them nor overrides this.
        """
        if not self.built_by:
            own = f"{type(self).__module__}.{type(self).__qualname__}"
            raise UsageError(
                f"the family {self.name!r} has neither built_by nor build(), and makes no environment",
                fix=f'Give its class {own} built_by = "module:function", or build()',
            )
        return resolve_name(self.built_by)(spec.id, render_mode, env_kwargs)

    def as_source(self, spec: EnvSpec, env_kwargs: Mapping[str, Any]) -> EnvironmentSource | None:
        """The lines of Python that make the same without MOSAIC; ``None`` where only MOSAIC can.

        Args:
            spec: The environment, with its interface.
            env_kwargs: As in :meth:`build`.
        """
        return None

    def adapter(self, spec: EnvSpec, env: Any) -> ParadigmAdapter:
        """Wrap what :meth:`build` made."""
        return adapt(env, spec.api)

    def reusable(self, spec: EnvSpec) -> bool:
        """Whether ``reset`` leaves nothing of the episode before; else each gets a new instance."""
        return True

    # -- what it means

    def world(self, spec: EnvSpec, env_kwargs: Mapping[str, Any]) -> str:
        """Name of the one world that all its instances share, as those of a simulator do; ``""``: none.

        Episodes of one world are played one after the other, also where different operators play them.
        """
        return ""

    def hidden_information(self, spec: EnvSpec) -> bool:
        """Whether a seat may not know the whole state: cards, roles, targets, what is out of view, a choice
        that others make at the same time.

        If so, no player that decides is shown the whole picture or told rewards, unless the experiment asks
        for it. By default every environment for several agents hides information; a family whose seats all
        see everything overrides this. An environment may state it itself, as ``"hidden_information"`` of its
        ``metadata``.
        """
        return spec.api != "gymnasium"

    def shaped_rewards(self, spec: EnvSpec) -> bool:
        """Whether rewards also point the way, beyond what the game itself is about."""
        return False

    def teams(self, spec: EnvSpec, adapter: ParadigmAdapter) -> Teams:
        """Which agents play together: one team ``agent``, or everybody in ``team``."""
        agents = adapter.possible_agents
        return {"agent" if len(agents) == 1 else "team": agents}

    def scores(self, environment: Instance, returns: Mapping[str, float]) -> dict[str, float] | None:
        """Score by team, as the environment keeps it; ``None`` where it keeps none."""
        return None

    def outcome(self, environment: Instance, returns: Mapping[str, float]) -> dict[str, Outcome] | None:
        """Who won; ``None`` where the environment has no winners."""
        return None

    def seat_names(self, environment: Instance) -> Mapping[str, str]:
        """What seats are called in this game, by agent: ``White``, ``Player 1``; those without a name stay
        as the environment calls them."""
        return {}

    def result(self, environment: Instance, outcome: Mapping[str, Outcome]) -> str:
        """Who won how, in a few words: ``White wins by checkmate``; ``""`` where nothing is to be said
        beyond who won.

        Args:
            environment: Where a game has ended.
            outcome: By team.
        """
        names = self.seat_names(environment)
        winners = [team for team, word in outcome.items() if word == Outcome.WIN]
        if not names or len(winners) != 1:
            return "Draw" if names and not winners and outcome else ""
        return f"{names.get(winners[0], winners[0])} wins"

    def achieved(self, environment: Instance) -> str:
        """What those who play together came to, in the game's own words: ``17 of 25 points``; ``""`` where
        nothing is to be said."""
        return ""

    def notates(self, spec: EnvSpec) -> bool:
        """Whether :meth:`notation` can write down what is played."""
        return self.has_board(spec)

    def notation(self, environment: Instance, played: Sequence[tuple[str, Any]], since: int) -> Sequence[str]:
        """What was played in the game's own notation (chess: ``Nf3``), without the first ``since`` moves.

        Args:
            environment: Where it was played.
            played: Agent and action of every move.
            since: How many of them are known.
        """
        return ()

    def can_still_win(self, environment: Instance, agent: str) -> bool:
        """Whether ``agent`` can win what is played, should the others run out of time: in chess, whether it
        can mate with the pieces it has."""
        board = self.board(environment) if self.has_board(environment.spec) else None
        return board is None or can_mate(board, agent)

    def legal_words(self, environment: Instance) -> Mapping[int, str]:
        """What may be played now in the notation of :meth:`notation`, by action; of boards by default."""
        board = self.board(environment) if self.has_board(environment.spec) else None
        return {} if board is None else legal_words(board)

    def success(self, environment: Instance) -> bool | None:
        """Whether the task was solved, in the environment's own word; else ``None``."""
        return None

    def action_meanings(self, environment: Instance, agent: str) -> tuple[str, ...]:
        """A word for each discrete action, or empty."""
        return ()

    def noop_action(self, environment: Instance, agent: str) -> Any | None:
        """The action that does nothing, where there is one."""
        meanings = self.action_meanings(environment, agent)
        lowered = [meaning.lower() for meaning in meanings]
        return lowered.index("noop") if "noop" in lowered else None

    def default_action(self, environment: Instance, agent: str) -> Any | None:
        """What its makers have played for an answer that cannot be; ``None`` where they say nothing of it."""
        return None

    def describer(self, environment: Instance) -> Describer:
        """Says in words what its agents see; by default by the names of its spaces."""
        return resolve_name(self.described_by)(environment)

    def simulator(self, environment: Instance) -> Simulator | None:
        """The simulator inside, where its state can be handed out; else ``None``."""
        return None

    def draw_plans(self, environment: Instance, plans: Sequence[Plan]) -> None:
        """Have its next picture show where plans go, where the family can draw that; else nothing.

        Args:
            environment: Made with ``rgb_array``.
            plans: What players said of their last decisions (``plan_points``).
        """

    def board(self, environment: Instance) -> Board | None:
        """The position of a board game, to be drawn and clicked on; else ``None``."""
        return None

    def has_board(self, spec: EnvSpec) -> bool:
        """Whether :meth:`board` can answer."""
        return False

    def pace(self, spec: EnvSpec) -> Pace:
        """Whether time runs on while a person thinks, and how fast."""
        return self.usual_pace

    def components(self, spec: EnvSpec) -> tuple[str, ...]:
        """What the components of a continuous action are, where that is known."""
        return ()

    def keys(self, environment: Instance, agent: str, player: int) -> KeyScheme:
        """Default keys for a person who plays ``agent``.

        Args:
            environment: Where it is played.
            agent: The agent.
            player: 0 for the first person at the keyboard, 1 for the second, whose keys are others.
        """
        return self.keys_by_space(environment, agent, player)

    def keys_by_space(self, environment: Instance, agent: str, player: int) -> KeyScheme:
        """Keys by what the actions are called, else by their numbers; arguments as of :meth:`keys`."""
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
        """What the manager of ``agent`` chooses from; ``None`` where the family has no options of its own."""
        return resolve_name(self.options_by)(environment, agent) if self.options_by else None


def each_alone(adapter: ParadigmAdapter) -> Teams:
    """Every agent is its own team."""
    return {agent: (agent,) for agent in adapter.possible_agents}


def ranked(scores: Mapping[str, float]) -> dict[str, Outcome] | None:
    """Win, draw or loss by score; ``None`` with fewer than two teams.

    The best score wins; several teams that share it draw, all others lose.
    """
    if len(scores) < 2:
        return None
    best = max(scores.values())
    leaders = [team for team, score in scores.items() if score == best]
    top = Outcome.WIN if len(leaders) == 1 else Outcome.DRAW
    return {team: top if team in leaders else Outcome.LOSS for team in scores}


def team_returns(teams: Teams, returns: Mapping[str, float]) -> dict[str, float]:
    """Sum of its agents' returns, by team."""
    return {team: sum(returns.get(a, 0.0) for a in agents) for team, agents in teams.items()}


def enum_names(members: Iterable[Any], rename: Callable[[str], str] = str) -> tuple[str, ...]:
    """Names of an action enumeration in the order of their values."""
    return tuple(rename(m.name) for m in sorted(members, key=int))
