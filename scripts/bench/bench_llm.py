"""What a language worker costs beside its server: both sides in one run.

    python scripts/bench/bench_llm.py [--quick] [--only NAME] [--json FILE]

The server is a process of its own; each of its answers takes 50 to 2,000 ms, drawn from the seed that
came with the request, so that the schedule is the same in every run.

* 32 episodes at once over the schedule's critical path: the longest sum of answers in one episode.
  No schedule can be faster; one episode after the other takes the sum of all of them.
* Decisions of trained policies while other episodes wait for the server, over the same decisions in
  matches without a language model: how much longer an RL slot waits.
* Time of a decision beside the server's own, one episode at a time, over the same requests sent by a
  bare HTTP client.
* Descriptions of observations, for each kind of environment.
* Memory (PSS) of the worker's process while 32 episodes are in flight.

Machines differ and are shared, so absolute figures are printed for orientation only.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import http.client
import importlib
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from bench import PPO, Figure, Figures, started

from gym_gui import envs
from gym_gui.analysis.records.reader import OperatorRun, open_run
from gym_gui.controllers.engine.bound_operator import read_slots
from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.controllers.runs.script_execution import OperatorScriptExecutionManager
from gym_gui.core.config import ExecutionConfig, Experiment, OperatorConfig, WorkerAssignment
from gym_gui.core.experiment.prompt_inputs import PromptInputs
from gym_gui.core.spaces import sample_legal
from gym_gui.host.host_client import HostSession
from gym_gui.workers.discovery import discover

ROOT = Path(__file__).resolve().parents[2]
LLM = "mosaic_llm_worker"
SHORTEST_S, LONGEST_S = 0.05, 2.0
AT_ONCE = 32
OPEN_ROOM = "MiniGrid-Empty-16x16-v0"
"""Turning on the spot never ends it: every episode has as many decisions as it is given."""
DESCRIBED = (
    "MiniGrid-DoorKey-8x8-v0",
    "BabyAI-GoToLocal-v0",
    "MosaicMultiGrid-Soccer-2vs2-IndAgObs-v0",
    "CartPole-v1",
    "FrozenLake-v1",
    "Taxi-v4",
    "Blackjack-v1",
    "classic/connect_four_v3",
    "classic/tictactoe_v3",
    "mpe2/simple_spread_v3",
    "CrafterReward-v1",
    "MiniHack-Room-5x5-v0",
)
CHESS = "classic/chess_v6"


def of_the_tests(name: str) -> Any:
    """A module of the tests' support; this checkout goes first, for packages bring ``tests`` too."""
    if sys.path[0] != str(ROOT):
        sys.path.insert(0, str(ROOT))
    return importlib.import_module(f"tests.support.{name}")


# -- the server ----------------------------------------------------------------------------------


def delay_of(request: Any) -> float:
    """Seconds that an answer takes: the same for the same request, in whatever order they come."""
    return random.Random(int(request.json["seed"])).uniform(SHORTEST_S, LONGEST_S)


def serve(kind: str) -> None:
    """Serve until standard input ends; an answer says itself how long it took."""
    fake = of_the_tests("fake_model_server")

    def answer(request: Any) -> Any:
        delay = delay_of(request) if kind == "slow" else 0.0
        return fake.Reply("<action>left</action>", after_s=delay, model=f"waits-{round(delay * 1e6)}")

    with fake.FakeModelServer(answer) as server:
        print(server.url, flush=True)
        sys.stdin.read()


@contextmanager
def served(script: str) -> Generator[str]:
    """The base URL of a server in a process of its own."""
    command = [sys.executable, __file__, "--serve", script]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdin is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        process.wait()


# -- a run ---------------------------------------------------------------------------------------


class Clock:
    """Times a run from its first progress to its last, and looks at the worker meanwhile."""

    def __init__(self) -> None:
        self.begun = self.ended = 0.0
        self.pss = 0

    def __call__(self, states: Any) -> None:
        now = time.perf_counter()
        self.begun = self.begun or now
        self.ended = now
        self.pss = max(self.pss, worker_pss())


def worker_pss() -> int:
    """Proportional set size of the language worker's process, in bytes; 0 where there is none."""
    most = 0
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if any(LLM in word for word in child.cmdline()):
                most = max(most, child.memory_full_info().pss)
    return most


def played(experiment: Experiment, out: Path) -> tuple[OperatorRun, Clock]:
    """Play it in one session process."""
    clock = Clock()
    resolved_operators = [resolve_operator(operator) for operator in experiment.operators]
    manager = OperatorScriptExecutionManager(
        experiment, resolved_operators, HostSession, out, processes=1, on_progress=clock
    )
    result = asyncio.run(manager.run())
    (operator,) = open_run(result.folder).operators.values()
    if result.failed:
        reason = next(e.error for e in operator.episodes() if e.error)
        raise RuntimeError(f"{result.failed} episodes failed: {reason}")
    return operator, clock


