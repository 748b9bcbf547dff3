"""Computes reports from recorded runs."""
