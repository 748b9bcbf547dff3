"""Registry of environments: lists families, finds environments by name and makes them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from gym_gui.core.entry_points import entry_points
from gym_gui.core.errors import (
    ExperimentError,
    MissingDependencyError,
    MosaicError,
    UnknownNameError,
    UsageError,
)
from gym_gui.core.interpreters import into_this_python
from gym_gui.core.paradigms.foreign_calls import RAISED
from gym_gui.core.paradigms.select import APIS
from gym_gui.core.trusted.subjects import RequiredSubject
from gym_gui.core.trusted.trust import TYPED, Origin, require
from gym_gui.envs.environment import Environment
from gym_gui.envs.factories import Factory, path_needs
from gym_gui.envs.families import BUILT_IN
from gym_gui.envs.families.custom import CustomFamily, registered
from gym_gui.envs.families.own_servers import own_servers
from gym_gui.envs.family import Family
from gym_gui.envs.index import is_installed
from gym_gui.envs.known_names import known_names
from gym_gui.envs.spec import EnvSpec, newest_of
from mosaic_worker.failures import described

logger = logging.getLogger(__name__)
GROUP = "mosaic.families"


@lru_cache(maxsize=1)
def families() -> Mapping[str, Family]:
    """Return all families by name: built-in, the user's servers, entry points, own environments last."""
    found: dict[str, Family] = {family.name: family for family in BUILT_IN}
    for served in own_servers():
        if isinstance(served, MosaicError):
            logger.warning("an environment server is ignored: %s", served)
        elif served.name in found:
            logger.warning("an environment server is ignored: the family %r exists already", served.name)
        else:
            found[served.name] = served
    for point in entry_points(GROUP):
        try:
            loaded: Any = point.load()
            family = loaded if isinstance(loaded, Family) else loaded()
        except Exception as error:  # foreign code: one broken plug-in must not hide the others
            logger.warning("environment family %r cannot be loaded: %s", point.name, error)
            continue
        found[family.name] = family
    found[CustomFamily.name] = CustomFamily()
    return MappingProxyType(found)


def list_specs(family: str | None = None) -> list[EnvSpec]:
    """Return all known environments, family by family; none is imported.

    Args:
        family: Name or hint of one family; by default all installed families.

    Raises:
        UnknownNameError: There is no such family.
        MissingDependencyError: The package of ``family`` is not installed.
    """
    if family is not None:
        wanted = [families()[family]] if family in families() else _accepting(family)
        if not any(each.installed for each in wanted):
            wanted[0].require()
        listed = [(each.hints.get(family, ""), each.specs()) for each in wanted if each.installed]
        return [spec for head, specs in listed for spec in specs if spec.id.startswith(head)]
    specs: list[EnvSpec] = []
    for each in families().values():
        try:
            specs.extend(each.specs() if each.installed else ())
        except MosaicError as error:
            logger.warning("environments of family %r cannot be listed: %s", each.name, error)
    return specs


def register(
    env_id: str,
    factory: Callable[..., Any] | str,
    *,
    api: str = "gymnasium",
    apis: tuple[str, ...] | None = None,
    family: Family | None = None,
) -> EnvSpec:
    """Register a user's environment under a name in this process.

    Args:
        env_id: Name to use as ``task``.
        factory: Callable, or ``"module:factory"``, that makes the environment. It is called with the
            experiment's ``env_kwargs``, and with ``render_mode`` if it accepts this argument.
        api: Interface of the environment that the factory makes.
        apis: All interfaces that the factory can make; if given, the factory is called with ``api=``.
        family: Family with teams, scores and action names; by default nothing is assumed.

    Raises:
        UsageError: The name is used already.
    """
    spec = EnvSpec(
        id=env_id,
        family=CustomFamily.name,
        api=api,
        apis=apis or (api,),
        package=factory.partition(":")[0] if isinstance(factory, str) else factory.__module__,
        entry_point=factory,
    )
    registered.add(spec, family)
    return spec


