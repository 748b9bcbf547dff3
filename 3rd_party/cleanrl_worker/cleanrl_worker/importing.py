"""``python -m cleanrl_worker.importing FILE --env-id E --out DIR`` takes over a policy of CleanRL's.

FILE is what a script in CleanRL's manner wrote with ``torch.save``: a state dict (``.cleanrl_model``,
``.pt``), with C51's ``{"model_weights": …}`` or the ``(actor, critics…)`` of DDPG and TD3 around it. Which
network it is shows in its names and shapes (:mod:`cleanrl_worker.foreign`); for a network with other
names ``--describe`` says it. Only tensors and plain containers are read (``weights_only``); nothing in
the file is run.

One JSON line says what was written. Exit status 0: imported. 2: refused, one line says why.
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
    # After the checks that need no torch: importing torch takes longer than all of them.
    from mosaic_worker.learning.torch_files import read_torch_file

    content = read_torch_file(args.file, _LARGEST, "Save model.state_dict()")
    steps = check_steps(json_of(args.preprocess, "--preprocess") if args.preprocess else [])
    observation_space, input_space, action_space = _spaces(args.env_id, steps)
    import safetensors.torch

    from cleanrl_worker.foreign import Foreign, recognize
    from cleanrl_worker.policy import WORKER, Policy
    from mosaic_worker.learning.torch_weights import arrays_of

    described: Mapping[str, Any] = {}
    if args.describe is not None:
        described = json_of(str(args.describe), "--describe")
    found: Foreign = recognize(
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
    Policy.of(description, arrays_of(found.weights), str(args.file))  # refuses what does not fit
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
            f"{env_id} shows a {input_space.kind}, and networks take a Box. Say with --preprocess what was "
            'done to it in training, as in \'[{"step": "select", "key": "image"}]\''
        )
    return observation_space, input_space, action_space


main = ImportMain(
    "cleanrl_worker",
    __doc__,
    "what trained it, where several write such files",
    bring,
    {
        "--describe": {"type": Path, "help": "JSON file that says what the network is"},
        "--seed": {"type": int, "default": 0, "help": "of its training, for the record"},
        "--steps": {"type": int, "default": 0, "help": "it was trained for, for the record"},
    },
)

if __name__ == "__main__":
    sys.exit(main())
