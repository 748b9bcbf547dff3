"""BALROG both ways, with a real model: its agents in our slots, our agents in its evaluator (long).

What its own users run (:mod:`tests.support.balrogs_evaluator`) is held against what is played here.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from gym_gui.processes.tree import TAG
from tests.support.commands import ROOT, Mosaic
from tests.support.fake_model_server import FakeModelServer, refusal
from tests.support.model_server import ModelServer
from tests.support.own_pythons import archive
from tests.support.processes import Offspring
from tests.support.tiny_models import ACTIONS

pytestmark = [pytest.mark.full, pytest.mark.timeout(1800)]

GOTO = "balrog/babyai/goto"
ITS_NAME = "BabyAI-MixedTrainLocal-v0/goto"
DEFAULT = "go forward"
SEED, STEPS = 7, 20
AGENTS = ("naive", "cot", "robust_naive", "robust_cot", "custom")


@pytest.fixture(scope="module")
def balrog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mosaic]:
    """The command line in a folder in which BALROG is installed, as a person does it."""
    archives = [archive(start) for start in ("balrog-0", "baba-", "minigrid-")]
    home = tmp_path_factory.mktemp("balrog")
    mosaic = Mosaic(home, Offspring(f"balrog-{os.getpid()}-{os.urandom(4).hex()}"))
    with tempfile.TemporaryDirectory(prefix="mt", dir="/tmp") as short:
        mosaic.env |= {TAG: "tests", "MOSAIC_RUNTIME_DIR": short}
        given = [part for path in archives for part in ("--from", str(path))]
        done = mosaic.process("workers", "install", "balrog_worker", *given, timeout=1200)
        assert done.status == 0, done.err
        assert "balrog_worker is installed." in done.out
        yield mosaic


def _slot(server: ModelServer, agent: str, **settings: Any) -> dict[str, Any]:
    asked = {"client_name": "transformers", "base_url": server.url, "model_id": server.action_model}
    given = {**asked, "temperature": 0, "max_tokens": 1, "agent": agent, **settings}
    return {"type": "llm", "worker_id": "balrog_worker", "settings": given, "on_invalid": "default"}


def _random() -> dict[str, Any]:
    return {"type": "baseline", "worker_id": "operators_worker", "settings": {"behavior": "random"}}


def _operator(name: str, player: Mapping[str, Any], task: str = GOTO, **more: Any) -> dict[str, Any]:
    return {"id": name, "name": name, "task": task, "workers": {"agent": dict(player)}, **more}


def _run(mosaic: Mosaic, *operators: Mapping[str, Any], **execution: Any) -> Path:
    """Plays; returns the run folder."""
    plan = {"operators": list(operators), "execution": {"num_episodes": 1, "seeds": [SEED], **execution}}
    file = mosaic.home / "experiment.json"
    file.write_text(json.dumps(plan))
    done = mosaic.process("run", file, "--json", "--trust", timeout=600)
    assert done.status == 0, done.err
    return mosaic.home / done.json()["run"]


def _lines(run: Path, operator: str, name: str) -> list[dict[str, Any]]:
    file = run / "operators" / operator / name
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def _by_itself(mosaic: Mosaic, name: str, *given: str) -> tuple[dict[str, Any], list[str]]:
    """An episode as BALROG's users play it: its result, and what its agent said at each step."""
    python = mosaic.home / "data" / "environments" / "balrog" / "bin" / "python"
    folder = mosaic.home / "own" / name
    said = [
        *("envs.names=babyai", f"tasks.babyai_tasks=[{ITS_NAME}]", "eval.num_workers=1"),
        *("eval.num_episodes.babyai=1", f"eval.max_steps_per_episode={STEPS}"),
        f"envs.env_kwargs.seed={SEED}",
        *given,
    ]
    command = [str(python), str(ROOT / "tests/support/balrogs_evaluator.py"), str(folder), *said]
    env = {**os.environ, "TQDM_DISABLE": "1", "PYTHONPATH": ""}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    return _result(folder, 0)


def _result(folder: Path, number: int) -> tuple[dict[str, Any], list[str]]:
    """What BALROG has written of an episode."""
    (file,) = folder.rglob(f"*_run_{number:02d}.json")
    with file.with_suffix(".csv").open(newline="") as rows:
        said = [row["Action"] for row in csv.DictReader(rows, escapechar="\N{BREVE}")]
    return json.loads(file.read_text()), said


