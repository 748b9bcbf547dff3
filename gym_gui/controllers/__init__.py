"""Stepping episodes and running experiments."""
