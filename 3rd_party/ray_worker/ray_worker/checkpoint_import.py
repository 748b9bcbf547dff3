"""Imports a checkpoint of RLlib as a policy, after checking that both act equally."""

# Ray is not among the packages that the checks install, and torch is typed only in part.

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import importlib
import itertools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import safetensors.torch
import torch
from gymnasium import spaces
from gymnasium.spaces.utils import flatten_space
from numpy.typing import NDArray

from mosaic_worker.checkpoint import PolicyDescription, PolicyPart, save_checkpoint
from mosaic_worker.failures import one_line
from mosaic_worker.gymnasium_spaces import build, describe
from mosaic_worker.learning.importing import ImportRefused, json_of
from mosaic_worker.learning.joint_env import make_parallel
from mosaic_worker.learning.torch_weights import arrays_of
from mosaic_worker.learning.training_command import ConfigError
from mosaic_worker.learning.training_report import moment
from mosaic_worker.limits import memory_for
from mosaic_worker.playing.full_batches import BATCH
from mosaic_worker.playing.joint_policy import JointPolicy
from mosaic_worker.preprocessing import Pipeline, PreprocessingError, check_steps
from ray_worker import cluster
from ray_worker.checkpoint_files import SavedCheckpoint, SavedModule, read_checkpoint_folder
from ray_worker.connectors import as_arrays, encode_arrays, normalize_step
from ray_worker.convert import MODULES, Converted, NotConvertible, convert
from ray_worker.environments import (
    check_actions,
    from_zero,
    is_joint,
    make_environment,
    starts_of,
)
from ray_worker.policy import WORKER, Policy
from ray_worker.settings import network_of

OBSERVATIONS = 1000
"""Number of observations on which both must choose the same actions."""
SEEDS = tuple(range(10_000, 10_020))
"""Seeds of the episodes whose returns are compared."""
_MOST_STEPS = 5_000
_LONGEST_S, _LEAST = 100.0, 5
_INPUT = "input_observation_space"
_CLASSES = {
    "ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module.DefaultPPOTorchRLModule",
    "ray.rllib.algorithms.appo.torch.default_appo_torch_rl_module.DefaultAPPOTorchRLModule",
    "ray.rllib.algorithms.dqn.torch.default_dqn_torch_rl_module.DefaultDQNTorchRLModule",
    "ray.rllib.algorithms.sac.torch.default_sac_torch_rl_module.DefaultSACTorchRLModule",
}
Observe = Callable[[Any], NDArray[np.float32]]


class Player:
    """RLlib's own network and connectors, which choose actions without exploration.

    Args:
        module: Module of RLlib.
        observe: Function that processes an observation as its connectors do.
        action_space: Gymnasium space of the environment's actions.
        scaling: Processing of its actions by connectors: ``unsquash`` or ``clip``.
    """

    def __init__(self, module: Any, observe: Observe, action_space: Any, scaling: str) -> None:
        self._module, self._observe, self._space, self._scaling = module, observe, action_space, scaling

    def actions(self, observations: Sequence[Any]) -> list[Any]:
        """Return its action for each observation, as the environment takes it."""
        found: list[Any] = []
        for i in range(0, len(observations), BATCH):
            seen = np.stack([self._observe(each) for each in observations[i : i + BATCH]])
            rows = np.zeros((BATCH, *seen.shape[1:]), np.float32)
            rows[: len(seen)] = seen
            found += list(self._decide(torch.from_numpy(rows))[: len(seen)])
        return found

    def _decide(self, rows: torch.Tensor) -> Any:
        from ray.rllib.utils.spaces.space_utils import clip_action, unsquash_action

        with torch.no_grad():
            out = self._module.forward_inference({"obs": rows})
        if "actions" in out:
            chosen = out["actions"]
        else:
            kind = self._module.get_inference_action_dist_cls()
            drawn_from = kind.from_logits(out["action_dist_inputs"])
            if hasattr(drawn_from, "_squash"):
                # Its to_deterministic omits the squashing, so that its result is not an action that was
                # learned.
                chosen = drawn_from._squash(drawn_from.loc)
            else:
                chosen = drawn_from.to_deterministic().sample()
        numbers = torch.as_tensor(chosen).numpy()
        if hasattr(self._space, "low"):
            change = unsquash_action if self._scaling == "unsquash" else clip_action
            return [change(each, self._space) for each in numbers]
        return numbers + starts_of(self._space)


