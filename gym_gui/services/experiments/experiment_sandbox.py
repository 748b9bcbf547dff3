"""Process that evaluates an experiment file that is a program.

The module is run by path or with ``python -m``. It reads one JSON request from stdin and writes one JSON
reply to stdout. It uses two processes. The *guard* enforces the limits and afterwards ends all processes that
were started, whatever their process group. Its child, the *reader*, executes the file and returns plain data
over a pipe. Only the standard library is used, so that it starts fast and the file can use the whole memory
limit.

If the system allows it, the reader has no network (:mod:`gym_gui.services.experiments.experiment_network`).
Apart from that, the process protects against mistakes but not against malicious files, which can read and
write the user's files. So users are asked before a file is run.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import select
import signal
import socket
import sys
import time
import types
from collections.abc import Mapping
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import Any, Final, NoReturn, cast

from gym_gui.services.experiments.experiment_network import close_network

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_CHILD_SUBREAPER: Final = 36
_GRACE_S: Final = 0.5
_RESERVE_BYTES: Final = 64 * 2**20
_MAX_FILE_BYTES: Final = 16 * 2**20
_MAX_DEPTH: Final = 40
_MAX_RANGE: Final = 1_000_000
_PROCESS_EVENTS: Final = frozenset(
    {
        *("os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.exec", "os.system"),
        *("os.startfile", "pty.spawn", "subprocess.Popen"),
    }
)

_NETWORK_EVENTS: Final = frozenset(
    {"socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname"}
)


class TimeUpError(BaseException):
    """Raised in an experiment file at its time limit. Not derived from Exception, so that few handlers catch
    it."""


class ProcessRefusedError(PermissionError):
    """Raised when an experiment file tries to start a process."""


class NetworkRefusedError(PermissionError):
    """Raised when an experiment file tries to use the network."""


class NotPlainError(TypeError):
    """Raised for a value that cannot be converted to plain data."""


def main() -> int:
    """Read the request from stdin and write the reply."""
    request = json.loads(sys.stdin.buffer.read())
    reply = guard(request)
    sys.stdout.buffer.write(reply)
    sys.stdout.buffer.flush()
    return 0


def guard(request: Mapping[str, Any]) -> bytes:
    """Run the reader within its limits and end all of its processes.

    Args:
        request: ``path``, ``source``, ``time_s``, ``memory_bytes``, ``reply_bytes``, ``names``.

    Returns:
        The reply as JSON: ``{"data": ...}`` or ``{"error": kind, "line": n, ...}``.
    """
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    signal.signal(signal.SIGTERM, _stop)
    read_fd, write_fd = os.pipe()
    deadline = time.monotonic() + request["time_s"] + _GRACE_S
    reader = os.fork()
    if reader == 0:
        os.close(read_fd)
        _read_and_exit(request, write_fd)
    os.close(write_fd)
    status: int | None = None
    try:
        raw = _collect(read_fd, request["reply_bytes"], deadline)
    finally:
        status = _end_children(reader)
    if raw is None:
        return json.dumps({"error": "time"}).encode()
    if len(raw) > request["reply_bytes"]:
        return json.dumps({"error": "size"}).encode()
    if not raw.endswith(b"\n"):
        code = os.waitstatus_to_exitcode(status) if status is not None else 0
        return json.dumps({"error": "died", "code": code}).encode()
    return raw


def _stop(_signal: int, _frame: object) -> NoReturn:
    raise SystemExit(1)


def _prctl(option: int, value: int) -> None:
    with suppress(OSError, AttributeError):  # only Linux has prctl
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _collect(fd: int, limit: int, deadline: float) -> bytes | None:
    """Return the reader's output up to a newline, its end or one byte over ``limit``; ``None`` if late."""
    raw = bytearray()
    while len(raw) <= limit and not raw.endswith(b"\n"):
        ready, _, _ = select.select([fd], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return None
        chunk = os.read(fd, 65536)
        if not chunk:
            break
        raw += chunk
    return bytes(raw)


def _end_children(reader: int) -> int | None:
    """Kill and reap all descendants. Orphans become children of this process, which is a subreaper."""
    status: int | None = None
    while True:
        for pid in _children():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            pid, ended = os.waitpid(-1, 0)
        except ChildProcessError:
            return status
        if pid == reader:
            status = ended


def _children() -> list[int]:
    """Return the process ids of this process's children."""
    try:
        text = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii")
        return [int(pid) for pid in text.split()]
    except OSError:  # a kernel without CONFIG_PROC_CHILDREN
        own = str(os.getpid())
        found: list[int] = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                if stat.read_text(errors="replace").rpartition(")")[2].split()[1] == own:
                    found.append(int(stat.parent.name))
        return found


def _read_and_exit(request: Mapping[str, Any], fd: int) -> NoReturn:
    """Run the reader in this process, then exit without returning to the guard's code."""
    try:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        nothing = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(nothing, standard)
        os.closerange(3, fd)
        os.closerange(fd + 1, 256)
        _limit(request)
        close_network()
        view = memoryview(_evaluate(request) + b"\n")
        while view:
            view = view[os.write(fd, view) :]
    finally:
        os._exit(0)


def _limit(request: Mapping[str, Any]) -> None:
    soft = int(request["memory_bytes"])
    # The reserve allows the report of a MemoryError.
    resource.setrlimit(resource.RLIMIT_AS, (soft, soft + _RESERVE_BYTES))
    seconds = int(request["time_s"]) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_MAX_FILE_BYTES, _MAX_FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _time_up(_signal: int, _frame: object) -> NoReturn:
    raise TimeUpError


def _refuse(event: str, args: tuple[Any, ...]) -> None:
    """Raise an error for an audit event that starts a process or uses the network."""
    if event in _PROCESS_EVENTS:
        raise ProcessRefusedError("an experiment file cannot start processes")
    if event in _NETWORK_EVENTS or (event == "socket.__new__" and args[1] not in (-1, socket.AF_UNIX)):
        raise NetworkRefusedError("an experiment file cannot use the network")


def _evaluate(request: Mapping[str, Any]) -> bytes:
    """Execute the experiment file and return the requested names as JSON, or a report of the error."""
    path = str(request["path"])
    module = types.ModuleType("experiment")
    module.__file__ = path
    sys.modules[module.__name__] = module
    sys.path.append(str(Path(path).parent))  # last, so that the folder's files hide no module of Python
    signal.signal(signal.SIGALRM, _time_up)
    signal.setitimer(signal.ITIMER_REAL, float(request["time_s"]))
    try:
        sys.addaudithook(_refuse)
        code = compile(request["source"], path, "exec", dont_inherit=True)
        exec(code, vars(module))
        names = [name for name in vars(module) if not name.startswith("_")]
        found = {name: vars(module)[name] for name in request["names"] if name in names}
        data = {name: plain_data(value, name, 0) for name, value in found.items()}
        return json.dumps({"data": data, "names": names[:100]}).encode()
    except BaseException as error:  # foreign code may raise anything, and each error becomes a report
        signal.setitimer(signal.ITIMER_REAL, 0)
        return json.dumps(report_error(error, path)).encode()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def report_error(error: BaseException, path: str) -> dict[str, Any]:
    """Return a report of an error with the line of the file.

    Args:
        error: Error that the file raised.
        path: The file, as its code objects name it.

    Returns:
        Dict with ``error`` (the kind), ``line`` (0 if unknown), ``type``, ``message`` and ``fix``.
    """
    line = 0
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    if isinstance(error, MemoryError):
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
        return {"error": "memory", "line": line}
    kinds: dict[type[BaseException], str] = {
        TimeUpError: "time",
        SystemExit: "exit",
        ProcessRefusedError: "process",
        NotPlainError: "plain",
        NetworkRefusedError: "network",
    }
    kind = next((name for cls, name in kinds.items() if isinstance(error, cls)), "raised")
    report: dict[str, Any] = {"error": kind, "line": line, "type": type(error).__name__}
    try:
        report["message"] = str(getattr(error, "message", None) or error)[:1000]
        report["fix"] = str(getattr(error, "fix", ""))[:1000]
    except Exception:  # a foreign __str__ may raise anything
        report["message"] = ""
    report["ours"] = type(error).__module__.startswith("gym_gui.")
    return report


def plain_data(value: object, where: str, depth: int) -> Any:
    """Return ``value`` in JSON's types, with configuration objects as their records.

    Args:
        value: A value that the file defines.
        where: Its place in the file, for messages.
        depth: Number of levels above it.

    Raises:
        NotPlainError: It contains other types, or more than 40 levels.
    """
    if depth > _MAX_DEPTH:
        raise NotPlainError(f"{where[:100]} is nested too deeply")
    if isinstance(value, Enum):
        value = value.value
    if value is None or isinstance(value, (bool, int, float, str)):
        return _scalar(value)
    if type(value).__module__.startswith("gym_gui.") and hasattr(value, "to_record"):
        return cast(Any, value).to_record()
    if type(value).__module__ == "numpy":
        return plain_data(cast(Any, value).tolist(), where, depth + 1)
    if isinstance(value, os.PathLike):
        return os.fspath(cast("os.PathLike[str]", value))
    if isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value)
        for key in items:
            if not isinstance(key, str):
                raise NotPlainError(f"{where[:200]} has a key that is {_kind(key)}, not text")
        return {str(key): plain_data(item, f"{where}.{_key(key)}", depth + 1) for key, item in items.items()}
    if isinstance(value, range) and (value.stop - value.start) // value.step > _MAX_RANGE:
        raise NotPlainError(f"{where[:200]} is a range of more than {_MAX_RANGE} numbers")
    if isinstance(value, (list, tuple, range)):
        elements = cast("list[object]", value)
        return [plain_data(item, f"{where}[{i}]", depth + 1) for i, item in enumerate(elements)]
    raise NotPlainError(f"{where[:200]} is {_kind(value)}, not plain data")


def _scalar(value: bool | float | str | None) -> Any:
    """Return a scalar without its subclass: a float for numpy's float64, a str for a StrEnum."""
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind(value)
    return None


def _key(key: object) -> str:
    text = str(key)
    return text if text.isidentifier() else ascii(text[:60])


def _kind(value: object) -> str:
    if isinstance(value, type):
        return "a class"
    name = "function" if callable(value) else type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


if __name__ == "__main__":
    sys.exit(main())
