"""The SPADE agent that carries a program's messages; importing this imports SPADE, which takes seconds."""

# SPADE has no types, and is not installed where MOSAIC's own are checked.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUntypedBaseClass=false, reportUnknownParameterType=false

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from secrets import token_hex

from loguru import logger
from pyjabber.plugins.xep_0363 import upload_server
from spade.agent import Agent
from spade.behaviour import CyclicBehaviour
from spade.message import Message
from spade.template import Template

PERFORMATIVE = {"performative": "BDI"}
"""How agents of spade-bdi know each other's messages."""
TOLD = ("ilf_type", "episode", "step")
"""What is told about a message: what it does, as spade-bdi calls it, and where it belongs."""
_AGAIN_S = 0.1

Path(upload_server.TEMP_DIR).rmdir()  # made where it is imported, and left
logger.remove()
for _name in ("spade", "SPADE", "slixmpp"):
    logging.getLogger(_name).setLevel(logging.ERROR)


class _Hear(CyclicBehaviour):
    async def run(self) -> None:
        message = await self.receive(timeout=60)
        if message is not None:
            self.agent.hear(message)


class Postman(Agent):
    """Sends and receives, and thinks nothing.

    spade-bdi's own agent has an interpreter that runs by its own clock; a program that decides when it is
    asked needs the messages alone, in the form that spade-bdi gives them.

    Args:
        address: ``agent_0@localhost``.
        password: For the server.
        port: Of the server.
        on_message: Gets who sent a message (the address's user), its text and what is told about it.
    """

    def __init__(
        self,
        address: str,
        password: str,
        port: int,
        on_message: Callable[[str, str, Mapping[str, str]], None],
    ) -> None:
        super().__init__(address, password, port=port)
        self._on_message = on_message
        self._heard_itself, self._greeting = asyncio.Event(), token_hex(4)
        self.lost = False
        """Whether the server has closed the connection, or is gone."""

    async def setup(self) -> None:
        self.add_behaviour(_Hear(), Template(metadata=dict(PERFORMATIVE)))
        self.client.add_event_handler("disconnected", self._note_loss)

    def _note_loss(self, _event: object) -> None:
        self.lost = True

    async def join(self) -> None:
        """Log in; returns when messages arrive, which is later than the server's welcome."""
        await self.start(auto_register=False)
        while not self._heard_itself.is_set():
            self.tell(self.jid.bare, self._greeting, {})
            try:
                await asyncio.wait_for(self._heard_itself.wait(), _AGAIN_S)
            except TimeoutError:
                continue

    def hear(self, message: Message) -> None:
        """A message has come."""
        if message.sender.bare == self.jid.bare:
            # What it has sent itself when it was here before may come as well.
            if message.body == self._greeting:
                self._heard_itself.set()
            return
        told = {name: message.get_metadata(name) or "" for name in TOLD}
        self._on_message(message.sender.node, message.body or "", told)

    def tell(self, address: str, text: str, told: Mapping[str, str]) -> None:
        """Send a message through the server, to agents of this process too."""
        message = Message(to=address, body=text, sender=str(self.jid), metadata={**PERFORMATIVE, **told})
        message.prepare(self.client).send()
