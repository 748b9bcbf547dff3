"""Runs of experiments and tournaments: plays, plans, resumes and shards them."""