def resolve(
    task: str, *, env_name: str | None = None, api: str | None = None, origin: Origin = TYPED
) -> EnvSpec:
    """Return the environment that a name means; its package is not imported.

    Args:
        task: An id, an alias, or ``"module:factory"``.
        env_name: Family hint; must not contradict the name.
        api: Interface of the environment; its native one by default.
        origin: Source of the name; ``module:factory`` is searched in the source's folder first.

    Raises:
        UnknownNameError: No environment has that name; the message suggests the nearest one.
        MissingDependencyError: The environment belongs to a package that is not installed.
        ExperimentError: ``env_name`` or ``api`` contradicts the name.
    """
    spec = _find(task, env_name)
    family = families()[spec.family]
    if isinstance(family, CustomFamily):
        spec = family.named_by(spec, origin)
    if api is None:
        return spec
    if api not in spec.apis:
        raise ExperimentError(f"{spec.id} has no {api!r} interface", fix=f"It has: {', '.join(spec.apis)}")
    traits = {key: value for key, value in spec.traits.items() if key != "api_unknown"}
    return replace(spec, api=api, traits=traits)


def _find(task: str, env_name: str | None) -> EnvSpec:
    wanted = _accepting(env_name) if env_name else list(families().values())
    for family in wanted:
        spec = _lookup(family, task)
        if spec is not None:
            needs = family.hints.get(env_name, "") if env_name else ""
            if not spec.id.startswith(needs):
                raise ExperimentError(f"{spec.id} does not belong to {env_name!r}", fix="Leave out env_name")
            return spec
    if env_name:
        others = [f for f in families().values() if f not in wanted]
        for family in others:
            spec = _lookup(family, task)
            if spec is not None:
                raise ExperimentError(
                    f"{spec.id} belongs to {family.name!r}, not to {env_name!r}",
                    fix=f"Write env_name {family.name!r} or leave it out",
                )
    raise _unknown(task, wanted)


def _lookup(family: Family, task: str) -> EnvSpec | None:
    """Return the family's environment with this name, or ``None``.

    Raises:
        MissingDependencyError: The name belongs to the family, but a package is missing.
    """
    names = list(dict.fromkeys(family.candidates(task)))
    spec = family.lookup(names) if family.listable else None
    if not family.installed and (spec is not None or family.owns([task])):
        family.require()
    return spec


def _accepting(hint: str) -> list[Family]:
    """Return the families with this name or hint."""
    accepting = [f for f in families().values() if f.name == hint or hint in f.hints]
    if not accepting:
        names = [name for f in families().values() for name in (f.name, *f.hints)]
        raise UnknownNameError("environment family", hint, names)
    return accepting


def _unknown(task: str, wanted: Iterable[Family]) -> UsageError:
    absent = [f for f in wanted if not f.installed]
    present = [f for f in wanted if f.installed]
    if absent and not present:
        absent[0].require()
    for family in absent:
        if task in {
            short for name in known_names().get(family.name, ()) for short in (name, name.rpartition("/")[2])
        }:
            family.require()
    known: list[str] = []
    for family in present:
        try:
            known.extend(spec.id for spec in family.specs())
        except MosaicError as error:
            logger.warning("environments of family %r cannot be listed: %s", family.name, error)
    tried = {name for family in present for name in family.candidates(task)} | {task}
    newest = next((n for n in (newest_of(name, known) for name in sorted(tried)) if n), None)
    if newest is not None:
        return UnknownNameError("environment", task, (), hint=f"Did you mean {newest!r}?")
    by_name = {k.rpartition("/")[2]: k for k in known}
    hint = "mosaic envs list prints all that are installed"
    if absent:
        hint += f"; not installed: {', '.join(f.name for f in absent)}"
    near = UnknownNameError("environment", task, [*known, *by_name], hint=hint)
    return near if near.fix.startswith("Did") else UnknownNameError("environment", task, (), hint=hint)


