"""Reads files of Stable-Baselines3 as data, without running any code in them.

The archive contains ``data`` (JSON, with pickles for values that JSON cannot represent), and tensors in
``*.pth``. Only pickles that describe the policy are read, as data; tensors are read with torch's
``weights_only``.
"""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import base64
import binascii
import io
import json
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from torch import Tensor

from mosaic_worker.archive_members import read_member
from mosaic_worker.failures import one_line
from mosaic_worker.learning.importing import ImportRefused, space_of
from mosaic_worker.learning.torch_files import read_torch, weights_in
from mosaic_worker.limits import memory_for
from mosaic_worker.plain_files import open_file, read_file
from mosaic_worker.unpickling import ClassName, Record, UnpicklingRefused, read_pickle
from sb3_worker.described import DESCRIBED, renamed
from sb3_worker.library_network import ACTIVATIONS, FEATURES
from sb3_worker.network import OPTIONS, Network

LARGEST = 512 << 20
"""Largest size of a file's weights, in bytes."""
_DATA = 16 << 20
"""Largest size of a file's JSON, and of observation statistics, in bytes."""

_LIBRARIES = ("stable_baselines3.", "sb3_contrib.")
_SPACES = (
    "gymnasium.spaces.",
    "gym.spaces.",
    "gym.utils.seeding.RandomNumberGenerator",
    "numpy.random.",
)
_FAMILIES = {
    "stable_baselines3.common.policies": "actor_critic",
    "sb3_contrib.common.maskable.policies": "maskable_actor_critic",
    "sb3_contrib.common.recurrent.policies": "recurrent_actor_critic",
    "stable_baselines3.dqn.policies": "dqn",
    "sb3_contrib.qrdqn.policies": "qrdqn",
    "stable_baselines3.sac.policies": "sac",
    "stable_baselines3.td3.policies": "td3",
    "sb3_contrib.tqc.policies": "tqc",
}
_TRAINING_ONLY = ("optimizer_class", "optimizer_kwargs", "ortho_init", "device", "use_feature_extractor")
_CLASS = re.compile(r"<class '(.{1,200})'>")
_BY_CLASS = {cls.__name__: name for names in (FEATURES, ACTIVATIONS) for name, cls in names.items()}


@dataclass(frozen=True)
class SavedModel:
    """Content of a saved file.

    Attributes:
        algorithm: Name of the algorithm in this worker.
        network: Description of the network.
        weights: Weights of the policy, by the library's names.
        seed: Seed of the training; 0 if none was given.
        total_steps: Number of trained steps.
        config: Plain settings of the training.
        versions: Version of the library that wrote the file.
    """

    algorithm: str
    network: Network
    weights: Mapping[str, Tensor]
    seed: int
    total_steps: int
    config: Mapping[str, Any]
    versions: Mapping[str, str]


def read_zip(path: Path, layers: Sequence[Any] = ()) -> SavedModel:
    """Read a file that ``model.save`` wrote.

    Args:
        path: The file.
        layers: Layers of the features extractor, if that is the user's own.

    Raises:
        ImportRefused: The file is not of that kind, damaged, malicious, or needs its own code to be played.
    """
    try:
        with memory_for(path):
            return _read(_members(path), layers)
    except MemoryError:
        raise ImportRefused(f"{path} requires more memory than a file of its size may use") from None


def _read(members: Mapping[str, bytes], layers: Sequence[Any]) -> SavedModel:
    data = _json(members["data"])
    policy_class = _named(data, "policy_class", _LIBRARIES)
    module, _, name = str(policy_class).rpartition(".")
    family = _FAMILIES.get(module)
    if family is None:
        raise ImportRefused(f"its policy is a {policy_class}, which this worker cannot play")
    extractor = _own_extractor(data)
    if extractor and not layers:
        raise ImportRefused(
            f"its features extractor is {extractor}, a custom class. Describe its layers with --describe"
        )
    known = (*_LIBRARIES, "torch.nn.modules.", "torch.optim.", "torch.device")
    arguments = _mirrored(data) if extractor else _named(data, "policy_kwargs", known)
    network = _network(family, name, arguments, data, layers)
    try:
        network.check()
    except ValueError as error:
        raise ImportRefused(f"{error}; only the library's own networks can be imported") from error
    version = members.get("_stable_baselines3_version", b"").decode("ascii", "replace").strip()
    return SavedModel(
        algorithm=_algorithm(family, data),
        network=network,
        weights=renamed(_weights(members["policy.pth"]), layers),
        seed=_count_or_zero(data.get("seed")),
        total_steps=_count_or_zero(data.get("num_timesteps")),
        config={k: v for k, v in data.items() if isinstance(v, bool | int | float | str) and k[0] != "_"},
        versions={"stable_baselines3": version},
    )


