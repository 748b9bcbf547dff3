"""Reads what an agent observed, thought and did, decision by decision."""
