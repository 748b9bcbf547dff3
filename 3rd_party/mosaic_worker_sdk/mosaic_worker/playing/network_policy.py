"""Base class of policies with a network: reads a checkpoint and chooses actions in batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar, Dict, FrozenSet, Mapping, Optional, Tuple, Type, TypeVar, Union

import numpy as np
import safetensors
import safetensors.numpy
from numpy.typing import NDArray

from mosaic_worker.checkpoint import PolicyDescription, read_checkpoint
from mosaic_worker.playing.checkpoint_worker import Choices, Draws
from mosaic_worker.playing.full_batches import in_batches
from mosaic_worker.playing.joint_policy import JointPolicy
from mosaic_worker.playing.layers import Weights
from mosaic_worker.worker import LoadError

_Policy = TypeVar("_Policy", bound="NetworkPolicy")


class NetworkPolicy(ABC):
    """A policy with its weights, ready to play; a subclass defines how it decides a batch.

    Args:
        description: Description of the policy, or of one part of a joint policy.

    Attributes:
        description: As in the arguments.
        memory: Size of the memory from step to step of an episode; 0 for a policy without memory.
    """

    worker: ClassVar[str]
    """Id of the worker that plays the policy."""
    network_types: ClassVar[FrozenSet[str]] = frozenset()
    """Network types that are played for any worker id, because a copy of a worker has another id."""

    def __init__(self, description: PolicyDescription) -> None:
        self.description = description

    @property
    def memory(self) -> int:
        return 0

    @property
    def training_only(self) -> Tuple[str, ...]:
        """Prefixes of the names of weights that are used only for learning; a file may contain them."""
        return ()

    @classmethod
    def load(cls: Type[_Policy], checkpoint: Union[str, Path], agent: str = "") -> _Policy:
        """Read a policy from a checkpoint, see :func:`mosaic_worker.checkpoint.read_checkpoint`.

        Args:
            checkpoint: The checkpoint's folder, or a file in that folder.
            agent: Agent whose part of a joint policy is read.

        Raises:
            LoadError: The policy cannot be played; the message says what to do.
        """
        description, data = read_checkpoint(checkpoint)
        part = description.part_of(agent) if agent else description
        where = f"checkpoint {checkpoint}"
        cls._require_own(part, where)  # weights of another worker need not be safetensors
        return cls.of(part, _arrays(data, where), where)

    @classmethod
    def _require_own(cls, description: PolicyDescription, where: str) -> None:
        if description.worker != cls.worker and description.network.get("type") not in cls.network_types:
            raise LoadError(
                f"{where} is for {description.worker}, not for {cls.worker}. Set worker_id to "
                f"{description.worker!r}"
            )

    @classmethod
    def of(
        cls: Type[_Policy],
        description: PolicyDescription,
        weights: Mapping[str, NDArray[Any]],
        where: str = "the policy",
    ) -> _Policy:
        """Make a policy from weights and their description.

        Args:
            description: Description of the policy.
            weights: Arrays by parameter name, of the whole file.
            where: Name of the source of the weights, for messages.

        Raises:
            LoadError: The weights do not fit, or belong to another worker; the message says what to do.
        """
        cls._require_own(description, where)
        head = description.weights_prefix
        own = Weights({name[len(head) :]: array for name, array in weights.items() if name.startswith(head)})
        try:
            with np.errstate(all="ignore"):
                policy = cls.build(description, own)
            own.check(*policy.training_only)
        except _WRONG as error:
            raise LoadError(
                f"{where} cannot be played: {_words(error)}. Copy it again, or train it again"
            ) from error
        return policy

    @classmethod
    def whole(
        cls: Type[_Policy], description: PolicyDescription, weights: Mapping[str, NDArray[Any]]
    ) -> Union[_Policy, JointPolicy[_Policy]]:
        """Make a policy that plays all agents of a joint policy together; raises as :meth:`of` does."""
        if not description.parts:
            return cls.of(description, weights)
        return JointPolicy(description, lambda part: cls.of(part, weights))

    @classmethod
    @abstractmethod
    def build(cls: Type[_Policy], description: PolicyDescription, weights: Weights) -> _Policy:
        """Make the policy from its description and its own weights.

        Raises:
            ValueError: The description asks for a network that cannot be built.
            KeyError: The description lacks a key.
            TypeError: A value of the description has the wrong type.
        """

    @abstractmethod
    def decide(
        self,
        rows: Any,
        masks: Optional[NDArray[np.bool_]],
        draws: Optional[Draws],
        memory: Optional[NDArray[np.float32]],
    ) -> Choices:
        """Choose actions for at most :data:`mosaic_worker.playing.full_batches.BATCH` rows.

        ``rows`` is in the form that :meth:`rows` returns.
        """

    def rows(self, observations: Any) -> Any:
        """Return observations in the form that :meth:`decide` takes: an array (N, …), or a dict of arrays."""
        return np.asarray(observations)

    def choose(
        self,
        observations: Any,
        masks: Optional[NDArray[np.bool_]] = None,
        draws: Optional[Draws] = None,
        memory: Optional[NDArray[np.float32]] = None,
    ) -> Choices:
        """Choose an action for each observation.

        Args:
            observations: Observations stacked by the input space: an array (N, …), or a dict of arrays.
            masks: bool (N, actions), true for legal actions; ``None`` if every action is legal.
            draws: Random numbers to sample with, each of shape (N,); ``None`` for the most likely action.
            memory: float32 (N, memory), the memory that :class:`Choices` returned for each row's previous
                observation; zeros for a row whose episode begins, or ``None`` if all rows begin.

        Returns:
            The choice for each row; it does not depend on the other rows.
        """
        # Rows with NaN or infinity are reported in Choices.ok, not as warnings.
        with np.errstate(all="ignore"):
            return in_batches(self.decide, self.rows(observations), masks, draws, memory)


_WRONG = (ValueError, RuntimeError, KeyError, TypeError, AttributeError, OverflowError, MemoryError)
"""Exceptions that an invalid description may cause; a description is data and may contain anything."""


def _words(error: Exception) -> str:
    """Return the reason why a description cannot be played."""
    if isinstance(error, KeyError):
        return f"the key {error} is missing in its network"
    if isinstance(error, (TypeError, AttributeError, OverflowError)):
        return f"a value in its network has the wrong type ({' '.join(str(error).split())})"
    if isinstance(error, MemoryError):
        return "it asks for more memory than there is"
    return " ".join(str(error).split())


def read_weights(checkpoint: Union[str, Path]) -> Tuple[PolicyDescription, Dict[str, NDArray[Any]]]:
    """Read a checkpoint and return its description and its arrays by parameter name.

    Args:
        checkpoint: The checkpoint's folder, or a file in that folder.

    Raises:
        LoadError: As for :func:`mosaic_worker.checkpoint.read_checkpoint`, or the weights are no
            safetensors file.
    """
    description, data = read_checkpoint(checkpoint)
    return description, _arrays(data, f"checkpoint {checkpoint}")


def _arrays(data: bytes, where: str) -> Dict[str, NDArray[Any]]:
    try:
        return safetensors.numpy.load(data)
    except (
        safetensors.SafetensorError,
        KeyError,
        TypeError,
    ) as error:  # KeyError: a dtype that NumPy has not
        raise LoadError(
            f"{where} cannot be played: the weights are no safetensors file ({error}). Copy it again"
        ) from error