def read_statistics(path: Path) -> dict[str, Any]:
    """Read a pickled ``VecNormalize`` as a ``normalize`` step.

    Returns:
        The step; empty if only rewards are normalized. For a ``Dict``, a step for each entry.

    Raises:
        ImportRefused: The file is no ``VecNormalize``, damaged or malicious.
    """
    name = "stable_baselines3.common.vec_env.vec_normalize.VecNormalize"
    try:
        found = read_pickle(read_file(path, links=True, limit=_DATA), (*_LIBRARIES, *_SPACES))
        if not isinstance(found, Record) or found.name != name:
            raise ImportRefused(
                f"{path} contains no VecNormalize. Give the file that VecNormalize.save wrote"
            )
        if not found.state.get("norm_obs", True):
            return {}
        statistics = found.state["obs_rms"]
        about = {"epsilon": float(found.state["epsilon"]), "clip": float(found.state["clip_obs"])}
        if isinstance(statistics, dict):
            by_entry = cast("dict[str, Any]", statistics)
            return {str(key): _normalize(path, each, about) for key, each in by_entry.items()}
        return _normalize(path, statistics, about)
    except UnpicklingRefused as error:
        raise ImportRefused(f"{path} is refused: {error}") from error
    except OSError as error:
        raise ImportRefused(f"{path} cannot be read: {error.strerror}") from error
    except (KeyError, AttributeError, TypeError) as error:
        raise ImportRefused(f"{path} contains no usable VecNormalize ({one_line(error)})") from error


def _normalize(path: Path, statistics: Any, about: Mapping[str, float]) -> dict[str, Any]:
    mean, var = (np.asarray(statistics.state[key], np.float64) for key in ("mean", "var"))
    if mean.shape != var.shape or not (np.isfinite(mean).all() and (var >= 0).all()):
        raise ImportRefused(f"{path} contains no usable statistics")
    return {"step": "normalize", "mean": mean.tolist(), "var": var.tolist(), **about}


# -- the archive -------------------------------------------------------------------------


def _members(path: Path) -> dict[str, bytes]:
    wanted = ("data", "policy.pth", "_stable_baselines3_version")
    try:
        with open_file(path, links=True) as file, zipfile.ZipFile(file) as archive:
            sizes = {info.filename: info.file_size for info in archive.infolist()}
            for name in wanted[:2]:
                if name not in sizes:
                    raise ImportRefused(f"{path} is not what model.save writes: it has no member {name!r}")
            most = {"policy.pth": LARGEST}
            return {
                name: read_member(archive, name, most.get(name, _DATA)) for name in wanted if name in sizes
            }
    except (ImportRefused, MemoryError):
        raise
    except OSError as error:
        raise ImportRefused(f"{path} cannot be read: {error.strerror or error}") from error
    except Exception as error:  # a damaged archive may cause any exception
        raise ImportRefused(
            f"{path} is not a complete zip file ({one_line(error)}). Copy it again"
        ) from error


def _json(raw: bytes) -> dict[str, Any]:
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise ImportRefused(f"its member 'data' is not JSON ({one_line(error)})") from error
    if not isinstance(data, dict):
        raise ImportRefused("its member 'data' is not a JSON object")
    return cast("dict[str, Any]", data)


def _named(data: Mapping[str, Any], key: str, classes: tuple[str, ...]) -> Any:
    """Return a member of ``data``: plain, or read as data from its pickle."""
    if key not in data:
        raise ImportRefused(f"its member 'data' has no {key}")
    value = data[key]
    if not isinstance(value, dict) or ":serialized:" not in value:
        return value
    try:
        return read_pickle(base64.b64decode(value[":serialized:"], validate=True), classes)
    except (binascii.Error, TypeError, ValueError) as error:
        raise ImportRefused(f"its {key} is refused: {one_line(error)}") from error


def _weights(raw: bytes) -> dict[str, Tensor]:
    """Return the tensors of the member that ``torch.save`` wrote."""
    return weights_in(read_torch(io.BytesIO(raw), len(raw), "its policy.pth"), "its policy.pth")


