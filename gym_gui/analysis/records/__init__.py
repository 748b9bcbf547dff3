"""Reads the records of runs: rows, calls, digests."""
