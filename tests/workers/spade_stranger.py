"""An agent of spade-bdi, run by Python with SPADE: ``spade_stranger.py SECRET NAME TO``.

It joins a session's XMPP server as NAME, prints the belief ``ball(…)`` when it is told one, tells TO
``ball(4, 5)``, and ends.
"""

import asyncio
import json
import logging
import os
import signal
import socket
import sys
import tempfile
from pathlib import Path

from spade.behavior import OneShotBehavior
from spade.message import Message
from spade_bdi.bdi import BDIAgent

from spade_bdi_worker.xmpp_server import DOMAIN, meeting_place


class Tell(OneShotBehavior):
    """Sends one message, and says of which episode and step it is, as MOSAIC's agents do."""

    def __init__(self, to: str) -> None:
        super().__init__()
        self.to = to

    async def run(self) -> None:
        told = {"performative": "BDI", "ilf_type": "tell", "episode": "0", "step": "0"}
        await self.send(Message(to=self.to, body="ball(4, 5)", metadata=told))


async def main(secret: str, name: str, to: str) -> None:
    office = socket.socket(socket.AF_UNIX)
    office.connect(meeting_place(secret))
    office.sendall(json.dumps({"secret": secret, "join": name}).encode() + b"\n")
    given = json.loads(office.makefile().readline())
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "stranger.asl")
        program.write_text("+ball(X, Y) <- +told.\n")
        agent = BDIAgent(f"{given['user']}@{DOMAIN}", given["password"], str(program), port=given["port"])
        await agent.start(auto_register=False)
        print("joined", flush=True)
        while not (beliefs := [each for each in agent.bdi.get_beliefs() if each.startswith("ball")]):
            await asyncio.sleep(0.05)
        print(*beliefs, flush=True)
        tell = Tell(f"{to}@{DOMAIN}")
        agent.add_behavior(tell)
        await tell.join()
        await agent.client.disconnect()
    os.kill(os.getpid(), signal.SIGKILL)  # SPADE's own threads would go on


if __name__ == "__main__":
    logging.disable()
    asyncio.run(main(*sys.argv[1:]))
