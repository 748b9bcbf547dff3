"""Stable-Baselines3 and sb3-contrib as a MOSAIC worker, which trains, imports and plays policies."""
