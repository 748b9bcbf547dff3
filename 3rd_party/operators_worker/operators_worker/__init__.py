"""Baselines: random, no-op, cycle, and readable heuristics for a few environments."""
