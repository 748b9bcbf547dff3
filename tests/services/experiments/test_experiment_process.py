"""Experiment files that are programs: run apart, with limits, and nothing left behind."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from enum import Enum
from pathlib import Path

import numpy
import pytest

from gym_gui.core.config import WorkerAssignment
from gym_gui.core.errors import ExperimentError
from gym_gui.services.experiment_file import Limits, load_experiment, needs_code
from gym_gui.services.experiments.experiment_process import network_is_closed
from gym_gui.services.experiments.experiment_sandbox import NotPlainError, plain_data, report_error
from tests.support.waiting import eventually

RANDOM = '{"id": "r", "task": "CartPole-v1", "type": "random"}'


def write(folder: Path, text: str, name: str = "exp.py") -> Path:
    path = folder / name
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return path


def refusal(path: Path, **options: object) -> str:
    with pytest.raises(ExperimentError) as caught:
        load_experiment(path, **({"allow_code": True} | options))  # type: ignore[arg-type]
    message = str(caught.value)
    assert "\n" not in message
    assert "Traceback" not in message
    return message


class TestPrograms:
    def test_program_is_run_only_when_allowed(self, tmp_path: Path) -> None:
        path = write(tmp_path, f"import random\noperators = [{RANDOM} for _ in range(1)]")
        assert needs_code(path)
        assert refusal(path, allow_code=False).startswith("exp.py:1: is a program, not plain data. Allow it")
        assert load_experiment(path, allow_code=True).operators[0].operator_id == "r"

    def test_configuration_objects(self, tmp_path: Path) -> None:
        path = write(
            tmp_path,
            """
            from gym_gui.services.experiment_file import needs_code
            from gym_gui.core.config import ExecutionConfig, OperatorConfig, WorkerAssignment
            print("noise" * 100_000)
            operators = [
                OperatorConfig.multi_agent(
                    operator_id="m", task="T", seats="swap",
                    player_workers={a: WorkerAssignment("operators", settings={"n": 1}) for a in "ab"},
                ),
                {"id": "d", "task": "T", "workers": {"x": WorkerAssignment("", "passive")}},
            ]
            execution = ExecutionConfig(num_episodes=4, seeds=range(4))
            """,
        )
        experiment = load_experiment(path, allow_code=True)
        assert [o.operator_id for o in experiment.operators] == ["m", "d"]
        assert experiment.operators[1].workers["x"].settings == {"behavior": "noop"}
        assert experiment.execution.num_episodes == 4

    def test_neighboring_module_and_numpy_values(self, tmp_path: Path) -> None:
        write(tmp_path, "TASK = 'CartPole-v1'", "shared_names.py")
        path = write(
            tmp_path,
            """
            import numpy
            from shared_names import TASK
            operators = [{"id": "r", "task": TASK, "type": "random", "max_steps": numpy.int64(7)}]
            execution = {"seeds": numpy.arange(3)}
            """,
        )
        experiment = load_experiment(path, allow_code=True)
        assert (experiment.operators[0].max_steps, experiment.execution.seeds) == (7, (0, 1, 2))

    def test_environment_is_scrubbed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
        path = write(tmp_path, "import os\noperators = [os.environ['OPENAI_API_KEY']]")
        message = refusal(path)
        assert message.startswith("exp.py:2: KeyError: 'OPENAI_API_KEY'")
        assert "env:OPENAI_API_KEY" in message

    @pytest.mark.parametrize(
        "reach",
        [
            "import socket\nsocket.create_connection(('127.0.0.1', PORT))",
            "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:PORT')",
            "import socket\ntry:\n    socket.create_connection(('127.0.0.1', PORT))\nexcept Exception: pass",
            # Past Python, which says what is refused, to the system, which refuses it.
            "import ctypes\nlibc = ctypes.CDLL(None)\nhandle = libc.socket(2, 1, 0)\n"
            "libc.connect(handle, b'\\2\\0' + (PORT).to_bytes(2, 'big') + b'\\x7f\\0\\0\\1' + bytes(8), 16)",
        ],
    )
    @pytest.mark.skipif(not network_is_closed(), reason="this system cannot keep a program off the network")
    def test_a_program_has_no_network(self, tmp_path: Path, reach: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            source = reach.replace("PORT", str(server.getsockname()[1]))
            path = write(tmp_path, source + "\noperators = [{'id': 'a', 'task': 'T', 'type': 'random'}]")
            with contextlib.suppress(ExperimentError):
                load_experiment(path, allow_code=True)
            server.setblocking(False)
            with pytest.raises(BlockingIOError):  # no connection waits to be accepted
                server.accept()

    @pytest.mark.skipif(not network_is_closed(), reason="this system cannot keep a program off the network")
    def test_who_reaches_for_the_network_is_told(self, tmp_path: Path) -> None:
        path = write(tmp_path, "import socket\nsocket.create_connection(('127.0.0.1', 9))")
        assert refusal(path).startswith("exp.py:2: uses the network, which is not allowed")

    @pytest.mark.parametrize(
        ("source", "expected"),
        [
            ("x = 1\nraise ValueError('no\\nmore')", "exp.py:2: ValueError: no more. Correct the file"),
            ("def f():\n    1 / 0\nf()", "exp.py:2: ZeroDivisionError: division by zero"),
            ("import nowhere_to_be_found", "exp.py:1: ModuleNotFoundError: No module named"),
            ("operators = undefined_name", "exp.py:1: NameError: name 'undefined_name'"),
            ("import sys\nsys.exit(0)", "exp.py:2: ends the program. Remove the call of exit()"),
            ("import os\nos._exit(3)", "exp.py: the process reading it ended with exit status 3"),
            (
                "import os\nos.kill(os.getpid(), 11)",
                "exp.py: the process reading it was killed (signal 11, SIGSEGV)",
            ),
            ("raise KeyboardInterrupt", "exp.py:1: KeyboardInterrupt"),
            ("x = [0]\nx[0] = x\noperators = x", "exp.py: operators[0][0]"),
            ("operators = [{'f': lambda: 0}]", "exp.py: operators[0].f is a function, not plain data"),
            ("operators = [{3: 0} for _ in 'a']", "exp.py: operators[0] has a key that is an int, not text"),
            ("operators = (x for x in [])", "exp.py: operators is a generator, not plain data"),
            ("import os\noperators = [{'n': 10 ** 5000}]", "exp.py: ValueError"),
            ("import os\nx = 1", "exp.py: defines no 'operators'; it defines os, x"),
            ("x = bytearray(30 << 30)", "exp.py:1: needs more than 2048 MiB of memory"),
            ("import os\nos.fork()", "exp.py:2: starts a process, which is not allowed"),
            ("import os\nos.system('true')", "exp.py:2: starts a process, which is not allowed"),
            (
                "import subprocess\nsubprocess.run(['true'])",
                "exp.py:2: starts a process, which is not allowed",
            ),
            (
                "from gym_gui.core.config import OperatorConfig as C\noperators = [C('../x', task='T')]",
                "exp.py:2: id: '../x' contains /",
            ),
            (
                "class E(Exception):\n    def __str__(self): raise E\nraise E",
                "exp.py:3: E. Correct the file",
            ),
        ],
    )
    def test_what_a_program_may_do_wrong(self, tmp_path: Path, source: str, expected: str) -> None:
        assert refusal(write(tmp_path, source)).startswith(expected)

    def test_endless_loop_names_its_line(self, tmp_path: Path) -> None:
        path = write(tmp_path, "x = 1\nwhile True:\n    x += 1")
        message = refusal(path, limits=Limits(time_s=0.3))
        assert message.startswith(("exp.py:2: did not finish within 0.3 s", "exp.py:3: did not finish"))

    def test_endless_loop_that_catches_everything(self, tmp_path: Path) -> None:
        path = write(
            tmp_path,
            """
            import time
            while True:
                try:
                    time.sleep(60)
                except BaseException:
                    pass
            """,
        )
        started = time.monotonic()
        assert refusal(path, limits=Limits(time_s=0.2)).startswith("exp.py: did not finish within 0.2 s")
        assert time.monotonic() - started < 4

    def test_memory_taken_bit_by_bit(self, tmp_path: Path) -> None:
        path = write(tmp_path, "x = []\nwhile True:\n    x.append('a' * 100_000)")
        message = refusal(path, limits=Limits(memory_bytes=200 * 2**20))
        assert message.startswith("exp.py:3: needs more than 200 MiB of memory")

    def test_too_much_data(self, tmp_path: Path) -> None:
        path = write(tmp_path, "operators = ['x' * 100 for _ in range(1000)]")
        message = refusal(path, limits=Limits(reply_bytes=50_000))
        assert message.startswith("exp.py: defines more than 48 KiB of data")

    def test_process_started_behind_our_back_is_ended(self, tmp_path: Path) -> None:
        """A fork through ctypes, in a session of its own, holding the pipe open."""
        path = write(
            tmp_path,
            """
            import ctypes, os, pathlib, time
            libc = ctypes.CDLL(None)
            ready, done = os.pipe()
            if libc.fork() == 0:
                os.setsid()
                if libc.fork() == 0:
                    os.write(done, str(os.getpid()).encode())
                    time.sleep(600)
                os._exit(0)
            pathlib.Path(__file__).with_name("pid").write_bytes(os.read(ready, 20))
            raise RuntimeError("leaving")
            """,
        )
        assert "RuntimeError: leaving" in refusal(path)
        pid = int((tmp_path / "pid").read_text())
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)

    @pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
    def test_nothing_outlives_the_caller(self, tmp_path: Path, number: signal.Signals) -> None:
        started = tmp_path / "started"
        path = write(
            tmp_path,
            """
            import os, pathlib, time
            note = pathlib.Path(__file__).with_name("note")
            note.write_text(f"{os.getppid()} {os.getpid()}")
            note.rename(note.with_name("started"))
            time.sleep(600)
            """,
        )
        code = (
            f"from gym_gui.services.experiment_file import *; load_experiment({str(path)!r}, allow_code=True)"
        )
        caller = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
        eventually(started.exists, "the file is being read")
        guard, reader = map(int, started.read_text().split())
        caller.send_signal(number)
        caller.wait()
        eventually(lambda: not is_running(guard) and not is_running(reader), "both have ended")


def is_running(pid: int) -> bool:
    """Whether a process exists and is no zombie (its new parent may reap it late)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Color(Enum):
    RED = "red"