def import_checkpoint(args: argparse.Namespace) -> PolicyDescription:
    """Read a checkpoint, convert it, compare both policies and write the new one.

    Raises:
        ConfigError: The environment cannot be made, or does not fit.
        ImportRefused: The checkpoint cannot be imported.
        OSError: The folder cannot be written.
    """
    cluster.quiet()
    torch.set_num_threads(1)
    try:
        with memory_for(args.file):
            saved = read_checkpoint_folder(args.file)
    except MemoryError:
        raise ImportRefused(f"{args.file} requires more memory than files of its size may use") from None
    algorithm = _algorithm(saved)
    if args.algorithm and args.algorithm.lower() != algorithm:
        raise ImportRefused(f"{args.file} has a policy of {algorithm}, not of {args.algorithm}")
    steps = check_steps(json_of(args.preprocess, "--preprocess")) if args.preprocess else None
    seats = _seats(args.env_id, saved, args.mapping)
    joint = len(seats) > 1 or is_joint(args.env_id)
    modules = {name: _rebuilt(saved.modules[name]) for name in dict.fromkeys(n for n, _, _ in seats.values())}
    parts: list[PolicyPart] = []
    weights: dict[str, torch.Tensor] = {}
    players: dict[str, Player] = {}
    for agent, (name, sees, does) in seats.items():
        module = saved.modules[name]
        _check_spaces(args.env_id, agent, module, does)
        own = _steps(saved, module, sees, agent if joint else None, args.env_id) if steps is None else steps
        try:
            converted = convert(modules[name], from_zero(does), scaling=saved.scaling)
        except NotConvertible as error:
            raise ImportRefused(f"{name} cannot be converted: {error}") from error
        prefix = f"{name}." if joint else ""
        weights |= {prefix + n: tensor for n, tensor in converted.weights.items()}
        parts.append(_part(agent, sees, does, own, converted, prefix))
        observe = _observer(saved, sees, agent if joint else None) if steps is None else _piped(own, sees)
        players[agent] = Player(modules[name], observe, does, saved.scaling)
    description = PolicyDescription.joint(
        parts,
        worker=WORKER,
        algorithm=algorithm,
        env_id=args.env_id,
        versions={"ray": saved.version} if saved.version else {},
        trained_at=moment(args.file.stat().st_mtime),
        licence=args.licence,
        origin={
            "kind": "imported",
            "file": args.file.name,
            "sha256": saved.sha256,
            "format": "rllib_checkpoint",
        },
    )
    compare(Policy.whole(description, arrays_of(weights)), players, args.env_id)
    return save_checkpoint(args.out, description, safetensors.torch.save(weights))


def _algorithm(saved: SavedCheckpoint) -> str:
    told = saved.algorithm.rpartition(".")[2].lower()
    if told in MODULES.values():
        return told
    kinds = {module.class_name.rpartition(".")[2] for module in saved.modules.values()}
    for kind in kinds:
        if kind not in MODULES:
            raise ImportRefused(
                f"its network is a {kind}, but only RLlib's own can be imported: {', '.join(MODULES)}"
            )
    return MODULES[sorted(kinds)[0]]


def _seats(env_id: str, saved: SavedCheckpoint, mapping: str) -> dict[str, tuple[str, Any, Any]]:
    """Return network, observation space and action space of each agent."""
    if not is_joint(env_id):
        if len(saved.modules) != 1:
            raise ImportRefused(
                f"it has networks for several agents ({', '.join(saved.modules)}), but {env_id} has one. "
                "Name the "
                "folder of one of them, or the environment they were trained in"
            )
        with contextlib.closing(make_environment(env_id)) as env:
            return {"agent_0": (next(iter(saved.modules)), env.observation_space, env.action_space)}
    with contextlib.closing(make_parallel(env_id)) as parallel:
        found: dict[str, tuple[str, Any, Any]] = {}
        for agent in parallel.possible_agents:
            only = next(iter(saved.modules)) if len(saved.modules) == 1 else ""
            name = network_of(mapping, agent) or (agent if agent in saved.modules else only)
            if name not in saved.modules:
                raise ImportRefused(
                    f"the network of {agent} is not known. Add --mapping {agent}=NETWORK, with one of "
                    f"{', '.join(saved.modules)}"
                )
            found[agent] = (name, parallel.observation_space(agent), parallel.action_space(agent))
        return found


