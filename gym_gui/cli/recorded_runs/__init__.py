"""Implements commands on recorded runs: report, export, query, power, replay, rerun, reparse, verify."""
