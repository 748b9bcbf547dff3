"""Jason's interpreter for tests: where a file of it is named, installed once as a person does it."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gym_gui.cli.install import install_worker
from gym_gui.workers.discovery import discover
from gym_gui.workers.environment import worker_environment
from gym_gui.workers.launch import Launch
from gym_gui.workers.registry import WorkerTypeRegistry

JAR = "MOSAIC_JASON_JAR"
"""Names the interpreter's jar; ``scripts/test.sh`` sets it where there is one beside the checkout."""
JSON_CLASSES = Path("/usr/share/java/javax.json-api.jar")
WORDS = ["left", "right", "forward", "pickup"]
"""What the actions of :class:`Talk` are called."""


@cache
def why_not() -> str:
    """What lacks for an agent of Jason's; empty where nothing does."""
    jar = os.environ.get(JAR, "")
    if not jar or not Path(jar).is_file():
        return f"jason_worker: {JAR} names no interpreter"
    if shutil.which("java") is None or shutil.which("javac") is None:
        return "jason_worker: there is no Java (openjdk-17-jdk-headless)"
    return "" if JSON_CLASSES.is_file() else "jason_worker: there is no javax.json (libjsonp-java)"


def installed_jason(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """jason_worker is installed in a data folder of the test's own; skips by name where that cannot be."""
    if reason := why_not():
        pytest.skip(reason)
    data = folder / "data-with-jason"
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(data))
    if not data.is_dir():
        assert install_worker("jason_worker", given=[Path(os.environ[JAR])]) == 0


class Talk:
    """A worker's process, spoken to line by line."""

    def __init__(self, folder: Path, *options: str) -> None:
        self._folder, self._slot, self._id = folder, 0, 0
        with WorkerTypeRegistry.isolated() as registry:
            discover()
            definition = registry.require("jason_worker")
        java, *rest = Launch(definition).command(None)
        self.process = subprocess.Popen(
            [java, *options, *rest],
            cwd=definition.folder,
            env=worker_environment(definition),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.ask(hello={"protocol": 1, "heartbeat_s": 0})["welcome"]["inputs"] == ["facts", "messages"]

    def ask(self, **message: Any) -> dict[str, Any]:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        assert self.process.wait(10) == 0
        self.process.stdout.close()

    def load(
        self, text: str, *, encoding: str = "utf-8", words: Sequence[str] = WORDS, **settings: Any
    ) -> dict[str, Any]:
        self._slot += 1
        file = self._folder / "mind.asl"
        file.write_text(text, encoding)
        space = {"kind": "Discrete", "dtype": "int64", "n": 4, "start": 0}
        given = json.dumps({"program": str(file), **settings})
        answer = self.ask(
            load={
                "slot": self._slot,
                "agent": "green_0",
                "action_space": json.dumps(space),
                "settings": given,
                "action_meanings": list(words),
            }
        )
        return answer["loaded"]

    def agent(self, text: str, name: str = "green_0", seed: int = 1, **settings: Any) -> Agent:
        loaded = self.load(text, **settings)
        assert "error" not in loaded, loaded
        return Agent(self, self._slot, name, seed)


class Agent:
    def __init__(self, talk: Talk, index: int, name: str, seed: int) -> None:
        self._talk, self._index, self._step = talk, index, 0
        self._starts = [{"episode": 0, "seed": str(seed), "agent": name}]

    def decide(self, facts: Sequence[str] = (), heard: Sequence[str] = ()) -> tuple[str, dict[str, Any]]:
        """Its action's word, or why there is none; and what it recorded."""
        questions = {"ids": [self._step], "episodes": [0], "steps": [self._step]}
        questions |= {"facts": [{"facts": list(facts)}], "messages": [{"texts": list(heard)}]}
        work = {"slot": self._index, "starts": self._starts, "questions": questions}
        self._starts, self._step = [], self._step + 1
        replies = self._talk.ask(work=work)["replies"]
        extra = json.loads(replies["extras"][0]["json"])
        if replies["problems"]:
            return replies["problems"][0]["reason"], extra
        data = replies["action"][0]["data"]
        return WORDS[int.from_bytes(base64.b64decode(data), "little")], extra