def test_worker_and_environments_are_there(balrog: Mosaic) -> None:
    shown = balrog("workers", "list")
    assert any(
        line.split()[:4] == ["balrog_worker", "llm", "0.1.0", "installed"] for line in shown.out.splitlines()
    )
    assert balrog("envs", "list", "balrog").out.count("balrog/") == 58
    again = balrog("workers", "install", "balrog_worker")
    assert again.out.startswith("balrog_worker: nothing is missing.")
    checked = balrog("workers", "check", "balrog_worker")
    assert checked.status == 2 and "was not checked" in checked.err, "it has no key"


@pytest.mark.parametrize(
    ("agent", "model", "longest"),
    [("naive", "action", 1), ("cot", "action", 1), ("robust_naive", "action", 1), ("robust_cot", "text", 6)],
)
def test_the_same_model_plays_the_same_in_its_evaluator_and_in_our_slot(
    agent: str, model: str, longest: int, balrog: Mosaic, model_server: ModelServer
) -> None:
    name = model_server.action_model if model == "action" else model_server.model
    theirs, said = _by_itself(
        balrog,
        agent,
        *(f"agent.type={agent}", "client.client_name=vllm", f"client.base_url={model_server.url}"),
        *(f"client.model_id={name}", "client.generate_kwargs.temperature=0"),
        f"client.generate_kwargs.max_tokens={longest}",
    )
    slot = _slot(model_server, agent, model_id=name, max_tokens=longest)
    run = _run(balrog, _operator("ours", slot), max_steps=STEPS)
    steps, calls = _lines(run, "ours", "steps.jsonl"), _lines(run, "ours", "calls.jsonl")
    played = [ACTIONS[row["action"]] for row in steps]
    assert played == [word if word in ACTIONS else DEFAULT for word in said]
    sources = ["policy" if word in ACTIONS else "default" for word in said]
    assert [row["action_source"] for row in steps] == sources
    assert theirs["action_frequency"] == dict(Counter(played))
    assert len(theirs["failed_candidates"]) == sources.count("default")
    # So that its prompts are the same too: their tokens are, of all together.
    assert theirs["input_tokens"] == sum(call["tokens"]["input"] for call in calls)
    assert theirs["output_tokens"] == sum(call["tokens"]["output"] for call in calls)
    (episode,) = _lines(run, "ours", "episodes.jsonl")
    assert theirs["episode_return"] == episode["total_reward"]
    assert theirs["progression"] == episode["teams"]["agent"]["score"]
    if model == "action":
        assert len(set(played)) > 3, "a model that always says the same shows nothing"
    else:
        assert set(sources) == {"default"}


def test_our_workers_are_agents_of_its_evaluator(balrog: Mosaic) -> None:
    results, seeds = balrog.home / "results", [7, 8, 9]
    limit = {"eval": {"max_steps_per_episode": STEPS}}
    inside = {"results": str(results), "player": "our random", "config": limit}
    run = _run(
        balrog,
        _operator("inside", _random(), env_kwargs=inside),
        _operator("outside", _random(), env_kwargs={"config": limit}),
        num_episodes=3,
        seeds=seeds,
    )
    steps = _lines(run, "inside", "steps.jsonl")
    episodes = {row["seed"]: row for row in _lines(run, "inside", "episodes.jsonl")}
    for seed in seeds:
        result, said = _result(results, seed)
        index = episodes[seed]["episode_index"]
        played = [ACTIONS[row["action"]] for row in steps if row["episode_index"] == index]
        assert said == played
        assert (result["seed"], result["num_steps"]) == (seed, episodes[seed]["length"])
        assert result["episode_return"] == episodes[seed]["total_reward"]
        assert result["progression"] == episodes[seed]["teams"]["agent"]["score"]
        assert result["action_frequency"] == dict(Counter(played))
        assert result["agent"]["type"] == "our random" and result["failed_candidates"] == []
    summary = json.loads((results / "summary.json").read_text())
    mean = sum(row["teams"]["agent"]["score"] for row in episodes.values()) / len(seeds)
    assert summary["average_progress"] == pytest.approx(100 * mean)
    assert summary["environments"]["babyai"]["episodes_played"] == 3
    by_run = {row["seed"]: row["trajectory_sha256"] for row in _lines(run, "outside", "episodes.jsonl")}
    assert by_run == {seed: row["trajectory_sha256"] for seed, row in episodes.items()}, (
        "it plays another game"
    )


