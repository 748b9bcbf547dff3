"""A worker of programs, spoken to line by line."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gym_gui.workers.discovery import discover
from gym_gui.workers.environment_variables import worker_environment
from gym_gui.workers.launch import Launch
from gym_gui.workers.registry import WorkerTypeRegistry

WORDS = ["left", "right", "forward", "pickup"]
"""What the actions of :class:`Talk` are called."""
_NOTHING_SEEN = base64.b64encode(bytes(8)).decode()


class Talk:
    """A worker's process.

    Args:
        folder: For programs.
        options: More arguments of its program.
        worker: Its id.
        load: More that it is told of each slot.

    Attributes:
        folder: See above.
        name: Its id.
    """

    def __init__(self, folder: Path, *options: str, worker: str = "jason_worker", **load: Any) -> None:
        self.folder, self.name, self._slot, self._more = folder, worker, 0, load
        with WorkerTypeRegistry.isolated() as registry:
            discover()
            definition = registry.require(worker)
        program, *rest = Launch(definition).command(None)
        self.process = subprocess.Popen(
            [program, *options, *rest],
            cwd=definition.folder,
            env=worker_environment(definition),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.ask(hello={"protocol": 1, "heartbeat_s": 0})["welcome"]["inputs"] == ["facts", "messages"]

    def tell(self, **message: Any) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        """What it says next, log lines apart."""
        assert self.process.stdout
        said = {"log": {}}
        while "log" in said:
            said = json.loads(self.process.stdout.readline())
        return said

    def ask(self, **message: Any) -> dict[str, Any]:
        self.tell(**message)
        return self.hear()

    def begin_load(
        self, text: str, *, encoding: str = "utf-8", words: Sequence[str] = WORDS, **settings: Any
    ) -> None:
        """Have it load a slot; :meth:`hear` has the answer."""
        self._slot += 1
        self.folder.mkdir(exist_ok=True)
        file = self.folder / "mind.asl"
        file.write_text(text, encoding)
        space = {"kind": "Discrete", "dtype": "int64", "n": 4, "start": 0}
        self.tell(
            load={
                "slot": self._slot,
                "agent": "green_0",
                "action_space": json.dumps(space),
                "observation_space": json.dumps(space),
                "settings": json.dumps({"program": str(file), **settings}),
                "action_meanings": list(words),
                **self._more,
            }
        )

    def load(self, text: str, **more: Any) -> dict[str, Any]:
        self.begin_load(text, **more)
        return self.hear()["loaded"]

    def agent(self, text: str, name: str = "green_0", seed: int = 1, **more: Any) -> Agent:
        loaded = self.load(text, **more)
        assert "error" not in loaded, loaded
        return self.loaded_agent(name, seed)

    def loaded_agent(self, name: str = "green_0", seed: int = 1) -> Agent:
        """Of the program that was loaded last."""
        return Agent(self, self._slot, name, seed)

    def close(self) -> None:
        """Have it end by itself."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        assert self.process.wait(30) == 0
        self.process.stdout.close()


class Agent:
    """A slot of a worker in one episode."""

    def __init__(self, talk: Talk, index: int, name: str, seed: int, episode: int = 0) -> None:
        self._talk, self._index, self._name, self._seed, self._step = talk, index, name, seed, 0
        self._episode = episode
        self._starts = [{"episode": episode, "seed": str(seed), "agent": name}]

    def again(self) -> Agent:
        """The same slot in the next episode."""
        return Agent(self._talk, self._index, self._name, self._seed, self._episode + 1)

    def decide(self, facts: Sequence[str] = (), heard: Sequence[str] = ()) -> tuple[str, dict[str, Any]]:
        """Its action's word, or why there is none; and what it recorded."""
        questions = {"ids": [self._step], "episodes": [self._episode], "steps": [self._step], "seeds": ["0"]}
        questions |= {"observation": [{"data": _NOTHING_SEEN}]}
        questions |= {"facts": [{"facts": list(facts)}], "messages": [{"texts": list(heard)}]}
        work = {"slot": self._index, "starts": self._starts, "questions": questions}
        self._starts, self._step = [], self._step + 1
        replies = self._talk.ask(work=work)["replies"]
        extra = json.loads(replies["extras"][0]["json"]) if replies.get("extras") else {}
        if replies.get("problems"):
            return replies["problems"][0]["reason"], extra
        data = replies["action"][0]["data"]
        return WORDS[int.from_bytes(base64.b64decode(data), "little")], extra
