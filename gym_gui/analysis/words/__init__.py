"""Findings in sentences, numbers as people read them, and what marks them up."""
