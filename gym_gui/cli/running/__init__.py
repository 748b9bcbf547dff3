"""Implements ``mosaic run`` and ``mosaic tournament``, on this machine or on others."""
