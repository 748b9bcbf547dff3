"""Implements the commands ``mosaic train`` and ``mosaic daemon``."""
