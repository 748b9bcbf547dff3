"""Implements the commands ``mosaic install``, ``mosaic envs install`` and ``mosaic workers install``."""
