"""Saves and restores the state of a training besides its policy.

See :mod:`mosaic_worker.learning.training_state`. The replay buffer is not saved: a resumed training fills its
buffer again, and begins new episodes.
"""

# The library and torch are typed only in part.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mosaic_worker.learning.training_state import State, fitting

_COUNTS = ("current_step", "e_greedy", "noise_scale")
"""Attributes of the library's agents that change while they learn."""


def state_of(agents: Any, values: Mapping[str, Any]) -> State:
    """Return the state to save.

    Args:
        agents: Agents of the library.
        values: Further values to save.
    """
    state = State()
    tensors = state.tensors
    tensors |= {f"policy/{name}": tensor for name, tensor in agents.policy.state_dict().items()}
    state.values |= {
        **values,
        "counts": {name: float(getattr(agents, name)) for name in _counted(agents)},
        "iterations": int(agents.learner.iterations),
        "optimizers": {
            name: state.pack_optimizer(name, optimizer.state_dict())
            for name, optimizer in _optimizers(agents.learner)
        },
    }
    for name, module in _normalizers(agents.learner):
        tensors |= {f"{name}/{key}": tensor for key, tensor in module.state_dict().items()}
    for key, alpha in (getattr(agents.learner, "log_alpha", None) or {}).items():
        tensors[f"log_alpha/{key}"] = alpha
    return state


def restore(state: State, agents: Any) -> None:
    """Restore a result of :func:`state_of` in agents with the same settings.

    Raises:
        ConfigError: The state does not fit.
    """
    with fitting():
        agents.policy.load_state_dict(state.under("policy").tensors)
        for name in _counted(agents):
            value = state.values["counts"][name]
            setattr(agents, name, int(value) if name == "current_step" else value)
        learner = agents.learner
        learner.iterations = int(state.values["iterations"])
        for key, alpha in (getattr(learner, "log_alpha", None) or {}).items():
            alpha.data.copy_(state.tensors[f"log_alpha/{key}"])
            learner.alpha[key] = alpha.exp()
        for name, optimizer in _optimizers(learner):
            optimizer.load_state_dict(state.unpack_optimizer(name, state.values["optimizers"][name]))
        for name, module in _normalizers(learner):
            module.load_state_dict(state.under(name).tensors)


def _counted(agents: Any) -> list[str]:
    return [name for name in _COUNTS if getattr(agents, name, None) is not None]


def _optimizers(learner: Any) -> Iterator[tuple[str, Any]]:
    """Yield the library's optimizers: one, or several by agent and by purpose."""
    for attribute in ("optimizer", "alpha_optimizer"):
        yield from _named(attribute, getattr(learner, attribute, None))


def _normalizers(learner: Any) -> Iterator[tuple[str, Any]]:
    yield from _named("value_normalizer", getattr(learner, "value_normalizer", None))


def _named(name: str, found: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(found, dict):
        for key, inner in found.items():
            yield from _named(f"{name}.{key}", inner)
    elif isinstance(found, (list, tuple)):
        for i, inner in enumerate(found):
            yield from _named(f"{name}.{i}", inner)
    elif found is not None:
        yield name, found
