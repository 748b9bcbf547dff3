"""Helpers that tests of processes share."""
