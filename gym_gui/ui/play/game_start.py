"""Opens an environment as a game, with slow work outside the GUI thread."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from gym_gui.controllers.setup.catalog_cache import CatalogCache
    from gym_gui.controllers.setup.configuration_checks import ConfigurationChecks, OfferedPolicy
    from gym_gui.controllers.setup.environment_info import EnvironmentInfo
    from gym_gui.controllers.setup.play_setup import Clock
    from gym_gui.core.config import OperatorConfig
    from gym_gui.ui.play.game import PlayGame


_ENGINE: Final = (
    "gym_gui.ui.play.default_players",
    "gym_gui.controllers.setup.environment_info_cache",
    "gym_gui.host.host_client",
)
"""Modules that are imported outside the GUI thread, because this takes long."""
_HEAD_START_S: Final = 2.0
"""Longest time that other work waits for the session's first frame, in seconds."""


class OpeningPage(Protocol):
    """Protocol of the page on which a game is opened."""

    @property
    def catalog(self) -> CatalogCache:
        """Cache with descriptions of environments and workers."""
        ...

    @property
    def game(self) -> PlayGame:
        """The game that the page shows."""
        ...

    def start_game(self, config: OperatorConfig, clock: Clock, render: str) -> None:
        """Begin a game before the environment's description has been read.

        Args:
          config: Configuration of the game.
          clock: Clock of the game.
          render: Render mode of the environment.
        """
        ...

    async def wait_for_first_frame(self, at_most_s: float) -> None:
        """Wait for the first frame or an error, at most ``at_most_s`` seconds."""
        ...

    def show_sheet(
        self,
        env_info: EnvironmentInfo,
        offers: Mapping[str, Sequence[OfferedPolicy]],
        checks: ConfigurationChecks,
    ) -> None:
        """Show the environment's description and the players to choose from."""
        ...


async def open_environment(page: OpeningPage, task: str, config: OperatorConfig | None) -> None:
    """Open an environment on a page: show its first frame as soon as possible, then the rest.

    Args:
        page: Page that shows the game.
        task: Id of the environment.
        config: Configuration of the game; ``None`` for a person in the first slot and a policy that fits in
            each other slot.

    Raises:
        MosaicError: The environment cannot be played; the message says why and what to do.
    """
    for each in _ENGINE:
        await asyncio.to_thread(import_module, each)
    from gym_gui.ui.play import default_players

    request = default_players.request_of(task, config)
    facts = await asyncio.to_thread(default_players.facts_of, request)
    clock = default_players.clock_of(facts)
    page.game.takes_turns = facts.turns
    started = config is not None or facts.single
    if started:
        # The session starts while the description is still being read.
        page.start_game(config or default_players.single_person(facts.env_id, clock), clock, "rgb_array")
        await page.wait_for_first_frame(_HEAD_START_S)
    env_info = await page.catalog.env_info(request)
    checks = await page.catalog.checks()
    offers = await asyncio.to_thread(default_players.offers_of, env_info, checks)
    render = _render(env_info)
    if not started:
        page.start_game(default_players.default_operator(env_info, offers, clock), clock, render)
    elif render != "rgb_array" and page.game.config is not None:
        page.start_game(page.game.config, clock, render)
    page.show_sheet(env_info, offers, checks)


def _render(env_info: EnvironmentInfo) -> str:
    looks = env_info.page.render_modes
    if not looks or "rgb_array" in looks:
        return "rgb_array"
    return "ansi" if "ansi" in looks else "none"
