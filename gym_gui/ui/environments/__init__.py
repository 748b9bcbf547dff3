"""Environments in the window: list, thumbnails, documentation and installation."""
