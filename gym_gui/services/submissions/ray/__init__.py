"""Executor that plays shards on a Ray cluster."""
