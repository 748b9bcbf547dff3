"""Melting Pot: games for 2 to 16 players whose interests agree, conflict, or both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from gym_gui.core.enums import Outcome
from gym_gui.envs.families.served import OwnPythonFamily
from gym_gui.envs.keymaps import Pace
from gym_gui.envs.spec import EnvSpec

if TYPE_CHECKING:
    from gym_gui.envs.instance import Instance
    from gym_gui.envs.remote_env import InstanceRequest

_ASSETS = "meltingpot-assets-2.3.0.tar.gz"
_BEGIN_S = 600.0
"""Time limit in seconds for starting an episode; on a busy machine the import alone takes half a minute."""
_MATRIX = "Collect resources of one kind or another, then meet others: what you carry decides {}."
_SUMMARIES: Mapping[str, str] = {
    "allelopathic_harvest": "Plant berries in one colour so that they grow fast, and agree in which.",
    "bach_or_stravinsky_in_the_matrix": _MATRIX.format("a battle of the sexes"),
    "boat_race": "Find a partner and row in time across a river to apples, again and again.",
    "chemistry": "Carry molecules so that reactions which make food keep going.",
    "chicken_in_the_matrix": _MATRIX.format("a game of hawk and dove"),
    "clean_up": "Eat apples that grow only while a player cleans the river.",
    "coins": "Collect coins: each pays, but one of the other's colour costs the other.",
    "collaborative_cooking": "Cook soup together in a kitchen and serve it.",
    "commons_harvest": "Eat apples that grow again only where others are left.",
    "coop_mining": "Mine iron alone, or gold, which takes two at the same time.",
    "daycare": "A child that cannot reach its fruit, and a parent who has to find out what it wants.",
    "externality_mushrooms": "Eat mushrooms that pay oneself, all, or all others.",
    "factory_commons": "Share a factory that turns what is put into it into food.",
    "fruit_market": "Grow apples or bananas, and trade for what you like better.",
    "gift_refinements": "Give tokens away, which makes more of them.",
    "hidden_agenda": "Crewmates collect gems and vote out an impostor who hides among them.",
    "paintball__capture_the_flag": "Two teams paint the ground and bring home each other's flag.",
    "paintball__king_of_the_hill": "Two teams paint the ground and hold the hill in the middle.",
    "predator_prey": "Prey eat apples and acorns, and predators eat prey.",
    "prisoners_dilemma_in_the_matrix": _MATRIX.format("a prisoner's dilemma"),
    "pure_coordination_in_the_matrix": _MATRIX.format("whether both chose the same"),
    "rationalizable_coordination_in_the_matrix": _MATRIX.format(
        "whether both chose the same, of which one is best"
    ),
    "running_with_scissors_in_the_matrix": _MATRIX.format("rock, paper, scissors"),
    "stag_hunt_in_the_matrix": _MATRIX.format("a stag hunt"),
    "territory": "Claim walls by painting them, which pays for as long as they stand.",
}
_VARIANTS: Mapping[str, tuple[str, ...]] = {
    "allelopathic_harvest": ("open",),
    "bach_or_stravinsky_in_the_matrix": ("arena", "repeated"),
    "boat_race": ("eight_races",),
    "chemistry": (
        "three_metabolic_cycles",
        "three_metabolic_cycles_with_plentiful_distractors",
        "two_metabolic_cycles",
        "two_metabolic_cycles_with_distractors",
    ),
    "chicken_in_the_matrix": ("arena", "repeated"),
    "clean_up": (),
    "coins": (),
    "collaborative_cooking": (
        *("asymmetric", "circuit", "cramped", "crowded", "figure_eight", "forced", "ring"),
    ),
    "commons_harvest": ("closed", "open", "partnership"),
    "coop_mining": (),
    "daycare": (),
    "externality_mushrooms": ("dense",),
    "factory_commons": ("either_or",),
    "fruit_market": ("concentric_rivers",),
    "gift_refinements": (),
    "hidden_agenda": (),
    "paintball": ("capture_the_flag", "king_of_the_hill"),
    "predator_prey": ("alley_hunt", "open", "orchard", "random_forest"),
    "prisoners_dilemma_in_the_matrix": ("arena", "repeated"),
    "pure_coordination_in_the_matrix": ("arena", "repeated"),
    "rationalizable_coordination_in_the_matrix": ("arena", "repeated"),
    "running_with_scissors_in_the_matrix": ("arena", "one_shot", "repeated"),
    "stag_hunt_in_the_matrix": ("arena", "repeated"),
    "territory": ("inside_out", "open", "rooms"),
}
_WON = ("paintball", "hidden_agenda")
"""First words of substrates in which two sides compete, so that an episode has a winner."""


class MeltingPotFamily(OwnPythonFamily):
    """Family of Melting Pot's substrates, under ids such as ``melting_pot/clean_up``.

    Its scenarios are left out: they need trained bots, which are not installed.
    """

    name: ClassVar[str] = "melting_pot"
    title: ClassVar[str] = "Melting Pot"
    prefixes: ClassVar[tuple[str, ...]] = ("melting_pot/",)
    closed: ClassVar[bool] = True
    hints: ClassVar[Mapping[str, str]] = {"meltingpot": ""}
    apis: ClassVar[tuple[str, ...]] = ("parallel",)
    # The requirements of its setup.py, except those for human players; it always imports TensorFlow.
    requirements: ClassVar[tuple[str, ...]] = (
        "absl-py",
        "chex",
        "dm-env",
        "dm-tree",
        "dmlab2d==1.0.2",
        "immutabledict",
        "ml-collections",
        "networkx",
        "reactivex",
        "tensorflow-cpu==2.21.0",
    )
    bare_requirements: ClassVar[tuple[str, ...]] = ("dm-meltingpot==2.4.1",)
    imports: ClassVar[tuple[str, ...]] = ("meltingpot.substrate",)
    server_variables: ClassVar[Mapping[str, str]] = {"TF_CPP_MIN_LOG_LEVEL": "3", "JAX_PLATFORMS": "cpu"}
    documented: ClassVar[bool] = False
    web_page: ClassVar[str] = "https://github.com/google-deepmind/meltingpot"
    modes: ClassVar[tuple[str, ...] | None] = ("rgb_array",)
    usual_pace: ClassVar[Pace] = Pace(realtime=True, rate=8)

    def build_variables(self, folder: Path) -> Mapping[str, str]:
        """Return environment variables that replace the download of bots by an empty archive."""
        import tarfile

        with tarfile.open(folder / _ASSETS, "w:gz") as archive:
            assets = tarfile.TarInfo("assets")
            assets.type, assets.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(assets)
        return {"TMPDIR": str(folder)}

    def specs(self) -> Sequence[EnvSpec]:
        self.require()
        entry = "mosaic_env_server.shims.melting_pot:MeltingPot"
        names = [f"{base}__{each}" for base, several in _VARIANTS.items() for each in several]
        names += [base for base, several in _VARIANTS.items() if not several]
        return [self.spec(f"melting_pot/{name}", entry) for name in sorted(names)]

    def candidates(self, task: str) -> Sequence[str]:
        # Ids as Shimmy writes them.
        end = task.removeprefix("meltingpot/").removesuffix("-v0")
        return (task, f"melting_pot/{end}") if task.startswith("meltingpot/") else (task,)

    def wanted(self, spec: EnvSpec, arguments: Mapping[str, Any]) -> InstanceRequest:
        return replace(super().wanted(spec, {"substrate": spec.short_id, **arguments}), begin_s=_BEGIN_S)

    def outcome(self, environment: Instance, returns: Mapping[str, float]) -> dict[str, Outcome] | None:
        return super().outcome(environment, returns) if environment.spec.short_id.startswith(_WON) else None

    def title_of(self, spec: EnvSpec) -> str:
        base, _, variant = spec.short_id.replace("_in_the_matrix", " in the matrix").partition("__")
        return ": ".join(filter(None, (base.capitalize(), variant))).replace("_", " ")

    def summary(self, spec: EnvSpec) -> str:
        name = spec.short_id
        return _SUMMARIES.get(name) or _SUMMARIES[name.partition("__")[0]]