def _rebuilt(saved: SavedModule) -> Any:
    """Rebuild RLlib's own network with its weights.

    Raises:
        ImportRefused: The class is not RLlib's own, or the weights do not fit; the message names the keys.
    """
    if saved.class_name not in _CLASSES:
        known = ", ".join(MODULES)
        raise ImportRefused(
            f"{saved.name} is a {saved.class_name}, but only RLlib's own networks can be imported: {known}"
        )
    module_name, _, class_name = saved.class_name.rpartition(".")
    kind = getattr(importlib.import_module(module_name), class_name)
    try:
        module = kind(
            observation_space=build(saved.observation_space),
            action_space=build(saved.action_space),
            inference_only=saved.inference_only,
            model_config=_whole_config(saved),
        )
    except Exception as error:  # RLlib raises various errors for invalid settings
        raise ImportRefused(f"{saved.name} cannot be built from its settings: {one_line(error)}") from error
    if hasattr(module, "make_target_networks") and not saved.inference_only:
        module.make_target_networks()
    wanted = {name: tuple(np.shape(value)) for name, value in module.get_state(inference_only=False).items()}
    found = {name: tuple(value.shape) for name, value in saved.weights.items()}
    if wrong := [key for key in sorted({**wanted, **found}) if wanted.get(key) != found.get(key)]:
        words = [f"{key} (has {found.get(key)}, needs {wanted.get(key)})" for key in wrong[:4]]
        more = f" and {len(wrong) - 4} more" if len(wrong) > 4 else ""
        raise ImportRefused(f"the weights of {saved.name} do not fit its settings: {', '.join(words)}{more}")
    if not all(np.isfinite(value).all() for value in saved.weights.values()):
        raise ImportRefused(f"the weights of {saved.name} contain numbers that are not finite")
    module.set_state(dict(saved.weights))
    module.eval()
    return module


def _whole_config(saved: SavedModule) -> dict[str, Any]:
    """Return all settings of the layers; a checkpoint holds only those that differ from RLlib's defaults."""
    from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig

    told = dict(saved.model_config)
    defaults = dataclasses.asdict(DefaultModelConfig())
    return {**defaults, **told}


def _check_spaces(env_id: str, agent: str, module: SavedModule, does: Any) -> None:
    check_actions(env_id, does)
    ours, theirs = describe(from_zero(does)), module.action_space
    if (ours.kind, ours.n, ours.shape) != (theirs.kind, theirs.n, theirs.shape) or (
        ours.nvec is not None and not np.array_equal(np.asarray(ours.nvec), np.asarray(theirs.nvec))
    ):
        raise ConfigError(
            f"{agent} of {env_id} has the actions {does}, but {module.name} has {build(theirs)}. Choose the "
            "environment of its training"
        )


def _steps(
    saved: SavedCheckpoint, module: SavedModule, sees: Any, agent: str | None, env_id: str
) -> list[dict[str, Any]]:
    """Return the preprocessing steps from the slot's observation to the network's input."""
    steps: list[dict[str, Any]] = []
    takes = build(module.observation_space)
    if saved.flattens or (not saved.known and getattr(sees, "shape", None) != takes.shape):
        steps.append({"step": "flatten"})
    try:
        if saved.filters is not None:
            steps.append(normalize_step(saved.filters, agent))
        shown = Pipeline(steps, sees).input_space
    except (PreprocessingError, KeyError, ValueError) as error:
        raise ConfigError(f"observations of {env_id} cannot be prepared: {one_line(error)}") from error
    if shown.shape != takes.shape:
        raise ConfigError(
            f"observations of {env_id} are {sees}, but {module.name} takes {takes}. Choose its "
            "environment, or give "
            "the preprocessing of the training with --preprocess"
        )
    return check_steps(steps)


