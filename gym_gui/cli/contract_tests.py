"""``mosaic envs check`` and ``mosaic workers check``: findings as a list."""

from __future__ import annotations

import asyncio
import contextlib
import json
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from rich.text import Text

from gym_gui import envs
from gym_gui.cli.errors import DONE, WORK_FAILED
from gym_gui.cli.output import console, write_json
from gym_gui.controllers.apart.environment_check import check_apart
from gym_gui.core.errors import ObservationError, UsageError
from gym_gui.core.paradigms.check import Status
from gym_gui.core.prompt_inputs import PromptInputs
from gym_gui.core.spaces import sample_legal, to_space
from gym_gui.core.types import Mask, Shown
from gym_gui.envs import Environment
from gym_gui.envs import simulator as inside
from gym_gui.services.bootstrap import bootstrap_default_services
from gym_gui.services.subprocess_job import LONGEST_CALL_S
from gym_gui.workers.contract.check_probe import SHOWN, Question
from gym_gui.workers.contract.check_rounds import EPISODES, STEPS
from gym_gui.workers.definition import WorkerTypeDefinition
from gym_gui.workers.patterns import either, matches
from mosaic_worker.rng import bits_of

if TYPE_CHECKING:
    from gym_gui.workers.check import WorkerCheckReport

_LONGEST = 200
"""Steps after which an episode that hardly asks an agent is left."""
_TRIED = 5
"""Environments that are looked at for one that is installed."""
_STYLES = {"passed": "green", "failed": "bold red", "skipped": "yellow"}


class _Finding(Protocol):
    """What both contract tests report."""

    @property
    def name(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def detail(self) -> str: ...


def check_env(
    env: str, *, api: str | None = None, timeout_s: float | None = None, as_json: bool = False
) -> int:
    """Run the environment contract, in a process of its own, and print its findings.

    Args:
        env: What :func:`gym_gui.envs.resolve` accepts.
        api: Interface.
        timeout_s: Seconds after which a call that has not returned counts as hanging.
        as_json: One object instead.

    Returns:
        Exit status: 1 when one failed.

    Raises:
        UsageError: The environment is unknown, not installed, or cannot be made.
    """
    checked = asyncio.run(check_apart(env, api, longest_s=timeout_s or LONGEST_CALL_S))
    name = f"{checked.env_id} ({checked.api})" if checked.api else checked.env_id
    return _conclude(name, checked.report.findings, checked.report.ok, as_json)


def check_worker(
    worker: str, settings: Sequence[str] = (), *, env: str | None = None, as_json: bool = False
) -> int:
    """Run the worker contract and print its findings.

    Args:
        worker: The worker, under any of its names.
        settings: ``KEY=VALUE`` for its slot; a policy may be ``library:NAME``.
        env: Environment whose first agent it plays; by default the first at hand that its manifest
            names, or a slot made up from the manifest where it names none.
        as_json: One object instead.

    Returns:
        Exit status: 1 when one failed.

    Raises:
        UsageError: The worker is unknown or lacks something, a setting is not ``KEY=VALUE``, the library has
            no such policy, no environment that the worker is for is installed, or it does not play the
            slot that was made up.
    """
    from gym_gui.workers.check import check_worker as check

    services = bootstrap_default_services()
    definition, library = services.workers.require_installed(worker), services.policies
    given = {
        key: library.path_of(value) if isinstance(value, str) else value
        for key, value in map(_setting, settings)
    }
    report = None
    for each in [env] if env else _environments_for(definition):
        report = _played(definition, given, each, chosen=env is not None)
        if report["load"].status is not Status.SKIPPED:
            break
    report = report or check(definition, settings=given or None)
    played = report["load"].status is not Status.SKIPPED
    status = _conclude(definition.type_id, report.findings, report.ok and played, as_json, report.measures())
    if report.ok and not played:
        raise UsageError(
            f"{definition.type_id} was not checked: it did not play what was chosen for it",
            fix="Name an environment that it plays, and what it needs: --env ID --set KEY=VALUE",
        )
    return status


def _environments_for(definition: WorkerTypeDefinition) -> list[str]:
    """Some environments at hand that a worker is for; none where its manifest names none.

    Raises:
        UsageError: None of those that it names is at hand.
    """
    patterns = definition.capabilities.environments
    if not patterns:
        return []
    specs = envs.list_specs()
    named = [spec for pattern in patterns for spec in specs if matches(spec.id, (pattern,))]
    absent = {spec.id: envs.trouble(spec) for spec in named}
    found = [name for name, trouble in absent.items() if not trouble]
    if not found:
        reasons = [trouble for trouble in absent.values() if trouble]
        raise UsageError(
            f"{definition.type_id} is for {either(patterns)}, and none of these is at hand"
            + (f": {reasons[0]}" if reasons else ""),
            fix="Install one (mosaic envs list), or name another: --env ID",
        )
    return list(dict.fromkeys(found))[:_TRIED]


def _played(
    definition: WorkerTypeDefinition, given: Mapping[str, Any], env: str, *, chosen: bool
) -> WorkerCheckReport:
    from gym_gui.workers.check import check_worker as check

    looks = "image" in definition.inputs.wanted and "rgb_array" in envs.render_modes(env)
    with contextlib.closing(envs.make(env, render_mode="rgb_array" if looks else None)) as environment:
        agent = environment.adapter.possible_agents[0]
        simulator = environment.simulator
        return check(
            definition,
            observation_space=environment.adapter.observation_space(agent),
            action_space=environment.adapter.action_space(agent),
            settings=given or None,
            env_id=environment.spec.id,
            action_meanings=environment.action_meanings(agent),
            episodes=_episodes(environment, agent, definition.inputs.wanted, given),
            simulator=inside.as_json(simulator.description()) if simulator else "",
            must_play=chosen or bool(given),
        )


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
