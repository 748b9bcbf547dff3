"""Imports a policy of CleanRL: ``python -m cleanrl_worker.importing FILE --env-id E --out DIR``.

FILE was written with ``torch.save`` by a script in the style of CleanRL: a state dict (``.cleanrl_model``,
``.pt``), also within C51's ``{"model_weights": …}`` or the ``(actor, critics…)`` of DDPG and TD3. The kind of
network is recognized by names and shapes (:mod:`cleanrl_worker.foreign`); a network with other names is
described with ``--describe``. Only tensors and plain containers are read (``weights_only``); no code in the
file is run.

One JSON line reports what was written. Exit status 0: imported. 2: refused, with the reason on one line.
"""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import argparse
import importlib.metadata
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mosaic_worker import gymnasium_spaces
from mosaic_worker.checkpoint import PolicyDescription, save_checkpoint
from mosaic_worker.learning.importing import ImportMain, json_of, origin_of
from mosaic_worker.learning.training_command import ConfigError
from mosaic_worker.learning.training_report import moment
from mosaic_worker.preprocessing import Pipeline, check_steps
from mosaic_worker.spaces import Space

_LARGEST = 2**30


def bring(args: argparse.Namespace) -> PolicyDescription:
    """Read a policy's file, check it against the environment and write it as a checkpoint.

    Raises:
        ConfigError: The file or its description cannot be used, or does not fit the environment.
        OSError: The folder cannot be written.
    """
    format = "cleanrl_model" if args.file.suffix == ".cleanrl_model" else "state_dict"
    origin = origin_of(args.file, format, _LARGEST)
    # Torch is imported after the checks that do not need it, because its import takes longer than all of
    # them.
    from mosaic_worker.learning.torch_files import read_torch_file

    content = read_torch_file(args.file, _LARGEST, "Save model.state_dict()")
    steps = check_steps(json_of(args.preprocess, "--preprocess") if args.preprocess else [])
    observation_space, input_space, action_space = _spaces(args.env_id, steps)
    import safetensors.torch

    from cleanrl_worker.foreign import RecognizedPolicy, recognize
    from cleanrl_worker.policy import WORKER, Policy
    from mosaic_worker.learning.torch_weights import arrays_of

    described: Mapping[str, Any] = {}
    if args.describe is not None:
        described = json_of(str(args.describe), "--describe")
    found: RecognizedPolicy = recognize(
        content, input_space, action_space, args.env_id, described, args.algorithm.lower()
    )
    description = PolicyDescription(
        worker=WORKER,
        algorithm=found.algorithm,
        env_id=args.env_id,
        observation_space=observation_space,
        action_space=action_space,
        network=found.network,
        preprocessing=tuple(steps),
        input_space=None if input_space == observation_space else input_space,
        seed=args.seed,
        total_steps=args.steps,
        config=found.config,
        versions={name: importlib.metadata.version(name) for name in ("torch", "gymnasium")},
        trained_at=moment(args.file.stat().st_mtime),
        licence=args.licence,
        origin=origin,
    )
    Policy.of(
        description, arrays_of(found.weights), str(args.file)
    )  # raises an error if the weights do not fit
    weights = safetensors.torch.save({name: t.contiguous() for name, t in found.weights.items()})
    return save_checkpoint(args.out, description, weights)


def _spaces(env_id: str, steps: Sequence[Mapping[str, Any]]) -> tuple[Space, Space, Space]:
    """Return the observation space, the space after the preprocessing steps, and the action space."""
    from mosaic_worker.learning.single_env import make_prepared

    env = make_prepared(env_id)
    try:
        observation_space, action_space = (
            gymnasium_spaces.describe(s) for s in (env.observation_space, env.action_space)
        )
        input_space = gymnasium_spaces.describe(Pipeline(list(steps), env.observation_space).input_space)
    finally:
        env.close()
    if input_space.kind != "Box" or math.prod(input_space.shape) < 1:
        raise ConfigError(
            f"{env_id} observes a {input_space.kind}, but networks take a Box. Give with --preprocess the "
            'preprocessing of the training, such as \'[{"step": "select", "key": "image"}]\''
        )
    return observation_space, input_space, action_space


main = ImportMain(
    "cleanrl_worker",
    __doc__,
    "algorithm that trained the policy, if several write such files",
    bring,
    {
        "--describe": {"type": Path, "help": "JSON file that describes the network"},
        "--seed": {"type": int, "default": 0, "help": "seed of the training, recorded with the policy"},
        "--steps": {
            "type": int,
            "default": 0,
            "help": "environment steps of the training, recorded with the policy",
        },
    },
)

if __name__ == "__main__":
    sys.exit(main())
