"""Base classes of families whose environments run in another process.

Other families read facts from Python objects of their environments. A served environment reports them through
its server (``mosaic_env_server``): in its ``metadata``, or in answers to questions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from gym_gui.core.enums import Outcome
from gym_gui.core.errors import MissingDependencyError
from gym_gui.core.interpreters import environment_folder, interpreter_of, is_complete
from gym_gui.core.paradigms import ParadigmAdapter
from gym_gui.envs.family import Family, Teams, one_team_per_agent, ranked, team_returns
from gym_gui.envs.spec import EnvSpec

if TYPE_CHECKING:
    from gym_gui.envs.describers import Describer
    from gym_gui.envs.instance import Instance
    from gym_gui.envs.remote_env import InstanceRequest, Place


class ServedFamily(Family):
    """Family of environments that a server makes."""

    def place(self, spec: EnvSpec) -> Place:
        """Return which server makes the environment and where it runs."""
        raise NotImplementedError

    def wanted(self, spec: EnvSpec, arguments: Mapping[str, Any]) -> InstanceRequest:
        """Return the request with which the server makes the environment.

        Args:
            spec: The environment.
            arguments: Keyword arguments of :meth:`build`, with ``render_mode`` and ``api`` added.
        """
        from gym_gui.envs.remote_env import InstanceRequest

        return InstanceRequest(str(spec.entry_point), arguments, spec.api)

    def build(self, spec: EnvSpec, *, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> Any:
        from gym_gui.envs.remote_env import make_served

        arguments = dict(env_kwargs) if render_mode is None else {"render_mode": render_mode, **env_kwargs}
        if len(spec.apis) > 1:
            arguments.setdefault("api", spec.api)
        return make_served(self.place(spec), self.wanted(spec, arguments))

    def teams(self, spec: EnvSpec, adapter: ParadigmAdapter) -> Teams:
        """Return the teams from the environment's metadata, else one per agent in turn-based games."""
        metadata = _metadata(adapter.env)
        named: Any = metadata.get("teams")
        if isinstance(named, Mapping):
            table = cast("Mapping[str, Sequence[str]]", named)
            return {str(team): tuple(map(str, agents)) for team, agents in table.items()}
        if spec.api == "aec" and len(adapter.possible_agents) > 1 and not metadata.get("is_parallelizable"):
            return one_team_per_agent(adapter)
        return super().teams(spec, adapter)

    def scores(self, environment: Instance, returns: Mapping[str, float]) -> dict[str, float] | None:
        found = _asked(environment, "scores")
        return {str(team): float(score) for team, score in found.items()} if found else None

    def outcome(self, environment: Instance, returns: Mapping[str, float]) -> dict[str, Outcome] | None:
        """Return each team's outcome by scores, else by returns; ``None`` before the end of an episode."""
        if not environment.adapter.is_episode_done():
            return None
        scores = self.scores(environment, returns)
        return ranked(team_returns(environment.teams, returns) if scores is None else scores)

    def success(self, environment: Instance) -> bool | None:
        """Return the server's answer; without one, ``info["is_success"]`` of a single agent."""
        found = _asked(environment, "success")
        if found is None and len(environment.adapter.possible_agents) == 1:
            stated = environment.adapter.info(environment.adapter.possible_agents[0]).get("is_success")
            return None if stated is None else bool(stated)
        return None if found is None else bool(found)

    def action_meanings(self, environment: Instance, agent: str) -> tuple[str, ...]:
        words: Any = _metadata(environment.env).get("action_meanings") or ()
        if isinstance(words, Mapping):
            words = cast("Mapping[str, Sequence[str]]", words).get(agent, ())
        return tuple(str(word) for word in words)

    def noop_action(self, environment: Instance, agent: str) -> Any | None:
        stated = _metadata(environment.env).get("noop")
        return super().noop_action(environment, agent) if stated is None else stated

    def default_action(self, environment: Instance, agent: str) -> Any | None:
        return _metadata(environment.env).get("default")

    def describer(self, environment: Instance) -> Describer:
        from gym_gui.envs.describers.served_words import ServedDescriber

        return (
            ServedDescriber(environment)
            if "text" in environment.env.answers
            else super().describer(environment)
        )


class OwnPythonFamily(ServedFamily):
    """Family whose packages need a Python environment of their own, made by ``mosaic envs install``.

    Attributes:
        requirements: Packages to install there, as pip writes them.
        bare_requirements: Packages to install last, without the packages that they require.
        archives: URLs of packages that no registry has, by package; installed after all others.
        imports: Modules that must be importable after the installation.
        system: Debian packages that are needed in addition.
        server_variables: Environment variables of the family's server.
    """

    requirements: ClassVar[tuple[str, ...]] = ()
    bare_requirements: ClassVar[tuple[str, ...]] = ()
    archives: ClassVar[Mapping[str, str]] = {}
    imports: ClassVar[tuple[str, ...]] = ()
    system: ClassVar[tuple[str, ...]] = ()
    server_variables: ClassVar[Mapping[str, str]] = {}

    @property
    def interpreter(self) -> Path:
        """Path of the Python interpreter in the family's environment."""
        return interpreter_of(self.name)

    def build_variables(self, folder: Path) -> Mapping[str, str]:
        """Return environment variables for building :attr:`bare_requirements`.

        Args:
            folder: Empty folder for files that the build reads.
        """
        return {}

    @property
    def install(self) -> str:
        return f"mosaic envs install {self.name}"

    @property
    def installed(self) -> bool:
        return is_complete(self.name)

    def require(self) -> None:
        if not self.installed:
            half = environment_folder(self.name).is_dir()
            what = f"{self.title} (its installation was cut off)" if half else self.title
            raise MissingDependencyError(what, self.install)

    def spec(self, env_id: str, entry_point: Any, **facts: Any) -> EnvSpec:
        return super().spec(env_id, entry_point, package=self.name, extra=self.name, **facts)

    def place(self, spec: EnvSpec) -> Place:
        from gym_gui.envs.remote_env import LocalServer

        self.require()
        return LocalServer(self.name, self.interpreter, variables=tuple(self.server_variables.items()))


def _metadata(env: Any) -> Mapping[str, Any]:
    return getattr(env, "metadata", None) or {}


def _asked(environment: Instance, name: str) -> Any:
    env = environment.env
    return env.ask(name) if name in env.answers else None
