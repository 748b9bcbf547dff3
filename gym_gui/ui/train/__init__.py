"""Widgets of the Train page: runs, curves, the current policy and the form for a new run."""
