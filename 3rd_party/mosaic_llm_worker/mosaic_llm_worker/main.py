"""Worker that plays with a language model, and the interface of its players."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

from pydantic import ValidationError

from mosaic_llm_worker.calls import Caller, announced_to
from mosaic_llm_worker.player import Player
from mosaic_llm_worker.server_settings import ServerSettings, errors_sentence
from mosaic_llm_worker.settings import EXAMPLES, LlmSettings
from mosaic_worker.concurrent import AsyncWorker
from mosaic_worker.worker import Decision, EpisodeEnd, EpisodeStart, LoadError, Slot, StepResults


class SlotPlayer(Protocol):
    """Interface of a player of one slot.

    It is made from the slot, its settings, a function that records calls and one that announces requests.
    """

    @property
    def caller(self) -> Caller:
        """Makes the calls to the model."""
        ...

    @property
    def policy(self) -> str:
        """Name of the policy in tables."""
        ...

    def reset(self, start: EpisodeStart) -> None: ...
    def forget(self, end: EpisodeEnd) -> None: ...
    def learn(self, results: StepResults) -> None: ...
    async def decide(self, decision: Decision) -> Any: ...


class LlmWorker(AsyncWorker):
    """Plays the actions that a language model chooses. Subclasses set the two types.

    Attributes:
        settings_type: Class of the settings.
        player_type: Class of the players of slots, a :class:`SlotPlayer`.
    """

    inputs = ("text", "messages")
    announces = True
    settings_type: ClassVar[type[ServerSettings]] = LlmSettings
    player_type: ClassVar[type[Any]] = Player

    def __init__(self) -> None:
        self.players: dict[int, SlotPlayer] = {}

    def load(self, slot: Slot) -> str:
        """Check the settings of ``slot``, read its prompts, and check that its server can be reached.

        Returns:
            Name of the policy: model and strategy.

        Raises:
            LoadError: A setting is wrong, a key is missing, the actions have no words, or no server answers.
        """
        try:
            given = {name: value for name, value in slot.settings.items() if name != EXAMPLES}
            settings = self.settings_type.model_validate(given)
        except ValidationError as exc:
            raise LoadError(errors_sentence(exc)) from None
        player: SlotPlayer = self.player_type(
            slot, settings, self.host.record_call, announced_to(self.host, slot)
        )
        player.caller.find_server()
        self.players[slot.index] = player
        return player.policy

    def reset(self, slot: Slot, starts: Sequence[EpisodeStart]) -> None:
        for start in starts:
            self.players[slot.index].reset(start)

    async def decide(self, slot: Slot, decision: Decision) -> Any:
        return await self.players[slot.index].decide(decision)

    def on_step_result(self, results: StepResults) -> None:
        self.players[results.slot.index].learn(results)

    def on_episode_end(self, slot: Slot, ends: Sequence[EpisodeEnd]) -> None:
        for end in ends:
            self.players[slot.index].forget(end)

    async def aclose(self) -> None:
        await asyncio.gather(*(player.caller.aclose() for player in self.players.values()))