def model(url: str) -> dict[str, Any]:
    """Settings of a slot that asks the server."""
    return {"client_name": "custom", "base_url": url, "model_id": "fake-model", "timeout_s": 60}


def turning(url: str, episodes: int, steps: int, at_once: int) -> Experiment:
    """One agent that asks at every step."""
    player = WorkerAssignment(LLM, "llm", model(url))
    operator = OperatorConfig("llm", task=OPEN_ROOM, workers={"agent": player})
    return Experiment([operator], ExecutionConfig(episodes, 1, max_steps=steps, concurrency=at_once))


def waited(call: Any) -> float:
    """Seconds that the server took for a call, as it says itself."""
    return int(str(call["model_reported"]).removeprefix("waits-")) / 1e6


# -- figures -------------------------------------------------------------------------------------


def at_once(steps: int) -> list[Figure]:
    """32 episodes in flight against the critical path, and what the worker weighs meanwhile."""
    with tempfile.TemporaryDirectory() as out, served("slow") as url:
        operator, clock = played(turning(url, AT_ONCE, steps, AT_ONCE), Path(out))
        sums: dict[int, float] = defaultdict(float)
        for call in operator.calls():
            sums[call["episode"]] += waited(call)
    critical, whole, took = max(sums.values()), sum(sums.values()), clock.ended - clock.begun
    if len(sums) != AT_ONCE:
        raise RuntimeError(f"{len(sums)} of {AT_ONCE} episodes asked the server")
    alone = f"one at a time {whole:.0f} s ({whole / critical:.0f} x)"
    detail = f"{took:.1f} s; critical path {critical:.1f} s, {alone}"
    ratio, weight = took / critical, clock.pss / 2**20
    return [
        Figure(f"{AT_ONCE} episodes at once", "<= 1.15", ratio, "x critical path", ratio <= 1.15, detail),
        Figure("memory of the worker", "<= 130", weight, "MB PSS", 0 < weight <= 130, f"{AT_ONCE} in flight"),
    ]


def not_held_back(steps: int) -> list[Figure]:
    """RL slots' decisions in 16 matches beside a language model, and beside random play."""
    sys.path.insert(0, str(ROOT / "3rd_party" / "cleanrl_worker"))
    language = of_the_tests("language")
    with tempfile.TemporaryDirectory() as folder, served("slow") as url:
        policy = language.soccer_policy(Path(folder) / "policy")
        beside: Experiment = language.match(
            policy, model(url), num_episodes=16, seeds=1, max_steps=steps, concurrency=16
        )
        (operator,) = beside.operators
        others = {**operator.workers, "green_1": WorkerAssignment("operators_worker", "baseline")}
        plain = OperatorConfig("plain", task=operator.task, env_name=operator.env_name, workers=others)
        with_model, _ = played(beside, Path(folder) / "a")
        without, _ = played(Experiment([plain], beside.execution), Path(folder) / "b")
        ours, theirs = rl_latencies(with_model), rl_latencies(without)
    median, bare = statistics.median(ours), statistics.median(theirs)
    more = median - bare
    tails = f"p95 {percentile(ours):.1f} against {percentile(theirs):.1f} ms"
    detail = f"median {median:.1f} ms beside a model, {bare:.1f} ms without; {tails}"
    return [Figure("RL slots wait more", "<= 5", more, "ms", more <= 5, detail)]


def rl_latencies(operator: OperatorRun) -> list[float]:
    """Milliseconds of the decisions of trained policies."""
    return [s.latency_ms for s in operator.steps() if s.agent_id in ("green_0", "blue_0") and s.latency_ms]


def percentile(values: list[float], at: float = 0.95) -> float:
    """The value below which so many of them are."""
    return sorted(values)[int(at * (len(values) - 1))]


def overhead(decisions: int) -> list[Figure]:
    """A decision beside a bare request with the same prompt, both to a server that answers at once."""
    with tempfile.TemporaryDirectory() as out, served("quick") as url:
        operator, _ = played(turning(url, 1, decisions, 1), Path(out))
        ours = [row.latency_ms for row in operator.steps() if row.latency_ms is not None][5:]
        bare = bare_requests(url, [call["messages"] for call in operator.calls()])[5:]
    median, theirs = statistics.median(ours), statistics.median(bare)
    more = median - theirs
    fastest = f"fastest tenth {percentile(ours, 0.1):.2f} against {percentile(bare, 0.1):.2f} ms"
    detail = (
        f"median {median:.2f} ms a decision, {theirs:.2f} ms a bare request, {len(ours)} of each; {fastest}"
    )
    return [Figure("overhead per decision", "<= 5", more, "ms", more <= 5, detail)]


