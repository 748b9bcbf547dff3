"""Readers of environments' documentation, which convert it for people."""
