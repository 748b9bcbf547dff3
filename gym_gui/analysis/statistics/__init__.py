"""Computes estimates, intervals and tests, as pure functions of numbers."""
