"""Implements ``mosaic install``, ``mosaic envs install`` and ``mosaic workers install``."""