def bare_requests(url: str, prompts: list[Any]) -> list[float]:
    """Milliseconds of each request on one open connection."""
    host = url.removeprefix("http://").removesuffix("/v1")
    connection = http.client.HTTPConnection(host)
    took: list[float] = []
    for messages in prompts:
        begun = time.perf_counter()
        body = json.dumps({"model": "fake-model", "messages": messages, "max_tokens": 512, "seed": 1})
        connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
        json.loads(connection.getresponse().read())
        took.append((time.perf_counter() - begun) * 1e3)
    connection.close()
    return took


def describers(observations: int) -> list[Figure]:
    """The slowest kind of environment, and chess."""
    times: dict[str, float] = {}
    for task in (*DESCRIBED, CHESS):
        try:
            times[task] = described_ms(task, observations)
        except Exception as error:  # an environment that is not installed is no figure
            print(f"{task}: left out, {str(error).splitlines()[0]}", file=sys.stderr)
    chess = times.pop(CHESS, 0.0)
    slowest = max(times, key=lambda task: times[task])
    listed = ", ".join(f"{task.split('/')[-1]} {ms * 1e3:.0f}" for task, ms in times.items())
    detail = f"{slowest}; in us: {listed}"
    return [
        Figure("slowest describer", "<= 0.2", times[slowest], "ms", times[slowest] <= 0.2, detail),
        Figure("describer of chess", "<= 1", chess, "ms", 0 < chess <= 1, "with legal moves in words"),
    ]


def described_ms(task: str, observations: int) -> float:
    """Median milliseconds of one description with its choices, over states of random play."""
    environment = envs.make(task)
    took: list[float] = []
    generator = random.Random(1)
    try:
        seed = 0
        while len(took) < observations:
            took += one_episode(environment, generator, seed, observations - len(took))
            seed += 1
    finally:
        environment.close()
    return statistics.median(took)


def one_episode(environment: Any, generator: random.Random, seed: int, most: int) -> list[float]:
    """Describe what each agent sees at each step of an episode of random legal play."""
    adapter, view, took = environment.adapter, PromptInputs(text=True), list[float]()
    slots = read_slots(environment)
    seen = adapter.reset(seed=seed)
    while (agents := adapter.get_current_agents()) and len(took) < most:
        actions: dict[str, Any] = {}
        for agent in agents:
            mask = adapter.action_mask(agent)
            begun = time.perf_counter()
            environment.show(agent, seen[agent], view, mask)
            took.append((time.perf_counter() - begun) * 1e3)
            actions[agent] = sample_legal(slots[agent].action_codec.space, mask, generator.getrandbits(63))
        seen = adapter.step(actions).observations
    return took


def many_slots() -> list[Figure]:
    """Memory of 16 trained policies and 16 language models that wait for a question, each in a process."""

    async def measured(url: str) -> tuple[float, float]:
        wanted = [("cleanrl_worker", {"checkpoint": PPO}), (LLM, model(url))] * 16
        processes = [await started(worker, settings) for worker, settings in wanted]
        infos = [psutil.Process(process.pid).memory_full_info() for process in processes]
        for process in processes:
            await process.stop()
        return sum(info.rss for info in infos) / 2**20, sum(info.pss for info in infos) / 2**20

    with served("quick") as url:
        summed, shared = asyncio.run(measured(url))
    detail = f"{shared:,.0f} MB as PSS, which counts shared pages once"
    return [Figure("16 RL and 16 LLM slots: memory", "<= 2048", summed, "MB", summed <= 2048, detail)]


def measurements(quick: bool) -> list[tuple[str, Callable[[], list[Figure]]]]:
    """(name, measurement) of every group of figures."""
    return [
        ("at once", lambda: at_once(6 if quick else 20)),
        ("held back", lambda: not_held_back(6 if quick else 15)),
        ("overhead", lambda: overhead(60 if quick else 300)),
        ("memory", many_slots),
        ("describers", lambda: describers(200 if quick else 1000)),
    ]


def main() -> int:
    """Measure, print a table, optionally write JSON; exit status 1 when a goal is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="shorter and rougher")
    parser.add_argument("--only", default="", help="groups whose name contains this")
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--serve", default="", choices=("", "slow", "quick"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        serve(args.serve)
        return 0
    discover()
    figures = Figures()
    for name, measure in measurements(args.quick):
        if args.only.lower() in name:
            figures.take(name, measure)
    return figures.told(args.json)


if __name__ == "__main__":
    sys.exit(main())
