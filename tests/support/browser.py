"""A real Chromium without a window, spoken to over a pipe: pages are opened, clicked and asked."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

PATIENCE_MS = 20_000
"""A machine with other work takes seconds to decode a picture."""


class Page:
    """One page of a browser."""

    def __init__(self, sending: int, answers: int) -> None:
        self._sending, self._answers = sending, answers
        self._rest, self._number, self._session = b"", 0, ""
        self.complaints: list[str] = []

    def attach(self) -> None:
        """Speak to a new page from now on."""
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._ask(f"{domain}.enable")

    def open(self, address: str, *, width: int = 1024, height: int = 900, dark: bool = False) -> None:
        """Open a page; what it complains of (a script that fails, what its policy forbids) is kept."""
        self.complaints.clear()
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._ask("Emulation.setDeviceMetricsOverride", **size)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self._ask("Emulation.setEmulatedMedia", features=scheme)
        self._ask("Page.navigate", url=address)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def tell(self, expression: str) -> Any:
        """The value of an expression in the page."""
        answer = self._ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, condition: str) -> None:
        """Wait until something holds in the page."""
        script = (
            f"new Promise((done) => {{ const end = Date.now() + {PATIENCE_MS}; const look = () => "
            f"({condition}) ? done(true) : Date.now() > end ? done(false) : setTimeout(look, 20); look(); }})"
        )
        assert self.tell(script), f"never: {condition}"

    def press(self, key: str) -> None:
        """Press a key, as a person does."""
        text = {"text": key} if len(key) == 1 else {}
        for kind in ("keyDown", "keyUp"):
            self._ask("Input.dispatchKeyEvent", type=kind, key=key, **(text if kind == "keyDown" else {}))

    def printed(self) -> int:
        """Print it; how many bytes the PDF has."""
        return len(self._ask("Page.printToPDF", printBackground=True)["data"])

    def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._sending, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return answer["result"]
            self._hear(answer)

    def _hear(self, event: dict[str, Any]) -> None:
        params = event.get("params", {})
        match event.get("method"):
            case "Log.entryAdded":
                self.complaints.append(params["entry"]["text"])
            case "Runtime.exceptionThrown":
                self.complaints.append(str(params["exceptionDetails"]))
            case "Network.requestWillBeSent":
                url = params["request"]["url"]
                if not url.startswith(("file:", "data:", "about:")):
                    self.complaints.append(f"fetches {url}")

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            read = os.read(self._answers, 1 << 16)
            assert read, "the browser has ended"
            self._rest += read
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)


@contextmanager
def chromium(folder: Path) -> Iterator[Page]:
    """A browser with an empty profile in ``folder``."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("there is no Chromium here")
    to_it, sending = os.pipe()
    answers, from_it = os.pipe()
    # The protocol's pipes are its descriptors 3 and 4.
    command = [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"]
    command += ["--no-first-run", f"--user-data-dir={folder}", "about:blank"]
    shell = f'exec "$@" 3<&{to_it} 4>&{from_it}'
    process = subprocess.Popen(
        ["bash", "-c", shell, "bash", *command],
        pass_fds=(to_it, from_it),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(to_it)
    os.close(from_it)
    try:
        page = Page(sending, answers)
        page.attach()
        yield page
    finally:
        os.close(sending)
        os.close(answers)
        process.terminate()
        process.wait(20)
