"""Stable-Baselines3 and sb3-contrib as a MOSAIC worker: train, import, play."""
