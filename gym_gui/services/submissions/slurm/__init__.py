"""Executor that plays shards as Slurm jobs."""
