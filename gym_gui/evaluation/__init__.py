"""Evaluates policies from Python: one call plays episodes, records a run folder and compares the results."""

from gym_gui.evaluation.evaluation_run import aevaluate, evaluate
from gym_gui.evaluation.players import Policy
from gym_gui.evaluation.results import Results
from gym_gui.evaluation.scoring import require_allowed, score_policy

__all__ = ["Policy", "Results", "aevaluate", "evaluate", "require_allowed", "score_policy"]
