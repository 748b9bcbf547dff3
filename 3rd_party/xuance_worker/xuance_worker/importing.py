"""Imports a policy of XuanCe: ``python -m xuance_worker.importing FILE.pth --env-id E --out DIR``.

FILE was written by ``save_model`` of XuanCe's teams. It contains only weights; ``--config``, the YAML file of
the training, describes the networks, or by default the library's own file for the algorithm and environment.
The policy is imported only if it acts as the library does, on 1,000 observations and in whole episodes.

One JSON line reports what was written. Exit status 0: imported. 2: refused, with the reason on one line.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from mosaic_worker.checkpoint import PolicyDescription, save_checkpoint
from mosaic_worker.learning.importing import ImportMain, ImportRefused, json_of, origin_of
from mosaic_worker.learning.training_report import moment


def bring(args: argparse.Namespace) -> PolicyDescription:
    """Read a policy's file, check it against the environment and the library, and write it as a checkpoint.

    Raises:
        ConfigError: The environment cannot be made, or does not fit.
        ImportRefused: The file cannot be imported.
        OSError: The folder cannot be written.
    """
    import safetensors.torch

    from mosaic_worker.learning.torch_weights import arrays_of
    from xuance_worker.convert import network_of, playing_weights
    from xuance_worker.equivalence_check import check_equivalence
    from xuance_worker.foreign import (
        LARGEST,
        check_weights,
        fitting_plan,
        read_config,
        read_pth,
    )
    from xuance_worker.loading import load_library
    from xuance_worker.policy import WORKER, Policy

    weights = read_pth(args.file)
    steps = json_of(args.preprocess, "--preprocess") if args.preprocess else None
    algorithm, told = read_config(args.config, args.algorithm, args.env_id)
    plan, acting = fitting_plan(algorithm, told, args.env_id, steps)
    try:
        networks = {key: network_of(acting, told, plan, key) for key in plan.keys}
    except (ValueError, KeyError, TypeError) as error:
        raise ImportRefused(f"the networks of {args.file} cannot be built by this worker: {error}") from error
    check_weights(args.file, weights, acting, plan, networks)
    # Imported after the cheap checks, because the library takes seconds to import.
    library = load_library()
    told = {
        **told,
        **library.surroundings("cpu"),
        "use_actions_mask": plan.masks and algorithm.masks,
        "parallels": 1,
        "vectorize": "DummyVecMultiAgentEnv",
        "episode_length": plan.limit,
    }
    agents = library.make_agents(told, plan, learns=False)
    agents.train_envs.close()
    agents.policy.load_state_dict(
        {k: v for k, v in weights.items() if k.startswith((f"{acting.representation}.", f"{acting.head}."))},
        strict=False,
    )
    description = PolicyDescription.joint(
        [plan.part(agent, networks[plan.key_of(agent)], None) for agent in plan.agents],
        worker=WORKER,
        algorithm=algorithm.name,
        env_id=args.env_id,
        seed=int(told.get("seed") or 0),
        config={k: v for k, v in told.items() if isinstance(v, (str, int, float, bool, list, type(None)))},
        versions={"xuance": library.VERSION},
        trained_at=moment(args.file.stat().st_mtime),
        licence=args.licence,
        origin=origin_of(args.file, "xuance_pth", LARGEST),
    )
    playing = playing_weights(acting, weights, plan)
    ours = Policy.whole(description, arrays_of(playing))
    check_equivalence(library.Player(agents, algorithm, plan), ours, plan)
    return save_checkpoint(args.out, description, safetensors.torch.save(playing))


main = ImportMain(
    "xuance_worker",
    __doc__,
    "algorithm, such as mappo or qmix; by default the one in --config",
    bring,
    {
        "--config": {"type": Path, "help": "YAML file of the training with XuanCe"},
    },
)

if __name__ == "__main__":
    sys.exit(main())
