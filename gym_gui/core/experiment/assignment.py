"""Players of slots: workers, link groups, and the rule for unusable answers."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal, get_args

from gym_gui.core.declared_keys import (
    check_keys,
    declared,
    flag,
    key,
    member_of,
    optional,
    printable,
    read_keys,
    real,
    record_of,
    spellings_of,
    whole,
)
from gym_gui.core.enums import WorkerKind
from gym_gui.core.experiment import aliases
from gym_gui.core.secret_refs import refuse_literals
from gym_gui.core.validation import (
    ConfigError,
    Plain,
    freeze,
    join,
    key_place,
    nearest,
    plain,
    plain_mapping,
    sequence,
    shown,
    text,
)

InvalidFallback = Literal["error", "noop", "default", "random_legal"]
GROUP_COLORS: Final = (
    *("#4a90d9", "#ff7f50", "#50c878", "#9370db"),
    *("#e6b422", "#d96459", "#3fb8af", "#b07aa1"),
)


_FALLBACKS: Callable[[str], InvalidFallback] = member_of(*get_args(InvalidFallback))


@declared
class OnInvalid:
    """Rule for a policy's answers that cannot be played as actions."""

    retry: int = key(
        converter=whole(0, 100),
        default=0,
        kw_only=False,
        kept=True,
        meaning="number of times that the policy is asked again, with the reason",
        usual="0",
    )
    then: InvalidFallback = key(
        converter=_FALLBACKS,
        default="error",
        kw_only=False,
        kept=True,
        meaning="what is played then: `error` (the episode fails), `noop`, `default` (the default action "
        "that environments such as those of [BALROG](balrog.md) define) or `random_legal`",
        usual="`error`",
    )

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            ConfigError: A value is of the wrong type or out of range.
        """
        check_keys(self)

    @classmethod
    def of(cls, value: object) -> OnInvalid:
        """Make a rule from a word, a mapping ``{retry, then}``, or an object of this class."""
        if isinstance(value, OnInvalid):
            return value
        return cls(then=_FALLBACKS(value)) if isinstance(value, str) else read_keys(cls, value, "")

    def to_record(self) -> Plain:
        """Return the rule as a word, or as a mapping if there are retries."""
        return {"retry": self.retry, "then": self.then} if self.retry else self.then


def _rule(given: OnInvalid | str | Mapping[str, object]) -> OnInvalid:
    return OnInvalid.of(given)


def _as_given(value: str) -> str:
    """Return the value unchanged, because :func:`resolve_worker` checks it with the worker's other values."""
    return value


def _settings(given: Mapping[str, object] | None) -> Mapping[str, Plain]:
    own = normal_settings({} if given is None else given, "")
    refuse_literals(own, "")
    return own


def _steps(given: Sequence[object]) -> tuple[Plain, ...]:
    steps = [plain(step, f"[{i}]") for i, step in enumerate(sequence(given, ""))]
    for i, step in enumerate(steps):
        if not isinstance(step, (str, dict)):
            raise ConfigError(f"must be a name or a mapping, not {shown(step)}", where=f"[{i}]")
    return tuple(steps)


def _written_settings(settings: Mapping[str, Plain]) -> Plain:
    return dict(settings)


def _written_steps(steps: tuple[Plain, ...]) -> Plain:
    return list(steps)


