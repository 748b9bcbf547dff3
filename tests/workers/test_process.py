"""A worker process from its start to its end, however it ends."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from gym_gui.core.errors import SlotRefusedError, WorkerLaunchError
from gym_gui.wire import pb
from gym_gui.workers.definition import WorkerTypeDefinition
from gym_gui.workers.process import Launch, WorkerProcess
from tests.support.little_workers import RANDOM, RAW, little_worker
from tests.support.processes import Offspring, alive
from tests.support.staff import Ear, outcome_of, request, running
from tests.support.waiting import in_time


async def refusal(definition: WorkerTypeDefinition, **options: Any) -> str:
    """Why a worker could not be started; its process is gone by then."""
    process = WorkerProcess(Launch(definition, **options), Ear())
    with pytest.raises(WorkerLaunchError) as caught:
        await process.start()
    assert process.outcome is not None
    assert not alive(process.pid)
    return str(caught.value)


# -- in good order --------------------------------------------------------------------------


async def test_handshake_load_and_graceful_stop(tmp_path: Path):
    definition = little_worker(tmp_path, RANDOM)
    async with running(definition, operator="op_7", agents=["green_0", "green_1"]) as (process, ear):
        assert (process.welcome.protocol, process.welcome.worker) == (1, "little_worker")
        assert process.welcome.version == "1.2"
        assert process.welcome.pid == process.pid
        assert await process.load(request().message(0)) == ""
        assert process.outcome_words == "is running"
        line = " ".join(psutil.Process(process.pid).cmdline())
    assert process.outcome is not None and process.outcome.asked
    assert process.outcome_words == "ended with exit status 0"
    assert len(ear.outcomes) == 1
    # Who reads ps knows who is who.
    assert "mosaic_worker little_worker --entry" in line
    assert "--operator op_7 --agents green_0,green_1" in line


async def test_what_libraries_print_is_forwarded_and_disturbs_nothing(tmp_path: Path):
    code = RANDOM + (
        "    def load(self, slot):\n"
        "        import os, sys, logging\n"
        "        print('hello from a library')\n"
        "        os.write(1, b'from C on fd 1\\n')\n"
        "        print('a warning', file=sys.stderr)\n"
        "        logging.getLogger('lib').warning('a log line')\n"
        "        print('x' * 300_000 + 'END')  # longer than any buffer: comes in pieces\n"
        "        self.host.record_call({'model': 'm', 'input': 3})\n"
    )
    async with running(little_worker(tmp_path, code)) as (process, ear):
        await process.load(request().message(0))
        for words in ("hello from a library", "from C on fd 1", "a warning", "a log line", "END"):
            await in_time(lambda words=words: words in ear.log_text, words)
        await in_time(lambda: ear.calls == ['{"model": "m", "input": 3}'], "the paid call")


KEY = 'sk-"planted/by a test'
ECHO = """
import json, os
from urllib.parse import quote
from mosaic_worker import LoadError, Worker

class Main(Worker):
    def load(self, slot):
        key = slot.secrets["api_key"]
        if slot.settings.get("refuse"):
            raise LoadError(f"401 for {key}")
        print("the server said", key)
        os.write(2, f"and {quote(key, safe='')}\\n".encode())
        self.host.record_call({"reply": key, "raw": json.dumps({"key": key}), "headers": [key]})
        return f"model of {key}"
