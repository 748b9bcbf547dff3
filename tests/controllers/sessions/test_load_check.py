"""What a configuration names is loaded when it is checked, not first when it is played."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from gym_gui.controllers.engine.resolved_operator import ResolvedOperator, resolve_operator
from gym_gui.controllers.sessions.load_check import LoadCheck
from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import SlotRefusedError
from gym_gui.core.experiment.assignment import WorkerAssignment
from tests.support.processes import Offspring

DOOR_KEY = "MiniGrid-DoorKey-5x5-v0"


def operator(worker: str, kind: str, task: str = DOOR_KEY, **settings: object) -> OperatorConfig:
    player = WorkerAssignment(worker, kind, dict(settings))
    return OperatorConfig("a", task=task, workers={"agent_0": player})


def program(folder: Path, text: str) -> Path:
    file = folder / "solve.asl"
    file.write_text(text)
    return file


async def test_a_program_with_a_syntax_error_is_refused_until_it_is_mended(tmp_path: Path) -> None:
    file = program(tmp_path, "!begin.\n+!begin <- fly(\n")
    resolved = resolve_operator(operator("spade_bdi_worker", "bdi", program=str(file)))
    check = LoadCheck()
    with pytest.raises(SlotRefusedError, match=r"operator 'a'.*agent_0: solve\.asl, line \d"):
        await check.check(resolved)
    program(tmp_path, "+!decide <- forward.\n")
    assert await check.check(resolved) == ()
    program(tmp_path, "+!decide <- dance_about(1).\n")  # loaded once, and changed since
    with pytest.raises(SlotRefusedError, match="dance_about"):
        await check.check(resolved)


async def test_settings_that_mean_nothing_together_are_refused() -> None:
    wrong = operator("control_worker", "baseline", "CartPole-v1", controller="pid", error={"pole_angle": "x"})
    with pytest.raises(SlotRefusedError, match="pole_angle"):
        await LoadCheck().check(resolve_operator(wrong))


async def test_a_worker_that_takes_long_is_not_waited_for() -> None:
    resolved = resolve_operator(operator("operators_worker", "baseline"))
    assert await LoadCheck(limit_s=0.0).check(resolved) == (("a", "agent_0"),)


async def test_an_environment_that_takes_long_to_show_examples_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slow_corridor.py").write_text(
        "import time\n"
        "from tests.support.arenas import Corridor\n\n\n"
        "class Slow(Corridor):\n"
        "    def step(self, action):\n"
        "        time.sleep(3)\n"
        "        return super().step(action)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    settings = {"client_name": "ollama", "model_id": "m", "strategy": "few_shot"}
    resolved = resolve_operator(operator("mosaic_llm_worker", "llm", "slow_corridor:Slow", **settings))
    began = time.monotonic()
    async with asyncio.timeout(60):
        assert await LoadCheck(limit_s=0.5).check(resolved) == (("a", "agent_0"),)
    assert time.monotonic() - began < 2.5


async def test_a_model_needs_no_key_to_be_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    settings = {"client_name": "openai", "model_id": "gpt-4o", "api_key": "env:NO_SUCH_KEY"}
    asked = operator("mosaic_llm_worker", "llm", **settings)
    assert await LoadCheck().check(resolve_operator(asked)) == ()


def told_apart(folder: Path, *lines: str) -> list[ResolvedOperator]:
    """Operators whose slots are loaded by one worker, each with a program of its own."""
    operators: list[ResolvedOperator] = []
    for index, line in enumerate(lines):
        file = folder / f"mind_{index}.asl"
        file.write_text(line)
        player = WorkerAssignment("spade_bdi_worker", "bdi", {"program": str(file)})
        config = OperatorConfig(f"of_{index}", task=DOOR_KEY, workers={"agent_0": player})
        operators.append(resolve_operator(config))
    return operators


async def test_slots_of_one_worker_are_loaded_by_one_process(tmp_path: Path, offspring: Offspring) -> None:
    operators = told_apart(tmp_path, *(f"+!decide <- forward; +{word}.\n" for word in "abcdef"))
    seen: set[int] = set()
    check = asyncio.create_task(LoadCheck().check(*operators))
    while not check.done():
        seen.update(offspring.find("mosaic_worker"))
        await asyncio.sleep(0.005)
    assert await check == ()
    assert len(seen) == 1


async def test_the_one_that_is_wrong_is_named_beside_others(tmp_path: Path) -> None:
    right, wrong = "+!decide <- forward.\n", "+!decide <- dance_about(1).\n"
    with pytest.raises(SlotRefusedError, match=r"operator 'of_1'.*dance_about"):
        await LoadCheck().check(*told_apart(tmp_path, right, wrong, right))
