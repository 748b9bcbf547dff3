"""bsuite: small experiments, each of which tests one ability of a learning algorithm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from gym_gui.envs import index
from gym_gui.envs.families.served import OwnPythonFamily
from gym_gui.envs.spec import EnvSpec

if TYPE_CHECKING:
    from gym_gui.envs.remote_env import InstanceRequest

_HEAD = "bsuite/"
_SUMMARIES: Mapping[str, str] = {
    "bandit": "Find the best of eleven arms.",
    "cartpole": "Move a cart so that the pole on it stays upright.",
    "cartpole_swingup": "Swing a pole up from below and keep it there, though moving costs.",
    "catch": "Move a paddle under a ball that falls.",
    "deep_sea": "Go right ten times and more in a row, though each step costs: only that pays.",
    "deep_sea_stochastic": "The same, where steps to the right may fail.",
    "discounting_chain": "Choose at once between payments that come sooner or later.",
    "memory_len": "Remember one bit for a while.",
    "memory_size": "Remember several bits for two steps.",
    "mountain_car": "Drive up a hill with a motor that is too weak, by rocking.",
    "umbrella_distract": "Take an umbrella or not, and be paid later; most of what is seen means nothing.",
    "umbrella_length": "Take an umbrella or not, and be paid much later, by chance beside it.",
}
"""Summary by experiment; the variants with the suffixes ``_noise`` and ``_scale`` change the rewards."""
_CHANGED = {"_noise": "Rewards are noisy.", "_scale": "Rewards are scaled."}


class BsuiteFamily(OwnPythonFamily):
    """Family of bsuite's experiments, under ids such as ``bsuite/catch/0``.

    The list contains setting 0 of each experiment; the other settings are found by their id. Experiments with
    digits to read (``mnist``) are left out, because their pictures are downloaded.
    """

    name: ClassVar[str] = "bsuite"
    title: ClassVar[str] = "bsuite"
    prefixes: ClassVar[tuple[str, ...]] = (_HEAD,)
    closed: ClassVar[bool] = True
    # Packages that only its figures need (plotnine, matplotlib) are left out.
    requirements: ClassVar[tuple[str, ...]] = (
        *("dm-env==1.6", "absl-py", "immutabledict", "pandas<3", "scikit-image", "six", "termcolor"),
    )
    bare_requirements: ClassVar[tuple[str, ...]] = ("bsuite==0.3.6",)
    imports: ClassVar[tuple[str, ...]] = ("bsuite",)
    documented: ClassVar[bool] = False
    web_page: ClassVar[str] = "https://github.com/google-deepmind/bsuite"
    modes: ClassVar[tuple[str, ...] | None] = ()

    def specs(self) -> Sequence[EnvSpec]:
        return [spec for spec in self.findable() if spec.id.endswith("/0")]

    def findable(self) -> Sequence[EnvSpec]:
        self.require()
        return [
            self.spec(_HEAD + row["id"], "mosaic_env_server.shims.bsuite:Experiment")
            for row in index.entries("bsuite", "bsuite", str(self.interpreter))
            if _summary(row["id"].partition("/")[0])
        ]

    def wanted(self, spec: EnvSpec, arguments: Mapping[str, Any]) -> InstanceRequest:
        return super().wanted(spec, {"bsuite_id": spec.id.removeprefix(_HEAD), **arguments})

    def title_of(self, spec: EnvSpec) -> str:
        name, _, number = spec.id.removeprefix(_HEAD).partition("/")
        plain = name.replace("_", " ")
        return f"{plain[:1].upper()}{plain[1:]}, setting {number} (bsuite)"

    def summary(self, spec: EnvSpec) -> str:
        return _summary(spec.id.removeprefix(_HEAD).partition("/")[0])


def _summary(name: str) -> str:
    for ending, changed in _CHANGED.items():
        if name.endswith(ending):
            known = _SUMMARIES.get(name.removesuffix(ending), "")
            return f"{known} {changed}" if known else ""
    return _SUMMARIES.get(name, "")