"""


async def test_a_key_is_struck_out_of_all_that_a_worker_sends_back(tmp_path: Path):
    load = request().message(0)
    load.secrets["api_key"] = KEY
    async with running(little_worker(tmp_path, ECHO)) as (process, ear):
        policy = await process.load(load)
        await in_time(lambda: "and [secret]" in ear.log_text and ear.calls, "the lines and the call")
        load.settings = '{"refuse": true}'
        with pytest.raises(SlotRefusedError) as refused:
            await process.load(load)
    assert policy == "model of [secret]"
    assert "the server said [secret]" in ear.log_text
    assert "401 for [secret]" in str(refused.value)
    for text in (ear.log_text, str(refused.value), process.outcome_words, *ear.calls):
        assert "planted" not in text


async def test_refused_slot_says_why_and_leaves_the_worker_usable(tmp_path: Path):
    code = (
        "from mosaic_worker import LoadError, Worker\n"
        "class Main(Worker):\n"
        "    def load(self, slot):\n"
        "        if slot.agent_id == 'a': raise LoadError('there is no checkpoint at x.pt')\n"
        "        if slot.agent_id == 'b': raise KeyError('weights')\n"
        "        return 'ppo'\n"
    )
    async with running(little_worker(tmp_path, code)) as (process, _):
        with pytest.raises(SlotRefusedError, match=r"cannot play a: there is no checkpoint at x\.pt"):
            await process.load(request("a").message(0))
        with pytest.raises(SlotRefusedError, match="cannot play b: KeyError: 'weights'"):
            await process.load(request("b").message(1))
        assert await process.load(request("c").message(2)) == "ppo"


# -- it does not come up --------------------------------------------------------------------


async def test_python_that_is_not_there(tmp_path: Path):
    definition = little_worker(tmp_path, RANDOM, launch={"python": "nowhere"})
    process = WorkerProcess(Launch(definition), Ear())
    with pytest.raises(WorkerLaunchError, match=r"could not be started: .*No such file"):
        await process.start()
    await process.stop()


async def test_command_that_is_not_there(tmp_path: Path):
    definition = little_worker(tmp_path, "", launch={"command": ["no-such-program-here"]})
    words = await refusal(definition)
    assert "could not be started: no-such-program-here: No such file or directory" in words


async def test_import_error_is_the_reason(tmp_path: Path):
    words = await refusal(little_worker(tmp_path, "import a_package_nobody_has"))
    assert "No module named 'a_package_nobody_has'" in words


async def test_last_line_of_stderr_is_the_reason(tmp_path: Path):
    code = "import os, sys\nprint('CUDA out of luck', file=sys.stderr)\nsys.stderr.flush()\nos._exit(3)"
    assert "ended with exit status 3: CUDA out of luck" in await refusal(little_worker(tmp_path, code))


async def test_silent_start_is_given_up(tmp_path: Path):
    code = "import threading\nthreading.Event().wait()"
    words = await refusal(little_worker(tmp_path, code), start_timeout_s=0.3)
    assert "was ended: said nothing for 0.3 s after its start" in words


async def test_another_protocol_version_is_refused_with_the_way_out(tmp_path: Path):
    code = RAW + "link.sendall(welcome(protocol=7))\nreceive()"
    words = await refusal(little_worker(tmp_path, code))
    assert "speaks protocol 7, this host 1. Update the worker's mosaic-worker package" in words


@pytest.mark.parametrize("moment", range(0, 56, 8))
async def test_start_that_is_cancelled_leaves_nothing(tmp_path: Path, offspring: Offspring, moment: int):
    process = WorkerProcess(Launch(little_worker(tmp_path, RANDOM)), Ear())
    task = asyncio.ensure_future(process.start())
    for _ in range(moment):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await process.stop()
    assert not offspring.pids()


# -- it ends by itself ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (signal.SIGKILL, "was killed (signal 9, SIGKILL)"),
        (signal.SIGSEGV, "was killed (signal 11, SIGSEGV)"),
        (signal.SIGRTMIN + 5, f"was killed (signal {signal.SIGRTMIN + 5})"),
    ],
)
async def test_killed_from_outside(tmp_path: Path, number: int, words: str):
    async with running(little_worker(tmp_path, RANDOM)) as (process, ear):
        os.kill(process.pid, number)
        assert await outcome_of(process, ear) == words
        assert not ear.outcomes[0].asked


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("link.sendall(b'\\xff' * 40)", "was ended: it announced a message of 4294967295 bytes"),
        ("link.sendall(struct.pack('<I', 5) + b'hello')", "was ended: it sent 5 bytes that are no message"),
        ("link.sendall(struct.pack('<I', 0))", "was ended: it sent 0 bytes that are no message"),
        (
            "link.sendall(loaded()[:-2]); link.shutdown(socket.SHUT_RDWR); os._exit(0)",
            "was ended: it stopped in the middle of a message",
        ),
        ("link.sendall(frame(failed=pb.Failed(reason='no weights'))); os._exit(1)", "failed: no weights"),
        ("os._exit(0)", "ended with exit status 0"),
        ("print('bye', file=sys.stderr, flush=True); os._exit(4)", "ended with exit status 4: bye"),
    ],
)
async def test_outcome_in_words(tmp_path: Path, code: str, words: str):
    # Stays until the host has read and judged what it sent.
    definition = little_worker(tmp_path, f"{RAW}\nbegin()\n{code}\nthreading.Event().wait()\n")
    async with running(definition) as (process, ear):
        await process.load(request().message(0))
        assert (await outcome_of(process, ear)).startswith(words)
        assert not ear.outcomes[0].asked


async def test_closed_connection_ends_a_process_that_stays(tmp_path: Path):
    code = f"{RAW}\nbegin()\nlink.shutdown(socket.SHUT_RDWR)\nthreading.Event().wait()"
    async with running(little_worker(tmp_path, code)) as (process, ear):
        await process.load(request().message(0))
        assert await outcome_of(process, ear) == "was ended: closed its connection"


async def test_worker_that_raises_outside_of_a_decision(tmp_path: Path):
    code = RANDOM + "    def reset(self, slot, starts):\n        raise RuntimeError('no such opening')\n"
    async with running(little_worker(tmp_path, code)) as (process, ear):
        await process.load(request().message(0))
        process.send(pb.ToWorker(work=pb.Work(starts=[pb.Start(episode=1, seed=2)])))
        said = "failed: RuntimeError: no such opening (little_worker_code.py, line 11, in reset)"
        assert await outcome_of(process, ear) == said
        assert "Traceback" in ear.log_text and "in reset" in ear.log_text


async def test_load_of_a_process_that_has_ended(tmp_path: Path):
    async with running(little_worker(tmp_path, RANDOM)) as (process, ear):
        os.kill(process.pid, signal.SIGKILL)
        await outcome_of(process, ear)
        with pytest.raises(WorkerLaunchError, match="for agent_0 was killed"):
            await process.load(request().message(0))
        process.send(pb.ToWorker(shutdown=pb.Shutdown()))  # dropped in silence


async def test_death_while_loading(tmp_path: Path):
    code = RANDOM + "    def load(self, slot):\n        import ctypes\n        ctypes.string_at(0)\n"
    async with running(little_worker(tmp_path, code)) as (process, _):
        with pytest.raises(WorkerLaunchError, match="SIGSEGV"):
            await process.load(request().message(0))


@pytest.mark.parametrize("carrier", ["socket", "jsonl"])
async def test_death_is_noticed_although_forked_children_hold_its_pipes(
    tmp_path: Path, offspring: Offspring, carrier: str
):
    code = (
        RANDOM + "    def load(self, slot):\n"
        "        import os, threading\n"
        "        if os.fork() == 0: threading.Event().wait()\n"
    )
    async with running(little_worker(tmp_path, code, launch={"carrier": carrier})) as (process, ear):
        await process.load(request().message(0))
        assert len(offspring.pids()) == 2
        os.kill(process.pid, signal.SIGKILL)
        async with asyncio.timeout(5):
            assert await outcome_of(process, ear) == "was killed (signal 9, SIGKILL)"
        assert offspring.pids() == []


# -- it hangs, or takes too much ------------------------------------------------------------


async def test_stopped_process_is_noticed_by_its_silence(tmp_path: Path):
    definition = little_worker(tmp_path, RANDOM, launch={"heartbeat_s": 1})
    async with running(definition) as (process, ear):
        os.kill(process.pid, signal.SIGSTOP)
        assert await outcome_of(process, ear) == "was ended: did not respond for 1 s"
        assert not alive(process.pid)


async def test_long_thinking_is_no_silence(tmp_path: Path):
    code = (
        RANDOM + "    def load(self, slot):\n"
        "        import threading\n"
        "        threading.Event().wait(1.5)\n"
        "        return 'slow'\n"
    )
    definition = little_worker(tmp_path, code, launch={"heartbeat_s": 0.6})
    async with running(definition) as (process, _):
        assert await process.load(request().message(0)) == "slow"


async def test_memory_of_the_whole_tree_is_limited(tmp_path: Path):
    code = (
        RANDOM + "    def load(self, slot):\n"
        "        import subprocess, sys\n"
        "        hog = 'import time; b = bytearray(b\"x\") * (200 << 20); time.sleep(600)'\n"
        "        subprocess.Popen([sys.executable, '-c', hog])\n"
    )
    definition = little_worker(tmp_path, code, limits={"memory_mb": 150})
    async with running(definition) as (process, ear):
        await process.load(request().message(0))
        words = await outcome_of(process, ear)
    assert words.startswith("was ended: used ") and words.endswith("MB of memory, over its limit of 150 MB")


async def test_cores_are_limited(tmp_path: Path):
    definition = little_worker(tmp_path, RANDOM, limits={"cpu_cores": 1})
    async with running(definition) as (process, _):
        await in_time(lambda: len(os.sched_getaffinity(process.pid)) == 1, "one core")


# -- it is stopped --------------------------------------------------------------------------

STUBBORN = (
    "import atexit, signal, threading\n"
    "from mosaic_worker import Worker\n"
    "class Main(Worker):\n"
    "    def load(self, slot):\n"
    "        signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "        atexit.register(threading.Event().wait)\n"
)


async def test_sigterm_ends_what_does_not_read(tmp_path: Path):
    code = RANDOM + "    def select_actions(self, batch):\n        import time\n        time.sleep(600)\n"
    async with running(little_worker(tmp_path, code)) as (process, _):
        await process.load(request().message(0))
        questions = pb.Questions(ids=[1], episodes=[0], steps=[0], seeds=[1])
        questions.observation.add(data=bytes(8))
        process.send(pb.ToWorker(work=pb.Work(questions=questions)))
        await process.stop(grace_s=0.3)
        assert process.outcome is not None and process.outcome.asked
        assert process.outcome_words == "was killed (signal 15, SIGTERM)"


async def test_sigkill_ends_what_ignores_sigterm(tmp_path: Path):
    async with running(little_worker(tmp_path, STUBBORN)) as (process, _):
        await process.load(request().message(0))
        await process.stop(grace_s=0.3)
        assert process.outcome_words == "was ended: did not stop when asked"
        assert not alive(process.pid)


async def test_a_stopped_process_can_be_stopped(tmp_path: Path):
    async with running(little_worker(tmp_path, RANDOM)) as (process, _):
        os.kill(process.pid, signal.SIGSTOP)
        await process.stop(grace_s=0.2)
        assert not alive(process.pid)


async def test_stop_twice_and_before_the_start(tmp_path: Path):
    definition = little_worker(tmp_path, RANDOM)
    never = WorkerProcess(Launch(definition), Ear())
    await never.stop()
    async with running(definition) as (process, ear):
        await asyncio.gather(process.stop(), process.stop())
        assert len(ear.outcomes) == 1


FAMILY = """
import os, subprocess, sys
from mosaic_worker import Worker

