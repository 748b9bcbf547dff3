"""Submissions on the Results page: their shards, their places, and what can be done with them."""
