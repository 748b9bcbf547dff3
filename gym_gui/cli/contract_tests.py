"""Implements ``mosaic envs check`` and ``mosaic workers check``: tests contracts and prints the findings."""

from __future__ import annotations

import asyncio
import json
import textwrap
from collections.abc import Sequence
from typing import Any, Protocol

from rich.text import Text

from gym_gui import envs
from gym_gui.cli.errors import DONE, WORK_FAILED
from gym_gui.cli.output import console, write_json
from gym_gui.controllers.child_jobs.environment_check import check_in_child
from gym_gui.core.errors import UsageError
from gym_gui.core.paradigms.check import CheckStatus
from gym_gui.services.bootstrap import bootstrap_default_services
from gym_gui.services.subprocess_job import LONGEST_CALL_S
from gym_gui.workers.definition import WorkerTypeDefinition
from gym_gui.workers.patterns import either, matches

_MAX_TRIED = 5
"""Largest number of environments that are tried in search of an installed one."""
_STYLES = {"passed": "green", "failed": "bold red", "skipped": "yellow"}


class _Finding(Protocol):
    """Result of one check, as the contract tests of environments and of workers report it."""

    @property
    def name(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def detail(self) -> str: ...


def check_env(
    env: str, *, api: str | None = None, timeout_s: float | None = None, as_json: bool = False
) -> int:
    """Test an environment against the engine's contract in a separate process, and print the findings.

    Args:
        env: Environment id, or ``module:factory``.
        api: ``"aec"`` or ``"parallel"``; ``None`` for the environment's default.
        timeout_s: Seconds after which a call that has not returned counts as hanging.
        as_json: Whether to print one JSON object instead.

    Returns:
        Exit status: 1 if a check failed.

    Raises:
        UsageError: The environment is unknown, not installed, or cannot be made.
    """
    checked = asyncio.run(check_in_child(env, api, longest_s=timeout_s or LONGEST_CALL_S))
    name = f"{checked.env_id} ({checked.api})" if checked.api else checked.env_id
    return _print_result(name, checked.report.findings, checked.report.ok, as_json)


def check_worker(
    worker: str, settings: Sequence[str] = (), *, env: str | None = None, as_json: bool = False
) -> int:
    """Test a worker against the engine's contract and print the findings.

    Args:
        worker: Id or alias of the worker.
        settings: ``KEY=VALUE`` settings of its slot; a policy may be ``library:NAME``.
        env: Environment whose first agent the worker plays, in a separate process. By default the first
            available environment that the worker's manifest names, or a slot made up from the manifest if it
            names none.
        as_json: Whether to print one JSON object instead.

    Returns:
        Exit status: 1 if a check failed.

    Raises:
        UsageError: The worker is unknown or something of it is missing, a setting is not ``KEY=VALUE``, the
            library has no such policy, no environment for the worker is installed, or the worker does not
            play the slot that was made up.
        SubprocessJobError: The environment crashed its process, or a call did not return.
    """
    from gym_gui.controllers.child_jobs.worker_check import check_worker_in_child
    from gym_gui.workers.check import check_worker as check

    services = bootstrap_default_services()
    definition, library = services.workers.require_installed(worker), services.policies
    given = {
        key: library.path_of(value) if isinstance(value, str) else value
        for key, value in map(_setting, settings)
    }
    report = None
    for each in [env] if env else _environments_for(definition):
        chosen = env is not None
        work = check_worker_in_child(definition.type_id, given, each, must_play=chosen or bool(given))
        report = asyncio.run(work)
        if report["load"].status is not CheckStatus.SKIPPED:
            break
    report = report or check(definition, settings=given or None)
    played = report["load"].status is not CheckStatus.SKIPPED
    status = _print_result(
        definition.type_id, report.findings, report.ok and played, as_json, report.measures()
    )
    if report.ok and not played:
        raise UsageError(
            f"{definition.type_id} was not checked: it plays none of the environments that were tried",
            fix="Name an environment that it plays, and the settings it needs: --env ID --set KEY=VALUE",
        )
    return status


def _environments_for(definition: WorkerTypeDefinition) -> list[str]:
    """Return some available environments for a worker; none if its manifest names none.

    Raises:
        UsageError: None of the environments that the manifest names is available.
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
            f"{definition.type_id} plays {either(patterns)}, and no such environment is available"
            + (f": {reasons[0]}" if reasons else ""),
            fix="Install one (mosaic envs list), or name another: --env ID",
        )
    return list(dict.fromkeys(found))[:_MAX_TRIED]


def _setting(text: str) -> tuple[str, Any]:
    """Return key and value of ``KEY=VALUE``; the value is parsed as JSON if possible, else it is a string."""
    key, sign, value = text.partition("=")
    if not key or not sign:
        raise UsageError(f"setting {text!r} is not KEY=VALUE", fix="For example: --set behavior=random")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


def _print_result(
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
