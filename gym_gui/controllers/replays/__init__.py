"""Recorded episodes again: as a replay, a film, a dataset, a program."""