@declared
class WorkerAssignment:
    """The player of one slot; at least one of ``worker_id`` and ``worker_type`` is required.

    ``worker_id`` stores the worker's full name (``cleanrl_worker``), ``worker_type`` a value of
    :class:`~gym_gui.core.enums.WorkerKind`. In ``settings``, ``policy_path`` and ``model_path`` are stored
    as ``checkpoint``, and secrets are stored as references.
    """

    worker_id: str = key(
        converter=_as_given,
        default="",
        kw_only=False,
        kept=True,
        meaning="id of the worker",
        usual="the default worker of the type",
    )
    worker_type: str = key(
        converter=_as_given,
        default="",
        kw_only=False,
        kept=True,
        name="type",
        spellings=("worker_type",),
        words=(*WorkerKind, *aliases.TYPES),
        meaning=f"{', '.join(f'`{kind}`' for kind in WorkerKind)}; also "
        f"{' and '.join(f'`{kind}`' for kind in aliases.TYPES)}",
        usual="the worker's type",
    )
    settings: Mapping[str, Plain] = key(
        converter=_settings,
        default=None,
        kw_only=False,
        kept=True,
        write=_written_settings,
        meaning="the worker's own settings",
        usual="`{}`",
    )
    on_invalid: OnInvalid = key(
        converter=_rule,
        default="error",
        kept=True,
        write=OnInvalid.to_record,
        meaning="rule for an answer that cannot be played: a word, or a mapping",
        usual="`error`",
        words=get_args(InvalidFallback),
        within=OnInvalid,
    )
    deadline_s: float | None = key(
        converter=optional(real(1e-3, 604_800)),
        default=None,
        meaning="longest time for one decision",
        unit="s",
        usual="no limit",
    )
    checkpoint_agent: str | None = key(
        converter=optional(printable()),
        default=None,
        meaning="agent whose part of a [joint policy](policies.md#joint-policies) is used",
        usual="the agent with the slot's name, else of its kind",
    )
    deterministic: bool | None = key(
        converter=optional(flag),
        default=None,
        meaning="whether the policy plays the mode of its distribution instead of a sample",
        usual="the worker's choice",
    )
    preprocess: tuple[Plain, ...] = key(
        converter=_steps,
        default=(),
        write=_written_steps,
        meaning="[steps](preprocessing.md) from the slot's observation to the worker's input, in order",
        usual="those of the checkpoint",
    )

    def __post_init__(self) -> None:
        """Check and normalize the values.

        Raises:
            ConfigError: A value is of the wrong type, two values contradict each other, or a secret is
                written literally.
        """
        check_keys(self)
        worker, kind, own = resolve_worker(self.worker_id, self.worker_type, self.settings)
        freeze(self, worker_id=worker, worker_type=kind, settings=own)

    def to_record(self) -> dict[str, Plain]:
        """Return the player as plain data, in the form of a slot in an experiment file."""
        always, chosen = record_of(self)
        return always | chosen


SLOT_KEYS: Final = {**spellings_of(WorkerAssignment), **{name: name for name in aliases.INLINE_SETTINGS}}
"""Each spelling that a slot may use for a key, with the key."""


def _agents(given: Sequence[str]) -> tuple[str, ...]:
    linked = tuple(text(agent, f"[{i}]") for i, agent in enumerate(sequence(given, "")))
    if not linked:
        raise ConfigError("must name at least one agent")
    return linked


def _written_agents(agents: tuple[str, ...]) -> Plain:
    return list(agents)


@declared
class LinkGroup:
    """Agents that share one checkpoint file, loaded once for all of them."""

    primary_agent: str = key(
        converter=printable(),
        kw_only=False,
        meaning="agent whose worker, checkpoint and algorithm all agents use",
    )
    linked_agents: tuple[str, ...] = key(
        converter=_agents,
        kw_only=False,
        write=_written_agents,
        meaning="the other agents of the group",
    )
    policy_path: str = key(
        converter=printable(empty=True, longest=4096),
        default="",
        kw_only=False,
        kept=True,
        spellings=("checkpoint", "model_path"),
        meaning="checkpoint file",
        usual="the primary agent's",
    )
    algorithm: str = key(
        converter=printable(empty=True),
        default="",
        kw_only=False,
        kept=True,
        meaning="algorithm that trained it (`mappo`, `ippo`)",
        usual="the primary agent's",
    )
    worker_type: str = key(
        converter=_as_given,
        default="rl",
        kw_only=False,
        kept=True,
        spellings=("type",),
        meaning="type of the worker that loads the file",
        usual="`rl`",
    )
    group_id: str = key(
        converter=printable(empty=True),
        default="",
        kw_only=False,
        kept=True,
        meaning="unique within its operator",
        usual="`link_`, then the primary agent",
    )
    color: str = key(
        converter=printable(empty=True),
        default="",
        kw_only=False,
        kept=True,
        meaning="color `#rrggbb` that marks the group in the window",
        usual="derived from the primary agent's name",
    )

    def __post_init__(self) -> None:
        """Check and fill in the defaults.

        Raises:
            ConfigError: A value is of the wrong type, or an agent is named twice.
        """
        check_keys(self)
        refuse_repeats(self.agents, "linked_agents")
        _, kind, _ = resolve_worker("", self.worker_type, {})
        freeze(
            self,
            worker_type=kind,
            group_id=self.group_id or f"link_{self.primary_agent}",
            color=self.color or group_color(self.primary_agent),
        )

    @property
    def agents(self) -> tuple[str, ...]:
        """The primary agent, then the agents linked to it."""
        return (self.primary_agent, *self.linked_agents)

    def renamed(self, names: Mapping[str, str]) -> LinkGroup:
        """Return the group with some agents renamed; group id and color stay as they were."""
        linked = tuple(names.get(agent, agent) for agent in self.linked_agents)
        primary = names.get(self.primary_agent, self.primary_agent)
        return replace(self, primary_agent=primary, linked_agents=linked)

    def to_record(self) -> dict[str, Plain]:
        """Return the group as plain data, in the form of an experiment file."""
        always, _ = record_of(self)
        return always


