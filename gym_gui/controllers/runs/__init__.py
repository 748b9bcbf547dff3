"""Plays experiments and tournaments, and plans, resumes and shards their runs."""
