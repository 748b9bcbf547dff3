"""Submissions on the Results page: views of their shards and hosts, and commands to control them."""
