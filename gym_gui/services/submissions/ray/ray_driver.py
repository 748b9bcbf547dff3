"""The process that talks to Ray: ``python -m gym_gui.services.submissions.ray.ray_driver``.

Ray starts threads, installs signal handlers and writes a log, and a process that has lost its cluster may
exit at once. So Ray runs in a child process that is controlled line by line. A request is a JSON object on
standard input, ``{"do": NAME, …}``. The answer is a JSON object on standard output, ``{"done": …}`` or
``{"trouble": KIND, "message": …}``.

Answers of nodes are pickled by Ray and unpickled here. That is safe because this process has no API keys,
and passes on only JSON and files.
"""

from __future__ import annotations

import importlib
import json
import os
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from gym_gui.core.errors import UsageError
from gym_gui.services.submissions import archive, training_files
from gym_gui.services.submissions.ray import ray_budget, ray_keeper, ray_node, ray_trainings
from gym_gui.services.submissions.submission_errors import LocalMachineError, raise_if_too_much

AWAY: Final = "away"
FAILED: Final = "failed"
REFUSED: Final = "refused"
FULL: Final = "full"
_NAMESPACE: Final = "mosaic"
_KNOCK_S: Final = 10.0
_STARTS: Final = 3
"""Connection attempts, because a busy head may not start the client server within Ray's own 30 s."""
_NOT_STARTED: Final = "Starting Ray client server failed"
"""Message of Ray's proxier in that case."""
_ANSWER_S: Final = 60.0
_CHECK_S: Final = 180.0
TRAVELS: Final = (archive, training_files, ray_trainings, ray_budget, ray_node, ray_keeper)
"""Modules that are pickled by value for the nodes."""
_HEAD: Final = "node:__internal_head__"
"""Resource that only the head node has."""


