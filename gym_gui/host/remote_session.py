"""Runs a session on another machine: connects by ssh and sends the files that the session needs."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from gym_gui.controllers.engine.resolved_operator import needs_of
from gym_gui.core.clean_up import finish_despite_cancel
from gym_gui.core.config import Experiment, OperatorConfig
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.trusted.subjects import Subject
from gym_gui.host.host_program import HostProgram
from gym_gui.host.remote_program import RemoteProgram
from gym_gui.services.policies.policy_library import at_path
from gym_gui.services.submissions.bundle import allowed_on, bundle_player, holds_files, write_bundle
from gym_gui.services.submissions.ssh.ssh import SshHost
from gym_gui.services.submissions.ssh.ssh_profile import Host


class RemoteMachine:
    """Connection to another machine on which one session runs.

    The host's socket is forwarded to a private folder on this machine as long as the connection lasts; no
    port is opened on either machine. The user's own policies and code are sent, and removed at the end of
    the session. API keys are not sent, because the other machine has its own.

    Args:
        host: The other machine.
        config: The operator that plays on that machine.
        ssh_config: A configuration file of OpenSSH; ``""`` for the user's own.

    Attributes:
        name: Name of the other machine.
        operator: The operator, with the other machine's paths after :meth:`take`.
    """

    def __init__(self, host: Host, config: OperatorConfig, ssh_config: str = "") -> None:
        self.name, self.operator = host.name, config
        self._host = host
        self._ssh = SshHost(host.name, ssh_config)
        self._program: RemoteProgram | None = None
        self._sent = 0

    @property
    def machine(self) -> Mapping[str, Any]:
        """Description of the other machine for ``run.json``; empty before :meth:`take`."""
        return {} if self._program is None else self._program.machine

    async def take(self, variables: Collection[str]) -> HostProgram:
        """Start a session host on the other machine.

        Args:
            variables: Names of environment variables of this machine, which are ignored, because the other
                machine has its own.

        Raises:
            MosaicError: The machine cannot be reached, or cannot play; the message gives the reason.
        """
        try:
            program = self._program = await RemoteProgram.begin(self._host, self._ssh)
            await self._send(program)
        except BaseException:
            await finish_despite_cancel(self._give_up())
            raise
        return program

    async def _give_up(self) -> None:
        if self._program is not None:
            await self._program.child.end()
        await self._ssh.close()

    async def _send(self, program: RemoteProgram) -> None:
        config = self.operator
        program.workers = sorted({player.worker_id for player in config.resolved_slots().values()})
        needs = await asyncio.to_thread(needs_of, config)
        players = {agent: at_path(player) for agent, player in config.workers.items()}
        managers = {agent: at_path(player) for agent, player in config.manager.items()}
        asked = Experiment([replace(config, workers=players, manager=managers)])
        with tempfile.TemporaryDirectory(prefix="mosaic-") as folder:
            bundle, place = Path(folder) / "bundle", f"{program.files}/0"
            moved = await asyncio.to_thread(write_bundle, bundle, asked, needs, place)
            subjects = dict.fromkeys(need.subject for need in needs)
            # The files of players that join later are sent beside this folder.
            rows = [asdict(Subject("file", program.files)), *json.loads(allowed_on(subjects, place))]
            program.allowed = json.dumps(rows)
            await self._copy(bundle, place)
        (there,) = moved.operators if isinstance(moved, Experiment) else (config,)
        own = any(need.subject.kind == "folder" for need in needs)
        self.operator = replace(there, origin=replace(there.origin, folder=place)) if own else there

    async def send_player(self, player: WorkerAssignment) -> WorkerAssignment:
        """Send the files of a player that joins; return its assignment with the other machine's paths.

        Raises:
            MosaicError: The files cannot be read or sent.
        """
        assert self._program is not None
        self._sent += 1
        place = f"{self._program.files}/{self._sent}"
        with tempfile.TemporaryDirectory(prefix="mosaic-") as folder:
            bundle = Path(folder) / "bundle"
            try:
                moved = await asyncio.to_thread(bundle_player, bundle, at_path(player), place)
            except OSError as error:
                raise UsageError(f"{error.filename} cannot be read: {error.strerror}") from error
            await self._copy(bundle, place)
        return moved

    async def _copy(self, bundle: Path, place: str) -> None:
        if holds_files(bundle):
            await self._ssh.send(bundle, place)
