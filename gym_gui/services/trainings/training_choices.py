"""Lists workers that train and their algorithms, with reasons why they do not fit an environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.errors import MosaicError
from gym_gui.envs import EnvSpec
from gym_gui.services.trainer.training_settings import AlgorithmSchema, read_schemas
from gym_gui.workers.registry import WorkerTypeDefinition

_AGENTS: Final = {
    SteppingParadigm.SINGLE_AGENT: "one agent",
    SteppingParadigm.SIMULTANEOUS: "several agents that act at once",
    SteppingParadigm.SEQUENTIAL: "several agents that act in turn",
    SteppingParadigm.HIERARCHICAL: "two levels",
}
_THERE: Final = {
    SteppingParadigm.SINGLE_AGENT: "there is one",
    SteppingParadigm.SIMULTANEOUS: "several act at once",
    SteppingParadigm.SEQUENTIAL: "several act in turn",
    SteppingParadigm.HIERARCHICAL: "there are two levels",
}
KIND_WORDS = {"multi_discrete": "multi-discrete", "multi_binary": "multi-binary"}


@dataclass(frozen=True)
class Trainer:
    """A worker that trains.

    Attributes:
        definition: The worker.
        algorithms: Schemas of its algorithms, by name.
        reason: Why it cannot train here and what to do; empty if it can.
    """

    definition: WorkerTypeDefinition
    algorithms: Mapping[str, AlgorithmSchema]
    reason: str = ""

    def title(self, algorithm: str) -> str:
        """Return the name of an algorithm that is shown to people."""
        schema = self.algorithms.get(algorithm)
        said = schema.title if schema is not None else ""
        return said if said and said != algorithm else algorithm_word(algorithm)


_SPELT: Final = {"self_play": "Self-play"}


def algorithm_word(algorithm: str) -> str:
    """Return an algorithm's name for people, such as ``PPO`` or ``Recurrent PPO``."""
    if algorithm in _SPELT:
        return _SPELT[algorithm]
    words = algorithm.replace("-", " ").replace("_", " ").split()
    return " ".join(word.upper() if len(word) <= 4 else word.capitalize() for word in words)


def find_trainers() -> dict[str, Trainer]:
    """Return the workers that train, by id. It reads files, so do not call it in the GUI thread."""
    from gym_gui.workers.discovery import known_workers

    found = [_trainer(definition) for definition in known_workers() if definition.train is not None]
    # Usable trainers come first. Apart from that, the given order is kept on purpose.
    found.sort(key=lambda trainer: bool(trainer.reason))
    return {trainer.definition.type_id: trainer for trainer in found}


def _trainer(definition: WorkerTypeDefinition) -> Trainer:
    from gym_gui.workers.status import check_installed

    assert definition.train is not None
    names = definition.train.algorithms
    reason = ""
    schemas: dict[str, AlgorithmSchema] = {}
    try:
        schemas = read_schemas(definition)
        status = check_installed(definition)
        if status.state != "installed":
            reason = f"{status.reason}. Run: {status.install}" if status.install else status.reason
    except MosaicError as error:
        reason = str(error)
    return Trainer(definition, {name: schemas.get(name, AlgorithmSchema(name)) for name in names}, reason)


def environment_reason(trainer: Trainer, spec: EnvSpec) -> str:
    """Return why a worker cannot train in an environment, without creating the environment."""
    from gym_gui.services.compatibility import known_paradigm, training_incompatibilities

    wrong = training_incompatibilities(trainer.definition, spec)
    if wrong and spec.paradigm not in trainer.definition.capabilities.supported_paradigms:
        return f"{_AGENTS[spec.paradigm]}; {trainer.definition.display_name} trains {_trains(trainer)}"
    if wrong:
        return wrong[0]
    if not any(schema.learns_for(known_paradigm(spec)) for schema in trainer.algorithms.values()):
        return f"{_AGENTS[spec.paradigm]}; no algorithm of {trainer.definition.display_name} learns there"
    return ""


def _trains(trainer: Trainer) -> str:
    """Return how many agents a worker trains, in words."""
    supported = trainer.definition.capabilities.supported_paradigms
    one = SteppingParadigm.SINGLE_AGENT in supported
    if len(supported) > 1 + one:
        return "one or several" if one else "several"
    if SteppingParadigm.SIMULTANEOUS in supported:
        return "one, or several that act at once" if one else "several that act at once"
    return "one" if one else "others"


def _learners(schema: AlgorithmSchema) -> str:
    """Return how many agents an algorithm learns for and how they take turns, in words."""
    at_once = SteppingParadigm.SIMULTANEOUS.name in schema.paradigms
    in_turn = SteppingParadigm.SEQUENTIAL.name in schema.paradigms
    if not (at_once or in_turn):
        return "one agent"
    return (
        "several agents" if at_once and in_turn else f"several agents {'at once' if at_once else 'in turn'}"
    )


def algorithm_reason(
    schema: AlgorithmSchema, action: str, observation: str, paradigm: SteppingParadigm | None = None
) -> str:
    """Return briefly why an algorithm does not fit an environment; empty if no reason is known.

    Args:
        schema: The algorithm.
        action: Kind of the environment's actions; empty if unknown.
        observation: Kind of its observations; empty if unknown.
        paradigm: How its agents take turns; ``None`` if unknown.
    """
    if paradigm is not None and not schema.learns_for(paradigm):
        return f"for {_learners(schema)}; here {_THERE[paradigm]}"
    reason = schema.incompatibility(action, observation)
    if not reason:
        return ""
    if action and schema.actions and action not in schema.actions:
        words = " or ".join(KIND_WORDS.get(kind, kind) for kind in schema.actions)
        return f"for {words} actions; here they are {KIND_WORDS.get(action, action)}"
    return reason
