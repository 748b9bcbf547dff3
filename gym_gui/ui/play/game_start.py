"""From an environment's name to a game on the stage, off the GUI thread wherever it takes time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from gym_gui.controllers.setup.configuration_checks import ConfigurationChecks, Offer
    from gym_gui.controllers.setup.environment_probe import EnvironmentRequest
    from gym_gui.controllers.setup.environment_sheet import EnvironmentSheet
    from gym_gui.controllers.setup.knowledge import Knowledge
    from gym_gui.controllers.setup.play_setup import Clock
    from gym_gui.core.config import OperatorConfig
    from gym_gui.ui.play.game import PlayGame


_HEAD_START_S: Final = 2.0
"""The session has the processor to itself until its first frame, or for so long."""


@dataclass(frozen=True)
class _Facts:
    """What is known without an instance.

    Attributes:
        env_id: Canonical id.
        single: Whether it has one agent.
        turns: Whether its agents move one after the other.
        realtime: Whether time runs.
        rate: Steps a second.
    """

    env_id: str
    single: bool
    turns: bool
    realtime: bool
    rate: float


class OpeningPage(Protocol):
    """The page that a game is opened on."""

    @property
    def knowledge(self) -> Knowledge:
        """What is known of environments and workers."""
        ...

    @property
    def game(self) -> PlayGame:
        """What is played."""
        ...

    def start_game(self, config: OperatorConfig, clock: Clock, render: str) -> None:
        """Begin to play; the description may follow."""
        ...

    async def first_look(self, at_most_s: float) -> None:
        """Wait until there is something to see, or trouble; a while at most."""
        ...

    def show_sheet(
        self, sheet: EnvironmentSheet, offers: Mapping[str, Sequence[Offer]], checks: ConfigurationChecks
    ) -> None:
        """Show what is known of the environment, and who may play it."""
        ...


async def open_environment(page: OpeningPage, task: str, config: OperatorConfig | None) -> None:
    """Open an environment on a page: its first frame as soon as may be, the rest when it is there.

    Args:
        page: Shows it.
        task: The environment.
        config: Who plays; ``None``: a person in the first slot, somebody that fits in the others.

    Raises:
        MosaicError: It cannot be played; one sentence with the way out.
    """
    await asyncio.to_thread(_import_engine)
    request = _request(task, config)
    facts = await asyncio.to_thread(_facts, request)
    clock = _clock(facts)
    page.game.takes_turns = facts.turns
    started = config is not None or facts.single
    if started:
        # The session starts while the description is still being read.
        page.start_game(config or _alone(facts.env_id, clock), clock, "rgb_array")
        await page.first_look(_HEAD_START_S)
    sheet = await page.knowledge.sheet(request)
    checks = await page.knowledge.checks()
    offers = await asyncio.to_thread(_offers, sheet, checks)
    render = _render(sheet)
    if not started:
        page.start_game(_line_up(sheet, offers, clock), clock, render)
    elif render != "rgb_array" and page.game.config is not None:
        page.start_game(page.game.config, clock, render)
    page.show_sheet(sheet, offers, checks)


def _import_engine() -> None:
    import gym_gui.controllers.setup.configuration_checks
    import gym_gui.controllers.setup.environment_sheet_cache
    import gym_gui.host.host_client  # noqa: F401


def _request(task: str, config: OperatorConfig | None) -> EnvironmentRequest:
    from gym_gui.controllers.setup.configuration_draft import Draft

    return (Draft(task) if config is None else Draft.of(config)).request()


def _facts(request: EnvironmentRequest) -> _Facts:
    from gym_gui import envs

    spec = envs.resolve(
        request.task, env_name=request.env_name or None, api=request.api, origin=request.origin
    )
    pace = envs.families()[spec.family].pace(spec)
    return _Facts(spec.id, spec.api == "gymnasium", spec.api == "aec", pace.realtime, pace.rate)


def _clock(facts: _Facts) -> Clock:
    from gym_gui.controllers.setup.play_setup import Clock

    return Clock(facts.realtime, facts.rate)


def _alone(env_id: str, clock: Clock) -> OperatorConfig:
    from gym_gui.controllers.setup.play_setup import game, person

    return game(env_id, {"agent_0": person(clock)})


def _offers(sheet: EnvironmentSheet, checks: ConfigurationChecks) -> dict[str, list[Offer]]:
    from gym_gui.controllers.setup.play_setup import others

    return {agent: others(checks.offers(slot), sheet.env_id) for agent, slot in sheet.slots.items()}


def _line_up(sheet: EnvironmentSheet, offers: Mapping[str, Sequence[Offer]], clock: Clock) -> OperatorConfig:
    """A person in the first slot, somebody that fits in each of the others."""
    from gym_gui.controllers.setup.play_setup import game, opponent, person

    first, *rest = sheet.agents
    players = {first: person(clock)}
    for agent in rest:
        other = opponent(offers[agent], sheet.env_id)
        players[agent] = person(clock) if other is None else other.assignment()
    return game(sheet.env_id, players)


def _render(sheet: EnvironmentSheet) -> str:
    looks = sheet.page.render_modes
    if not looks or "rgb_array" in looks:
        return "rgb_array"
    return "ansi" if "ansi" in looks else "none"
