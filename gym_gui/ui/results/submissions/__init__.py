"""Submissions on the Results page: views of their shards and places, and commands for them."""
