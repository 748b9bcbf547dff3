"""Shards as jobs of Slurm."""
