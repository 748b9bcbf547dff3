"""``mosaic envs check`` and ``mosaic workers check``: findings as a list."""

from __future__ import annotations

import contextlib
import json
import os
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from rich.text import Text

from gym_gui import envs
from gym_gui.cli.errors import DONE, WORK_FAILED, tell
from gym_gui.cli.output import console, write_json
from gym_gui.core.errors import MosaicError, ObservationError, UsageError
from gym_gui.core.paradigms import ParadigmAdapter
from gym_gui.core.paradigms.check import check_environment
from gym_gui.core.prompt_inputs import PromptInputs
from gym_gui.core.spaces import sample_legal, to_space
from gym_gui.core.types import Mask, Shown
from gym_gui.envs import Environment
from gym_gui.envs import simulator as inside
from gym_gui.services.policy_library import PolicyLibrary
from gym_gui.services.worker_registry import WorkerCatalog
from gym_gui.workers.check_probe import SHOWN, Question
from gym_gui.workers.check_rounds import EPISODES, STEPS
from gym_gui.workers.patterns import matches
from mosaic_worker.rng import bits_of

_LONGEST = 200
"""Steps after which an episode that hardly asks an agent is left."""
_STYLES = {"passed": "green", "failed": "bold red", "skipped": "yellow"}


class _Finding(Protocol):
    """What both contract tests report."""

    @property
    def name(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def detail(self) -> str: ...


def check_env(env: str, *, api: str | None = None, as_json: bool = False) -> int:
    """Run the environment contract and print its findings.

    Returns:
        Exit status: 1 when one failed.

    Raises:
        UsageError: The environment is unknown, not installed, or cannot be made.
    """
    # Pictures are drawn into memory; SDL need not look for a screen, nor complain of none.
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    first = envs.make(envs.resolve(env, api=api))
    spec = first.spec  # which interface one's own environment has is known once it is made
    first.close()

    def make() -> ParadigmAdapter:
        return envs.make(spec).adapter

    def make_rendered() -> ParadigmAdapter:
        return envs.make(spec, render_mode="rgb_array").adapter

    report = check_environment(make, make_rendered=make_rendered)
    return _conclude(f"{spec.id} ({spec.api})", report.findings, report.ok, as_json)


def check_worker(
    worker: str, settings: Sequence[str] = (), *, env: str | None = None, as_json: bool = False
) -> int:
    """Run the worker contract and print its findings.

    Args:
        worker: The worker, under any of its names.
        settings: ``KEY=VALUE`` for its slot; a policy may be ``library:NAME``.
        env: Environment whose first agent it plays; by default one that its manifest names, or a slot made up
            from its manifest where it names none.
        as_json: One object instead.

    Returns:
        Exit status: 1 when one failed, or was not looked at.

    Raises:
        UsageError: The worker is unknown or lacks something, a setting is not ``KEY=VALUE``, or the
            library has no such policy.
    """
    from gym_gui.workers.check import check_worker as check

    definition = WorkerCatalog().require_installed(worker)
    library = PolicyLibrary()
    given = {
        key: library.path_of(value) if isinstance(value, str) else value
        for key, value in map(_setting, settings)
    }
    env = env or _of_manifest(definition.capabilities.environments)
    if env is None:
        report = check(definition, settings=given or None)
    else:
        looks = "image" in definition.inputs.wanted and "rgb_array" in envs.render_modes(env)
        with contextlib.closing(envs.make(env, render_mode="rgb_array" if looks else None)) as environment:
            agent = environment.adapter.possible_agents[0]
            report = check(
                definition,
                observation_space=environment.adapter.observation_space(agent),
                action_space=environment.adapter.action_space(agent),
                settings=given or None,
                env_id=environment.spec.id,
                action_meanings=environment.action_meanings(agent),
                episodes=_episodes(environment, agent, definition.inputs.wanted, given),
                simulator=inside.as_json(environment.simulator.description())
                if environment.simulator
                else "",
            )
    status = _conclude(
        *(definition.type_id, report.findings, report.ok and not report.unlooked, as_json, report.measures())
    )
    if report.ok and report.unlooked:
        given_env = "" if env else " --env ENVIRONMENT"
        tell(
            f"it was not checked to the end: {report.unlooked}. Give what it plays with: "
            f"mosaic workers check {definition.type_id}{given_env} --set KEY=VALUE"
        )
    return status


def _of_manifest(patterns: Sequence[str]) -> str | None:
    """The first environment that a manifest names and that can be made here; ``None`` where there is none."""
    for pattern in patterns:
        known = [spec for spec in envs.list_specs() if matches(spec.id, [pattern])]
        if spec := next((each for each in known if not envs.trouble(each)), None):
            return spec.id
        with contextlib.suppress(MosaicError):  # one of the person's own is in no list
            return envs.resolve(pattern).id
    return None


def _episodes(
    environment: Environment, agent: str, wanted: Sequence[str], settings: Mapping[str, Any]
) -> list[list[Question]] | None:
    """What an agent is asked in episodes that everybody plays at random; ``None`` where it hardly ever is."""
    adapter = environment.adapter
    spaces = {each: to_space(adapter.action_space(each)) for each in adapter.possible_agents}
    describer = environment.describer(agent)
    there = {"text": describer.can_say(agent), "facts": describer.can_state(agent), "state": True}
    there["image"] = bool(environment.pictures(agent))
    view = PromptInputs.of([each for each in wanted if there.get(each)], settings)
    episodes: list[list[Question]] = []
    for episode in range(EPISODES):
        questions: list[Question] = []
        observations, step = adapter.reset(seed=episode), 0
        while len(questions) < STEPS and step < _LONGEST and (current := adapter.get_current_agents()):
            masks = {each: adapter.action_mask(each) for each in current}
            if agent in current:
                shown = _shown(environment, agent, observations[agent], view, masks[agent])
                questions.append(Question(episode, step, 0, observations[agent], masks[agent], shown=shown))
            actions = {
                each: sample_legal(spaces[each], masks[each], bits_of(episode, step, k))
                for k, each in enumerate(current)
            }
            observations, step = adapter.step(actions).observations, step + 1
        if questions:
            episodes.append(questions)
    return episodes if len(episodes) > 1 else None


def _shown(
    environment: Environment, agent: str, observation: Any, view: PromptInputs | None, mask: Mask | None
) -> Shown:
    try:
        return SHOWN if view is None else environment.show(agent, observation, view, mask)
    except ObservationError:
        return SHOWN


def _setting(text: str) -> tuple[str, Any]:
    """``KEY=VALUE``, the value as JSON where it is any (``3``, ``true``), else as text."""
    key, sign, value = text.partition("=")
    if not key or not sign:
        raise UsageError(f"setting {text!r} is not KEY=VALUE", fix="For example: --set behavior=random")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


def _conclude(
    name: str, findings: Sequence[_Finding], ok: bool, as_json: bool, measures: Sequence[str] = ()
) -> int:
    counts = {status: sum(1 for f in findings if f.status == status) for status in _STYLES}
    if as_json:
        rows = [{"name": f.name, "status": str(f.status), "detail": f.detail} for f in findings]
        write_json({"checked": name, "ok": ok, "findings": rows, "measures": list(measures)})
    else:
        _print(findings)
        words = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
        if measures:
            console().print(Text(f"\nMeasured: {', '.join(measures)}"), soft_wrap=True, end="")
        console().print(Text(f"\n{name}: {words}", style="bold"), soft_wrap=True)
    return DONE if ok else WORK_FAILED


def _print(findings: Sequence[_Finding]) -> None:
    out = console()
    width = max((len(f.name) for f in findings), default=0)
    for finding in findings:
        first, *rest = textwrap.wrap(finding.detail, max(out.width - width - 12, 24)) or [""]
        line = Text(f"{finding.status:<7}", style=_STYLES[str(finding.status)])
        line.append(f"  {finding.name:<{width}}  {first}", style="not bold default")
        out.print(line, soft_wrap=True)
        for part in rest:
            out.print(Text(f"{'':<{width + 11}}{part}"), soft_wrap=True)
