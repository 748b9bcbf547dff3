"""Environments in the window: chosen from a list, looked at, explained, installed."""
