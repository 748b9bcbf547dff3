"""Implements ``mosaic envs install`` and ``mosaic install``: installs the packages of an extra.

An extra is one of this distribution's optional groups of packages. ``pip install 'mosaic-gym-gui[…]'`` is not
used: a virtual environment of uv has no pip, so that pip would install for another Python; and a checkout of
this distribution is in no package index.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from gym_gui.cli.errors import DONE
from gym_gui.cli.installing.install_own_python import install_own_python
from gym_gui.cli.installing.installation import answer, bring, counted, versions
from gym_gui.core.errors import UnknownNameError, UsageError
from gym_gui.envs.environment_registry import families
from gym_gui.envs.families.served import OwnPythonFamily
from gym_gui.envs.family import Family
from gym_gui.envs.spec import DISTRIBUTION, EnvSpec


def install_environments(
    name: str,
    *,
    given: Sequence[Path] = (),
    gpu: bool = False,
    dry_run: bool = False,
    as_json: bool = False,
) -> int:
    """Install the packages that a family of environments needs; may be repeated after an interruption.

    Args:
        name: Name of a family, of its extra, or of one environment.
        given: Archives on this machine, for families with packages that no registry has.
        gpu: Whether to allow torch's CUDA build.
        dry_run: Whether to only print what would be installed.
        as_json: Whether to write one JSON object: ``family``, ``state`` (``installed``, or ``planned``
            after a dry run), ``new`` (version by new package) and ``versions`` (by package of the family).

    Returns:
        Exit status.

    Raises:
        UnknownNameError: There is no such family.
        InstallationError: The installer failed.
    """
    family, spec = find_family(name)
    if isinstance(family, OwnPythonFamily):
        return install_own_python(family, given=given, gpu=gpu, dry_run=dry_run, as_json=as_json)
    if given:
        raise UsageError(f"{family.title} needs no files", fix="Leave --from out")
    requirements = requirements_of_family(family, spec)
    new = bring(family.title, requirements, gpu=gpu, dry_run=dry_run, as_json=as_json)
    who = {"family": family.name}
    if dry_run:
        _print_plan(who, new, as_json=as_json)
        return DONE
    importlib.invalidate_caches()
    family.require()
    known = len(family.specs())
    line = f"is installed: {known} environment{'s' * (known != 1)}." if new else "nothing is missing."
    _print_installed(who, f"{family.name}{'' if new else ':'} {line}", requirements, new, as_json=as_json)
    return DONE


def install_extra(extra: str, *, gpu: bool = False, dry_run: bool = False, as_json: bool = False) -> int:
    """Install the packages of an extra, such as ``gui`` or ``evdev``, and return the exit status.

    Args:
        extra: Name of the extra.
        gpu: Whether to allow torch's CUDA build.
        dry_run: Whether to only print what would be installed.
        as_json: Whether to write one JSON object: ``extra``, ``state``, ``new`` and ``versions``.
    """
    requirements = requirements_of(extra)
    new = bring(extra, requirements, gpu=gpu, dry_run=dry_run, as_json=as_json)
    if dry_run:
        _print_plan({"extra": extra}, new, as_json=as_json)
        return DONE
    line = f"{extra} is installed." if new else f"{extra}: nothing is missing."
    _print_installed({"extra": extra}, line, requirements, new, as_json=as_json)
    return DONE


def requirements_of_family(family: Family, spec: EnvSpec | None) -> list[str]:
    """Return the requirements of a family in MOSAIC's interpreter, and of one of its environments.

    Raises:
        UsageError: There are none.
    """
    requirements = [*requirements_of(family.extra), *(spec.requirements if spec else ())]
    if not requirements:
        raise UsageError(f"{family.title} names no packages to install")
    return requirements


def requirements_of(extra: str) -> list[str]:
    """Return the requirements of an extra, including those of the extras that it names.

    Raises:
        UnknownNameError: There is no such extra.
    """
    known = metadata.metadata(DISTRIBUTION).get_all("Provides-Extra") or []
    if canonicalize_name(extra) not in map(canonicalize_name, known):
        raise UnknownNameError("extra", extra, known)
    return list(dict.fromkeys(_requirements_in(extra)))


def _requirements_in(extra: str) -> Iterator[str]:
    for text in metadata.requires(DISTRIBUTION) or ():
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is None or not marker.evaluate({"extra": extra}) or marker.evaluate({"extra": ""}):
            continue
        if canonicalize_name(requirement.name) == canonicalize_name(DISTRIBUTION):
            for other in requirement.extras:
                yield from _requirements_in(other)
        else:
            requirement.marker = None
            yield str(requirement)


def find_family(name: str) -> tuple[Family, EnvSpec | None]:
    """Return the family of this name; if the name is an environment's, its family and its spec.

    Raises:
        UnknownNameError: There is no such family or environment.
    """
    known = families()
    by_name = {key: family for key, family in known.items() if family.install}
    for family in list(by_name.values()):
        for other in filter(None, (family.extra, *family.hints)):
            by_name.setdefault(other, family)
            by_name.setdefault(other.replace("_", "-"), family)
    if name in by_name:
        return by_name[name], None
    for family in filter(lambda each: each.install, known.values()):
        if not family.listable and family.owns([name]):
            return family, None
        if family.listable and (spec := family.lookup(family.candidates(name))) is not None:
            return family, spec
    raise UnknownNameError("environment family", name, by_name)


def _print_plan(who: dict[str, str], new: Mapping[str, str], *, as_json: bool) -> None:
    line = f"Would install {counted(new)}" if new else "Nothing is missing."
    answer(who, "planned", new, [line], as_json=as_json)


def _print_installed(
    who: dict[str, str], line: str, requirements: Sequence[str], new: Mapping[str, str], *, as_json: bool
) -> None:
    found = versions(requirements)
    lines = [line, *(f"  {name} {version}" for name, version in found.items())]
    answer(who, "installed", new, lines, as_json=as_json, versions=found)
