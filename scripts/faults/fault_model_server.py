"""A model server for the fault campaign: OpenAI's interface, answers from the words of the question alone.

    python scripts/faults/fault_model_server.py PORT

The same question brings the same answer, so a run that was cut off and resumed equals an undisturbed one.
After SIGUSR1 it refuses what it is asked (502), after SIGUSR2 it answers again. Port 0 takes a free one; the
port is printed.
"""

from __future__ import annotations

import hashlib
import json
import signal
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

WORDS = ("left", "down", "right", "up")
ill = False


class Handler(BaseHTTPRequestHandler):
    """Two paths: the models there are, and an answer."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._send({"object": "list", "data": [{"id": "tiny", "object": "model"}]})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        digest = hashlib.sha256(json.dumps(asked["messages"], sort_keys=True).encode()).digest()
        message = {"role": "assistant", "content": f"<action>{WORDS[digest[0] % 4]}</action>"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13}
        self._send(
            {"id": "1", "object": "chat.completion", "model": "tiny", "choices": [choice], "usage": usage}
        )

    def _send(self, body: dict[str, Any]) -> None:
        data = json.dumps({"error": {"message": "bad gateway"}} if ill else body).encode()
        self.send_response(502 if ill else 200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def main() -> None:
    """Serve until it is ended."""

    def turn(number: int, _: object) -> None:
        global ill
        ill = number == signal.SIGUSR1

    signal.signal(signal.SIGUSR1, turn)
    signal.signal(signal.SIGUSR2, turn)
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
