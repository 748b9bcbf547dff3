"""Executor that plays shards on hosts over ssh."""