def _observer(saved: SavedCheckpoint, sees: Any, agent: str | None) -> Observe:
    """Return a function that processes an observation as RLlib's own connectors do."""
    from ray.rllib.utils.numpy import flatten_inputs_to_1d_tensor
    from ray.rllib.utils.spaces.space_utils import get_base_struct_from_space

    structure = get_base_struct_from_space(sees)
    plain = hasattr(sees, "low") and not saved.flattens
    normalize = _filter(saved, sees, agent)

    def observe(seen: Any) -> NDArray[np.float32]:
        flat = seen if plain else flatten_inputs_to_1d_tensor(seen, structure, batch_axis=False)
        found = np.asarray(flat)
        if found.shape != getattr(sees, "shape", None) and plain:
            found = found.reshape(-1)
        return np.asarray(normalize(found), np.float32)

    return observe


def _filter(saved: SavedCheckpoint, sees: Any, agent: str | None) -> Callable[[Any], Any]:
    if saved.filters is None:
        return _as_it_is
    from ray.rllib.connectors.env_to_module import MeanStdFilter

    shown: Any = flatten_space(sees) if saved.flattens else sees
    found = MeanStdFilter(multi_agent=agent is not None)
    # Set after construction, because RLlib 2.60 would otherwise use its clipping before it is set.
    setattr(found, _INPUT, shown if agent is None else spaces.Dict({agent: shown}))
    # RLlib's reader of a state would run pickles in arrays, so it gets a state without pickles.
    found.set_state(encode_arrays(as_arrays({agent: saved.filters[agent]})))

    def normalized(seen: Any) -> Any:
        return found._filters[agent](seen, update=False)

    return normalized


def _as_it_is(seen: Any) -> Any:
    return seen


def _piped(steps: Sequence[Mapping[str, Any]], sees: Any) -> Observe:
    stream = Pipeline(steps, sees).stream()

    def observe(seen: Any) -> NDArray[np.float32]:
        return np.asarray(stream.apply(seen), np.float32)

    return observe


def _part(
    agent: str, sees: Any, does: Any, steps: Sequence[Mapping[str, Any]], module: Converted, prefix: str
) -> PolicyPart:
    given, shown = describe(sees), describe(Pipeline(steps, sees).input_space)
    return PolicyPart(
        (agent,),
        given,
        describe(does),
        module.network.to_json(),
        tuple(steps),
        None if shown == given else shown,
        prefix,
    )


# -- comparison --------------------------------------------------------------------


def compare(policy: Policy | JointPolicy[Policy], players: Mapping[str, Player], env_id: str) -> None:
    """Check that a converted policy acts as RLlib's own policy does.

    Args:
        policy: The converted policy.
        players: RLlib's players, by agent.
        env_id: Environment in which both play.

    Raises:
        ImportRefused: The policies differ in an action or in their returns.
    """
    about = policy.description
    parts = {agent: policy if isinstance(policy, Policy) else policy.policies[agent] for agent in players}
    pipelines = {
        agent: Pipeline(about.part_of(agent).preprocessing, about.part_of(agent).observation_space)
        for agent in players
    }
    met = _met(env_id, players)
    for agent, seen in met.items():
        shown: list[Any] = []
        for each in seen:
            shown.append(pipelines[agent].stream().apply(each))
        ours = parts[agent].choose(np.stack([np.asarray(each) for each in shown])).actions
        theirs = np.stack([np.asarray(each) for each in players[agent].actions(seen)])
        same = np.isclose(ours, theirs, rtol=1e-5, atol=1e-6).reshape(len(seen), -1).all(axis=1)
        if not same.all():
            at = int(np.flatnonzero(~same)[0])
            raise ImportRefused(
                f"the converted policy of {agent} differs from RLlib's on {int((~same).sum())} of "
                f"{len(seen)} "
                f"observations; on the first it chooses {np.asarray(ours[at]).tolist()}, RLlib "
                f"{np.asarray(theirs[at]).tolist()}"
            )
    _compare_returns(parts, pipelines, players, env_id)


