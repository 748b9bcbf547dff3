"""Exports results as files for other programs."""
