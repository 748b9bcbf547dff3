"""Reads the transcripts of agents: model calls, thoughts, scores and actions, decision by decision."""
