"""Reads what a run has recorded, and checks it against its digests."""
