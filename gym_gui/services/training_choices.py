"""What a training can be made of: workers that train, their algorithms, environments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gym_gui.core.errors import MosaicError
from gym_gui.services.trainer.settings import AlgorithmSchema, read_schemas

if TYPE_CHECKING:
    from gym_gui.envs import EnvSpec
    from gym_gui.workers.registry import WorkerTypeDefinition

KIND_WORDS = {"multi_discrete": "multi-discrete", "multi_binary": "multi-binary"}


@dataclass(frozen=True)
class Trainer:
    """A worker that trains.

    Attributes:
        definition: The worker.
        algorithms: By name.
        reason: Why it cannot train here and what to do; empty where it can.
    """

    definition: WorkerTypeDefinition
    algorithms: Mapping[str, AlgorithmSchema]
    reason: str = ""

    def title(self, algorithm: str) -> str:
        """What people call an algorithm."""
        schema = self.algorithms.get(algorithm)
        said = schema.title if schema is not None else ""
        return said if said and said != algorithm else algorithm_word(algorithm)


def algorithm_word(algorithm: str) -> str:
    """``PPO``, ``Recurrent PPO``."""
    words = algorithm.replace("-", " ").replace("_", " ").split()
    return " ".join(word.upper() if len(word) <= 4 else word.capitalize() for word in words)


def find_trainers() -> dict[str, Trainer]:
    """Workers that train, by id; reads files, so not for the GUI thread."""
    from gym_gui.workers.discovery import known_workers

    found = [_trainer(definition) for definition in known_workers() if definition.train is not None]
    # Those that can be used come first; whoever wrote them meant them in this order.
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
    """Why a worker cannot train in an environment, as far as that is known without making it."""
    from gym_gui.services.fit import training_incompatibilities

    wrong = training_incompatibilities(trainer.definition, spec)
    if not wrong:
        return ""
    if spec.paradigm not in trainer.definition.capabilities.supported_paradigms:
        return f"several agents; {trainer.definition.display_name} trains one"
    return wrong[0]


def algorithm_reason(schema: AlgorithmSchema, action: str, observation: str) -> str:
    """Why an algorithm does not fit an environment, short; empty where it does, or is not known to."""
    reason = schema.incompatibility(action, observation)
    if not reason:
        return ""
    if action and schema.actions and action not in schema.actions:
        words = " or ".join(KIND_WORDS.get(kind, kind) for kind in schema.actions)
        return f"for {words} actions; here they are {KIND_WORDS.get(action, action)}"
    return reason
