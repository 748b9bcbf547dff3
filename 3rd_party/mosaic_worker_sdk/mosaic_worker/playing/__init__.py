"""Shared code of workers that play trained policies: batches of one size, joint policies, memories."""
