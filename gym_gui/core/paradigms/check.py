"""Tests whether an environment fulfills the engine's contract; any user can run the tests.

``mosaic envs check ID`` runs it; from Python::

    report = check_environment(lambda: adapt(MyEnv()))
    assert report.ok, "\\n".join(report.lines())

The idea and some of the checks come from PettingZoo (``pettingzoo.test``) and
Gymnasium (``gymnasium.utils.env_checker``).
"""

from __future__ import annotations

import contextlib
import io
import random
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from gym_gui.core.errors import MosaicError
from gym_gui.core.experiment.slot_patterns import pattern_of
from gym_gui.core.paradigms.base import ParadigmAdapter
from gym_gui.core.paradigms.random_episode import OnCall, Walk, quietly
from mosaic_worker.failures import described

Make = Callable[[], ParadigmAdapter]
_FRAMES = 20
"""Number of steps that are rendered; few, because rendering is slow and the frames are similar."""
_NAMED = 6
"""Largest number of appearing agents that a finding names."""
_EARLIER = 30
"""Steps of another episode that an instance plays before it must repeat one."""


class CheckStatus(StrEnum):
    """Result of a check."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class CheckResult:
    """The result of one check.

    Attributes:
        name: Name of the check, one word.
        status: Result of the check.
        detail: Sentence that describes the result.
    """

    name: str
    status: CheckStatus
    detail: str


@dataclass(frozen=True)
class CheckReport:
    """All findings for one environment."""

    findings: tuple[CheckResult, ...]

    @property
    def ok(self) -> bool:
        """Whether no check failed."""
        return all(finding.status is not CheckStatus.FAILED for finding in self.findings)

    @property
    def failed(self) -> tuple[CheckResult, ...]:
        """The findings that failed."""
        return tuple(f for f in self.findings if f.status is CheckStatus.FAILED)

    def __getitem__(self, name: str) -> CheckResult:
        return next(f for f in self.findings if f.name == name)

    def lines(self) -> list[str]:
        """Return one line per finding, for people."""
        return [f"{f.status.value:<8}{f.name:<14}{f.detail}" for f in self.findings]


_GOOD = {
    "running": "resets and steps without raising",
    "agents": "every agent that acts is known and received an observation",
    "spaces": "every observation is in its space",
    "round_trip": "observations and actions are encoded and decoded unchanged",
    "rewards": "every reward is a finite number",
}


def check_environment(
    make: Make,
    *,
    seeds: Sequence[int] = (0, 1),
    steps: int = 200,
    make_rendered: Make | None = None,
    on_call: OnCall = quietly,
) -> CheckReport:
    """Check new instances of an environment against the contract.

    Args:
        make: Makes an adapter around a new environment.
        seeds: Seeds of the episodes to play; at least two different ones.
        steps: Largest number of steps of an episode.
        make_rendered: Makes an adapter around a new environment with ``render_mode="rgb_array"``; without
            this function rendering is checked only if ``make`` chose a render mode.
        on_call: Called before each call of the environment.

    Returns:
        A report with the findings ``running``, ``agents``, ``spaces``, ``round_trip``, ``rewards``,
            ``endings``, ``seeding``, ``global_random``, ``masks``, ``interleaving``, ``rendering`` and
            ``closing``.

    Raises:
        ValueError: Fewer than two seeds.
        MosaicError: ``make`` raised this error.
    """
    if len(set(seeds)) < 2:
        raise ValueError("two different seeds are needed")
    with contextlib.redirect_stdout(io.StringIO()), _closing(on_call) as instances:
        return CheckReport(tuple(_findings(make, seeds, steps, make_rendered, instances)))


class _Instances:
    """Makes adapters and plays episodes in them; :func:`_closing` closes all of them at the end."""

    def __init__(self, on_call: OnCall) -> None:
        self.open: list[ParadigmAdapter] = []
        self.on_call = on_call

    def __call__(self, make: Make) -> ParadigmAdapter:
        self.on_call("the constructor", None, 0)
        adapter = make()
        self.open.append(adapter)
        return adapter

    def walk(
        self, of: Make | ParadigmAdapter, seed: int, after_step: Callable[[], None] | None = None
    ) -> Walk:
        """Return a walk through one episode in the given instance, or in a new one."""
        adapter = of if isinstance(of, ParadigmAdapter) else self(of)
        return Walk(adapter, seed, after_step, self.on_call)


@contextlib.contextmanager
def _closing(on_call: OnCall) -> Generator[_Instances]:
    instances = _Instances(on_call)
    try:
        yield instances
    finally:
        on_call("close()", None, 0)
        for adapter in instances.open:
            with contextlib.suppress(Exception, SystemExit):  # the finding "closing" reports the error
                adapter.close()


def _findings(
    make: Make, seeds: Sequence[int], steps: int, make_rendered: Make | None, instances: _Instances
) -> Iterator[CheckResult]:
    adapter = instances(make)
    warm_up = instances.walk(adapter, seeds[0]).run(1)  # one-time work (imports, compilers) is done here
    before = _global_state()
    alone = [instances.walk(make, seed) for seed in seeds]
    for walk in alone[:1] if "running" in warm_up.problems else alone:
        walk.run(steps)
    touched = _difference(before, _global_state())
    problems: dict[str, str] = {}
    for walk in alone:
        problems = {**walk.problems, **problems}
    appeared = [agent for walk in alone for agent in walk.appeared]
    infinite = any(walk.infinite for walk in alone)
    for name, sentence in _GOOD.items():
        if name == "agents" and appeared:
            kinds = ", ".join(dict.fromkeys(map(pattern_of, appeared)))
            sentence = (
                f"agents cannot be named beforehand: they appear ({_few(appeared)}). Name slots {kinds}, or *"
            )
        if name == "spaces" and infinite:
            sentence += "; some contain infinities, which networks turn into NaN"
        yield _finding(name, problems.get(name), sentence)
    yield _endings(alone, problems.get("endings"), steps)
    if "running" in problems:
        return
    fresh = instances.walk(make, seeds[0]).run(steps)
    repeats = _first_difference(alone[0].digests, fresh.digests) is None
    yield _seeding(alone[0], adapter, fresh, seeds[1], steps, instances)
    yield _finding("global_random", touched, "random and numpy.random are left alone")
    yield _masks(alone, problems.get("masks"), make, instances)
    yield _interleaving(alone, make, instances, seeds, steps, repeats)
    yield _rendering(alone[0], make, make_rendered, instances, steps, repeats)
    instances.on_call("close()", None, 0)
    yield _closes(adapter)


def _finding(name: str, problem: str | None, good: str) -> CheckResult:
    return (
        CheckResult(name, CheckStatus.FAILED, problem)
        if problem
        else CheckResult(name, CheckStatus.PASSED, good)
    )


def _few(names: Iterable[str]) -> str:
    listed = list(dict.fromkeys(names))
    return ", ".join(listed[:_NAMED]) + (", …" if len(listed) > _NAMED else "")


def _endings(walks: Sequence[Walk], problem: str | None, steps: int) -> CheckResult:
    if problem is None and not any(walk.done for walk in walks):
        return CheckResult("endings", CheckStatus.SKIPPED, f"no episode ended within {steps} steps")
    return _finding("endings", problem, "every agent's end is reported, and ended agents stay ended")


def _first_difference(one: Sequence[str], two: Sequence[str]) -> int | None:
    """Return the index of the first step in which two trajectories differ, or ``None``."""
    for step, (a, b) in enumerate(zip(one, two, strict=False)):
        if a != b:
            return step
    return None if len(one) == len(two) else min(len(one), len(two))


_UNSEEDED = "reset() uses an unseeded generator; use self.np_random after super().reset(seed=seed)"
_LATER = "reset() leaves some state unset: an unseeded generator, or state that instances share"
_CANNOT_TELL = "cannot be checked while the same seed and actions do not repeat"


def _seeding(
    first: Walk, used: ParadigmAdapter, fresh: Walk, other_seed: int, steps: int, instances: _Instances
) -> CheckResult:
    """Compare an episode with the same one in a new instance, and in one that has played part of another."""
    instances.walk(used, other_seed).run(min(steps, _EARLIER))
    reused = instances.walk(used, first.seed).run(steps)
    for walk, where in ((fresh, "in a new instance"), (reused, "after another episode in the same instance")):
        step = _first_difference(first.digests, walk.digests)
        if step is not None:
            what = "the first observation" if step == 0 else f"step {step}"
            problem = f"the same seed and actions {where} give another result from {what} on"
            if walk is fresh:
                problem += f": {_UNSEEDED if step == 0 else _LATER}"
            return CheckResult("seeding", CheckStatus.FAILED, problem)
    return CheckResult("seeding", CheckStatus.PASSED, "the same seed and actions give the same trajectory")


def _global_state() -> dict[str, str]:
    numpy_state: Any = np.random.get_state(legacy=False)
    return {
        "random": repr(random.getstate()),
        "numpy.random": repr(sorted(numpy_state["state"].items(), key=str)),
    }


def _difference(before: dict[str, str], after: dict[str, str]) -> str | None:
    names = [name for name in before if before[name] != after[name]]
    return f"the environment uses or seeds the global generator of {' and '.join(names)}" if names else None


def _masks(walks: Sequence[Walk], problem: str | None, make: Make, instances: _Instances) -> CheckResult:
    if problem is not None:
        return CheckResult("masks", CheckStatus.FAILED, problem)
    told = " and ".join(dict.fromkeys(source for walk in walks for source in walk.masks))
    if not told:
        return CheckResult("masks", CheckStatus.SKIPPED, "no action mask")
    sentence = f"source: {told}; a legal action exists at every turn; {_illegal(make, instances)}"
    return CheckResult("masks", CheckStatus.PASSED, sentence)


def _illegal(make: Make, instances: _Instances) -> str:
    """Play the first action that a mask excludes, and return what the environment does."""
    adapter = instances(make)
    walk = instances.walk(adapter, 0)
    for _ in walk.steps(50):
        agents = list(adapter.get_current_agents())
        for agent in agents:
            mask = adapter.action_mask(agent)
            space = adapter.action_space(agent)
            if mask is None or np.all(mask) or not hasattr(space, "n"):
                continue
            actions = {a: adapter.action_space(a).sample() for a in agents}
            actions[agent] = int(np.flatnonzero(np.asarray(mask) == 0)[0]) + int(space.start)
            try:
                result = adapter.step(actions)
            except MosaicError as error:
                return f"an illegal action is refused: {error}"
            if adapter.is_episode_done():
                return f"an illegal action ends the episode, rewards {result.rewards}"
            return "an illegal action is accepted silently, so the caller of step() must not play it"
    return "no action was ever illegal"


def _interleaving(
    alone: Sequence[Walk], make: Make, instances: _Instances, seeds: Sequence[int], steps: int, repeats: bool
) -> CheckResult:
    if _metadata(alone[0].adapter).get("one_at_a_time"):
        return CheckResult(
            "interleaving", CheckStatus.SKIPPED, "all instances share one world, one episode at a time"
        )
    if not repeats:
        return CheckResult("interleaving", CheckStatus.SKIPPED, _CANNOT_TELL)
    walks = [instances.walk(make, seed) for seed in seeds]
    running = [walk.steps(steps) for walk in walks]
    while running:
        running = [walk for walk in running if next(walk, StopIteration) is None]
    for solo, mixed in zip(alone, walks, strict=True):
        step = _first_difference(solo.digests, mixed.digests)
        if step is not None:
            said = mixed.problems.get("running", f"seed {solo.seed} goes another way from step {step} on")
            sentence = f"instances stepped in turn disturb each other: {said}; give each its own process"
            return CheckResult("interleaving", CheckStatus.FAILED, sentence)
    return CheckResult(
        "interleaving", CheckStatus.PASSED, "instances stepped in turn do not disturb each other"
    )


def _rendering(
    alone: Walk,
    make: Make,
    make_rendered: Make | None,
    instances: _Instances,
    steps: int,
    repeats: bool,
) -> CheckResult:
    modes: Any = _metadata(alone.adapter).get("render_modes", ())
    if make_rendered is not None and "rgb_array" not in modes:
        return CheckResult("rendering", CheckStatus.SKIPPED, "rgb_array is not among its render modes")
    try:
        adapter = instances(make_rendered or make)
    except MosaicError as error:
        return CheckResult(
            "rendering", CheckStatus.FAILED, f"with render_mode='rgb_array' it cannot be made: {error}"
        )
    mode = getattr(adapter.env, "render_mode", None)
    if make_rendered is None and mode != "rgb_array":
        return CheckResult("rendering", CheckStatus.SKIPPED, "made without render_mode='rgb_array'")
    walk: Walk

    def look() -> None:
        problem = _frame_problem(adapter.render())
        if problem and mode != "rgb_array":
            problem += f": its render_mode is {mode!r}, so its constructor ignores the argument"
        if problem:
            walk.problem("rendering", problem)

    walk = instances.walk(adapter, alone.seed, look)
    walk.run(min(steps, _FRAMES))
    problem = walk.problems.get("rendering") or walk.problems.get("running")
    step = _first_difference(alone.digests[: len(walk.digests)], walk.digests)
    if problem is None and not repeats:
        drawn = f"frames are H x W x 3, uint8; whether drawing changes anything {_CANNOT_TELL}"
        return CheckResult("rendering", CheckStatus.PASSED, drawn)
    if problem is None and step is not None:
        problem = f"rendering changes what happens from step {step} on"
    return _finding("rendering", problem, "frames are H x W x 3, uint8, and drawing them changes nothing")


def _metadata(adapter: ParadigmAdapter) -> Mapping[str, Any]:
    return getattr(adapter.env, "metadata", None) or {}


def _frame_problem(frame: Any) -> str | None:
    shape, dtype = getattr(frame, "shape", ()), getattr(frame, "dtype", None)
    if dtype is None:
        return f"render() gave {type(frame).__name__}, not an array"
    if len(shape) != 3 or shape[2] != 3 or dtype != np.uint8 or 0 in shape:
        return f"a frame has shape {shape} and dtype {dtype}; expected (height, width, 3), uint8"
    return None


def _closes(adapter: ParadigmAdapter) -> CheckResult:
    try:
        adapter.close()
        adapter.close()
    except (Exception, SystemExit) as error:
        return CheckResult("closing", CheckStatus.FAILED, f"close() raised {described(error)}")
    return CheckResult("closing", CheckStatus.PASSED, "close() works, and may be called twice")