def group_color(primary_agent: str) -> str:
    """Return the color (``#rrggbb``) of a link group that defines none."""
    return GROUP_COLORS[zlib.crc32(primary_agent.encode()) % len(GROUP_COLORS)]


def refuse_repeats(names: Sequence[str], where: str) -> None:
    """Refuse a list that contains a name twice."""
    for i, name in enumerate(names):
        if name in names[:i]:
            raise ConfigError(f"{shown(name)} is named twice", where=where)


def resolve_worker(
    worker_id: object, worker_type: object, settings: Mapping[str, Plain]
) -> tuple[str, str, dict[str, Plain]]:
    """Return the full worker id, the type, and the settings with those that an alias stands for.

    Raises:
        ConfigError: Neither id nor type is given, the type is unknown, or an alias
            contradicts the settings (``passive`` with ``behavior: random``).
    """
    named = text(worker_id, "worker_id", max_length=64, empty=True)
    typed = text(worker_type, "worker_type", empty=True)
    worker = aliases.WORKER_IDS.get(named, named)
    kind = aliases.TYPES.get(typed, typed) or aliases.kind_of(worker)
    if not kind and worker in aliases.NO_WORKERS:
        raise ConfigError(
            f"{worker} is not a worker of MOSAIC", where="worker_id", fix=aliases.NO_WORKERS[worker]
        )
    if not kind:
        fix = f"Give a worker_type: {', '.join(WorkerKind)}"
        raise ConfigError(f"the type of worker {shown(named)} is unknown", where="worker_type", fix=fix)
    if kind not in tuple(WorkerKind):
        fix = nearest(typed, (*WorkerKind, *aliases.TYPES))
        raise ConfigError(f"unknown type {shown(typed)}", where="worker_type", fix=fix)
    worker = worker or aliases.DEFAULT_WORKERS.get(kind, "")
    if not worker:
        fix = "Name the worker that plays it (worker_id); `mosaic workers list` shows all workers"
        raise ConfigError(f"type {kind!r} has no default worker here", where="worker_id", fix=fix)
    completed = dict(settings)
    if worker == "operators_worker":
        for alias in (typed, named):
            behavior = aliases.BEHAVIORS.get(alias)
            if behavior and completed.setdefault("behavior", behavior) != behavior:
                given = shown(completed["behavior"])
                raise ConfigError(
                    f"{alias!r} sets the behavior to {behavior!r}, but {given} is given",
                    where="settings.behavior",
                    fix="Use type 'baseline' and only the behavior",
                )
    return worker, kind, completed


def normal_settings(settings: object, where: str) -> dict[str, Plain]:
    """Return a copy of ``settings`` in which each spelling of the checkpoint's key is ``checkpoint``.

    Args:
        settings: The given settings.
        where: Place of the settings.

    Raises:
        ConfigError: The settings are not plain data, or two spellings of a key have different values.
    """
    result: dict[str, Plain] = {}
    for setting, value in plain_mapping(settings, where).items():
        name = aliases.SETTINGS.get(setting, setting)
        place = join(where, key_place(setting))
        if name == "checkpoint":
            if value is None or value == "":
                continue
            text(value, place, max_length=4096)
        if name in result and result[name] != value:
            raise ConfigError(f"differs from another spelling of {name!r}", where=place)
        result[name] = value
    return result