class _Trouble(Exception):
    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Driver:
    """A connection to a cluster. Requests call its public methods with JSON arguments."""

    def __init__(self) -> None:
        self._ray: Any = importlib.import_module("ray")
        for module in TRAVELS:
            self._ray.cloudpickle.register_pickle_by_value(module)
        self._keeper: Any = None
        self._plan: Mapping[str, Any] = {}

    def connect(self, address: str) -> str:
        """Connect to the cluster at an address and return its version of Ray."""
        _check_listens(address)
        quiet: dict[str, Any] = {} if address.startswith("ray://") else {"logging_level": "error"}
        for left in reversed(range(_STARTS)):
            try:
                self._ray.init(address=address, namespace=_NAMESPACE, log_to_driver=False, **quiet)
                break
            except Exception as error:  # Ray raises errors of many kinds
                if not left or _NOT_STARTED not in str(error):
                    raise _not_connected(address, error) from error
        return str(self._ray.__version__)

    def nodes(self, needs: Mapping[str, float]) -> list[dict[str, Any]]:
        """Return each node's id, name and amounts of the needed resources, and whether they are enough."""
        return [
            {
                "id": node["NodeID"],
                "name": node["NodeName"],
                "has": {name: node["Resources"].get(name, 0) for name in needs},
                "fits": all(node["Resources"].get(name, 0) >= much for name, much in needs.items()),
            }
            for node in self._alive
        ]

    def check(self, nodes: Sequence[str], plan: Mapping[str, Any]) -> dict[str, str]:
        """Return the output of the check on nodes, by node id."""
        asked = [self._on(node, ray_node.check_node, plan) for node in nodes]
        answered, _ = self._ray.wait(asked, num_returns=len(asked), timeout=_CHECK_S)
        told: dict[str, str] = {}
        for node, task in zip(nodes, asked, strict=True):
            try:
                told[node] = (
                    self._answer(task) if task in answered else f"{plan['mark']} trouble does not answer\n"
                )
            except _Trouble as error:
                told[node] = f"{plan['mark']} trouble {error}\n"
        return told

    def keep(self, plan: Mapping[str, Any], bundle: str) -> bool:
        """Find or start the keeper actor of a submission, send it the files, and return whether it is new."""
        self._plan = plan
        head = any(_HEAD in node["Resources"] for node in self._alive)
        # A detached actor outlives this process. The next process finds it by its name.
        keeper = self._ray.remote(ray_keeper.Keeper).options(
            name=f"mosaic-{plan['name']}",
            namespace=_NAMESPACE,
            lifetime="detached",
            get_if_exists=True,
            num_cpus=0,
            resources={_HEAD: 0.001} if head else {},
        )
        self._keeper = keeper.remote(plan["name"], plan["folder"])
        if not self._ask("use", plan):
            name = ray_node.bundle_name(plan)
            with Path(bundle).open("rb") as file:
                while data := file.read(ray_node.CHUNK):
                    self._ask("put", name, file.tell() - len(data), data)
            self._ask("put", name, 0, b"")
        return bool(self._ask("is_new"))

    def begin(self, tries: Sequence[Sequence[int]]) -> None:
        """Start attempts of shards, each at most once."""
        self._ask("begin", _pairs(tries))

    def look(self, tries: Sequence[Sequence[int]]) -> dict[str, Any]:
        """Return the status of attempts, and the check's output on excluded nodes."""
        rows, without = self._ask("look", _pairs(tries))
        return {"tries": rows, "without": without}

    def exchange(self, known: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """Pass requests to trainings and return the new bytes of their files, with bytes as Latin-1."""
        asked = {n: (start, tuple(sizes), wishes.encode("latin-1")) for n, start, sizes, wishes in known}
        grown: Mapping[int, tuple[str, Mapping[str, bytes]]] = self._ask("exchange", asked)
        return [
            [number, start, {name: data.decode("latin-1") for name, data in more.items()}]
            for number, (start, more) in grown.items()
        ]

    def tell(self, lines: Mapping[str, str]) -> None:
        """Send a budget lease, as a line, to each of its holders."""
        self._ask("tell", dict(lines))

    def leave_out(self, nodes: Mapping[str, str]) -> None:
        """Exclude nodes, given with the output of their check."""
        self._ask("leave_out", dict(nodes))

    def fetch(self, number: int, target: str, called: str) -> bool:
        """Copy the results of a shard to a local file, and return whether there were any."""
        name = self._ask("saved", number)
        if not name:
            return False
        with Path(target).open("wb") as file:
            while data := self._ask("get", name, file.tell()):
                file.write(data)
                _check_room(Path(target), called)
        self._ask("handed", number)
        return True

    def stop(self, tries: Sequence[Sequence[int]], at_once: bool) -> None:
        """Ask attempts to end, or end them at once."""
        self._ask("stop", _pairs(tries), at_once)

    def clear(self) -> None:
        """Remove the files on nodes, and the keeper."""
        asked = [self._on(node["NodeID"], ray_node.clear_node, self._plan) for node in self._alive]
        self._ray.wait(
            asked, num_returns=len(asked), timeout=_ANSWER_S
        )  # a node that does not answer keeps its files
        self._ask("clear")
        self._ray.kill(self._keeper)
        self._keeper = None

    @property
    def _alive(self) -> list[dict[str, Any]]:
        return [node for node in self._ray.nodes() if node["Alive"]]

    def _on(self, node: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Run a function on a node without reserving a core."""
        strategies: Any = importlib.import_module("ray.util.scheduling_strategies")
        there = strategies.NodeAffinitySchedulingStrategy(node, soft=False)
        task = self._ray.remote(function).options(num_cpus=0, max_retries=0, scheduling_strategy=there)
        return task.remote(*arguments)

    def _ask(self, method: str, *arguments: Any) -> Any:
        if self._keeper is None:
            raise _Trouble(AWAY, "the cluster has lost the submission's keeper")
        return self._answer(getattr(self._keeper, method).remote(*arguments))

    def _answer(self, asked: Any, within_s: float = _ANSWER_S) -> Any:
        errors: Any = importlib.import_module("ray.exceptions")
        try:
            return self._ray.get(asked, timeout=within_s)
        except errors.GetTimeoutError as error:
            raise _Trouble(AWAY, f"the cluster did not answer within {within_s:g} s") from error
        except errors.RayTaskError as error:
            raise _Trouble(FAILED, f"{type(error.cause).__name__}: {error.cause}") from error
        except errors.RayActorError as error:
            self._keeper = None
            raise _Trouble(AWAY, _first_line(error)) from error
        except errors.RayError as error:
            raise _Trouble(AWAY, _first_line(error)) from error


def _pairs(tries: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    return [(number, attempt) for number, attempt in tries]


def _check_listens(address: str) -> None:
    """Check that a process listens at an address, because Ray itself would retry for a long time."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not port.isdigit():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), _KNOCK_S).close()
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise _Trouble(AWAY, f"no Ray cluster answers at {address}: {why}") from error


def _not_connected(address: str, error: Exception) -> _Trouble:
    said = " ".join(str(error).split())
    if "ersion mismatch" in said or "do not match" in said:
        return _Trouble(REFUSED, f"the cluster at {address} has other versions: {said[:400]}")
    return _Trouble(AWAY, f"the cluster at {address} cannot be used: {said[:400] or type(error).__name__}")


def _check_room(coming: Path, what: str) -> None:
    try:
        raise_if_too_much(coming, what)
    except UsageError as error:
        raise _Trouble(FULL if isinstance(error, LocalMachineError) else REFUSED, error.message) from error


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:300]


def main() -> None:
    """Answer the requests on standard input until the input ends."""
    # Ray's own output is redirected to stderr.
    with os.fdopen(os.dup(sys.stdout.fileno()), "w") as told:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        driver = Driver()
        for line in sys.stdin:
            request: dict[str, Any] = json.loads(line)
            try:
                answer: dict[str, Any] = {"done": getattr(driver, request.pop("do"))(**request)}
            except _Trouble as error:
                answer = {"trouble": error.kind, "message": str(error)}
            except (OSError, ConnectionError) as error:
                answer = {"trouble": AWAY, "message": _first_line(error)}
            told.write(json.dumps(answer) + "\n")
            told.flush()


if __name__ == "__main__":
    main()
