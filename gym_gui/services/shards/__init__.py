"""Shards of a run: their leases, their run folders, and their merge into one run."""