class _Table:
    """An environment with one or several agents, with one interface for both cases."""

    def __init__(self, env_id: str, agents: Sequence[str]) -> None:
        self._one = None if is_joint(env_id) else make_environment(env_id)
        self._several = None if self._one is not None else make_parallel(env_id)
        self._agents = list(agents)

    def reset(self, seed: int) -> dict[str, Any]:
        """Start an episode; return the first observation of each acting agent."""
        if self._one is not None:
            return {self._agents[0]: self._one.reset(seed=seed)[0]}
        assert self._several is not None
        return self._acting(self._several.reset(seed=seed)[0])

    def step(self, actions: Mapping[str, Any]) -> tuple[dict[str, Any], float]:
        """Do one step; return the observations of agents that act next (none at the end) and the sum of
        rewards.
        """
        if self._one is not None:
            seen, reward, terminated, truncated, _ = self._one.step(actions[self._agents[0]])
            return {} if terminated or truncated else {self._agents[0]: seen}, float(reward)
        assert self._several is not None
        seen, rewards, *_ = self._several.step({agent: actions[agent] for agent in self._several.agents})
        return self._acting(seen), float(sum(rewards.values()))

    def sample(self, agent: str) -> Any:
        """Draw a random action of an agent."""
        if self._one is not None:
            return self._one.action_space.sample()
        assert self._several is not None
        return self._several.action_space(agent).sample()

    def seed(self, seed: int) -> None:
        """Seed the random actions."""
        for agent in self._agents:
            space = self._one.action_space if self._one is not None else self._several.action_space(agent)  # pyright: ignore[reportOptionalMemberAccess]
            space.seed(seed)

    def close(self) -> None:
        """Close the environment."""
        env: Any = self._one if self._one is not None else self._several
        env.close()

    def _acting(self, seen: Mapping[str, Any]) -> dict[str, Any]:
        assert self._several is not None
        return {agent: each for agent, each in seen.items() if agent in self._several.agents}


def _met(env_id: str, players: Mapping[str, Player]) -> dict[str, list[Any]]:
    """Collect observations of each agent; every second step takes RLlib's own actions, the others random
    ones.
    """
    found: dict[str, list[Any]] = {agent: [] for agent in players}
    with contextlib.closing(_Table(env_id, list(players))) as table:
        table.seed(0)
        steps = 0
        for seed in itertools.count(20_000):
            seen = table.reset(seed)
            while seen and steps < 20 * OBSERVATIONS:
                for agent, each in seen.items():
                    found[agent].append(each)
                led = steps % 2 == 0
                seen, _ = table.step(
                    {
                        agent: players[agent].actions([each])[0] if led else table.sample(agent)
                        for agent, each in seen.items()
                    }
                )
                steps += 1
                if min(map(len, found.values())) >= OBSERVATIONS:
                    return {agent: each[:OBSERVATIONS] for agent, each in found.items()}
            if steps >= 20 * OBSERVATIONS:
                return {agent: each[:OBSERVATIONS] for agent, each in found.items() if each}
    raise AssertionError("counting does not end")


def _compare_returns(
    parts: Mapping[str, Policy], pipelines: Mapping[str, Pipeline], players: Mapping[str, Player], env_id: str
) -> None:
    """Check that mean returns are equal, within the interval of the paired differences of episodes."""

    def ours() -> Callable[[str, Any], Any]:
        streams = {agent: pipeline.stream() for agent, pipeline in pipelines.items()}
        return lambda agent, seen: (
            parts[agent].choose(np.asarray(streams[agent].apply(seen))[None]).actions[0]
        )

    def theirs() -> Callable[[str, Any], Any]:
        return lambda agent, seen: players[agent].actions([seen])[0]

    began, differences = time.monotonic(), list[float]()
    with contextlib.closing(_Table(env_id, list(players))) as table:
        for seed in SEEDS:
            differences.append(_earned(table, seed, ours()) - _earned(table, seed, theirs()))
            if time.monotonic() - began > _LONGEST_S and len(differences) >= _LEAST:
                break
    mean, count = float(np.mean(differences)), len(differences)
    half = 1.96 * float(np.std(differences, ddof=1)) / math.sqrt(count)
    if abs(mean) > half + 1e-9:
        raise ImportRefused(
            f"the return of the converted policy in {env_id} differs by {mean:+.3g} ± {half:.2g} "
            f"from RLlib's own, on {count} seeds"
        )


def _earned(table: _Table, seed: int, decide: Callable[[str, Any], Any]) -> float:
    seen, total = table.reset(seed), 0.0
    for _ in range(_MOST_STEPS):
        if not seen:
            break
        seen, reward = table.step({agent: decide(agent, each) for agent, each in seen.items()})
        total += reward
    return total
