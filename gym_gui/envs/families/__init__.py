"""Families of environments that come with MOSAIC; an id is looked up in them in this order."""

from __future__ import annotations

from gym_gui.envs.families.airsim import AirSimFamily
from gym_gui.envs.families.babaisai import BabaIsAIFamily
from gym_gui.envs.families.balrog import BalrogFamily
from gym_gui.envs.families.bsuite import BsuiteFamily
from gym_gui.envs.families.crafter import CrafterFamily
from gym_gui.envs.families.dm_control import DmControlFamily
from gym_gui.envs.families.envpool import EnvPoolFamily
from gym_gui.envs.families.foraging import ForagingFamily
from gym_gui.envs.families.gymnasium import Box2DFamily, GymnasiumFamily, MuJoCoFamily
from gym_gui.envs.families.highway import HighwayFamily
from gym_gui.envs.families.ini_multigrid import IniMultiGridFamily
from gym_gui.envs.families.jumanji import JumanjiFamily
from gym_gui.envs.families.melting_pot import MeltingPotFamily
from gym_gui.envs.families.minigrid import AtariFamily, MiniGridFamily
from gym_gui.envs.families.minihack import MiniHackFamily
from gym_gui.envs.families.mpe2 import Mpe2Family
from gym_gui.envs.families.multigrid import MultiGridFamily
from gym_gui.envs.families.one_of_several import SingleAgentFamily
from gym_gui.envs.families.openspiel import OpenSpielFamily
from gym_gui.envs.families.overcooked import OvercookedFamily
from gym_gui.envs.families.pettingzoo import PettingZooFamily
from gym_gui.envs.families.pgx import PgxFamily
from gym_gui.envs.families.procgen import ProcgenFamily
from gym_gui.envs.families.robotics import RoboticsFamily
from gym_gui.envs.families.rware import WarehouseFamily
from gym_gui.envs.families.skills import SkillFamily
from gym_gui.envs.families.smac import SmacFamily
from gym_gui.envs.families.textarena import TextArenaFamily
from gym_gui.envs.families.textworld import TextWorldFamily
from gym_gui.envs.families.unreal import UnrealFamily
from gym_gui.envs.families.vizdoom import VizdoomFamily
from gym_gui.envs.families.vmas import VmasFamily
from gym_gui.envs.family import Family

BUILT_IN: tuple[Family, ...] = (
    GymnasiumFamily(),
    Box2DFamily(),
    MuJoCoFamily(),
    PettingZooFamily(),
    Mpe2Family(),
    MiniGridFamily(),
    MultiGridFamily(),
    IniMultiGridFamily(),
    OpenSpielFamily(),
    CrafterFamily(),
    MiniHackFamily(),
    TextWorldFamily(),
    TextArenaFamily(),
    HighwayFamily(),
    ForagingFamily(),
    WarehouseFamily(),
    DmControlFamily(),
    VizdoomFamily(),
    VmasFamily(),
    RoboticsFamily(),
    AtariFamily(),
    EnvPoolFamily(),
    ProcgenFamily(),
    OvercookedFamily(),
    PgxFamily(),
    JumanjiFamily(),
    BabaIsAIFamily(),
    BsuiteFamily(),
    BalrogFamily(),
    MeltingPotFamily(),
    AirSimFamily(),
    UnrealFamily(),
    SmacFamily(),
    SkillFamily([MiniGridFamily()]),
    SingleAgentFamily(
        [MultiGridFamily(), IniMultiGridFamily(), ForagingFamily(), WarehouseFamily(), HighwayFamily()]
    ),
)

__all__ = ["BUILT_IN"]
