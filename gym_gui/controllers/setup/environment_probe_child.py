"""Child process that makes and describes environments for a parent process that must not make any.

Messages on stdin and stdout are length-prefixed: four bytes (little endian) with the length of a JSON header,
the header, and a body of as many bytes as the header's ``bytes`` gives.
"""

from __future__ import annotations

import asyncio
import json
import os
import struct
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np

from gym_gui import envs
from gym_gui.controllers.setup.environment_info import EnvironmentInfo
from gym_gui.core.errors import MosaicError
from gym_gui.core.experiment.experiment_data import experiment_from_data
from gym_gui.core.trusted.subjects import subject_of
from gym_gui.core.trusted.trust import Origin, allow, enforce
from gym_gui.envs import Environment
from gym_gui.processes.child_output import reserve_stdout
from mosaic_worker.failures import described
from mosaic_worker.launch import end_process

if TYPE_CHECKING:
    from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
    from gym_gui.controllers.sessions.load_check import LoadCheck


class ProbeServer:
    """Answers requests about environments one after the other.

    Keeps the environment that was rendered last.
    """

    def __init__(self) -> None:
        self._drawn: tuple[str, Environment] | None = None
        self._loads: LoadCheck | None = None
        self._folder = Path.cwd()

    def answer(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
        """Return header and body of the answer to a request; an error is a sentence in the header."""
        os.chdir(self._folder)  # an earlier environment may have changed the folder
        allow(subject_of(row) for row in request["allowed"])
        doers = {
            "describe": self._describe,
            "picture": self._picture,
            "cast": self._cast,
            "load": self._load,
        }
        try:
            return doers[request["do"]](request)
        except MosaicError as error:
            return {"problem": error.message, "fix": error.fix}, b""
        except Exception as error:  # the border to environments
            return {"problem": described(error), "fix": ""}, b""

    def _describe(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
        environment = _environment_of(request)
        try:
            return {"sheet": EnvironmentInfo.of(environment, request["slots"]).to_json()}, b""
        finally:
            environment.close()

    def _cast(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
        return {"seatings": len(_resolved(request).seatings)}, b""

    def _load(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
        from gym_gui.controllers.sessions.load_check import LoadCheck

        if self._loads is None:
            self._loads = LoadCheck()
        slow = asyncio.run(self._loads.check(_resolved(request)))
        return {"slow": [agent for _, agent in slow]}, b""

    def _picture(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
        environment = self._drawable(request, "rgb_array")
        environment.adapter.reset(seed=int(request["seed"]))
        picture = environment.picture()
        if picture is not None:
            return {"shape": list(picture.shape)}, np.ascontiguousarray(picture, np.uint8).tobytes()
        # Some environments render only text, and a few render nothing at all.
        environment = self._drawable(request, "ansi")
        environment.adapter.reset(seed=int(request["seed"]))
        return {"text": environment.ansi()}, b""

    def _drawable(self, request: Mapping[str, Any], mode: str) -> Environment:
        key = json.dumps([mode, *(request[name] for name in ("task", "env_name", "api", "env_kwargs"))])
        if self._drawn is not None:
            drawn, environment = self._drawn
            if drawn == key and environment.reusable:
                return environment
            self._drawn = None
            environment.close()
        try:
            environment = _environment_of(request, render_mode=mode)
        except MosaicError:
            environment = _environment_of(request, drawn=True)  # this render mode is missing: no error
        self._drawn = key, environment
        return environment


def _resolved(request: Mapping[str, Any]) -> ResolvedOperator:
    # Imported late: protocol buffers and the code that starts workers take half of this process's start time.
    from gym_gui.controllers.engine.resolved_operator import resolve_operator

    origin = Origin(**request["origin"])
    experiment = experiment_from_data({"operators": [request["operator"]]}, origin=origin)
    return resolve_operator(experiment.operators[0])


def _environment_of(
    request: Mapping[str, Any], render_mode: str | None = None, *, drawn: bool = False
) -> Environment:
    environment = envs.make(
        request["task"],
        env_name=request["env_name"] or None,
        api=request["api"],
        render_mode=render_mode,
        env_kwargs=request["env_kwargs"],
        origin=Origin(**request["origin"]),
    )
    managed = cast("list[str]", request.get("managed") or [])
    if managed and render_mode is None and not drawn:
        environment = environment.with_manager(agents=managed)
    if request.get("teams"):
        environment.teams = {team: tuple(agents) for team, agents in request["teams"].items()}
    return environment


def write_message(out: BinaryIO, header: Mapping[str, Any], body: bytes = b"") -> None:
    """Write a message with a JSON header and a body, whose length is added to the header as ``bytes``."""
    head = json.dumps({**header, "bytes": len(body)}).encode()
    out.write(struct.pack("<I", len(head)) + head + body)
    out.flush()


def _read_message(source: BinaryIO) -> dict[str, Any] | None:
    size = source.read(4)
    if len(size) < 4:
        return None
    return json.loads(source.read(struct.unpack("<I", size)[0]))


def main() -> None:
    """Answer requests until stdin ends; the environments' own output goes to stderr."""
    enforce()
    out = os.fdopen(reserve_stdout(), "wb")
    # If there is a display, SDL would open a window for environments that only render arrays.
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    os.environ.setdefault("SDL_AUDIODRIVER", "dummy")
    bench = ProbeServer()
    while (request := _read_message(sys.stdin.buffer)) is not None:
        with suppress(BrokenPipeError):
            write_message(out, *bench.answer(request))


if __name__ == "__main__":
    main()
    end_process(0)
