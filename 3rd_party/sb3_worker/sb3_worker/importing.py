"""Imports a ``.zip`` policy: ``python -m sb3_worker.importing FILE --env-id E --out DIR``.

FILE was written by ``model.save`` of Stable-Baselines3 or sb3-contrib. The preprocessing of its wrappers is
inferred from the spaces and given with ``--vecnormalize``, ``--frame-stack`` and ``--preprocess``. No code in
the file is run.

One JSON line reports what was written. Exit status 0: imported. 2: refused, with the reason on one line.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mosaic_worker import gymnasium_spaces
from mosaic_worker.checkpoint import PolicyDescription, save_checkpoint
from mosaic_worker.learning.importing import ImportMain, ImportRefused, json_of, origin_of
from mosaic_worker.learning.training_command import ConfigError
from mosaic_worker.learning.training_report import moment
from mosaic_worker.preprocessing import Pipeline, PreprocessingError, check_steps
from mosaic_worker.spaces import Space, words_of

Steps = list[dict[str, Any]]


def bring(args: argparse.Namespace) -> PolicyDescription:
    """Read a policy's file, check it against the environment and write it as a checkpoint.

    Raises:
        ConfigError: The environment cannot be made, or does not fit.
        ImportRefused: The file cannot be imported.
        OSError: The folder cannot be written.
    """
    import safetensors.torch

    from mosaic_worker.learning.torch_weights import copies
    from sb3_worker.environments import make_environment, quiet
    from sb3_worker.library_network import build, load_weights, tensors_of
    from sb3_worker.policy import WORKER, from_zero
    from sb3_worker.sb3_zip import LARGEST, read_statistics, read_zip

    quiet()
    saved = read_zip(args.file, _layers(args.describe) if args.describe else ())
    if args.algorithm and args.algorithm.lower() != saved.algorithm:
        raise ImportRefused(f"{args.file} has a policy of {saved.algorithm}, not of {args.algorithm}")
    statistics = read_statistics(args.vecnormalize) if args.vecnormalize else {}
    env = make_environment(args.env_id)
    try:
        observation_space, action_space = (
            gymnasium_spaces.describe(s) for s in (env.observation_space, env.action_space)
        )
    finally:
        env.close()
    network = saved.network
    _check_actions(args.env_id, from_zero(action_space), network.action_space)
    if args.preprocess:
        steps: Steps = check_steps(json_of(args.preprocess, "--preprocess"))
    else:
        steps = find_steps(
            args.env_id, observation_space, network.observation_space, statistics, args.frame_stack
        )
    input_space = gymnasium_spaces.describe(Pipeline(steps, observation_space).input_space)
    if _numbers(input_space) != _numbers(network.observation_space):
        raise ConfigError(
            f"after preprocessing, observations of {args.env_id} are {words_of(input_space)}, but the "
            f"policy takes {words_of(network.observation_space)}"
        )
    # Bounds do not change a network, and those of the environment may have changed since the training.
    network = dataclasses.replace(network, action_space=from_zero(action_space))
    try:
        module = build(network)
        load_weights(module, saved.weights)
        weights = safetensors.torch.save(copies(tensors_of(module)))
    except ValueError as error:
        raise ImportRefused(f"{args.file} does not match its description: {error}") from error
    description = PolicyDescription(
        worker=WORKER,
        algorithm=saved.algorithm,
        env_id=args.env_id,
        observation_space=observation_space,
        action_space=action_space,
        network=network.to_json(),
        preprocessing=tuple(steps),
        input_space=None if input_space == observation_space else input_space,
        seed=saved.seed,
        total_steps=saved.total_steps,
        config=saved.config,
        versions=saved.versions,
        trained_at=moment(args.file.stat().st_mtime),
        licence=args.licence,
        origin=origin_of(args.file, "sb3_zip", LARGEST),
    )
    return save_checkpoint(args.out, description, weights)


def _layers(file: Path) -> list[Any]:
    """Read the layers from the file of ``--describe``.

    Raises:
        ConfigError: The file holds no layers.
    """
    described: Any = json_of(str(file), "--describe")
    layers: Any = described.get("features_extractor") if isinstance(described, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if not isinstance(layers, list) or not layers:
        raise ConfigError(f'{file} must hold {{"features_extractor": [layers]}}')
    return layers  # pyright: ignore[reportUnknownVariableType]


def find_steps(
    env_id: str, observation_space: Space, takes: Space, statistics: dict[str, Any], frames: int
) -> Steps:
    """Find the preprocessing of the training from the environment's and the network's spaces.

    Args:
        env_id: The environment's id, for the message.
        observation_space: Observation space of the environment.
        takes: Space that the network takes.
        statistics: A ``normalize`` step; for a ``Dict`` space, one for each entry; or empty.
        frames: Length of the frame stack; 0 if the user did not give it.

    Raises:
        ConfigError: No known preprocessing leads from one space to the other; the message names both shapes.
    """
    found = _chain(observation_space, takes, statistics, frames)
    if found is None and "step" not in statistics:
        found = _entry_chains(observation_space, takes, statistics, frames)
    if found is not None:
        return found
    told = f" with {frames} frames" if frames else ""
    shapes = [statistics] if "step" in statistics else list(statistics.values())
    told += f" and statistics of shape {', '.join(map(_shape, shapes))}" if statistics else ""
    raise ConfigError(
        f"observations of {env_id} are {words_of(observation_space)}, but the policy takes "
        f"{words_of(takes)}{told}. Choose the policy's environment, or give the "
        "preprocessing of the training with --preprocess (and --frame-stack, --vecnormalize)"
    )


def _chain(observation_space: Space, takes: Space, statistics: dict[str, Any], frames: int) -> Steps | None:
    """Return the simplest chain of steps from one space to the other; ``None`` if there is none."""
    if statistics and "step" not in statistics:
        return None  # these statistics are for the entries of a Dict
    for steps in _ways(observation_space, takes, frames):
        for whole in _normalized(steps, statistics):
            try:
                input_space = gymnasium_spaces.describe(Pipeline(whole, observation_space).input_space)
            except PreprocessingError:
                continue
            if _fits(input_space, takes):
                return [dict(step) for step in check_steps(whole)]
    return None


def _entry_chains(
    observation_space: Space, takes: Space, statistics: dict[str, Any], frames: int
) -> Steps | None:
    """Find a chain for each entry of a ``Dict``, as the library's wrappers treat entries separately."""
    if {observation_space.kind, takes.kind} != {"Dict"}:
        return None
    seen, taken = observation_space.spaces, takes.spaces
    if not set(taken) <= set(seen):
        return None
    steps: Steps = [] if set(seen) == set(taken) else [{"step": "keep", "keys": list(taken)}]
    for key, child in taken.items():
        chain = _chain(seen[key], child, statistics.get(key, {}), frames)
        if chain is None or any(step["step"] == "select" for step in chain):
            return None
        steps += [{**step, "key": key} for step in chain]
    return [dict(step) for step in check_steps(steps)]


