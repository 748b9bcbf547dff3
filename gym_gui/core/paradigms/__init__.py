"""Adapters with one interface for all the ways in which agents and environment take turns."""

from __future__ import annotations

from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.paradigms.base import ParadigmAdapter
from gym_gui.core.paradigms.hierarchical import HierarchicalAdapter, manager_of
from gym_gui.core.paradigms.options import Option, OptionEnd, OptionLibrary, RelativePosition
from gym_gui.core.paradigms.select import adapt
from gym_gui.core.paradigms.sequential import PettingZooParadigmAdapter, SequentialAdapter
from gym_gui.core.paradigms.simultaneous import RLlibParadigmAdapter, SimultaneousAdapter
from gym_gui.core.paradigms.single_agent import GymParadigmAdapter, SingleAgentAdapter

__all__ = [
    "GymParadigmAdapter",
    "HierarchicalAdapter",
    "Option",
    "OptionEnd",
    "OptionLibrary",
    "ParadigmAdapter",
    "PettingZooParadigmAdapter",
    "RLlibParadigmAdapter",
    "RelativePosition",
    "SequentialAdapter",
    "SimultaneousAdapter",
    "SingleAgentAdapter",
    "SteppingParadigm",
    "adapt",
    "manager_of",
]