# -- content ------------------------------------------------------------------------


def _own_extractor(data: Mapping[str, Any]) -> str:
    """Return the class name of a features extractor that is not the library's; else ``""``.

    ``data`` contains each entry of ``policy_kwargs`` both as a pickle and as readable text.
    """
    kwargs = data.get("policy_kwargs")
    said = (
        cast("dict[str, Any]", kwargs).get("features_extractor_class") if isinstance(kwargs, dict) else None
    )
    found = _CLASS.fullmatch(said) if isinstance(said, str) else None
    name = found.group(1) if found else ""
    return "" if name.startswith(_LIBRARIES) else name.removeprefix("__main__.")


def _mirrored(data: Mapping[str, Any]) -> dict[str, Any]:
    """Read ``policy_kwargs`` from the texts beside its pickle, which needs the author's own code."""
    own = ("features_extractor_class", "features_extractor_kwargs")
    found: dict[str, Any] = {}
    for key, value in cast("dict[str, Any]", data["policy_kwargs"]).items():
        if key[:1] != ":" and key not in own:
            named = _CLASS.fullmatch(value) if isinstance(value, str) else None
            found[key] = ClassName(named.group(1)) if named else value
    return found


def _network(
    family: str, policy: str, arguments: Any, data: Mapping[str, Any], layers: Sequence[Any]
) -> Network:
    if not isinstance(arguments, dict):
        raise ImportRefused("its policy_kwargs are not settings")
    given = {k: v for k, v in cast("dict[str, Any]", arguments).items() if k not in _TRAINING_ONLY}
    features = "nature_cnn" if "Cnn" in policy else "combined" if "MultiInput" in policy else "flatten"
    features = _class_name(given.pop("features_extractor_class", features), FEATURES, "features extractor")
    features = DESCRIBED if layers else features
    activation = _class_name(given.pop("activation_fn", ""), ACTIVATIONS, "activation")
    options = {**given, **_extractor(given.pop("features_extractor_kwargs", None))}
    options.pop("features_extractor_kwargs", None)
    net_arch = options.pop("net_arch", None)
    if isinstance(net_arch, list) and net_arch and isinstance(net_arch[0], dict):
        net_arch = cast("list[Any]", net_arch)[0]  # the format of versions before 1.8
    if options.pop("lstm_kwargs", None):
        raise ImportRefused("its policy_kwargs contain lstm_kwargs, which cannot be imported")
    if data.get("use_sde") is True:
        options["use_sde"] = True
    for name in options:
        if name not in OPTIONS:
            raise ImportRefused(
                f"its policy_kwargs contain {name!r}, which is not a plain setting of the library"
            )
    return Network(
        family=family,
        observation_space=space_of(_named(data, "observation_space", _SPACES), "observation space"),
        action_space=space_of(_named(data, "action_space", _SPACES), "action space"),
        features=features,
        activation=activation,
        net_arch=net_arch,
        options=options,
        exploration=_share(data.get("exploration_rate")),
        layers=list(layers),
    )


def _extractor(given: Any) -> dict[str, Any]:
    settings = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    # The treatment of already scaled images follows from normalize_images.
    return {key: value for key, value in settings.items() if key not in ("normalized_image", "device")}


def _class_name(given: Any, known: Mapping[str, Any], what: str) -> str:
    if isinstance(given, str) and (given == "" or given in known):
        return str(given)
    name = _BY_CLASS.get(str(given).rpartition(".")[2]) if isinstance(given, ClassName) else None
    if name not in known:
        raise ImportRefused(
            f"its {what} is {str(given)[:80]}, which is not one of the library's: {', '.join(known)}"
        )
    return str(name)


def _algorithm(family: str, data: Mapping[str, Any]) -> str:
    if family == "actor_critic":
        marks = (("cg_max_steps", "trpo"), ("clip_range", "ppo"))
        return next((name for key, name in marks if key in data), "a2c")
    if family == "td3":
        return "ddpg" if data.get("policy_delay") == 1 and data.get("target_noise_clip") == 0 else "td3"
    names = {"maskable_actor_critic": "maskable_ppo", "recurrent_actor_critic": "recurrent_ppo"}
    return names.get(family, family)


def _count_or_zero(value: Any) -> int:
    return value if type(value) is int and value >= 0 else 0


def _share(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and 0 <= value <= 1 else 0.0
