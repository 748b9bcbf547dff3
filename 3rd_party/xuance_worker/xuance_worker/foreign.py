"""Reads XuanCe's ``.pth`` and YAML files, which together describe a policy."""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import yaml
from torch import Tensor

from mosaic_worker.learning.importing import ImportRefused
from mosaic_worker.learning.torch_files import read_torch_file, weights_in
from mosaic_worker.learning.training_command import named
from mosaic_worker.plain_files import read_file
from mosaic_worker.playing.layers import parameter_shapes
from mosaic_worker.preprocessing import check_steps
from xuance_worker.algorithms import ALGORITHMS, Acting, Algorithm
from xuance_worker.convert import acting_weights
from xuance_worker.network import Network, PlayingNetwork
from xuance_worker.plan import Plan, plan_for

LARGEST = 1 << 30
_LARGEST_YAML = 1 << 20


def read_pth(file: Path) -> dict[str, Tensor]:
    """Read the weights in a ``.pth`` file of XuanCe, without running any code in it.

    Raises:
        ImportRefused: The file is not of that kind, or holds more than weights.
    """
    found: Any = read_torch_file(file, LARGEST)
    policy = cast("dict[Any, Any]", found).get("policy") if isinstance(found, dict) else None
    if not isinstance(policy, Mapping) or not policy:
        raise ImportRefused(f"{file} has no policy of XuanCe (save_model writes it under 'policy')")
    return weights_in(policy, f"the policy in {file}")


def read_config(file: Path | None, asked: str, env_id: str) -> tuple[Algorithm, dict[str, Any]]:
    """Return the algorithm of a training and the library's settings for it.

    Args:
        file: YAML file of the training; ``None`` for the library's own file.
        asked: Algorithm that the user names; empty to take it from the file.
        env_id: Id of the environment.

    Raises:
        ImportRefused: Algorithm or settings are unknown; the message says which option to give.
    """
    package = find_spec("xuance")
    folder = Path(str(package.origin)).parent / "configs" if package and package.origin else None
    if folder is None:
        raise ImportRefused("XuanCe is not installed here. Run: mosaic workers install xuance_worker")
    if file is None:
        if not asked:
            raise ImportRefused(
                "a .pth file does not name its algorithm; give --algorithm, or the training's --config"
            )
        algorithm = named(asked, ALGORITHMS)
        family = {"owqmix": "wqmix"}.get(algorithm.name, algorithm.name)
        name = env_id.rpartition("/")[2]
        file = next(iter(sorted((folder / family).glob(f"*/{name}.yaml"))), None)
        if file is None:
            raise ImportRefused(
                f"XuanCe has no default settings for {algorithm.name} in {env_id}; give --config, the "
                "YAML file with which it was trained"
            )
    told = {**_yaml(folder / "basic.yaml"), **_yaml(file)}
    said = str(told.get("agent") or asked).lower()
    if asked and said != asked.lower():
        raise ImportRefused(f"{file} is for {said}, not for {asked}")
    algorithm = named(said, ALGORITHMS)
    return algorithm, {**algorithm.fixed, **told, "agent": algorithm.title, "learner": algorithm.learner}


def _yaml(file: Path) -> dict[str, Any]:
    try:
        found: Any = yaml.safe_load(read_file(file, links=True, limit=_LARGEST_YAML))
    except OSError as error:
        raise ImportRefused(f"{file} cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, ValueError) as error:
        raise ImportRefused(f"{file} is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(found, dict):
        raise ImportRefused(f"{file} is not a mapping of settings")
    return {str(key): value for key, value in cast("dict[Any, Any]", found).items()}


def fitting_plan(
    algorithm: Algorithm, library_settings: Mapping[str, Any], env_id: str, steps: Any = None
) -> tuple[Plan, Acting]:
    """Return the plan that follows from the library's settings, and the acting part of the policy.

    Args:
        algorithm: Algorithm of the training.
        told: Settings of the library.
        env_id: Id of the environment.
        steps: Preprocessing of all agents; ``None`` for steps that turn observations into vectors.

    Raises:
        ConfigError: The environment cannot be made, or does not fit.
    """
    remembers = bool(library_settings.get("use_rnn"))
    given: dict[str, Any] = {
        "env_id": env_id,
        "use_parameter_sharing": bool(library_settings.get("use_parameter_sharing")),
        "use_rnn": remembers,
    }
    if remembers and "buffer_size" in algorithm.config_class.model_fields:
        given["buffer_size"] = 1000
    plan = plan_for(algorithm, algorithm.config_class(**given), None if steps is None else check_steps(steps))
    acting = algorithm.acting["continuous" if plan.bounded else "discrete"]
    if library_settings.get("policy") != acting.policy:
        kind = next(
            (k for k, a in algorithm.acting.items() if a.policy == library_settings.get("policy")), ""
        )
        does = next(iter(plan.does.values()))
        raise ImportRefused(
            f"it was trained with the policy {library_settings.get('policy')}"
            f"{f' for {kind} actions' if kind else ''}, "
            f"but agents of {env_id} have {does}"
        )
    if plan.bounded:
        # The library passes the numbers of an action to the environment unchanged.
        plan = dataclasses.replace(
            plan, bounded=str(library_settings.get("activation_action") or ""), scaled=False
        )
    return plan, acting


def check_weights(
    file: Path, weights: Mapping[str, Tensor], acting: Acting, plan: Plan, networks: Mapping[str, Network]
) -> None:
    """Check that a file has the acting networks of exactly these agents.

    Raises:
        ImportRefused: The file has other networks; the message names the agents or the weights.
    """
    starts = (f"{acting.representation}.", f"{acting.head}.")
    held = {name.split(".")[1] for name in weights if name.startswith(starts) and name.count(".") > 1}
    share = "one network for all agents" if plan.shared else "a network for each agent"
    if not held:
        raise ImportRefused(f"{file} has no weights under {' or '.join(starts)}: it is of another algorithm")
    if lacking := [key for key in plan.keys if key not in held]:
        raise ImportRefused(
            f"{file} has no network of {', '.join(lacking)} ({share}); it has {', '.join(sorted(held))}"
        )
    if strange := sorted(held - set(plan.keys)):
        raise ImportRefused(
            f"{file} has networks of {', '.join(strange)}, which {plan.env_id} does not have ({share})"
        )
    for key in plan.keys:
        own = acting_weights(acting, weights, key)
        wanted = parameter_shapes(partial(PlayingNetwork, networks[key]))
        for what, names in (
            ("lacks", wanted.keys() - own.keys()),
            ("has, unexpected,", own.keys() - wanted.keys()),
        ):
            if names:
                raise ImportRefused(
                    f"the network of {key} in {file} {what} {', '.join(sorted(names)[:3])}: it was trained "
                    "with other settings than those in --config"
                )
        for name, shape in wanted.items():
            if own[name].shape != shape:
                raise ImportRefused(
                    f"{name} of {key} in {file} has shape {tuple(own[name].shape)}, but {plan.env_id} "
                    f"needs {shape} ({plan.sizes[key]} observed numbers, {len(plan.agents)} "
                    "agents): it has another team size, observation or width"
                )
