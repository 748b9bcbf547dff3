"""Choices that users make before play: environments, players, settings and keys."""
