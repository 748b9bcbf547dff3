"""Operators share their seeds, and one that fails does not stop the others."""

from __future__ import annotations

import pytest

from gym_gui.core.errors import UnknownNameError, UsageError, WorkerLaunchError
from gym_gui.core.experiment.execution import EpisodePlan, ExecutionConfig
from gym_gui.core.seeding import MAX_SEED
from gym_gui.services.operator import (
    LinkGroup,
    MultiOperatorService,
    Operator,
    OperatorConfig,
    OperatorController,
    OperatorService,
    WorkerAssignment,
)


def config(operator_id: str) -> OperatorConfig:
    return OperatorConfig.single_agent(
        operator_id=operator_id,
        display_name=operator_id,
        worker_id="operators_worker",
        worker_type="baseline",
        env_name="gymnasium",
        task="CartPole-v1",
    )


class Running:
    """A launched operator that remembers whether it runs."""

    def __init__(self, log: list[str], name: str, stubborn: bool = False) -> None:
        self.log, self.name, self.alive, self.stubborn = log, name, True, stubborn

    def is_running(self) -> bool:
        return self.alive

    def stop(self) -> None:
        self.alive = False
        self.log.append(f"stop {self.name}")
        if self.stubborn:
            raise WorkerLaunchError("it hangs")


class Launcher:
    def __init__(self, *failing: str, stubborn: tuple[str, ...] = ()) -> None:
        self.failing, self.stubborn = set(failing), stubborn
        self.log: list[str] = []
        self.handles: dict[str, Running] = {}

    def __call__(self, operator: OperatorConfig) -> Running:
        name = operator.operator_id
        if name in self.failing:
            raise WorkerLaunchError(f"{name} has no legs", fix="Give it legs")
        self.log.append(f"start {name}")
        self.handles[name] = Running(self.log, name, name in self.stubborn)
        return self.handles[name]


def service(launcher: Launcher, *names: str) -> MultiOperatorService:
    multi = MultiOperatorService(launcher)
    for name in names:
        multi.add_operator(config(name))
    return multi


def test_names_of_the_design_documents_come_from_here():
    assert all((LinkGroup, Operator, OperatorController, WorkerAssignment))


def test_one_seed_gives_every_operator_the_same_schedule():
    operators = OperatorService()
    operators.register(config("a"))
    operators.seed(42)
    operators.register(config("later"))
    assert operators.schedule("a") == operators.schedule("later") == [EpisodePlan(0, 42, 0)]


def test_operators_follow_the_schedule_of_an_experiment():
    operators = OperatorService()
    operators.register(config("a"))
    operators.follow(ExecutionConfig(4, seeds=[7, 9]))
    assert [(plan.seed, plan.seating) for plan in operators.schedule("a", seatings=2)] == [
        *((7, 0), (7, 1), (9, 0), (9, 1)),
    ]
    assert [plan.index for plan in operators.schedule("a", 2, only={3, 1})] == [1, 3]


@pytest.mark.parametrize("seed", [-1, MAX_SEED + 1])
def test_seed_out_of_range_is_refused(seed: int):
    with pytest.raises(UsageError, match="out of range"):
        OperatorService().seed(seed)


def test_schedule_of_an_unknown_operator_names_the_nearest():
    operators = OperatorService()
    operators.register(config("alpha"))
    with pytest.raises(UnknownNameError, match="Did you mean 'alpha'"):
        operators.schedule("alhpa")


def test_ids_are_unique_until_removed():
    multi = service(Launcher(), "a")
    with pytest.raises(UsageError, match="exists already"):
        multi.add_operator(config("a"))
    multi.remove_operator("a")
    multi.add_operator(config("a"))
    with pytest.raises(UnknownNameError):
        multi.remove_operator("b")


def test_start_all_starts_each_once_and_again_when_it_has_ended():
    launcher = Launcher()
    multi = service(launcher, "a", "b")
    multi.start_all()
    multi.start_all()
    assert launcher.log == ["start a", "start b"]
    launcher.handles["a"].alive = False
    assert multi.running() == ["b"]
    multi.start_all()
    assert launcher.log[2:] == ["start a"]
    assert [c.operator_id for c in multi.get_active_operators()] == ["a", "b"]


def test_one_is_started_and_stopped_by_its_id():
    launcher = Launcher("c")
    multi = service(launcher, "a", "b", "c")
    multi.start("b")
    multi.start("b")
    assert launcher.log == ["start b"] and multi.running() == ["b"]
    multi.stop("b")
    multi.stop("b")
    multi.start("b")
    assert launcher.log[1:] == ["stop b", "start b"]
    with pytest.raises(WorkerLaunchError, match="c has no legs"):
        multi.start("c")
    for what in (multi.start, multi.stop):
        with pytest.raises(UnknownNameError, match="operator 'd'"):
            what("d")


def test_one_that_cannot_start_does_not_hold_up_the_others():
    launcher = Launcher("b")
    multi = service(launcher, "a", "b", "c")
    with pytest.raises(WorkerLaunchError, match=r"'b' did not start: b has no legs. Give it legs"):
        multi.start_all()
    assert multi.running() == ["a", "c"]
    launcher.failing.clear()
    multi.start_all()
    assert multi.running() == ["a", "c", "b"]


def test_several_failures_are_all_named():
    with pytest.raises(WorkerLaunchError, match=r"2 operators did not start: 'a': .*; 'c': "):
        service(Launcher("a", "c"), "a", "b", "c").start_all()


def test_stop_all_stops_all_even_if_one_resists():
    launcher = Launcher(stubborn=("b",))
    multi = service(launcher, "a", "b", "c")
    multi.start_all()
    with pytest.raises(WorkerLaunchError, match="'b' did not stop: it hangs"):
        multi.stop_all()
    assert sorted(launcher.log[3:]) == ["stop a", "stop b", "stop c"]
    assert multi.running() == []
    multi.stop_all()


def test_removing_stops_and_always_removes():
    launcher = Launcher(stubborn=("a",))
    multi = service(launcher, "a", "b")
    multi.start_all()
    with pytest.raises(WorkerLaunchError):
        multi.remove_operator("a")
    assert [c.operator_id for c in multi.get_active_operators()] == ["b"]
    assert launcher.log[2:] == ["stop a"]
