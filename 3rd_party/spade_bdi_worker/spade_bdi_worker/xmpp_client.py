"""XMPP client that carries a program's messages, in the format of spade-bdi agents."""

# slixmpp is not installed where MOSAIC's types are checked.

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUntypedBaseClass=false, reportUnknownParameterType=false

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Callable, Mapping
from secrets import token_hex
from typing import Any

from slixmpp import ClientXMPP
from slixmpp.plugins.xep_0004 import Form

METADATA = "spade:x:metadata"
"""Title of the data form (XEP-0004) that contains SPADE's data about a message."""
PERFORMATIVE = {"performative": "BDI"}
"""Field by which spade-bdi agents recognize each other's messages."""
TOLD = ("ilf_type", "episode", "step")
"""Fields of a message's form: its performative, by spade-bdi's name, and its episode and step."""
_AGAIN_S = 0.1
_ALIVE_S = 55

logging.getLogger("slixmpp").setLevel(logging.ERROR)


class XmppClient(ClientXMPP):
    """Sends and receives an agent's messages.

    Args:
        address: ``agent_0@localhost``.
        password: Password for the server.
        on_message: Called with a message's sender (the address's user), its text and its :data:`TOLD` fields.
    """

    def __init__(
        self, address: str, password: str, on_message: Callable[[str, str, Mapping[str, str]], None]
    ) -> None:
        super().__init__(address, password)
        self.enable_direct_tls = False
        # The server creates a new certificate; it can be reached only on the loopback interface.
        self.ssl_context.check_hostname = False
        self.ssl_context.verify_mode = ssl.CERT_NONE
        for plugin in ("xep_0004", "xep_0199"):
            self.register_plugin(plugin)
        self["xep_0199"].enable_keepalive(interval=_ALIVE_S)
        self._on_message = on_message
        self._heard_itself, self._greeting = asyncio.Event(), token_hex(4)
        self._refused = asyncio.Event()
        self.lost = False
        """Whether the server closed the connection or ended."""
        self.add_event_handler("session_start", self._appear)
        self.add_event_handler("failed_all_auth", self._note_refusal)
        self.add_event_handler("disconnected", self._note_loss)
        self.add_event_handler("message", self._on_chat_message)

    def _appear(self, _event: object) -> None:
        self.send_presence()

    def _note_refusal(self, _event: object) -> None:
        self._refused.set()

    def _note_loss(self, _event: object) -> None:
        self.lost = True

    async def join(self, host: str, port: int) -> None:
        """Log in, and return once messages can arrive, which is later than the server's welcome.

        Raises:
            ConnectionError: The server rejects the agent.
        """
        self.connect(host, port)
        while not self._heard_itself.is_set():
            if self._refused.is_set():
                raise ConnectionError("the server refuses the password")
            if self.is_connected():
                self.send_text(self.boundjid.bare, self._greeting, {})
            try:
                await asyncio.wait_for(self._heard_itself.wait(), _AGAIN_S)
            except TimeoutError:
                continue

    def close_connection(self) -> None:
        """Close the connection."""
        self.disconnect()

    def _on_chat_message(self, message: Any) -> None:
        form = message.get_plugin("form", check=True)
        told: dict[str, str] = {}
        if form is not None and form["title"] == METADATA:
            told = {name: field["value"] or "" for name, field in form.get_fields().items()}
        if any(told.get(name) != value for name, value in PERFORMATIVE.items()):
            return
        if message["from"].bare == self.boundjid.bare:
            # The presence message of an earlier connection may arrive as well.
            if message["body"] == self._greeting:
                self._heard_itself.set()
            return
        self._on_message(message["from"].user, message["body"], {name: told.get(name, "") for name in TOLD})

    def send_text(self, address: str, text: str, told: Mapping[str, str]) -> None:
        """Send a message through the server, also to agents of this process."""
        message = self.make_message(address, text, mtype="chat")
        form: Any = Form()
        form["type"] = "form"
        for name, value in {**PERFORMATIVE, **told}.items():
            form.add_field(var=name, ftype="text-single", value=value)
        form["title"] = METADATA
        message.append(form)
        message.send()