def make(
    spec_or_task: EnvSpec | str,
    *,
    env_name: str | None = None,
    api: str | None = None,
    render_mode: str | None = None,
    env_kwargs: Mapping[str, Any] | None = None,
    origin: Origin = TYPED,
) -> Environment:
    """Make an environment by name or from its spec.

    Args:
        spec_or_task: Result of :func:`resolve`, or a name.
        env_name: Family hint, together with a name.
        api: Interface, together with a name.
        render_mode: Render mode, for example ``"rgb_array"``; ``None`` renders nothing.
        env_kwargs: Keyword arguments for the environment.
        origin: Source of the name; code that a file names must be allowed, see
            :mod:`gym_gui.core.trusted.trust`.

    Raises:
        MissingDependencyError: A required package is not installed.
        NotAllowedError: A file names code or paths that the user has not allowed.
        UsageError: The environment could not be made, for example because of a wrong keyword.
    """
    spec = spec_or_task
    if isinstance(spec, str):
        spec = resolve(spec, env_name=env_name, api=api, origin=origin)
    require(needs_of(spec, env_kwargs or {}), origin)
    family = family_of(spec)
    try:
        env = family.build(spec, render_mode=render_mode, env_kwargs=dict(env_kwargs or {}))
    except MosaicError:
        raise
    except RAISED as error:
        missing = _missing_module(error)
        if missing is not None:
            raise _missing(spec, missing) from error
        raise UsageError(f"{spec.id} could not be made: {described(error)}") from error
    adapter = family.adapter(spec, env)
    if adapter.paradigm is not spec.paradigm:  # an own environment, seen for the first time
        api = next(a for a in APIS if replace(spec, api=a, apis=APIS).paradigm is adapter.paradigm)
        spec = replace(spec, api=api, apis=(api,))
    return Environment(spec, adapter, family)


def arguments(
    task: str | EnvSpec, *, env_name: str | None = None, api: str | None = None, origin: Origin = TYPED
) -> Mapping[str, Mapping[str, Any]]:
    """Return the known ``env_kwargs`` of an environment: a JSON Schema for each name.

    The environment is not imported. Arguments that are not in the result are passed on, too; the environment
    itself decides whether it accepts them.

    Args:
        task: A name for :func:`resolve`, or its result.
        env_name: Family hint, together with a name.
        api: Interface, together with a name.
        origin: Source of the name.

    Raises:
        UsageError: There is no such environment.
    """
    spec = resolve(task, env_name=env_name, api=api, origin=origin) if isinstance(task, str) else task
    return family_of(spec).arguments(spec)


def needs_of(spec: EnvSpec, env_kwargs: Mapping[str, Any]) -> list[RequiredSubject]:
    """Return the code and files that the user must allow before a file may make this environment.

    Raises:
        UsageError: The file names something that even the user cannot allow.
    """
    factory: Factory | None = spec.traits.get("factory")
    return [*(factory.needs() if factory is not None else ()), *path_needs(env_kwargs)]


def family_of(spec: EnvSpec) -> Family:
    """Return the family of an environment."""
    return registered.family_of(spec.id) or families()[spec.family]


def trouble(spec: EnvSpec) -> str:
    """Return why a listed environment cannot be made here, with a fix; ``""`` if it can.

    The check only looks for the required packages, so it is quick and imports nothing.
    """
    family = family_of(spec)
    for module in (*family.modules, *family.needs(spec)):
        if not is_installed(module):
            return str(_missing(spec, module))
    return ""


def _missing(spec: EnvSpec, module: str) -> UsageError:
    """Return the error for a module that an environment imports and that is not installed.

    The package of a family is known. Of other environments only the module is: the name of a package on the
    index that is spelled like a module may belong to a stranger.
    """
    if spec.install:
        return MissingDependencyError(module, spec.install)
    return UsageError(
        f"{spec.id} imports {module}, which is not installed",
        fix=f"Find out which package has it, and run: {into_this_python()} PACKAGE",
    )


def _missing_module(error: BaseException | None) -> str | None:
    """Return the name of the missing package that caused ``error``; ``None`` if another reason did."""
    while error is not None:
        if isinstance(error, ModuleNotFoundError) and error.name:
            return error.name
        if type(error).__name__ == "DependencyNotInstalled":
            below = _missing_module(error.__cause__ or error.__context__)
            return below or str(error).split(",")[0]
        error = error.__cause__ or error.__context__
    return None
