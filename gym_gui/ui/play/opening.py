"""From an environment's name to a game on the stage, off the GUI thread wherever it takes time."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from gym_gui.core.trust import TYPED, Origin

if TYPE_CHECKING:
    from gym_gui.controllers.candidates import Candidate
    from gym_gui.controllers.play_card import PlayCard, PlayCards
    from gym_gui.controllers.play_setup import Clock
    from gym_gui.core.config import OperatorConfig
    from gym_gui.services.store import Store
    from gym_gui.ui.context import AppContext
    from gym_gui.ui.pages.play import PlayPage


_HEAD_START_S: Final = 2.0
"""The session has the processor to itself until its first frame, or for so long."""
CARDS_FOLDER: Final = "play-cards"
"""Where descriptions of environments are kept, below the cache folder."""


@dataclass
class Opening:
    """What opening an environment needs, kept from one to the next.

    Attributes:
        context: The window's services.
        cards: Descriptions of environments.
        candidates: Who may play each slot of the environment that was opened last.
    """

    context: AppContext
    cards: PlayCards | None = None
    candidates: dict[str, list[Candidate]] = field(default_factory=dict)

    async def prepare(self) -> PlayCards:
        """Import the engine, in a thread the first time."""
        if self.cards is None:
            await asyncio.to_thread(_import_engine)
            from gym_gui.controllers.play_card import PlayCards

            self.cards = PlayCards(self.context.store.cache_dir(CARDS_FOLDER))
        return self.cards


@dataclass(frozen=True)
class _Facts:
    """What is known without an instance.

    Attributes:
        env_id: Canonical id.
        single: Whether it has one agent.
        realtime: Whether time runs.
        rate: Steps a second.
    """

    env_id: str
    single: bool
    realtime: bool
    rate: float


async def open_environment(page: PlayPage, task: str, config: OperatorConfig | None) -> None:
    """Open an environment on a page: its first frame as soon as may be, the rest when it is there.

    Args:
        page: Shows it.
        task: The environment.
        config: Who plays; ``None``: a person in the first slot, somebody that fits in the others.

    Raises:
        MosaicError: It cannot be played; one sentence with the way out.
    """
    opening = page.opening
    cards = await opening.prepare()
    env_name = (config.env_name if config is not None else "") or None
    origin = config.origin if config is not None else TYPED
    facts = await asyncio.to_thread(_facts, task, env_name, origin)
    clock = _clock(facts)
    started = config is not None or facts.single
    if started:
        # The session starts while the description is still being read.
        page.start_game(config or _alone(facts.env_id, clock), clock, "rgb_array")
        await page.first_look(_HEAD_START_S)
    api = config.api if config is not None else None
    kwargs = dict(config.env_kwargs) if config is not None else None
    card = await cards.card(task, env_name, api, kwargs, origin)
    opening.candidates = await asyncio.to_thread(_candidates, card, opening.context.store)
    render = _render(card)
    if not started:
        page.start_game(_line_up(card, opening.candidates, clock), clock, render)
    elif render != "rgb_array" and page.game.config is not None:
        page.start_game(page.game.config, clock, render)
    page.show_card(card, opening.candidates)


def _import_engine() -> None:
    import gym_gui.controllers.candidates
    import gym_gui.controllers.play_card
    import gym_gui.host.client  # noqa: F401


def _facts(task: str, env_name: str | None, origin: Origin) -> _Facts:
    from gym_gui import envs

    spec = envs.resolve(task, env_name=env_name, origin=origin)
    pace = envs.families()[spec.family].pace(spec)
    return _Facts(spec.id, spec.api == "gymnasium", pace.realtime, pace.rate)


def _clock(facts: _Facts) -> Clock:
    from gym_gui.controllers.play_setup import Clock

    return Clock(facts.realtime, facts.rate)


def _alone(env_id: str, clock: Clock) -> OperatorConfig:
    from gym_gui.controllers.play_setup import game, person

    return game(env_id, {"agent_0": person(clock)})


def _candidates(card: PlayCard, store: Store) -> dict[str, list[Candidate]]:
    from gym_gui.controllers.candidates import candidates
    from gym_gui.services.policy_library import PolicyLibrary

    policies = PolicyLibrary(store).files()
    return {
        slot: candidates(card.env_id, slot, about.observation, about.action, policies, about.offers)
        for slot, about in card.slots.items()
    }


def _line_up(card: PlayCard, found: dict[str, list[Candidate]], clock: Clock) -> OperatorConfig:
    """A person in the first slot, somebody that fits in each of the others."""
    from gym_gui.controllers.play_setup import assignment_of, game, opponent, person

    players: dict[str, Any] = {}
    for place, slot in enumerate(card.slots):
        other = opponent(found.get(slot, [])) if place else None
        players[slot] = person(clock) if other is None else assignment_of(other)
    return game(card.env_id, players)


def _render(card: PlayCard) -> str:
    if not card.looks or "rgb_array" in card.looks:
        return "rgb_array"
    return "ansi" if "ansi" in card.looks else "none"
