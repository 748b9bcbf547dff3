"""Shards on a cluster of Ray."""