SLEEPER = "import time; time.sleep(600)"
RUNAWAY = "import os, sys\\nif os.fork(): sys.exit()\\nos.setsid()\\nimport time; time.sleep(600)"

class Main(Worker):
    def load(self, slot):
        subprocess.Popen([sys.executable, "-c", SLEEPER])
        subprocess.Popen([sys.executable, "-c", SLEEPER], start_new_session=True)
        subprocess.run([sys.executable, "-c", RUNAWAY])
        return "family"
"""


@pytest.mark.parametrize("end", ["stop", "kill"])
async def test_whole_tree_ends_even_what_left_its_process_group(
    tmp_path: Path, offspring: Offspring, end: str
):
    async with running(little_worker(tmp_path, FAMILY)) as (process, ear):
        await process.load(request().message(0))
        await in_time(lambda: len(offspring.pids()) == 4, "the worker and its three descendants run")
        if end == "kill":
            os.kill(process.pid, signal.SIGKILL)
            await outcome_of(process, ear)
        else:
            await process.stop()
        assert offspring.pids() == []


# -- JSON lines, and interpreters of their own ----------------------------------------------

JSON_LINES = """
import json, sys
def say(**body): print(json.dumps(body), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if "hello" in message:
        say(welcome={"protocol": message["hello"]["protocol"], "worker": "json", "version": "3"})
    elif "load" in message:
        say(loaded={"slot": message["load"]["slot"], "policy": "lines"})
    elif "shutdown" in message:
        break
"""


async def test_worker_of_another_language_speaks_json_lines(tmp_path: Path):
    command = [sys.executable, "little_worker_code.py"]
    definition = little_worker(tmp_path, JSON_LINES, launch={"command": command})
    assert definition.launch.carrier == "jsonl"
    async with running(definition) as (process, _):
        assert process.welcome.version == "3"
        assert await process.load(request().message(0)) == "lines"
    assert process.outcome_words == "ended with exit status 0"


async def test_garbage_line_is_quoted(tmp_path: Path):
    code = JSON_LINES.replace("say(loaded", "print('Traceback or so', flush=True); say(loaded")
    definition = little_worker(tmp_path, code, launch={"command": [sys.executable, "little_worker_code.py"]})
    async with running(definition) as (process, ear):
        with pytest.raises(WorkerLaunchError, match="printed a line that is no message: 'Traceback or so'"):
            await process.load(request().message(0))
        assert len(ear.outcomes) == 1


async def test_sdk_worker_over_json_lines(tmp_path: Path):
    definition = little_worker(tmp_path, RANDOM, launch={"carrier": "jsonl"})
    async with running(definition) as (process, ear):
        await process.load(request().message(0))
        questions = pb.Questions(ids=[4], episodes=[0], steps=[0], seeds=[2**64 - 1])
        questions.observation.add(data=bytes(8))
        process.send(pb.ToWorker(work=pb.Work(questions=questions)))
        await in_time(lambda: ear.replies, "an answer")
        assert list(ear.replies[0].ids) == [4]


async def test_interpreter_of_its_own_sees_none_of_our_packages(tmp_path: Path):
    import subprocess

    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "own")], check=True)
    site = tmp_path / "own/lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    import google.protobuf
    import numpy

    for package in (Path(numpy.__file__).parent, Path(google.protobuf.__file__).parent.parent):
        (site / package.name).symlink_to(package)
    libraries = Path(numpy.__file__).parent.parent / "numpy.libs"
    if libraries.is_dir():
        (site / libraries.name).symlink_to(libraries)
    code = (
        "import sys, importlib.util\n" + RANDOM + "    def load(self, slot):\n"
        "        here = [m for m in ('gym_gui', 'gymnasium', 'numpy') if importlib.util.find_spec(m)]\n"
        "        return sys.prefix + ' ' + ','.join(here)\n"
    )
    definition = little_worker(tmp_path, code, launch={"python": str(tmp_path / "own")})
    async with running(definition) as (process, _):
        assert await process.load(request().message(0)) == f"{tmp_path / 'own'} numpy"


# -- secrets --------------------------------------------------------------------------------


async def test_keys_arrive_in_the_handshake_and_nowhere_else(
    tmp_path: Path, offspring: Offspring, monkeypatch: pytest.MonkeyPatch
):
    key = "sk-planted-by-a-test"
    for name in ("OPENAI_API_KEY", "HF_TOKEN", "DB_PASSWORD", "OPENROUTER_KEY", "MY_SECRET_THING"):
        monkeypatch.setenv(name, key)
    code = (
        RANDOM + "    def load(self, slot):\n"
        "        import subprocess, sys\n"
        "        subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "        return slot.secrets['api_key'][:10]\n"
    )
    async with running(little_worker(tmp_path, code)) as (process, ear):
        assert await process.load(request(secrets={"api_key": key}).message(0)) == "sk-planted"
        await in_time(lambda: len(offspring.pids()) == 2, "worker and child run")
        for pid in offspring.pids():
            for place in ("cmdline", "environ"):
                assert key.encode() not in Path(f"/proc/{pid}/{place}").read_bytes(), place
        assert key not in ear.log_text
    assert key not in repr(request(secrets={"api_key": key}))