def _ways(observation_space: Space, takes: Space, frames: int) -> Iterator[Steps]:
    """Yield possible chains of steps, the simplest first."""
    starts: list[tuple[Steps, Space]] = [([], observation_space)]
    if observation_space.kind == "Dict":
        starts += [
            ([{"step": "select", "key": key}], child) for key, child in observation_space.spaces.items()
        ]
    for start, space in starts:
        turned: list[Steps] = [[]]
        if space.kind == "Box" and len(space.shape) == 3:
            turned.append([{"step": "transpose", "axes": [2, 0, 1]}])
        plain: Steps = [{"step": "flatten"}]
        for turn in turned:
            for stack in _stacks(_size(space), takes, frames):
                yield [*start, *turn, *stack]
        for stack in _stacks(_size(space), takes, frames):
            yield [*start, *plain, *stack]


def _stacks(numbers: int, takes: Space, frames: int) -> Iterator[Steps]:
    """Yield no frame stack, or one whose length the user gave or the sizes suggest.

    The library's stack starts an episode with zeros, and joins frames along the channels.
    """
    if frames <= 1:
        yield []
    if not frames and numbers and takes.kind == "Box" and _size(takes) % numbers == 0:
        frames = _size(takes) // numbers
    if frames > 1:
        yield [{"step": "frame_stack", "size": frames, "axis": 0, "padding": "zero"}]


def _normalized(steps: Steps, statistics: dict[str, Any]) -> Iterator[Steps]:
    """Yield the steps with VecNormalize's statistics at each place where they may belong."""
    if not statistics:
        yield steps
        return
    yield [*steps, statistics]
    if steps and steps[-1]["step"] == "frame_stack":
        yield [*steps[:-1], statistics, steps[-1]]


def _fits(input_space: Space, takes: Space) -> bool:
    if input_space.kind != takes.kind:
        return False
    if input_space.kind == "Dict":
        return input_space.spaces.keys() == takes.spaces.keys() and all(
            _fits(child, takes.spaces[key]) for key, child in input_space.spaces.items()
        )
    if input_space.kind == "Box" and (input_space.dtype == "uint8") != (takes.dtype == "uint8"):
        return False
    return input_space.shape == takes.shape and (input_space.n, input_space.start) == (takes.n, takes.start)


def _check_actions(env_id: str, action_space: Space, network: Space) -> None:
    if words_of(action_space) != words_of(network):
        raise ConfigError(
            f"{env_id} has actions of {words_of(action_space)}, but the policy's actions are "
            f"{words_of(network)}. Choose the policy's environment"
        )


def _size(space: Space) -> int:
    if space.kind == "Discrete":
        return space.n
    return math.prod(space.shape) if space.kind in ("Box", "MultiBinary") else 0


def _numbers(space: Space) -> int:
    return sum(1 if leaf.kind == "Discrete" else math.prod(leaf.shape) for _, leaf in space.leaves)


def _shape(statistics: dict[str, Any]) -> str:
    values, sizes = statistics["mean"], list[int]()
    while isinstance(values, list):
        sizes.append(len(values))  # pyright: ignore[reportUnknownArgumentType]
        values = values[0] if values else None  # pyright: ignore[reportUnknownVariableType]
    return str(tuple(sizes))


main = ImportMain(
    "sb3_worker",
    __doc__,
    "algorithm that the file must be of; other files are refused",
    bring,
    {
        "--vecnormalize": {"type": Path, "help": "file with statistics, written by VecNormalize.save"},
        "--describe": {"type": Path, "help": "JSON file with the layers of a custom features extractor"},
        "--frame-stack": {"type": int, "default": 0, "help": "number of frames of VecFrameStack"},
    },
)

if __name__ == "__main__":
    sys.exit(main())
