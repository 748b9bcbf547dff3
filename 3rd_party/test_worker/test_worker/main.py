"""Worker that injects faults, for tests of hosts."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

from mosaic_worker.link import WorkerLink
from mosaic_worker.worker import Batch, EpisodeEnd, LoadError, Slot, Worker
from test_worker.plan import ANSWERS, DEEDS, HABITS, MESSAGES, Plan, Trigger
from test_worker.play import play, playable, spoil
from test_worker.process_faults import block_forever, cause_fault, exit_at_once
from test_worker.wire import FaultyLink

START = "TEST_WORKER_START"
"""Environment variable with a fault of the start, before any setting is known."""


class FaultInjector(Worker):
    """Plays random legal actions; ``settings["fault"]`` names a fault and its time.

    See :data:`test_worker.plan.FAULTS` for the faults, :class:`test_worker.plan.Plan` for
    the settings around them, and the README for both.
    """

    def __init__(self) -> None:
        self._plans: dict[int, tuple[Plan, Trigger]] = {}
        self._decided = 0

    def connect(self, link: WorkerLink) -> WorkerLink:
        """Apply the start fault that the environment variable names, before the handshake."""
        fault, _, value = os.environ.get(START, "").partition(":")
        if fault == "silent":
            block_forever()
        elif fault == "slow":
            time.sleep(float(value or 1))
        elif fault in ("exit", "kill"):
            exit_at_once(fault)
        elif fault == "freeze":
            cause_fault(Plan(fault))
        spoils_welcome = fault in MESSAGES or fault.endswith("_version")
        self._link = FaultyLink(link, fault if spoils_welcome else "")
        return self._link

    def load(self, slot: Slot) -> str:
        """Read the slot's plan of faults.

        Raises:
            LoadError: The action space cannot be played, or the fault is unknown.
        """
        plan = Plan.read(slot.settings)
        if plan.fault in HABITS and plan.claim():
            self._link.adopt(plan.fault)
        if plan.fault != "gullible" and not playable(slot.action_space):
            raise LoadError(
                f"the action space of {slot.agent_id} is {slot.action_space.kind}, which is unknown"
            )
        if plan.fault == "nan" and slot.action_space.kind != "Box":
            raise LoadError("the fault nan needs a Box action space")
        self._plans[slot.index] = plan, Trigger(plan)
        self._act_at(plan, "load")
        return f"faulty:{plan.fault}" if plan.fault else "random"

    def select_actions(self, batch: Batch) -> Any:
        plan, trigger = self._plans[batch.slot.index]
        due = trigger.due(batch) if plan.when == "decision" and plan.fault not in HABITS else ()
        if due and plan.fault == "call_flood":
            for number in range(plan.count):
                self.host.record_call({"number": number, "messages": "x" * 1000})
        elif due and plan.fault in DEEDS:
            cause_fault(plan)
        actions = play(batch)
        if plan.fault in ANSWERS:
            for i in due:
                actions[i] = spoil(plan, batch, actions, i, self._decided)
        elif due and plan.fault in MESSAGES:
            self._link.arm(plan, [batch.ids[i] for i in due])
        self._decided += len(batch)
        return actions

    def on_episode_end(self, slot: Slot, ends: Sequence[EpisodeEnd]) -> None:
        self._act_at(self._plans[slot.index][0], "end")

    def close(self) -> None:
        for plan, _ in self._plans.values():
            self._act_at(plan, "close")

    @staticmethod
    def _act_at(plan: Plan, place: str) -> None:
        if plan.when == place and plan.fault in DEEDS and plan.claim():
            cause_fault(plan)
