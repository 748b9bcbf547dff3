"""Policies whose decisions a network makes: read from checkpoints, asked in batches."""

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
    """Weights and their description, ready to play; a worker says how a batch is decided.

    Args:
        description: What the weights are, of a joint policy those of one part.

    Attributes:
        description: The same.
        memory: Numbers that it remembers from step to step of an episode; 0 for none.
    """

    worker: ClassVar[str]
    """Id of the worker that plays it."""
    network_types: ClassVar[FrozenSet[str]] = frozenset()
    """Network types that it plays under any worker id: a copy of the worker may have another."""

    def __init__(self, description: PolicyDescription) -> None:
        self.description = description

    @property
    def memory(self) -> int:
        return 0

    @property
    def training_only(self) -> Tuple[str, ...]:
        """Beginnings of names of weights that a file may hold for learning alone."""
        return ()

    @classmethod
    def load(cls: Type[_Policy], checkpoint: Union[str, Path], agent: str = "") -> _Policy:
        """Read a checkpoint, see :func:`mosaic_worker.checkpoint.read_checkpoint`.

        Args:
            checkpoint: Its folder, or a file in it.
            agent: Whose part of a joint policy.

        Raises:
            LoadError: It cannot be played, with the way out.
        """
        description, data = read_checkpoint(checkpoint)
        part = description.part_of(agent) if agent else description
        where = f"checkpoint {checkpoint}"
        cls._require_own(part, where)  # what another worker has written need not be safetensors
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
        """Put weights into the network that their description asks for.

        Args:
            description: What they are.
            weights: Arrays by parameter name, of the whole file.
            where: Whose weights, for messages.

        Raises:
            LoadError: They do not fit, or are of another worker, with the way out.
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
        """What plays a policy as a whole, all agents of a joint one; raises as :meth:`of`."""
        if not description.parts:
            return cls.of(description, weights)
        return JointPolicy(description, lambda part: cls.of(part, weights))

    @classmethod
    @abstractmethod
    def build(cls: Type[_Policy], description: PolicyDescription, weights: Weights) -> _Policy:
        """Make it of a description and the weights that are its own.

        Raises:
            ValueError: It asks for a network that cannot be built.
            KeyError: The description lacks something.
            TypeError: A value of it is of the wrong type.
        """

    @abstractmethod
    def decide(
        self,
        rows: Any,
        masks: Optional[NDArray[np.bool_]],
        draws: Optional[Draws],
        memory: Optional[NDArray[np.float32]],
    ) -> Choices:
        """Decide at most :data:`mosaic_worker.playing.full_batches.BATCH` rows of what :meth:`rows` gave."""

    def rows(self, observations: Any) -> Any:
        """Observations as :meth:`decide` takes them: an array (N, …), or a dict of them."""
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
            observations: Stacked as the input space says: an array (N, …), or a dict of arrays.
            masks: bool (N, actions), true where legal; ``None`` where every action is.
            draws: Numbers to sample with, each of shape (N,); ``None`` for the most likely action.
            memory: float32 (N, memory), what :class:`Choices` gave for each row's observation before;
                zeros, or ``None`` for all of them, where an episode begins.

        Returns:
            The choice for each row, whichever rows are with it.
        """
        # Rows with NaN or infinity are told in Choices.ok, not as warnings.
        with np.errstate(all="ignore"):
            return in_batches(self.decide, self.rows(observations), masks, draws, memory)


_WRONG = (ValueError, RuntimeError, KeyError, TypeError, AttributeError, OverflowError, MemoryError)
"""What a description provokes that asks for what cannot be: it is data, and may say anything."""


def _words(error: Exception) -> str:
    """Why a description cannot be played."""
    if isinstance(error, KeyError):
        return f"the key {error} is missing in its network"
    if isinstance(error, (TypeError, AttributeError, OverflowError)):
        return f"a value in its network has the wrong type ({' '.join(str(error).split())})"
    if isinstance(error, MemoryError):
        return "it asks for more memory than there is"
    return " ".join(str(error).split())


def read_weights(checkpoint: Union[str, Path]) -> Tuple[PolicyDescription, Dict[str, NDArray[Any]]]:
    """Read a checkpoint: its description, and its arrays by parameter name.

    Args:
        checkpoint: Its folder, or a file in it.

    Raises:
        LoadError: As of :func:`mosaic_worker.checkpoint.read_checkpoint`, or no safetensors file.
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
