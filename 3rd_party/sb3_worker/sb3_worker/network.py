"""Describes the library's networks as plain data, without the library and torch.

In ``policy.json`` a network is ``{"type": "sb3", "family": …, "features": …, "activation": …,
"net_arch": …, "options": {…}, "observation_space": …}``. Its weights are the parameters and
buffers of the library's policy object, under its names; an extractor that actor and critic share
is written once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from mosaic_worker.playing.layers import ACTIVATIONS
from mosaic_worker.spaces import Space
from sb3_worker.described import DESCRIBED, check_layers
from sb3_worker.families import FAMILIES

FEATURES = ("flatten", "nature_cnn", "combined", DESCRIBED)
"""Features extractors: those of the library, and a custom one."""
OPTIONS: Mapping[str, type] = {
    "use_sde": bool,
    "full_std": bool,
    "use_expln": bool,
    "squash_output": bool,
    "share_features_extractor": bool,
    "normalize_images": bool,
    "log_std_init": float,
    "clip_mean": float,
    "n_critics": int,
    "n_quantiles": int,
    "lstm_hidden_size": int,
    "n_lstm_layers": int,
    "shared_lstm": bool,
    "enable_critic_lstm": bool,
    "features_dim": int,
    "cnn_output_dim": int,
}
"""Options of the library's policies that change the network, besides its layers."""
_LARGEST = 65_536


@dataclass(frozen=True)
class Network:
    """Description of one of the library's policies, from which it can be built.

    Attributes:
        family: A key of :data:`sb3_worker.families.FAMILIES`.
        observation_space: Space of the network's own input, with as many numbers as the policy's input,
            perhaps in another shape.
        action_space: Space of the actions, counted from zero.
        features: One of :data:`FEATURES`.
        activation: A key of :data:`mosaic_worker.playing.layers.ACTIVATIONS`; empty for the
            library's own choice.
        net_arch: Hidden widths, or widths by part (``pi``, ``vf``, ``qf``); ``None`` for the
            library's own choice.
        options: Values of :data:`OPTIONS`.
        exploration: Share of random actions of a value-based policy when it samples.
        layers: Layers of a custom features extractor (:mod:`sb3_worker.described`).
    """

    family: str
    observation_space: Space
    action_space: Space
    features: str = "flatten"
    activation: str = ""
    net_arch: Any = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    exploration: float = 0.0
    layers: Sequence[Any] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain data for ``policy.json``, without the action space, which that file already
        contains.
        """
        return {
            "type": "sb3",
            "family": self.family,
            "features": self.features,
            "activation": self.activation,
            "net_arch": self.net_arch,
            "options": dict(self.options),
            "exploration": self.exploration,
            "observation_space": self.observation_space.to_json(),
            **({"layers": list(self.layers)} if self.layers else {}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], action_space: Space) -> Network:
        """Read a network's description.

        Raises:
            ValueError: The description does not fit this worker; the message says why.
        """
        try:
            if data["type"] != "sb3":
                raise ValueError(f"its network has an unknown type: {data['type']!r}")
            network = cls(
                str(data["family"]),
                Space.from_json(data["observation_space"]),
                action_space,
                str(data["features"]),
                str(data["activation"]),
                data["net_arch"],
                dict(data["options"]),
                float(data["exploration"]),
                list(data.get("layers", ())),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"the description of its network is invalid ({error})") from error
        network.check()
        return network

    def check(self) -> None:
        """Check that the library would build the network, and that the network is not too large.

        Raises:
            ValueError: A part is not valid; the message names it.
        """
        for value, known, what in (
            (self.family, FAMILIES, "family"),
            (self.features, FEATURES, "features"),
            (self.activation or "tanh", ACTIVATIONS, "activation"),
        ):
            if value not in known:
                raise ValueError(f"its network has the {what} {value!r}; known: {', '.join(known)}")
        if (self.features == DESCRIBED) != bool(self.layers):
            raise ValueError("its network has layers of a features extractor that it does not have")
        check_layers(self.layers)
        _check_widths(self.net_arch)
        for name, value in self.options.items():
            if name not in OPTIONS:
                raise ValueError(f"its network has the unknown option {name!r}")
            wanted = OPTIONS[name]
            fits = type(value) is wanted or (wanted is float and type(value) is int)
            if not fits or (wanted is int and not 1 <= value <= _LARGEST):
                raise ValueError(f"its network has {name} = {value!r}")
        if not 0.0 <= self.exploration <= 1.0:
            raise ValueError(f"its network has exploration = {self.exploration!r}")


def _check_widths(given: Any) -> None:
    parts: list[Any] = [given]
    if isinstance(given, dict):
        parts = list(cast("dict[str, Any]", given).values())
        if not set(cast("dict[str, Any]", given)) <= {"pi", "vf", "qf"}:
            names = ", ".join(map(str, cast("dict[str, Any]", given)))
            raise ValueError(f"its net_arch has unknown parts: {names}")
    for widths in parts:
        if widths is None and not isinstance(given, dict):
            return
        fits = isinstance(widths, (list, tuple)) and all(
            type(w) is int and 1 <= w <= _LARGEST for w in cast("list[Any]", widths)
        )
        if not fits:
            raise ValueError(f"its net_arch is {given!r:.80} , but must be lists of widths")
