"""Estimates, intervals and tests: pure functions of numbers, which know no run."""
