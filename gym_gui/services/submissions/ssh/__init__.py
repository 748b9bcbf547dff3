"""Shards on hosts that are reached by ssh."""
