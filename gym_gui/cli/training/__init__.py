"""Implements ``mosaic train`` and ``mosaic daemon``."""
