"""Who plays a slot: workers, link groups, and what follows an unusable answer."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, cast, get_args

from gym_gui.core.enums import WorkerKind
from gym_gui.core.experiment import aliases
from gym_gui.core.secret_refs import refuse_literals
from gym_gui.core.validation import (
    ConfigError,
    Plain,
    boolean,
    choice,
    freeze,
    integer,
    join,
    key_place,
    keys,
    nearest,
    number,
    plain,
    plain_mapping,
    sequence,
    shown,
    text,
    under,
)

InvalidFallback = Literal["error", "noop", "default", "random_legal"]
FALLBACK_WORDS: Final = cast("tuple[str, ...]", get_args(InvalidFallback))
GROUP_COLORS: Final = (
    *("#4a90d9", "#ff7f50", "#50c878", "#9370db"),
    *("#e6b422", "#d96459", "#3fb8af", "#b07aa1"),
)


@dataclass(frozen=True)
class OnInvalid:
    """What happens when a policy's answer cannot be played.

    Attributes:
        retry: How often the policy is asked again, told the reason.
        then: What follows: the episode fails (``error``), the environment's own no-op, what
            the environment itself says is played then (``default``), or a uniformly drawn
            legal action. Recorded as the source of the action.
    """

    retry: int = 0
    then: InvalidFallback = "error"

    def __post_init__(self) -> None:
        integer(self.retry, "retry", low=0, high=100)
        choice(self.then, "then", FALLBACK_WORDS)

    @classmethod
    def of(cls, value: object) -> OnInvalid:
        """From a word, a mapping ``{retry, then}``, or an object of this class."""
        if isinstance(value, OnInvalid):
            return value
        if isinstance(value, str):
            word = choice(value, "", FALLBACK_WORDS)
            return cls(then=cast("InvalidFallback", word))
        given = keys(value, "", {"retry": "retry", "then": "then"})
        retry = integer(given.get("retry", 0), "retry", low=0, high=100)
        return cls(retry, cast("InvalidFallback", given.get("then", "error")))

    def to_record(self) -> Plain:
        """A word, or a mapping where there are retries."""
        return {"retry": self.retry, "then": self.then} if self.retry else self.then


@dataclass(frozen=True, init=False)
class WorkerAssignment:
    """Who plays one slot.

    Attributes:
        worker_id: The worker, in its full name (``cleanrl_worker``).
        worker_type: A value of :class:`~gym_gui.core.enums.WorkerKind`.
        settings: The worker's own settings; ``policy_path`` and ``model_path`` are
            stored as ``checkpoint``. Secrets stand here as references.
        on_invalid: What follows an answer that cannot be played.
        deadline_s: Seconds the worker has for one decision, or ``None`` for no limit.
        checkpoint_agent: Which agent's part of a joint checkpoint to use.
        deterministic: The policy's mode instead of a sample; ``None`` leaves it to the worker.
        preprocess: Steps applied to observations before the worker sees them, in order.
    """

    worker_id: str
    worker_type: str
    settings: Mapping[str, Plain]
    on_invalid: OnInvalid
    deadline_s: float | None
    checkpoint_agent: str | None
    deterministic: bool | None
    preprocess: tuple[Plain, ...]

    def __init__(
        self,
        worker_id: str = "",
        worker_type: str = "",
        settings: Mapping[str, object] | None = None,
        *,
        on_invalid: OnInvalid | str | Mapping[str, object] = "error",
        deadline_s: float | None = None,
        checkpoint_agent: str | None = None,
        deterministic: bool | None = None,
        preprocess: Sequence[object] = (),
    ) -> None:
        """Check and normalise; at least one of ``worker_id`` and ``worker_type`` is needed.

        Raises:
            ConfigError: A value is of the wrong type, two disagree, or a secret is written out.
        """
        own = normal_settings({} if settings is None else settings)
        worker, kind, own = resolve_worker(worker_id, worker_type, own)
        refuse_literals(own, "settings")
        steps = [plain(s, f"preprocess[{i}]") for i, s in enumerate(sequence(preprocess, "preprocess"))]
        for i, step in enumerate(steps):
            if not isinstance(step, (str, dict)):
                raise ConfigError(f"must be a name or a mapping, not {shown(step)}", where=f"preprocess[{i}]")
        with under("on_invalid"):
            rule = OnInvalid.of(on_invalid)
        part = None if checkpoint_agent is None else text(checkpoint_agent, "checkpoint_agent")
        limit = None if deadline_s is None else number(deadline_s, "deadline_s", low=1e-3, high=604_800)
        mode = None if deterministic is None else boolean(deterministic, "deterministic")
        freeze(
            self,
            worker_id=worker,
            worker_type=kind,
            settings=own,
            on_invalid=rule,
            deadline_s=limit,
            checkpoint_agent=part,
            deterministic=mode,
            preprocess=tuple(steps),
        )

    def to_record(self) -> dict[str, Plain]:
        """Plain data in the shape of a slot of an experiment file."""
        record: dict[str, Plain] = {
            "worker_id": self.worker_id,
            "type": self.worker_type,
            "settings": dict(self.settings),
            "on_invalid": self.on_invalid.to_record(),
        }
        optional: dict[str, Plain] = {
            "deadline_s": self.deadline_s,
            "checkpoint_agent": self.checkpoint_agent,
            "deterministic": self.deterministic,
            "preprocess": list(self.preprocess) or None,
        }
        return record | {key: value for key, value in optional.items() if value is not None}


@dataclass(frozen=True, init=False)
class LinkGroup:
    """Agents that share one checkpoint file, loaded once for all of them.

    Attributes:
        primary_agent: The agent whose row a person fills in.
        linked_agents: The agents that follow it.
        policy_path: The file; empty takes the primary's own.
        algorithm: How it was trained (``mappo``, ``ippo``); empty takes the primary's.
        worker_type: Type of the worker that loads it.
        group_id: Unique within its operator; ``link_<primary_agent>`` by default.
        color: ``#rrggbb`` by which the window marks the group; derived from the primary by default.
    """

    primary_agent: str
    linked_agents: tuple[str, ...]
    policy_path: str
    algorithm: str
    worker_type: str
    group_id: str
    color: str

    def __init__(
        self,
        primary_agent: str,
        linked_agents: Sequence[str],
        policy_path: str = "",
        algorithm: str = "",
        worker_type: str = "rl",
        group_id: str = "",
        color: str = "",
    ) -> None:
        """Check and fill in the defaults.

        Raises:
            ConfigError: A value is of the wrong type, or an agent is named twice.
        """
        primary = text(primary_agent, "primary_agent")
        linked = tuple(
            text(agent, f"linked_agents[{i}]")
            for i, agent in enumerate(sequence(linked_agents, "linked_agents"))
        )
        if not linked:
            raise ConfigError("must name at least one agent", where="linked_agents")
        refuse_repeats((primary, *linked), "linked_agents")
        _, kind, _ = resolve_worker("", worker_type, {})
        shade = text(color, "color", empty=True) or group_color(primary)
        freeze(
            self,
            primary_agent=primary,
            linked_agents=linked,
            policy_path=text(policy_path, "policy_path", max_length=4096, empty=True),
            algorithm=text(algorithm, "algorithm", empty=True),
            worker_type=kind,
            group_id=text(group_id, "group_id", empty=True) or f"link_{primary}",
            color=shade,
        )

    @property
    def agents(self) -> tuple[str, ...]:
        """The primary agent, then those linked to it."""
        return (self.primary_agent, *self.linked_agents)

    def to_record(self) -> dict[str, Plain]:
        """Plain data in the shape of an experiment file."""
        return {
            "primary_agent": self.primary_agent,
            "linked_agents": list(self.linked_agents),
            "policy_path": self.policy_path,
            "algorithm": self.algorithm,
            "worker_type": self.worker_type,
            "group_id": self.group_id,
            "color": self.color,
        }


def group_color(primary_agent: str) -> str:
    """The colour (``#rrggbb``) of a link group that names none."""
    return GROUP_COLORS[zlib.crc32(primary_agent.encode()) % len(GROUP_COLORS)]


def refuse_repeats(names: Sequence[str], where: str) -> None:
    """Refuse a list in which a name stands twice."""
    for i, name in enumerate(names):
        if name in names[:i]:
            raise ConfigError(f"{shown(name)} is named twice", where=where)


def resolve_worker(
    worker_id: object, worker_type: object, settings: Mapping[str, Plain]
) -> tuple[str, str, dict[str, Plain]]:
    """Full worker id, type, and settings completed by what an alias stands for.

    Raises:
        ConfigError: Neither id nor type is given, the type is unknown, or an alias
            contradicts the settings (``passive`` with ``behavior: random``).
    """
    named = text(worker_id, "worker_id", max_length=64, empty=True)
    typed = text(worker_type, "worker_type", empty=True)
    worker = aliases.WORKER_IDS.get(named, named)
    kind = aliases.TYPES.get(typed, typed) or aliases.kind_of(worker)
    if not kind and worker in aliases.NO_WORKERS:
        raise ConfigError(f"{worker} is no worker here", where="worker_id", fix=aliases.NO_WORKERS[worker])
    if not kind:
        fix = f"Give a worker_type: {', '.join(WorkerKind)}"
        raise ConfigError(
            f"the type of worker {shown(named)} is not known here", where="worker_type", fix=fix
        )
    if kind not in tuple(WorkerKind):
        fix = nearest(typed, (*WorkerKind, *aliases.TYPES))
        raise ConfigError(f"unknown type {shown(typed)}", where="worker_type", fix=fix)
    worker = worker or aliases.DEFAULT_WORKERS.get(kind, "")
    if not worker:
        fix = "Name the worker that plays it (worker_id); mosaic workers list has those there are"
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
                    fix="Use type 'baseline' and the behavior alone",
                )
    return worker, kind, completed


def normal_settings(settings: object) -> dict[str, Plain]:
    """A copy of ``settings`` in which the checkpoint has one name.

    Raises:
        ConfigError: Not plain data, or two spellings that disagree.
    """
    result: dict[str, Plain] = {}
    for key, value in plain_mapping(settings, "settings").items():
        name = aliases.SETTINGS.get(key, key)
        place = join("settings", key_place(key))
        if name == "checkpoint":
            if value is None or value == "":
                continue
            text(value, place, max_length=4096)
        if name in result and result[name] != value:
            raise ConfigError(f"differs from another spelling of {name!r}", where=place)
        result[name] = value
    return result
