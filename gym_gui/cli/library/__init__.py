"""Implements the commands ``mosaic runs``, ``mosaic policies`` and ``mosaic trust``."""