def test_every_agent_plays_and_its_replies_are_read_again(balrog: Mosaic, model_server: ModelServer) -> None:
    run = _run(balrog, *(_operator(agent, _slot(model_server, agent)) for agent in AGENTS), max_steps=6)
    for agent in AGENTS:
        (episode,) = _lines(run, agent, "episodes.jsonl")
        assert (episode["status"], episode["length"]) == ("completed", 6), episode["error"]
        calls = _lines(run, agent, "calls.jsonl")
        assert len(calls) == 6
    feedback = [call["messages"][-1]["content"] for call in _lines(run, "robust_cot", "calls.jsonl")]
    assert sum("Defaulted to action: go forward" in words for words in feedback) == 5
    again = balrog.process("reparse", run, "--json")
    assert again.status == 0 and again.json()["equal"], again.err
    assert {each["operator_id"]: each["same"] for each in again.json()["operators"]} == dict.fromkeys(
        AGENTS, 6
    )
    # And the few-shot agent, which is shown one of these episodes; and the one that asks no model.
    shown = {"run": str(run), "operator": "naive", "episode": 0}
    slot = _slot(model_server, "few_shot", demonstrations=shown)
    dummy = _slot(model_server, "dummy")
    run = _run(balrog, _operator("few_shot", slot), _operator("dummy", dummy), max_steps=4)
    assert [row["action_source"] for row in _lines(run, "dummy", "steps.jsonl")] == ["default"] * 4
    assert _lines(run, "dummy", "calls.jsonl") == []
    (episode,) = _lines(run, "few_shot", "episodes.jsonl")
    assert (episode["status"], episode["length"]) == ("completed", 4), episode["error"]
    prompt = [message["content"] for message in _lines(run, "few_shot", "calls.jsonl")[0]["messages"]]
    assert "****** START OF DEMONSTRATION EPISODE 1 ******" in prompt
    assert "First, observe the demonstrations provided" in prompt[0]


def test_its_agents_play_environments_of_ours(balrog: Mosaic, model_server: ModelServer) -> None:
    task = "MiniGrid-Empty-5x5-v0"
    run = _run(
        balrog, _operator("ours", _slot(model_server, "naive") | {"on_invalid": "noop"}, task), max_steps=8
    )
    steps, calls = _lines(run, "ours", "steps.jsonl"), _lines(run, "ours", "calls.jsonl")
    words = ["left", "right", "forward", "pickup", "drop", "toggle", "done"]
    for row, call in zip(steps, calls, strict=True):
        named = call["reply"] in words
        assert row["action_source"] == ("policy" if named else "noop")
        assert not named or words[row["action"]] == call["reply"]
    first, last = (message["content"] for message in (calls[0]["messages"][0], calls[0]["messages"][-1]))
    assert first.endswith("left,\nright,\nforward,\npickup,\ndrop,\ntoggle,\ndone.\n\nPLAY!")
    assert last.startswith("Current Observation:\nMission: get to the green goal square\n")


def test_what_cannot_be_played_is_said(balrog: Mosaic, model_server: ModelServer) -> None:
    def refused(slot: Mapping[str, Any], task: str = GOTO) -> str:
        plan = {"operators": [_operator("op", slot, task)], "execution": {"num_episodes": 1, "max_steps": 2}}
        file = balrog.home / "refused.json"
        file.write_text(json.dumps(plan))
        done = balrog.process("run", file, "--trust", timeout=300)
        assert done.status != 0
        return done.out + done.err

    few_shot = _slot(model_server, "few_shot")
    assert "few_shot needs demonstrated episodes: set demonstrations" in refused(few_shot)
    nowhere = _slot(model_server, "few_shot", demonstrations={"run": str(balrog.home / "no-run")})
    assert "no-run" in refused(nowhere)
    assert "acts in discrete or text spaces" in refused(_slot(model_server, "naive"), "Pendulum-v1")
    nothing = "http://127.0.0.1:9/v1"
    assert f"{nothing} cannot be reached" in refused(_slot(model_server, "naive", base_url=nothing))
    with FakeModelServer(lambda request: refusal(500, "out of memory")) as server:
        breaks = _slot(model_server, "naive", base_url=server.url, retries=0) | {"on_invalid": "error"}
        run = _run_failing(balrog, breaks)
        (episode,) = _lines(run, "op", "episodes.jsonl")
        assert episode["status"] == "failed" and server.url in episode["error"]
        assert server.requests


def _run_failing(mosaic: Mosaic, slot: Mapping[str, Any]) -> Path:
    file = mosaic.home / "failing.json"
    file.write_text(json.dumps({"operators": [_operator("op", slot)], "execution": {"num_episodes": 1}}))
    done = mosaic.process("run", file, "--json", timeout=300)
    return mosaic.home / done.json()["run"]
