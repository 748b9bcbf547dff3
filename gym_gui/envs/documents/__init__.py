"""Readers of the documentation of environments, and its conversion for people."""
