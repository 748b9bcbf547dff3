"""A session in the engine's own process: tests, notebooks, and inside a session host."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable

from gym_gui.controllers.casting import Casting, Secrets
from gym_gui.controllers.session import SessionController
from gym_gui.controllers.sessions import SessionListener, SessionReady, SessionSettings
from gym_gui.core.execution import EpisodePlan
from gym_gui.services.versions import versions_of
from gym_gui.wire import pb
from gym_gui.workers.slot import WorkerSlot
from gym_gui.workers.supervisor import SessionEvents, Supervisor


class LocalSession:
    """Plays an operator's episodes in this process; its workers are processes of their own."""

    def __init__(
        self,
        casting: Casting,
        settings: SessionSettings,
        listener: SessionListener,
        secrets: Secrets | None = None,
    ) -> None:
        self._casting, self._settings, self._listener = casting, settings, listener
        self._secrets = secrets
        events = SessionEvents(listener.on_log, self._on_call, self._on_human)
        self._supervisor = Supervisor(casting.config.operator_id, events)
        self._controller: SessionController | None = None
        self._task: asyncio.Task[None] | None = None
        self._closing = False

    async def start(self) -> SessionReady:
        try:
            lineup = await self._casting.staff(self._supervisor, self._secrets)
        except BaseException:
            await self._supervisor.close()
            raise
        settings = self._settings
        self._controller = SessionController(
            lineup,
            self,
            concurrency=settings.concurrency,
            max_steps=settings.max_steps,
            keep_observations=settings.observations,
        )
        self._task = asyncio.get_running_loop().create_task(self._run(self._controller))
        players = {slot: dict(player.record()) for slot, player in lineup.players.items()}
        for process in self._supervisor.processes():
            for agent in process.launch.agents:
                players[agent]["version"] = process.welcome.version
        room = 1 if lineup.mapping.exclusive else settings.concurrency
        return SessionReady(os.getpid(), players, room, versions_of(self._casting))

    async def _run(self, controller: SessionController) -> None:
        reason = ""
        try:
            await controller.run()
        except Exception as exc:  # reported; the loop below must not lose it
            reason = f"{type(exc).__name__}: {exc}"
            raise
        finally:
            if not self._closing or reason:
                self._listener.on_ended(reason)

    @property
    def controller(self) -> SessionController:
        """The engine, once started."""
        assert self._controller is not None
        return self._controller

    def started(self, index: int) -> None:
        """Part of the engine's sink."""
        self._listener.on_started(index)

    def finished(self, index: int, steps: bytes, episode: bytes) -> None:
        """Part of the engine's sink."""
        self._listener.on_finished(index, steps, episode)
        self._listener.on_steps(self.controller.total_steps)

    def _on_call(self, json_text: str) -> None:
        self._listener.on_call(json_text.encode())

    def _on_human(self, slot: WorkerSlot, request: pb.HumanRequest) -> None:
        decision = slot.on_human(request)
        if decision is not None:
            slot.answer_human(decision, None)  # nobody sits at this host yet

    def play(self, plans: Iterable[EpisodePlan]) -> None:
        self.controller.add(plans)

    def pause(self) -> None:
        self.controller.pause()

    def resume(self) -> None:
        self.controller.resume()

    def step(self) -> None:
        self.controller.step()

    async def close(self) -> None:
        self._closing = True
        if self._controller is not None and self._task is not None:
            self._controller.stop()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._supervisor.close()
