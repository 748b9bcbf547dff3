"""Estimates, intervals and tests as pure functions of numbers, independent of runs."""