class TestPlainData:
    """What a program may leave in its names, converted where it is evaluated."""

    def test_converted(self) -> None:
        player = WorkerAssignment("", "random")
        value = {
            "path": Path("a/b"),
            "enum": Color.RED,
            "range": range(3),
            "tuple": (1, 2.5, None, True, "x"),
            "array": numpy.arange(2),
            "scalar": numpy.float64(0.5),
            "player": player,
        }
        plain = plain_data(value, "x", 0)
        assert plain == {
            "path": "a/b",
            "enum": "red",
            "range": [0, 1, 2],
            "tuple": [1, 2.5, None, True, "x"],
            "array": [0, 1],
            "scalar": 0.5,
            "player": player.to_record(),
        }
        assert type(plain["scalar"]) is float

    @pytest.mark.parametrize(
        ("value", "problem"),
        [
            ([{"a b": {1}}], r"x\[0\].'a b' is a set, not plain data"),
            ({1: 2}, "x has a key that is an int, not text"),
            (range(10**7), "x is a range of more than 1000000 numbers"),
            (Color, "x is a class, not plain data"),
            (print, "x is a function, not plain data"),
        ],
    )
    def test_refused(self, value: object, problem: str) -> None:
        with pytest.raises(NotPlainError, match=problem):
            plain_data(value, "x", 0)

    def test_report_names_the_innermost_line_of_the_file(self) -> None:
        code = compile("def f():\n    raise OSError('gone')\nf()", "/some/exp.py", "exec")
        with pytest.raises(OSError, match="gone") as caught:
            exec(code, {})
        report = report_error(caught.value, "/some/exp.py")
        assert report == {
            "error": "raised",
            "line": 2,
            "type": "OSError",
            "message": "gone",
            "fix": "",
            "ours": False,
        }
